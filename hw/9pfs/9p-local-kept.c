/*
 * Local driver: credentials of objects that may have no name any more
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "9p-local-kept.h"

struct LocalKept {
    uint64_t dev, ino;
    unsigned refs;
    int fd;
    LocalCreds creds;
};

/* Of both: the table, made when it is needed, and all that is in it */
static GMutex kept_lock;
static GHashTable *kept_table;

static guint kept_hash(gconstpointer p)
{
    const LocalKept *kept = p;
    uint64_t mix = kept->ino ^ kept->dev << 32;

    return g_int64_hash(&mix);
}

static gboolean kept_equal(gconstpointer a, gconstpointer b)
{
    const LocalKept *y = b;

    return local_kept_is(a, y->dev, y->ino);
}

bool local_kept_is(const LocalKept *kept, uint64_t dev, uint64_t ino)
{
    return kept->dev == dev && kept->ino == ino;
}

static LocalKept *kept_find(uint64_t dev, uint64_t ino)
{
    LocalKept key = { .dev = dev, .ino = ino };

    return kept_table ? g_hash_table_lookup(kept_table, &key) : NULL;
}

LocalKept *local_kept_get(uint64_t dev, uint64_t ino)
{
    G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
        g_mutex_locker_new(&kept_lock);
    LocalKept *kept = kept_find(dev, ino);

    if (!kept) {
        kept_table = kept_table ?: g_hash_table_new(kept_hash, kept_equal);
        kept = g_new0(LocalKept, 1);
        kept->dev = dev;
        kept->ino = ino;
        kept->fd = -1;
        g_hash_table_add(kept_table, kept);
    }
    kept->refs++;
    return kept;
}

void local_kept_put(LocalKept *kept)
{
    G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
        g_mutex_locker_new(&kept_lock);

    if (--kept->refs) {
        return;
    }
    g_hash_table_remove(kept_table, kept);
    if (!g_hash_table_size(kept_table)) {
        g_clear_pointer(&kept_table, g_hash_table_unref);
    }
    if (kept->fd >= 0) {
        close(kept->fd);
    }
    g_free(kept);
}

void local_kept_read(LocalKept *kept, LocalCreds *creds)
{
    G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
        g_mutex_locker_new(&kept_lock);

    local_creds_merge(creds, &kept->creds);
}

void local_kept_merge(LocalKept *kept, const LocalCreds *creds)
{
    G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
        g_mutex_locker_new(&kept_lock);

    local_creds_merge(&kept->creds, creds);
}

void local_kept_changed(uint64_t dev, uint64_t ino, const LocalCreds *creds)
{
    G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
        g_mutex_locker_new(&kept_lock);
    LocalKept *kept = kept_find(dev, ino);

    if (kept) {
        local_creds_merge(&kept->creds, creds);
    }
}

void local_kept_take_fd(LocalKept *kept, int fd)
{
    G_GNUC_UNUSED g_autoptr(GMutexLocker) locker =
        g_mutex_locker_new(&kept_lock);

    if (kept->fd < 0) {
        qatomic_set(&kept->fd, fd);
    } else {
        close(fd);
    }
}

int local_kept_fd(const LocalKept *kept)
{
    return qatomic_read(&kept->fd);
}
