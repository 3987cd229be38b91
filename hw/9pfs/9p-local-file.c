/*
 * Local driver: open files
 *
 * Opening, making, reading and writing.  Reading directories is in
 * 9p-local-dir.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/iov.h"
#include "9p-local.h"

/* How often to open or make a file that others remove and make meanwhile */
#define LOCAL_CREATE_TRIES 8

/* ---------------------------------------------------------------------- */
/* Opening */

/* Whether Linux would open such an object with such flags, access apart */
static int local_check_open(uint32_t mode, uint32_t flags)
{
    bool changes = (flags & P9_DOTL_NOACCESS) != P9_DOTL_RDONLY ||
                   (flags & (P9_DOTL_TRUNC | P9_DOTL_CREATE));

    if (S_ISDIR(mode)) {
        return changes ? -EISDIR : 0;
    }
    if (flags & P9_DOTL_DIRECTORY) {
        return -ENOTDIR;
    }
    if (S_ISLNK(mode)) {
        return -ELOOP;
    }
    /* Others would make a worker wait, or reach a driver of the host. */
    return S_ISREG(mode) ? 0 : -ENXIO;
}

/*
 * What Linux does for the owner only must not keep others from opening: a
 * guest cannot know whose the files are on the host.
 */
static int local_open_tolerant(const LocalAt *at, uint32_t p9flags,
                               int flags)
{
    int fd = local_os_open(at, flags);

    if (fd == -EPERM && (flags & O_NOATIME)) {
        flags &= ~O_NOATIME;
        fd = local_os_open(at, flags);
    }
    /* A file that can only be appended to takes no descriptor for more. */
    if (fd == -EPERM && (p9flags & P9_DOTL_APPEND)) {
        fd = local_os_open(at, flags | O_APPEND);
    }
    return fd;
}

/* A name may have come to mean another object since it was looked at. */
static int local_check_same(const LocalAt *at, int fd, const V9fsStat *st)
{
    LocalAt opened = { .fd = fd, .opened = true };
    V9fsStat now;
    int ret;

    if (!at->name) {
        return 0;
    }
    ret = local_os_stat(&opened, LOCAL_STAT_ID, &now);
    if (ret == 0 && (now.dev != st->dev || now.ino != st->ino)) {
        ret = -ENXIO;
    }
    return ret;
}

/* After opening with P9_DOTL_TRUNC: as any change of the data */
static int local_truncated(const V9fsCtx *cx, const V9fsObject *obj, int fd,
                           V9fsStat *st)
{
    LocalAt at = { .fd = fd, .opened = true };
    int ret = local_of(cx)->model->drop_suid(cx, obj, fd);

    if (ret == 0) {
        ret = local_os_stat(&at, LOCAL_STAT_ALL, st);
    }
    return ret < 0 ? ret : local_of(cx)->model->stat_fix(cx, obj, &at, st);
}

static int local_open_at(const V9fsCtx *cx, const V9fsObject *obj,
                         const LocalAt *at, uint32_t flags, V9fsStat *st)
{
    int host_flags = local_os_flags(flags);
    int fd;
    int ret = local_os_stat(at, LOCAL_STAT_ALL, st);

    if (ret < 0) {
        return ret;
    }
    host_flags |= S_ISDIR(st->mode) ? O_DIRECTORY : 0;
    /* Otherwise it waits for another process to give back a lease. */
    host_flags |= cx->nowait ? O_NONBLOCK : 0;
    ret = local_of(cx)->model->stat_fix(cx, obj, at, st);
    if (ret == 0) {
        ret = local_check_open(st->mode, flags);
    }
    if (ret < 0) {
        return ret;
    }
    fd = local_open_tolerant(at, flags, host_flags);
    if (fd < 0) {
        return fd;
    }
    ret = local_check_same(at, fd, st);
    if (ret == 0 && (flags & P9_DOTL_TRUNC)) {
        ret = local_truncated(cx, obj, fd, st);
    }
    if (ret < 0) {
        close(fd);
        return ret;
    }
    return fd;
}

static void local_set_file(const V9fsCtx *cx, V9fsFile *file,
                           const V9fsHandle *dir, int fd,
                           uint32_t flags, const V9fsStat *st)
{
    *file = (V9fsFile) {
        .fd = fd,
        .is_dir = S_ISDIR(st->mode),
        .nowait = st->dev == dir->dev ? dir->nowait : local_nowait_of(fd),
        .dev = st->dev,
        .ino = st->ino,
    };
    if ((flags & P9_DOTL_NOACCESS) != P9_DOTL_RDONLY) {
        file->nowait |= LOCAL_NOWAIT_WRITTEN;
    }
    local_of(cx)->model->keep_file(file, st);
}

/*
 * Opening to write waits while the file system is frozen, and truncating
 * takes time; nothing of that happens in memory.
 */
static unsigned local_open_needs(uint32_t flags)
{
    if ((flags & P9_DOTL_NOACCESS) == P9_DOTL_RDONLY &&
        !(flags & P9_DOTL_TRUNC)) {
        return LOCAL_NOWAIT_CACHED;
    }
    return LOCAL_NOWAIT_CACHED | LOCAL_NOWAIT_MEMORY;
}

/* @at has no name if it was found without waiting. */
static int local_open_found(const V9fsCtx *cx, const V9fsObject *obj,
                            const LocalAt *at, uint32_t flags, V9fsStat *st)
{
    LocalAt pinned;
    int ret = local_pin(at, &pinned);

    if (ret == 0) {
        ret = local_open_at(cx, obj, &pinned, flags, st);
    }
    local_unpin(at, &pinned);
    return ret;
}

int local_open(const V9fsCtx *cx, const V9fsObject *obj, uint32_t flags,
               V9fsFile *out, V9fsStat *st)
{
    LocalFound found;
    int ret = local_find(cx, obj, local_open_needs(flags), &found);

    if (ret < 0) {
        return ret;
    }
    if (cx->nowait && (flags & P9_DOTL_TRUNC) &&
        !local_nowait_may_free(&found.at)) {
        ret = -EAGAIN;
    } else {
        ret = local_open_found(cx, obj, &found.at, flags, st);
    }
    local_lose(&found);
    if (ret < 0) {
        return ret;
    }
    local_set_file(cx, out, obj->dir, ret, flags, st);
    return 0;
}

/* Makes a file and opens it; -EEXIST if there is something */
static int local_create_new(const V9fsCtx *cx, const V9fsHandle *dir,
                            const V9fsNew *new, uint32_t flags,
                            V9fsFile *out, V9fsStat *st)
{
    const LocalModel *model = local_of(cx)->model;
    int host_flags = local_os_flags(flags & ~P9_DOTL_TRUNC);
    LocalAt at = { .opened = true };
    int ret;

    at.fd = RETRY_ON_EINTR(openat(dir->fd, new->name, host_flags | O_CREAT |
                                  O_EXCL | O_NOFOLLOW,
                                  model->new_mode(cx, new)));
    if (at.fd < 0) {
        return -errno;
    }
    ret = local_os_stat(&at, LOCAL_STAT_ALL, st);
    if (ret == 0) {
        ret = model->made(cx, dir, &at, new, st);
    }
    if (ret < 0) {
        local_undo(dir, new->name, st);
        close(at.fd);
        return ret;
    }
    local_set_file(cx, out, dir, at.fd, flags, st);
    return 0;
}

int local_create(const V9fsCtx *cx, const V9fsHandle *dir,
                 const V9fsNew *new, uint32_t flags,
                 V9fsFile *out, V9fsStat *st)
{
    V9fsObject obj = { .dir = dir, .name = new->name };
    int ret, i;

    if (cx->nowait && !(dir->nowait & LOCAL_NOWAIT_MEMORY)) {
        return -EAGAIN;
    }
    ret = local_check_new_name(cx, new->name);
    if (ret < 0) {
        return ret;
    }
    for (i = 0; i < LOCAL_CREATE_TRIES; i++) {
        ret = local_create_new(cx, dir, new, flags, out, st);
        if (ret != -EEXIST || (flags & P9_DOTL_EXCL)) {
            return ret;
        }
        ret = local_open(cx, &obj, flags | P9_DOTL_CREATE, out, st);
        if (ret != -ENOENT) {
            return ret;
        }
    }
    return ret;
}

/*
 * The last descriptor of a file that has no name frees it, and that of one
 * that was written may begin to write it to disk.
 */
static bool local_closes_quickly(const V9fsFile *file)
{
    LocalAt at = { .fd = file->fd, .opened = true };
    V9fsStat st;

    if (file->nowait & LOCAL_NOWAIT_MEMORY) {
        return local_nowait_may_free(&at);
    }
    return (file->nowait & LOCAL_NOWAIT_CACHED) &&
           !(file->nowait & LOCAL_NOWAIT_WRITTEN) &&
           local_os_stat(&at, LOCAL_STAT_NLINK, &st) == 0 && st.nlink > 0;
}

int local_close(const V9fsCtx *cx, V9fsFile *file)
{
    int fd = file->fd;

    if (cx->nowait && !local_closes_quickly(file)) {
        return -EAGAIN;
    }
    if (file->kept) {
        local_of(cx)->model->unkeep(file->kept);
        file->kept = NULL;
    }
    file->fd = -1;
    /* Interrupted or not, the descriptor is gone. */
    return close(fd) < 0 && errno != EINTR ? -errno : 0;
}

/* ---------------------------------------------------------------------- */
/* Reading and writing */

/*
 * The part of a transfer that is to come next, as far as one call takes it
 * @part: of IOV_MAX, for where it must differ from @iov
 */
static int local_iov_rest(const struct iovec **iov, int iovcnt, size_t done,
                          struct iovec *part)
{
    if (done == 0) {
        return MIN(iovcnt, IOV_MAX);
    }
    iovcnt = iov_copy(part, IOV_MAX, *iov, iovcnt, done, SIZE_MAX - done);
    *iov = part;
    return iovcnt;
}

/* One call, which may do less than it is asked for */
typedef ssize_t LocalTransfer(int fd, const struct iovec *iov, int iovcnt,
                              uint64_t offset);

static ssize_t local_read_some(int fd, const struct iovec *iov, int iovcnt,
                               uint64_t offset)
{
    ssize_t ret = RETRY_ON_EINTR(preadv(fd, iov, iovcnt, offset));

    return ret < 0 ? -errno : ret;
}

static ssize_t local_write_some(int fd, const struct iovec *iov, int iovcnt,
                                uint64_t offset)
{
    ssize_t ret = RETRY_ON_EINTR(pwritev(fd, iov, iovcnt, offset));

    return ret < 0 ? -errno : ret;
}

static ssize_t local_append_some(int fd, const struct iovec *iov, int iovcnt,
                                 uint64_t offset)
{
    return local_os_append(fd, iov, iovcnt);
}

/* All of a transfer, unless there is an error or the end of the file */
static ssize_t local_transfer(LocalTransfer *some, int fd,
                              const struct iovec *iov, int iovcnt,
                              uint64_t offset)
{
    size_t size = iov_size(iov, iovcnt);
    size_t done = 0;
    ssize_t ret;

    do {
        struct iovec part[IOV_MAX];
        const struct iovec *rest = iov;
        int n = local_iov_rest(&rest, iovcnt, done, part);

        ret = some(fd, rest, n, offset + done);
        done += MAX(ret, 0);
    } while (ret > 0 && done < size);
    return done > 0 ? done : ret;
}

ssize_t local_preadv(const V9fsCtx *cx, V9fsFile *file,
                     const struct iovec *iov, int iovcnt, uint64_t offset)
{
    if (cx->nowait) {
        return v9fs_refuse(cx) ? -EAGAIN :
               local_nowait_read(file, iov, iovcnt, offset);
    }
    /* Short, it is the end of the file, or the client asks for the rest. */
    if (iovcnt <= IOV_MAX) {
        return local_read_some(file->fd, iov, iovcnt, offset);
    }
    return local_transfer(local_read_some, file->fd, iov, iovcnt, offset);
}

ssize_t local_pwritev(const V9fsCtx *cx, const V9fsObject *obj,
                      const struct iovec *iov, int iovcnt, uint64_t offset,
                      bool append)
{
    V9fsFile *file = obj->file;
    ssize_t ret;

    if (cx->nowait && (append || cx->fs->exp->writeout_immediate ||
                       !local_nowait_may_write(file, iov, iovcnt))) {
        return -EAGAIN;
    }
    ret = local_of(cx)->model->drop_suid(cx, obj, file->fd);
    if (ret < 0) {
        return ret;
    }
    if (cx->nowait) {
        return local_nowait_write(file, iov, iovcnt, offset);
    }
    ret = local_transfer(append ? local_append_some : local_write_some,
                         file->fd, iov, iovcnt, offset);
    if (ret > 0 && cx->fs->exp->writeout_immediate) {
        local_os_writeout(file->fd, append ? 0 : offset, append ? 0 : ret);
    }
    /* A client would ask for ever for what is written 0 bytes at a time. */
    return ret == 0 && iov_size(iov, iovcnt) > 0 ? -EIO : ret;
}

int local_fsync(const V9fsCtx *cx, V9fsFile *file, bool datasync)
{
    int ret;

    if (local_may_not_wait(cx)) {
        return -EAGAIN;
    }
    ret = RETRY_ON_EINTR(datasync ? qemu_fdatasync(file->fd) :
                                    fsync(file->fd));
    return ret < 0 ? -errno : 0;
}
