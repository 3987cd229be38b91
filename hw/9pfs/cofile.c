/*
 * Work items: open files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"

typedef struct OpenWork {
    V9fsWork w;
    uint32_t flags;
    V9fsFile *file;
    V9fsStat *st;
    const V9fsNew *new;         /* create: what */
    V9fsNode **node;            /* create: and its node */
} OpenWork;

static int open_run(const V9fsCtx *cx, V9fsWork *work)
{
    OpenWork *w = container_of(work, OpenWork, w);

    return cx->fs->ops->open(cx, &work->place[0].obj, w->flags, w->file, w->st);
}

static void open_finish(V9fsWork *work, int ret)
{
    OpenWork *w = container_of(work, OpenWork, w);

    if (ret == 0) {
        v9fs_place_seen(work->s, &work->place[0], w->st);
    }
}

int coroutine_fn v9fs_co_open(V9fsPDU *pdu, V9fsFid *fid, uint32_t flags,
                              V9fsFile *file, V9fsStat *st)
{
    OpenWork w = {
        .w = { .run = open_run, .finish = open_finish,
               .place = { v9fs_at_fid(fid) }, .nplaces = 1 },
        .flags = flags, .file = file, .st = st,
    };

    return v9fs_co_work(pdu, &w.w);
}

static int create_run(const V9fsCtx *cx, V9fsWork *work)
{
    OpenWork *w = container_of(work, OpenWork, w);

    return cx->fs->ops->create(cx, work->place[0].obj.dir, w->new, w->flags,
                               w->file, w->st);
}

static void create_finish(V9fsWork *work, int ret)
{
    OpenWork *w = container_of(work, OpenWork, w);

    if (ret == 0) {
        *w->node = v9fs_node_get(work->s, work->place[0].dir, w->new->name);
        v9fs_node_seen(work->s, *w->node, w->st);
    }
}

int coroutine_fn v9fs_co_create(V9fsPDU *pdu, V9fsFid *dir,
                                const V9fsNew *new, uint32_t flags,
                                V9fsFile *file, V9fsStat *st, V9fsNode **node)
{
    OpenWork w = {
        .w = { .run = create_run, .finish = create_finish,
               .place = { v9fs_at_name(dir, new->name) }, .nplaces = 1,
               .alters = true },
        .flags = flags, .file = file, .st = st, .new = new, .node = node,
    };

    return v9fs_co_work(pdu, &w.w);
}

typedef struct FileWork {
    V9fsWork w;
    V9fsFile *file;
    const struct iovec *iov;
    int iovcnt;
    uint64_t offset;
    bool append, datasync;
} FileWork;

static int close_run(const V9fsCtx *cx, V9fsWork *work)
{
    return cx->fs->ops->close(cx, container_of(work, FileWork, w)->file);
}

int coroutine_fn v9fs_co_close(V9fsPDU *pdu, V9fsFile *file)
{
    FileWork w = { .w = { .run = close_run, .must_run = true }, .file = file };

    return v9fs_co_work(pdu, &w.w);
}

static int preadv_run(const V9fsCtx *cx, V9fsWork *work)
{
    FileWork *w = container_of(work, FileWork, w);

    return cx->fs->ops->preadv(cx, w->file, w->iov, w->iovcnt, w->offset);
}

int coroutine_fn v9fs_co_preadv(V9fsPDU *pdu, V9fsFid *fid,
                                const struct iovec *iov, int iovcnt,
                                uint64_t offset)
{
    FileWork w = {
        .w = { .run = preadv_run }, .file = &fid->file,
        .iov = iov, .iovcnt = iovcnt, .offset = offset,
    };

    return v9fs_co_work(pdu, &w.w);
}

static int pwritev_run(const V9fsCtx *cx, V9fsWork *work)
{
    FileWork *w = container_of(work, FileWork, w);

    return cx->fs->ops->pwritev(cx, &work->place[0].obj, w->iov, w->iovcnt,
                                w->offset, w->append);
}

int coroutine_fn v9fs_co_pwritev(V9fsPDU *pdu, V9fsFid *fid,
                                 const struct iovec *iov, int iovcnt,
                                 uint64_t offset, bool append)
{
    bool may_be_suid = qatomic_read(&fid->file.suid_seen) !=
                       qatomic_read(&pdu->s->fs.suid_changes);
    FileWork w = {
        .w = { .run = pwritev_run, .nplaces = 1,
               .place = { may_be_suid ? v9fs_at_fid(fid)
                                      : v9fs_at_file(&fid->file) } },
        .iov = iov, .iovcnt = iovcnt, .offset = offset, .append = append,
    };

    return v9fs_co_work(pdu, &w.w);
}

static int fsync_run(const V9fsCtx *cx, V9fsWork *work)
{
    FileWork *w = container_of(work, FileWork, w);

    return cx->fs->ops->fsync(cx, w->file, w->datasync);
}

int coroutine_fn v9fs_co_fsync(V9fsPDU *pdu, V9fsFid *fid, bool datasync)
{
    FileWork w = {
        .w = { .run = fsync_run }, .file = &fid->file, .datasync = datasync,
    };

    return v9fs_co_work(pdu, &w.w);
}
