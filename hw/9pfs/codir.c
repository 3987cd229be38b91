/*
 * Work item: listing directories
 *
 * One item fetches as many entries as a reply takes and encodes them where
 * the guest wants them.  It allocates nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"

/* Bytes that the largest entry takes */
#define MAX_ENTRY   (P9_DIRENT_HDRSZ + P9_NAME_MAX)

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
} ReaddirWork;

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

static int readdir_run(const V9fsCtx *cx, V9fsWork *work)
{
    ReaddirWork *w = container_of(work, ReaddirWork, w);
    int err = cx->fs->ops->readdir(cx, w->dir, w->offset, w->left,
                                   add_entry, w);

    if (err == -EAGAIN && cx->nowait) {
        return err;     /* a worker goes on from here */
    }
    if (w->used) {
        return w->used;
    }
    /* An empty reply would say that the directory ends here. */
    return err ?: w->error ?: (w->full ? -EINVAL : 0);
}

int coroutine_fn v9fs_co_readdir(V9fsPDU *pdu, V9fsFid *dir, uint64_t offset,
                                 const struct iovec *iov, int iovcnt,
                                 size_t size, unsigned *entries)
{
    ReaddirWork w = {
        .w = { .run = readdir_run }, .dir = &dir->file,
        .root = dir->node == pdu->s->root, .offset = offset,
        .iov = iov, .iovcnt = iovcnt, .left = size,
        .entries = entries,
    };

    *entries = 0;

    return v9fs_co_work(pdu, &w.w);
}
