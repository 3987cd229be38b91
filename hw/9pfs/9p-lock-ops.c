/*
 * Handlers: locks
 *
 * The guest's kernel arbitrates between its own processes before it asks.  What
 * it has granted is held here against other clients, and on the host against
 * its programs and other guests.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"
#include "9p-lock.h"

/* Linux sends the name of its node: 64 bytes. */
#define MAX_CLIENT_ID   255

/* What Rgetlock calls a client that is none of this server's */
#define HOST_CLIENT_ID  "host"

static int check_lock(uint8_t type, uint64_t start, uint64_t length,
                      const char *client_id)
{
    if (type > P9_LOCK_TYPE_UNLCK || start > INT64_MAX) {
        return -EINVAL;
    }
    if (length && length - 1 > INT64_MAX - start) {
        return -EOVERFLOW;
    }
    return strlen(client_id) > MAX_CLIENT_ID ? -ENAMETOOLONG : 0;
}

/* Length 0 is to the end, however far the file will grow. */
static V9fsLock lock_of(uint8_t type, uint64_t start, uint64_t length)
{
    return (V9fsLock) {
        .type = type, .start = start,
        .end = length ? start + length - 1 : INT64_MAX,
    };
}

static uint64_t length_of(const V9fsLock *lock)
{
    return lock->end == INT64_MAX ? 0 : lock->end - lock->start + 1;
}

/*
 * Linux sends flock() as a lock of the whole file that it waits for, by the
 * process that asks.  It is the open file's, though: a shell lets one process
 * take and another one release it.
 */
static bool may_be_flock(const P9Tlock *req)
{
    return req->start == 0 && req->length == 0 &&
           (req->flags & P9_LOCK_FLAGS_BLOCK);
}

static int coroutine_fn unlock(V9fsPDU *pdu, V9fsLocks *l, const V9fsHeld *ask)
{
    g_autoptr(GArray) gaps = NULL;

    v9fs_locks_set(pdu->s, l, ask);
    gaps = v9fs_locks_unheld(l, &ask->lock);
    if (!l->has_holder || !gaps->len) {
        return 0;
    }
    return v9fs_co_lock(pdu, l, &pdu->fid[0]->file, (V9fsLock *)gaps->data,
                        gaps->len);
}

/* 1: somebody else has it */
static int coroutine_fn lock(V9fsPDU *pdu, V9fsLocks *l, const V9fsHeld *ask)
{
    V9fsLock host = v9fs_locks_for_host(l, ask);
    int ret = 0;

    if (v9fs_locks_conflict(l, ask)) {
        return 1;
    }
    if (pdu->s->fs.ops->lock) {
        ret = v9fs_co_lock(pdu, l, &pdu->fid[0]->file, &host, 1);
    }
    if (ret == 0) {
        v9fs_locks_set(pdu->s, l, ask);
    }
    return ret;
}

static int coroutine_fn change_locks(V9fsPDU *pdu, const V9fsHeld *ask)
{
    const P9Tlock *req = &pdu->req.lock;
    V9fsLocks *l = v9fs_locks_of(pdu->s, pdu->fid[0]);

    QEMU_LOCK_GUARD(&l->mutex);
    if (!v9fs_locks_room(pdu->s, ask)) {
        return -ENOLCK;
    }
    if (may_be_flock(req)) {
        v9fs_locks_take_over(l, ask);
    }
    return req->type == P9_LOCK_TYPE_UNLCK ? unlock(pdu, l, ask)
                                           : lock(pdu, l, ask);
}

int coroutine_fn v9fs_do_lock(V9fsPDU *pdu)
{
    const P9Tlock *req = &pdu->req.lock;
    V9fsHeld ask = {
        .lock = lock_of(req->type, req->start, req->length),
        .proc_id = req->proc_id, .client_id = req->client_id,
        .fid = pdu->fid[0],
    };
    int ret = check_lock(req->type, req->start, req->length, req->client_id);

    if (ret < 0) {
        return ret;
    }
    if (req->flags & ~(P9_LOCK_FLAGS_BLOCK | P9_LOCK_FLAGS_RECLAIM)) {
        return -EINVAL;
    }
    if (pdu->s->fs.exp->locks) {
        ret = change_locks(pdu, &ask);
    }
    /* The client asks again: a worker that waited would be lost to others. */
    pdu->res.lock.status = ret > 0 ? P9_LOCK_BLOCKED : P9_LOCK_SUCCESS;
    return MIN(ret, 0);
}

static void answer(V9fsPDU *pdu, const V9fsHeld *h)
{
    pdu->res.getlock = (P9Rgetlock) {
        .type = h->lock.type, .start = h->lock.start,
        .length = length_of(&h->lock), .proc_id = h->proc_id,
        .client_id = h->client_id,
    };
}

static int coroutine_fn find_lock(V9fsPDU *pdu, const V9fsHeld *ask)
{
    V9fsLocks *l = v9fs_locks_of(pdu->s, pdu->fid[0]);
    V9fsHeld other = { .lock = ask->lock, .client_id = HOST_CLIENT_ID };
    const V9fsHeld *h;
    int ret;

    QEMU_LOCK_GUARD(&l->mutex);
    h = v9fs_locks_conflict(l, ask);
    if (h) {
        answer(pdu, h);
        return 0;
    }
    if (!pdu->s->fs.ops->getlock) {
        return 0;
    }
    ret = v9fs_co_getlock(pdu, l, &pdu->fid[0]->file, &other.lock,
                          &other.proc_id);
    if (ret == 0 && other.lock.type != P9_LOCK_TYPE_UNLCK) {
        answer(pdu, &other);
    }
    return ret;
}

int coroutine_fn v9fs_do_getlock(V9fsPDU *pdu)
{
    const P9Tgetlock *req = &pdu->req.getlock;
    V9fsHeld ask = {
        .lock = lock_of(req->type, req->start, req->length),
        .proc_id = req->proc_id, .client_id = req->client_id,
    };
    int ret = check_lock(req->type, req->start, req->length, req->client_id);

    if (ret < 0) {
        return ret;
    }
    pdu->res.getlock = (P9Rgetlock) {
        .type = P9_LOCK_TYPE_UNLCK, .start = req->start,
        .length = req->length, .proc_id = req->proc_id,
        .client_id = req->client_id,
    };
    /* Nothing is in the way of a lock that is none. */
    if (!pdu->s->fs.exp->locks || req->type == P9_LOCK_TYPE_UNLCK) {
        return 0;
    }
    return find_lock(pdu, &ask);
}

int coroutine_fn v9fs_close_fid(V9fsPDU *pdu, V9fsFid *fid, bool has_file)
{
    static const V9fsLock whole = { .end = INT64_MAX };
    g_autoptr(GArray) gaps = NULL;
    V9fsLocks *l = fid->locks;
    bool last;
    int ret;

    if (!l) {
        return v9fs_co_close(pdu, &fid->file);
    }
    qemu_co_mutex_lock(&l->mutex);
    last = v9fs_locks_leave(pdu->s, fid);
    gaps = v9fs_locks_unheld(l, &whole);
    ret = v9fs_co_unlock_close(pdu, l, (V9fsLock *)gaps->data, gaps->len,
                               last, has_file ? &fid->file : NULL);
    qemu_co_mutex_unlock(&l->mutex);
    if (last) {
        v9fs_locks_free(pdu->s, l);
    }
    return ret;
}
