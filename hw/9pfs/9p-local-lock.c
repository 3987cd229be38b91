/*
 * Local driver: locks
 *
 * Locks on bytes, which every program of the host that uses fcntl() or lockf()
 * respects.  They belong to the open file description of the holder, so they
 * go when that is closed, and not with any other descriptor of QEMU.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "9p-local.h"

/*
 * A description that can read and write, since both kinds of locks need their
 * kind of access.  -EAGAIN: it may wait
 */
static int local_open_full(const V9fsCtx *cx, const V9fsFile *file)
{
    LocalAt at = { .fd = file->fd, .opened = true };
    int flags = O_RDWR | O_CLOEXEC | O_NOCTTY;

    if (cx->nowait && !(file->nowait & LOCAL_NOWAIT_MEMORY)) {
        return -EAGAIN;
    }
    /* If another process has a lease, not even a worker waits for it. */
    return local_os_open(&at, flags | O_NONBLOCK);
}

static bool local_needs_full(const V9fsCtx *cx, const V9fsFile *file)
{
    return !file->is_dir && !cx->fs->exp->readonly &&
           (fcntl(file->fd, F_GETFL) & O_ACCMODE) != O_RDWR;
}

int local_open_holder(const V9fsCtx *cx, V9fsFile *file, V9fsFile *holder)
{
    int fd = -EACCES;

    if (local_needs_full(cx, file)) {
        fd = local_open_full(cx, file);
        if ((fd == -EAGAIN && cx->nowait) || fd == -EMFILE || fd == -ENFILE) {
            return fd;
        }
    }
    if (fd < 0) {
        /* What this one allows; another open file is not to be had. */
        fd = qemu_dup(file->fd);
        if (fd < 0) {
            return -errno;
        }
    }
    *holder = *file;
    holder->fd = fd;
    return 0;
}

static bool local_lock_must_run(const V9fsCtx *cx, const V9fsFile *file)
{
    return cx->nowait && (!(file->nowait & LOCAL_NOWAIT_CACHED) ||
                          v9fs_refuse(cx));
}

/* Granting what others are granted, too, would be worse than an error. */
static int local_lock_error(const V9fsCtx *cx, int err)
{
    if (err == -ENOLCK || err == -EOPNOTSUPP || err == -ENOSYS ||
        err == -ENOTTY) {
        warn_report_once("9p: cannot lock files in '%s' (%s): use locks=off "
                         "if nobody but the guest uses them",
                         cx->fs->exp->path, strerror(-err));
        return -ENOLCK;
    }
    return err;
}

int local_lock(const V9fsCtx *cx, V9fsFile *holder, const V9fsLock *lock)
{
    int ret;

    if (local_lock_must_run(cx, holder)) {
        return -EAGAIN;
    }
    ret = local_os_lock(holder->fd, lock);
    return ret == -EAGAIN ? 1 : local_lock_error(cx, ret);
}

int local_getlock(const V9fsCtx *cx, V9fsFile *file, V9fsLock *lock,
                  uint32_t *pid)
{
    if (local_lock_must_run(cx, file)) {
        return -EAGAIN;
    }
    return local_lock_error(cx, local_os_getlock(file->fd, lock, pid));
}
