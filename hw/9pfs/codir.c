/*
 * Work items: listing directories
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"

/* Bytes that the largest entry takes */
#define MAX_ENTRY   (P9_DIRENT_HDRSZ + P9_NAME_MAX)

/* One entry, fetched by a worker */
typedef struct EntryWork {
    V9fsWork w;
    V9fsFile *dir;
    bool root;                  /* it is the export's root */
    uint64_t offset;
    uint8_t buf[MAX_ENTRY];     /* encoded */
    size_t used;
    uint64_t next;              /* position behind it */
    int error;
} EntryWork;

static bool take_entry(void *opaque, const V9fsDirent *ent)
{
    EntryWork *w = opaque;
    P9Dirent e = {
        .qid = { .type = v9fs_qid_type(DTTOIF(ent->type)) },
        .offset = ent->offset, .type = ent->type,
        .name = ent->name, .namelen = ent->namelen,
    };

    uint64_t dev = ent->dev, ino = ent->ino;

    if (w->used) {
        return false;
    }
    if (w->root && ent->namelen == 2 && !memcmp(ent->name, "..", 2)) {
        dev = w->w.s->fs.root.dev;
        ino = w->w.s->fs.root.ino;
    }
    w->error = v9fs_qid_path(&w->w.s->qids, dev, ino, &e.qid.path);
    w->used = p9_put_dirent(w->buf, sizeof(w->buf), &e);
    w->next = ent->offset;
    return w->error == 0;
}

static int entry_run(const V9fsCtx *cx, V9fsWork *work)
{
    EntryWork *w = container_of(work, EntryWork, w);

    return cx->fs->ops->readdir(cx, w->dir, w->offset, take_entry, w) ?:
           w->error;
}

int coroutine_fn v9fs_co_readdir(V9fsPDU *pdu, V9fsFid *dir, uint64_t offset,
                                 const struct iovec *iov, int iovcnt,
                                 size_t size)
{
    EntryWork w = {
        .w = { .run = entry_run }, .dir = &dir->file,
        .root = dir->node == pdu->s->root, .offset = offset,
    };
    size_t used = 0;

    for (;;) {
        int err = v9fs_co_work(pdu, &w.w);

        if (err) {
            return used ?: err;
        }
        if (w.used > size - used) {
            return used ?: -EINVAL;
        }
        if (!w.used) {
            return used;
        }
        iov_from_buf(iov, iovcnt, used, w.buf, w.used);
        used += w.used;
        w.offset = w.next;
        w.used = 0;
    }
}
