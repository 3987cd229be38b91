/*
 * Local driver: reading open directories
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "9p-local.h"

/* Bytes of entries to fetch from the host at once, on the stack */
#define LOCAL_DIR_BUFFER (32 * KiB)
/* and at least: more than the largest entry */
#define LOCAL_DIR_LEAST  (1 * KiB)
/* Bytes of entries to fetch without waiting before a worker goes on */
#define LOCAL_DIR_NOWAIT (8 * KiB)

/* What is known of a directory besides what the host says of its entries */
typedef struct LocalListing {
    GHashTable *mounts;         /* names of what may be mounted; or NULL */
    bool subvolumes;            /* a directory may be another device's */
} LocalListing;

static void local_listing_clear(LocalListing *l)
{
    g_clear_pointer(&l->mounts, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LocalListing, local_listing_clear)

static bool local_is_dots(const char *name)
{
    return g_str_equal(name, ".") || g_str_equal(name, "..");
}

/* An entry as it is found by its name, should something be mounted there */
static void local_look_at_mount(const V9fsFile *dir, const LocalListing *l,
                                V9fsDirent *ent)
{
    LocalAt at = { .fd = dir->fd, .name = ent->name };
    V9fsStat st;

    if (!(l->mounts && g_hash_table_contains(l->mounts, ent->name)) &&
        !(l->subvolumes && ent->type == DT_DIR &&
          !local_is_dots(ent->name))) {
        return;
    }
    if (local_os_stat(&at, LOCAL_STAT_ID, &st) == 0) {
        ent->dev = st.dev;
        ent->ino = st.ino;
    }
}

/* Gives entries to @add; false if that has refused one */
static bool local_add_dirents(const V9fsCtx *cx, V9fsFile *dir,
                              const LocalListing *l,
                              const char *buf, size_t size,
                              V9fsAddDirent *add, void *opaque)
{
    const LocalModel *model = local_of(cx)->model;
    size_t at, namelen;
    V9fsDirent ent;

    for (at = 0; at < size;) {
        const LocalOsDirent *host = (const void *)(buf + at);

        at += host->reclen;
        namelen = strlen(host->name);
        if (model->hidden(host->name, namelen)) {
            continue;
        }
        ent = (V9fsDirent) {
            .dev = dir->dev,
            .ino = host->ino,
            .offset = host->off,
            .type = host->type == DT_REG && model->hides_types ?
                    DT_UNKNOWN : host->type,
            .name = host->name,
            .namelen = namelen,
        };
        local_look_at_mount(dir, l, &ent);
        if (!add(opaque, &ent)) {
            return false;
        }
        dir->pos = host->off;
    }
    return true;
}

static int local_seek(V9fsFile *dir, uint64_t offset)
{
    if (offset > INT64_MAX) {
        return -EINVAL;
    }
    if (dir->pos != offset) {
        dir->pos = LOCAL_POS_UNKNOWN;
        if (lseek(dir->fd, offset, SEEK_SET) < 0) {
            return -errno;
        }
        dir->pos = offset;
    }
    return 0;
}

/*
 * An entry takes about as many bytes from the host as in a reply, so no more
 * are read than the reply has room for, but for the last few: what is read
 * in vain is read again for the next one.
 */
int local_readdir(const V9fsCtx *cx, V9fsFile *dir, uint64_t offset,
                  size_t room, V9fsAddDirent *add, void *opaque)
{
    char buf[LOCAL_DIR_BUFFER] QEMU_ALIGNED(8);
    size_t limit = cx->nowait ? LOCAL_DIR_NOWAIT : sizeof(buf);
    g_auto(LocalListing) listing = { 0 };
    size_t taken = 0;
    ssize_t n;
    int err;

    if (cx->nowait && !(dir->nowait & LOCAL_NOWAIT_MEMORY)) {
        return -EAGAIN;
    }
    /* With multidevs=forbid what is mounted is not to be found at all. */
    if (cx->fs->exp->multidevs != V9FS_MULTIDEVS_FORBID) {
        listing.mounts = local_mounts_names(local_of(cx)->mounts,
                                            &listing.subvolumes);
    }
    if (cx->nowait && (listing.mounts || listing.subvolumes)) {
        return -EAGAIN;
    }
    err = local_seek(dir, offset);
    if (err) {
        return err;
    }
    do {
        size_t size = MIN(MAX(room, LOCAL_DIR_LEAST), limit);

        n = local_os_getdents(dir->fd, buf, size);
        if (n <= 0 || !local_add_dirents(cx, dir, &listing, buf, n, add,
                                         opaque)) {
            break;
        }
        room -= MIN(room, n);
        taken += n;
        if (cx->nowait && taken + LOCAL_DIR_LEAST > LOCAL_DIR_NOWAIT) {
            return -EAGAIN;
        }
    } while (true);
    if (n != 0) {
        /* The host has read on beyond what was taken. */
        dir->pos = LOCAL_POS_UNKNOWN;
    }
    return MIN(n, 0);
}
