/*
 * Local driver: what can be done without waiting
 *
 * The server tries an operation in its own thread first.  What may be tried
 * depends on the file system: the table here lists those whose behaviour is
 * known, and on all others, network file systems and FUSE above all,
 * everything goes to a worker.  Names are looked up in the kernel's caches
 * only, and never across a mount point, since what is mounted there may be
 * another kind.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/iov.h"
#include "9p-local.h"

static const struct {
    uint32_t type;              /* f_type of statfs(2) */
    unsigned nowait;
} local_file_systems[] = {
    { 0xef53, LOCAL_NOWAIT_CACHED },                            /* ext4 */
    { 0x58465342, LOCAL_NOWAIT_CACHED | LOCAL_NOWAIT_WRITE },   /* xfs */
    { 0x9123683e, LOCAL_NOWAIT_CACHED | LOCAL_NOWAIT_WRITE },   /* btrfs */
    { 0xf2f52010, LOCAL_NOWAIT_CACHED },                        /* f2fs */
    { 0x01021994, LOCAL_NOWAIT_CACHED | LOCAL_NOWAIT_MEMORY },  /* tmpfs */
    { 0x858458f6, LOCAL_NOWAIT_CACHED | LOCAL_NOWAIT_MEMORY },  /* ramfs */
};

unsigned local_nowait_of(int fd)
{
    uint32_t type;

    if (!local_os_has(LOCAL_OS_NODE | LOCAL_OS_PROC | LOCAL_OS_OPENAT2)) {
        return 0;
    }
    type = local_os_fs_type(fd);
    for (int i = 0; i < ARRAY_SIZE(local_file_systems); i++) {
        if (local_file_systems[i].type == type) {
            return local_file_systems[i].nowait;
        }
    }
    return 0;
}

int local_nowait_open_file(const V9fsCtx *cx, const V9fsHandle *dir,
                           const char *path, int flags)
{
    int ret;

    /* One call takes no more; a worker makes several. */
    if (!(dir->nowait & LOCAL_NOWAIT_CACHED) || strlen(path) >= PATH_MAX ||
        v9fs_refuse(cx)) {
        return -EAGAIN;
    }
    ret = local_os_open_near(dir->fd, path, flags,
                             !(dir->nowait & LOCAL_NOWAIT_MEMORY));
    return ret == -EXDEV ? -EAGAIN : ret;
}

int local_nowait_open(const V9fsCtx *cx, const V9fsHandle *dir,
                      const char *path, bool directory)
{
    int ret = local_nowait_open_file(cx, dir, path, O_PATH |
                                     (directory ? O_DIRECTORY : 0));

    return ret == -ELOOP ? -ENOTDIR : ret;
}

int local_find(const V9fsCtx *cx, const V9fsObject *obj, unsigned need,
               LocalFound *found)
{
    unsigned nowait = obj->file ? obj->file->nowait : obj->dir->nowait;
    int ret;

    *found = (LocalFound) { 0 };
    ret = local_at(cx, obj, &found->at);
    if (ret < 0 || !cx->nowait) {
        return ret;
    }
    if ((nowait & need) != need || v9fs_refuse(cx)) {
        return -EAGAIN;
    }
    if (!found->at.name) {
        return 0;
    }
    ret = local_nowait_open(cx, obj->dir, obj->name, false);
    if (ret < 0) {
        return ret;
    }
    found->at = (LocalAt) { .fd = ret };
    found->pinned = true;
    return 0;
}

void local_lose(LocalFound *found)
{
    if (found->pinned) {
        close(found->at.fd);
        found->pinned = false;
    }
}

/* Whether freeing what a descriptor may be the last one of is quick */
bool local_nowait_may_free(const LocalAt *at)
{
    V9fsStat st;

    return local_os_stat(at, LOCAL_STAT_ALL, &st) == 0 &&
           (st.nlink > 1 || st.size <= LOCAL_NOWAIT_FREE);
}

ssize_t local_nowait_read(V9fsFile *file, const struct iovec *iov, int iovcnt,
                          uint64_t offset)
{
    ssize_t ret;

    if (!(file->nowait & LOCAL_NOWAIT_CACHED) || iovcnt > IOV_MAX ||
        iov_size(iov, iovcnt) > LOCAL_NOWAIT_BYTES) {
        return -EAGAIN;
    }
    if (file->nowait & LOCAL_NOWAIT_MEMORY) {
        ret = preadv(file->fd, iov, iovcnt, offset);
        return ret < 0 ? (errno == EINTR ? -EAGAIN : -errno) : ret;
    }
    ret = local_os_read_cached(file->fd, iov, iovcnt, offset);
    return ret == -EOPNOTSUPP || ret == -EINTR ? -EAGAIN : ret;
}

bool local_nowait_may_write(const V9fsFile *file, const struct iovec *iov,
                            int iovcnt)
{
    return (file->nowait & (LOCAL_NOWAIT_WRITE | LOCAL_NOWAIT_MEMORY)) &&
           iovcnt <= IOV_MAX && iov_size(iov, iovcnt) <= LOCAL_NOWAIT_BYTES;
}

ssize_t local_nowait_write(V9fsFile *file, const struct iovec *iov, int iovcnt,
                           uint64_t offset)
{
    ssize_t ret;

    if (file->nowait & LOCAL_NOWAIT_MEMORY) {
        ret = pwritev(file->fd, iov, iovcnt, offset);
        return ret < 0 ? (errno == EINTR ? -EAGAIN : -errno) : ret;
    }
    ret = local_os_write_cached(file->fd, iov, iovcnt, offset);
    if (ret == -EOPNOTSUPP) {
        file->nowait &= ~LOCAL_NOWAIT_WRITE;
    }
    /* Errors are for a worker to find out: it may well succeed. */
    return ret <= 0 ? -EAGAIN : ret;
}
