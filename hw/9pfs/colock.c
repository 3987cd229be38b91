/*
 * Work items: locks on the host's files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"
#include "9p-lock.h"

/* Locks to give back in place: with more a worker is quicker for others. */
#define MAX_IN_PLACE    8

typedef struct LockWork {
    V9fsWork w;
    V9fsFile *file, *holder;
    bool has_holder;
    const V9fsLock *lock;
    unsigned n, done;
} LockWork;

static int run_locks(const V9fsCtx *cx, LockWork *w)
{
    int ret = 0;

    if (cx->nowait && w->n - w->done > MAX_IN_PLACE) {
        return -EAGAIN;
    }
    while (ret == 0 && w->done < w->n) {
        ret = cx->fs->ops->lock(cx, w->holder, &w->lock[w->done]);
        w->done += ret == 0;
    }
    return ret;
}

static int lock_run(const V9fsCtx *cx, V9fsWork *work)
{
    LockWork *w = container_of(work, LockWork, w);

    if (!w->has_holder) {
        int ret = cx->fs->ops->open_holder(cx, w->file, w->holder);

        if (ret < 0) {
            return ret;
        }
        w->has_holder = true;
    }
    return run_locks(cx, w);
}

int coroutine_fn v9fs_co_lock(V9fsPDU *pdu, V9fsLocks *l, V9fsFile *file,
                              const V9fsLock *lock, unsigned n)
{
    LockWork w = {
        .w = { .run = lock_run,
               .must_run = lock->type == P9_LOCK_TYPE_UNLCK },
        .file = file, .holder = &l->holder, .has_holder = l->has_holder,
        .lock = lock, .n = n,
    };
    int ret = v9fs_co_work(pdu, &w.w);

    l->has_holder = w.has_holder;
    return ret;
}

typedef struct GetlockWork {
    V9fsWork w;
    V9fsFile *file;
    V9fsLock *lock;
    uint32_t *pid;
} GetlockWork;

static int getlock_run(const V9fsCtx *cx, V9fsWork *work)
{
    GetlockWork *w = container_of(work, GetlockWork, w);

    return cx->fs->ops->getlock(cx, w->file, w->lock, w->pid);
}

int coroutine_fn v9fs_co_getlock(V9fsPDU *pdu, V9fsLocks *l, V9fsFile *file,
                                 V9fsLock *lock, uint32_t *pid)
{
    GetlockWork w = {
        .w = { .run = getlock_run },
        .file = l->has_holder ? &l->holder : file, .lock = lock, .pid = pid,
    };

    return v9fs_co_work(pdu, &w.w);
}

typedef struct UnlockCloseWork {
    LockWork lock;
    bool close_holder;
} UnlockCloseWork;

/* Called anew after -EAGAIN it goes on where it was. */
static int unlock_close_run(const V9fsCtx *cx, V9fsWork *work)
{
    UnlockCloseWork *w = container_of(work, UnlockCloseWork, lock.w);

    /* If the host does not take one back, closing the holder will do it. */
    if (run_locks(cx, &w->lock) == -EAGAIN) {
        return -EAGAIN;
    }
    if (w->close_holder) {
        if (cx->fs->ops->close(cx, w->lock.holder) == -EAGAIN) {
            return -EAGAIN;
        }
        w->close_holder = false;
    }
    return w->lock.file ? cx->fs->ops->close(cx, w->lock.file) : 0;
}

int coroutine_fn v9fs_co_unlock_close(V9fsPDU *pdu, V9fsLocks *l,
                                      const V9fsLock *unlock, unsigned n,
                                      bool last, V9fsFile *file)
{
    UnlockCloseWork w = {
        .lock = {
            .w = { .run = unlock_close_run, .must_run = true },
            .file = file, .holder = &l->holder,
            .lock = unlock, .n = l->has_holder && !last ? n : 0,
        },
        .close_holder = l->has_holder && last,
    };

    return v9fs_co_work(pdu, &w.lock.w);
}
