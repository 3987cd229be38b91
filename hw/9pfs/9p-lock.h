/*
 * The locks on files that the guest's processes hold
 *
 * A table in the server's thread: which owner has which bytes of which file.
 * An owner is a process of a client (client_id and proc_id), as in POSIX: what
 * it locks and unlocks is its own through whatever fid.  The host is told of
 * the union of what all of them hold, by one open file for each inode (the
 * holder), so that the guest's owners and the host's never both have a lock.
 *
 * 9p-lock.c is the table and knows no request; colock.c tells the host.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_9P_LOCK_H
#define QEMU_9P_LOCK_H

#include "hw/9pfs/9p.h"

/* A lock with its owner: one that is held, or one that is asked for */
typedef struct V9fsHeld {
    V9fsLock lock;
    uint32_t proc_id;
    const char *client_id;      /* in the table a GRefString */
    const V9fsFid *fid;         /* through which it is held: goes with it */
} V9fsHeld;

/* All locks on a file; exists while there is a fid that has asked for one */
struct V9fsLocks {
    uint64_t dev, ino;
    unsigned fids;
    CoMutex mutex;              /* one request changes them at a time */
    bool has_holder;
    V9fsFile holder;            /* the driver's, which has the host's locks */
    GArray *held;               /* V9fsHeld, in no order */
};

void v9fs_locks_init(V9fsState *s);
void v9fs_locks_destroy(V9fsState *s);

/**
 * v9fs_locks_of: the locks on what @fid has open
 *
 * Makes them if need be; they exist as long as the fid is open.
 */
V9fsLocks *v9fs_locks_of(V9fsState *s, V9fsFid *fid);

/**
 * v9fs_locks_conflict: a lock of another client that keeps @ask from being
 * granted, or NULL
 *
 * A client has granted it among its own processes before it asks.  Linux even
 * frees a lock for them before it says so to the server: what another process
 * of the client still has here is on its way to be given back.
 */
const V9fsHeld *v9fs_locks_conflict(const V9fsLocks *l, const V9fsHeld *ask);

/**
 * v9fs_locks_for_host: what the host must be asked for
 *
 * A shared lock does not make another owner's exclusive one a shared one.
 */
V9fsLock v9fs_locks_for_host(const V9fsLocks *l, const V9fsHeld *ask);

/**
 * v9fs_locks_room: whether the table may grow by what @ask needs
 */
bool v9fs_locks_room(const V9fsState *s, const V9fsHeld *ask);

/**
 * v9fs_locks_set: the owner now has @ask->lock in place of whatever it had of
 * those bytes
 */
void v9fs_locks_set(V9fsState *s, V9fsLocks *l, const V9fsHeld *ask);

/**
 * v9fs_locks_take_over: locks of the whole file that others have taken
 * through @ask's fid become those of @ask's owner
 */
void v9fs_locks_take_over(V9fsLocks *l, const V9fsHeld *ask);

/**
 * v9fs_locks_unheld: the parts of a range that nobody has locked
 *
 * Returns a new array of V9fsLock, of type P9_LOCK_TYPE_UNLCK.
 */
GArray *v9fs_locks_unheld(const V9fsLocks *l, const V9fsLock *range);

/**
 * v9fs_locks_leave: a fid that is to be closed gives up what it has locked
 *
 * Returns true if it was the last one: the locks are out of the table then,
 * for the caller to close their holder and to free.
 */
bool v9fs_locks_leave(V9fsState *s, V9fsFid *fid);
void v9fs_locks_free(V9fsState *s, V9fsLocks *l);

/* colock.c: telling the host; with @l->mutex held */

/**
 * v9fs_co_lock: let the holder take locks, or give them back
 * @file: open file of the inode, to make the holder from
 * @lock: @n of them
 *
 * Returns 0; 1 if another program of the host has one; -errno.
 */
int coroutine_fn v9fs_co_lock(V9fsPDU *pdu, V9fsLocks *l, V9fsFile *file,
                              const V9fsLock *lock, unsigned n);

/**
 * v9fs_co_getlock: find a lock of another program of the host in the way
 * @lock: that one, or of type P9_LOCK_TYPE_UNLCK if there is none
 * @pid: set to its process, 0 if that is not known
 */
int coroutine_fn v9fs_co_getlock(V9fsPDU *pdu, V9fsLocks *l, V9fsFile *file,
                                 V9fsLock *lock, uint32_t *pid);

/**
 * v9fs_co_unlock_close: give back locks and close
 * @unlock: @n locks to give back; if @last, all are, as the holder is closed
 * @file: NULL if it is closed already
 *
 * As v9fs_co_close(): whatever it returns, @file is closed.
 */
int coroutine_fn v9fs_co_unlock_close(V9fsPDU *pdu, V9fsLocks *l,
                                      const V9fsLock *unlock, unsigned n,
                                      bool last, V9fsFile *file);

#endif
