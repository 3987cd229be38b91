/*
 * Work item: listing directories
 *
 * One item fetches as many entries as a reply takes and encodes them where
 * the guest wants them.  It allocates nothing.
 *
 * While the guest digests a full reply, a worker reads on ("ahead"), so that
 * the next request need not wait for one; that a directory ends is kept from
 * the item that found it.  Either answers one request, for the very position
 * where it goes on, and only if no name has come or gone through the server.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "hw/9pfs/coth.h"
#include "trace.h"

/* Bytes that the largest entry takes */
#define MAX_ENTRY   (P9_DIRENT_HDRSZ + P9_NAME_MAX)
/* Bytes to read ahead at most, in one directory and in all */
#define AHEAD_MAX   (512 * KiB)
#define AHEAD_TOTAL (4 * MiB)

typedef struct ReaddirWork {
    V9fsWork w;
    V9fsFile *dir;
    bool root;                  /* it is the export's root */
    uint64_t offset;
    const struct iovec *iov;    /* where the next entry goes: the element */
    int iovcnt;                 /* that has room, how many are left with it, */
    size_t at;                  /* and where in it */
    size_t left;                /* bytes that may still be used */
    size_t used;
    unsigned *entries;
    bool full;                  /* an entry did not fit */
    int error;                  /* of an entry that cannot be shown */
    bool ended;                 /* there are no more entries at @offset */
} ReaddirWork;

/* What is known of a directory beyond the last reply; server's thread */
struct V9fsAhead {
    bool ready;
    unsigned changes;           /* of the directory's node at that time */
    uint64_t at;                /* the position that it goes on from, */
    uint64_t next;              /* and where it leads to */
    bool ended;                 /* there the directory ends */
    size_t used;                /* bytes of entries; 0: it ends at @at */
    unsigned entries;
    uint8_t *buf;
    size_t room;                /* bytes of @buf */
};

/* Copies an entry that does not fit the element over to those behind it */
static void put_scattered(ReaddirWork *w, const uint8_t *entry, size_t size)
{
    while (size) {
        size_t n = MIN(size, w->iov->iov_len - w->at);

        memcpy((char *)w->iov->iov_base + w->at, entry, n);
        entry += n;
        size -= n;
        w->at += n;
        if (size) {
            w->iov++;
            w->iovcnt--;
            w->at = 0;
        }
    }
}

static size_t put_entry(ReaddirWork *w, const P9Dirent *e)
{
    uint8_t entry[MAX_ENTRY];
    size_t size = 0;

    if (P9_DIRENT_HDRSZ + e->namelen > w->left) {
        return 0;
    }
    if (w->at < w->iov->iov_len) {
        size = p9_put_dirent((uint8_t *)w->iov->iov_base + w->at,
                             w->iov->iov_len - w->at, e);
        w->at += size;
    }
    if (!size) {
        size = p9_put_dirent(entry, sizeof(entry), e);
        put_scattered(w, entry, size);
    }
    w->used += size;
    ++*w->entries;
    w->left -= size;
    return size;
}

static bool is_dotdot(const V9fsDirent *ent)
{
    return ent->namelen == 2 && ent->name[0] == '.' && ent->name[1] == '.';
}

static bool add_entry(void *opaque, const V9fsDirent *ent)
{
    ReaddirWork *w = opaque;
    const V9fsFs *fs = &w->w.s->fs;
    bool top = w->root && is_dotdot(ent);
    P9Dirent e = {
        .qid = { .type = v9fs_qid_type(DTTOIF(ent->type)) },
        .offset = ent->offset, .type = ent->type,
        .name = ent->name, .namelen = ent->namelen,
    };

    /* The root is its own parent, whatever the host has above it. */
    w->error = v9fs_qid_path(&w->w.s->qids, top ? fs->root.dev : ent->dev,
                             top ? fs->root.ino : ent->ino, &e.qid.path);
    if (w->error) {
        return false;
    }
    w->full = !put_entry(w, &e);
    if (!w->full) {
        w->offset = ent->offset;
    }
    return !w->full;
}

/* Worker, or in place: all that the driver has and the buffer takes */
static int read_entries(const V9fsCtx *cx, ReaddirWork *w)
{
    int err = cx->fs->ops->readdir(cx, w->dir, w->offset, w->left,
                                   add_entry, w);

    if (err == -EAGAIN && cx->nowait) {
        return err;     /* a worker goes on from here */
    }
    w->ended = !err && !w->error && !w->full;
    if (w->used) {
        return w->used;
    }
    /* An empty reply would say that the directory ends here. */
    return err ?: w->error ?: (w->full ? -EINVAL : 0);
}

static int readdir_run(const V9fsCtx *cx, V9fsWork *work)
{
    return read_entries(cx, container_of(work, ReaddirWork, w));
}

/* Reading ahead */

static void drop_buffer(V9fsState *s, V9fsAhead *a)
{
    s->ahead_bytes -= a->room;
    a->room = 0;
    g_clear_pointer(&a->buf, g_free);
}

void v9fs_ahead_free(V9fsState *s, V9fsAhead *a)
{
    if (a) {
        drop_buffer(s, a);
        g_free(a);
    }
}

static V9fsAhead *ahead_of(V9fsFid *dir)
{
    if (!dir->ahead) {
        dir->ahead = g_new0(V9fsAhead, 1);
    }
    return dir->ahead;
}

/* Room for @size bytes; false if there is too much already */
static bool get_buffer(V9fsState *s, V9fsAhead *a, size_t size)
{
    size = MIN(size, AHEAD_MAX);
    if (a->room == size) {
        return true;
    }
    drop_buffer(s, a);
    if (s->ahead_bytes + size > AHEAD_TOTAL) {
        return false;
    }
    a->buf = g_try_malloc(size);
    if (!a->buf) {
        return false;
    }
    a->room = size;
    s->ahead_bytes += size;
    return true;
}

typedef struct AheadWork {
    V9fsJob job;
    V9fsState *s;
    V9fsFid *dir;
    struct iovec iov;
    ReaddirWork r;
} AheadWork;

static int ahead_run(V9fsJob *job)
{
    AheadWork *w = container_of(job, AheadWork, job);
    V9fsCtx cx = { .fs = &w->s->fs };

    return read_entries(&cx, &w->r);
}

static void coroutine_fn read_ahead(void *opaque)
{
    g_autofree AheadWork *w = opaque;
    V9fsState *s = w->s;
    V9fsAhead *a = w->dir->ahead;
    int ret;

    qemu_co_mutex_lock(&w->dir->dir_lock);
    a->changes = w->dir->node->changes;
    a->at = w->r.offset;
    a->entries = 0;
    ret = s->draining ? -ECANCELED : v9fs_workers_run(&s->workers, &w->job);
    a->ready = ret > 0 || w->r.ended;
    a->used = MAX(ret, 0);
    a->next = w->r.offset;
    a->ended = w->r.ended;
    trace_v9fs_readdir_ahead(w->dir->fid, a->entries, ret);
    qemu_co_mutex_unlock(&w->dir->dir_lock);
    v9fs_fid_put(s, w->dir);
    s->aheads--;
    if (s->draining) {
        qemu_co_queue_restart_all(&s->drained);
    }
}

/* @done: what the guest has got now; @size: bytes that its reply could hold */
static void coroutine_fn start_ahead(V9fsState *s, V9fsFid *dir,
                                     const ReaddirWork *done, size_t size)
{
    V9fsAhead *a = ahead_of(dir);
    AheadWork *w;

    if (s->draining || !get_buffer(s, a, size)) {
        return;
    }
    w = g_new(AheadWork, 1);
    *w = (AheadWork) {
        .job = { .run = ahead_run }, .s = s, .dir = dir,
        .iov = { a->buf, a->room },
        .r = { .w = { .s = s }, .dir = &dir->file, .root = done->root,
               .offset = done->offset, .left = a->room, .iovcnt = 1,
               .entries = &a->entries },
    };
    w->r.iov = &w->iov;
    dir->refs++;
    s->aheads++;
    qemu_coroutine_enter(qemu_coroutine_create(read_ahead, w));
}

/* Answers from what is known already; false if it is for something else */
static bool take_ahead(V9fsFid *dir, ReaddirWork *w, int *ret)
{
    V9fsAhead *a = dir->ahead;

    if (!a || !a->ready) {
        return false;
    }
    a->ready = false;
    if (a->at != w->offset || a->changes != dir->node->changes ||
        a->used > w->left) {
        return false;
    }
    iov_from_buf(w->iov, w->iovcnt, 0, a->buf, a->used);
    *w->entries = a->entries;
    w->offset = a->next;
    w->ended = a->ended;
    *ret = a->used;
    return true;
}

static void remember_end(V9fsState *s, V9fsFid *dir, uint64_t offset)
{
    V9fsAhead *a = ahead_of(dir);

    drop_buffer(s, a);
    *a = (V9fsAhead) {
        .ready = true, .changes = dir->node->changes, .at = offset,
        .next = offset, .ended = true,
    };
}

int coroutine_fn v9fs_co_readdir(V9fsPDU *pdu, V9fsFid *dir, uint64_t offset,
                                 const struct iovec *iov, int iovcnt,
                                 size_t size, unsigned *entries)
{
    unsigned changes = dir->node->changes;
    ReaddirWork w = {
        .w = { .run = readdir_run }, .dir = &dir->file,
        .root = dir->node == pdu->s->root, .offset = offset,
        .iov = iov, .iovcnt = iovcnt, .left = size,
        .entries = entries,
    };
    int ret;

    *entries = 0;
    if (!take_ahead(dir, &w, &ret)) {
        ret = v9fs_co_work(pdu, &w.w);
    }
    if (ret > 0 && changes == dir->node->changes) {
        if (w.ended) {
            remember_end(pdu->s, dir, w.offset);
        } else {
            start_ahead(pdu->s, dir, &w, size);
        }
    }
    return ret;
}
