/*
 * Qids: the server's identities of files
 *
 * A qid's path has 64 bits and so have inode numbers, so files of several
 * devices need care.  Numbers below 2^48 keep their value and get the number
 * of their device in the upper 16 bits, 0 being the root's device: nearly all
 * files keep their own number.  Larger ones, and only they, are entered in a
 * table and numbered as they come, under the device number 0xffff.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/lockable.h"
#include "qemu/xxhash.h"
#include "hw/9pfs/9p-qid.h"

#define INO_BITS    48
#define LARGE_DEV   0xffffull

typedef struct LargeIno {
    uint64_t dev, ino, path;
} LargeIno;

static guint large_hash(gconstpointer p)
{
    const LargeIno *l = p;

    return qemu_xxhash4(l->dev, l->ino);
}

static gboolean large_equal(gconstpointer a, gconstpointer b)
{
    const LargeIno *x = a, *y = b;

    return x->dev == y->dev && x->ino == y->ino;
}

void v9fs_qidmap_init(V9fsQidMap *map, V9fsMultidevs multidevs,
                      uint64_t root_dev)
{
    map->multidevs = multidevs;
    map->root_dev = root_dev;
    map->warned = false;
    map->devs = g_array_new(false, false, sizeof(uint64_t));
    map->large = g_hash_table_new_full(large_hash, large_equal, NULL, g_free);
    qemu_mutex_init(&map->lock);
}

void v9fs_qidmap_destroy(V9fsQidMap *map)
{
    g_array_unref(map->devs);
    g_hash_table_unref(map->large);
    qemu_mutex_destroy(&map->lock);
}

/* Number of a device, new ones being added; lock held */
static int64_t dev_number(V9fsQidMap *map, uint64_t dev)
{
    if (dev == map->root_dev) {
        return 0;
    }
    for (int i = 0; i < map->devs->len; i++) {
        if (g_array_index(map->devs, uint64_t, i) == dev) {
            return i + 1;
        }
    }
    if (map->devs->len == V9FS_QID_MAX_DEVS) {
        return -ENFILE;
    }
    g_array_append_val(map->devs, dev);
    return map->devs->len;
}

static uint64_t large_path(V9fsQidMap *map, uint64_t dev, uint64_t ino)
{
    LargeIno key = { dev, ino, 0 };
    LargeIno *l = g_hash_table_lookup(map->large, &key);

    if (!l) {
        l = g_memdup2(&key, sizeof(key));
        l->path = LARGE_DEV << INO_BITS | g_hash_table_size(map->large);
        g_hash_table_add(map->large, l);
    }
    return l->path;
}

static void warn_once(V9fsQidMap *map)
{
    if (!map->warned) {
        map->warned = true;
        warn_report("9p: the exported directory holds files of several "
                    "devices, whose inode numbers may collide; use "
                    "multidevs=remap to have them told apart");
    }
}

int v9fs_qid_path(V9fsQidMap *map, uint64_t dev, uint64_t ino, uint64_t *path)
{
    int64_t number;

    if (dev == map->root_dev && !(ino >> INO_BITS)) {
        *path = ino;
        return 0;
    }
    if (dev != map->root_dev && map->multidevs == V9FS_MULTIDEVS_FORBID) {
        return -ENODEV;
    }
    QEMU_LOCK_GUARD(&map->lock);
    if (map->multidevs != V9FS_MULTIDEVS_REMAP) {
        if (dev != map->root_dev) {
            warn_once(map);
        }
        *path = ino;
        return 0;
    }
    if (ino >> INO_BITS) {
        *path = large_path(map, dev, ino);
        return 0;
    }
    number = dev_number(map, dev);
    *path = (uint64_t)number << INO_BITS | ino;
    return number < 0 ? number : 0;
}

uint8_t v9fs_qid_type(uint32_t mode)
{
    return S_ISDIR(mode) ? P9_QTDIR : S_ISLNK(mode) ? P9_QTSYMLINK : P9_QTFILE;
}

int v9fs_qid(V9fsQidMap *map, const V9fsStat *st, P9Qid *qid)
{
    uint32_t birth = 0;

    if (st->has_btime) {
        birth = qemu_xxhash4(st->btime.tv_sec, st->btime.tv_nsec);
    }
    qid->type = v9fs_qid_type(st->mode);
    qid->version = birth ?: 1;
    return v9fs_qid_path(map, st->dev, st->ino, &qid->path);
}
