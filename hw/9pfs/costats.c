/*
 * Work item: directories as 9P2000.u has them
 *
 * One item fetches as many entries as a reply takes, their attributes too,
 * and encodes stat records where the guest wants them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"
#include "hw/9pfs/9p-u.h"

typedef struct StatsWork {
    V9fsWork w;
    V9fsFile *dir;
    bool root;                  /* it is the export's root */
    uint64_t offset;            /* behind the last entry that was taken */
    const struct iovec *iov;
    int iovcnt;
    size_t size;                /* bytes that may be used */
    size_t used;
    bool full;                  /* an entry did not fit */
    int error;                  /* of an entry that cannot be shown */
    const V9fsCtx *cx;          /* of the run */
} StatsWork;

/* Attributes of an entry, and the target if it is a symbolic link */
static int look(StatsWork *w, V9fsStat *st, V9fsUText *text)
{
    const V9fsFsOps *ops = w->cx->fs->ops;
    V9fsHandle dir = v9fs_dir_handle(w->dir);
    V9fsObject obj = { .dir = &dir, .name = text->name };
    bool itself = g_str_equal(text->name, ".");
    int ret;

    if (g_str_equal(text->name, "..")) {
        return -EACCES; /* it may be anywhere, outside the export too */
    }
    ret = ops->stat(w->cx, itself ? &w->w.place[0].obj : &obj, st);
    if (ret == 0 && S_ISLNK(st->mode)) {
        ret = ops->readlink(w->cx, &obj, text->extension,
                            sizeof(text->extension));
    }
    return MIN(ret, 0);
}

/* What an entry itself says; the root is its own parent */
static int describe_unseen(StatsWork *w, const V9fsDirent *ent,
                           V9fsUText *text, P9Stat *rec)
{
    const V9fsHandle *root = &w->w.s->fs.root;
    bool top = w->root && g_str_equal(text->name, "..");

    *rec = (P9Stat) {
        .name = text->name, .mode = v9fs_u_mode(DTTOIF(ent->type)),
        .qid = { .type = v9fs_qid_type(DTTOIF(ent->type)) },
        .n_uid = P9_NONUNAME, .n_gid = P9_NONUNAME, .n_muid = P9_NONUNAME,
    };
    return v9fs_qid_path(&w->w.s->qids, top ? root->dev : ent->dev,
                         top ? root->ino : ent->ino, &rec->qid.path);
}

/* A directory can be read though nothing may be looked up in it. */
static int describe(StatsWork *w, const V9fsDirent *ent, V9fsUText *text,
                    P9Stat *rec)
{
    V9fsStat st;
    int err = look(w, &st, text);

    if (err == -EACCES) {
        return describe_unseen(w, ent, text, rec);
    }
    return err ?: v9fs_u_stat(&w->w.s->qids, &st, text, rec);
}

static bool put_record(StatsWork *w, const P9Stat *rec)
{
    uint8_t bytes[V9FS_U_RECORD_MAX];
    size_t size = p9_put_stat(bytes, sizeof(bytes), rec);

    w->full = size > w->size - w->used;
    if (!w->full) {
        iov_from_buf(w->iov, w->iovcnt, w->used, bytes, size);
        w->used += size;
    }
    return !w->full;
}

static bool add_entry(void *opaque, const V9fsDirent *ent)
{
    StatsWork *w = opaque;
    V9fsUText text;
    P9Stat rec;

    g_strlcpy(text.name, ent->name, sizeof(text.name));
    w->error = describe(w, ent, &text, &rec);
    if (w->error == -ENOENT || w->error == -ENODEV) {
        /* Gone meanwhile, or not to be seen */
        w->error = 0;
    } else if (w->error || !put_record(w, &rec)) {
        return false;
    }
    w->offset = ent->offset;
    return true;
}

static int stats_run(const V9fsCtx *cx, V9fsWork *work)
{
    StatsWork *w = container_of(work, StatsWork, w);
    int err;

    w->cx = cx;
    err = cx->fs->ops->readdir(cx, w->dir, w->offset, w->size - w->used,
                               add_entry, w);
    if (cx->nowait && (err == -EAGAIN || w->error == -EAGAIN)) {
        return -EAGAIN; /* a worker goes on from here */
    }
    if (w->used) {
        return w->used;
    }
    /* An empty reply would say that the directory ends here. */
    return err ?: w->error ?: (w->full ? -EINVAL : 0);
}

int coroutine_fn v9fs_co_read_stats(V9fsPDU *pdu, V9fsFid *dir,
                                    uint64_t *offset,
                                    const struct iovec *iov, int iovcnt,
                                    size_t size)
{
    StatsWork w = {
        .w = { .run = stats_run, .place = { v9fs_at_fid(dir) }, .nplaces = 1 },
        .dir = &dir->file,
        .root = dir->node == pdu->s->root, .offset = *offset,
        .iov = iov, .iovcnt = iovcnt, .size = size,
    };
    int ret = v9fs_co_work(pdu, &w.w);

    *offset = w.offset;
    return ret;
}
