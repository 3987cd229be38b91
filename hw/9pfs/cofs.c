/*
 * Work items: names and attributes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"

/* Attributes */

typedef struct StatWork {
    V9fsWork w;
    V9fsStat *st;
    char *target;               /* of a symbolic link, or NULL */
    size_t size;
} StatWork;

static int stat_run(const V9fsCtx *cx, V9fsWork *work)
{
    StatWork *w = container_of(work, StatWork, w);
    const V9fsObject *obj = &work->place[0].obj;
    int ret = cx->fs->ops->stat(cx, obj, w->st);

    if (ret == 0 && w->target && S_ISLNK(w->st->mode)) {
        ret = cx->fs->ops->readlink(cx, obj, w->target, w->size);
    }
    return MIN(ret, 0);
}

static void stat_finish(V9fsWork *work, int ret)
{
    StatWork *w = container_of(work, StatWork, w);

    if (ret == 0) {
        v9fs_place_seen(work->s, &work->place[0], w->st);
    }
}

int coroutine_fn v9fs_co_stat_link(V9fsPDU *pdu, V9fsFid *fid, V9fsStat *st,
                                   char *target, size_t size)
{
    StatWork w = {
        .w = { .run = stat_run, .finish = stat_finish,
               .place = { v9fs_at_fid(fid) }, .nplaces = 1 },
        .st = st, .target = target, .size = size,
    };

    return v9fs_co_work(pdu, &w.w);
}

int coroutine_fn v9fs_co_stat(V9fsPDU *pdu, V9fsFid *fid, V9fsStat *st)
{
    return v9fs_co_stat_link(pdu, fid, st, NULL, 0);
}

typedef struct SetattrWork {
    V9fsWork w;
    const V9fsSetattr *attr;
} SetattrWork;

static int setattr_run(const V9fsCtx *cx, V9fsWork *work)
{
    SetattrWork *w = container_of(work, SetattrWork, w);

    return cx->fs->ops->setattr(cx, &work->place[0].obj, w->attr);
}

int coroutine_fn v9fs_co_setattr(V9fsPDU *pdu, V9fsFid *fid,
                                 const V9fsSetattr *attr)
{
    SetattrWork w = {
        .w = { .run = setattr_run,
               .place = { v9fs_at_fid(fid) }, .nplaces = 1 },
        .attr = attr,
    };

    return v9fs_co_work(pdu, &w.w);
}

typedef struct StatfsWork {
    V9fsWork w;
    P9Rstatfs *st;
} StatfsWork;

static int statfs_run(const V9fsCtx *cx, V9fsWork *work)
{
    StatfsWork *w = container_of(work, StatfsWork, w);

    return cx->fs->ops->statfs(cx, &work->place[0].obj, w->st);
}

int coroutine_fn v9fs_co_statfs(V9fsPDU *pdu, V9fsFid *fid, P9Rstatfs *st)
{
    StatfsWork w = {
        .w = { .run = statfs_run,
               .place = { v9fs_at_fid(fid) }, .nplaces = 1 },
        .st = st,
    };

    return v9fs_co_work(pdu, &w.w);
}

typedef struct ReadlinkWork {
    V9fsWork w;
    char *buf;
    size_t size;
} ReadlinkWork;

static int readlink_run(const V9fsCtx *cx, V9fsWork *work)
{
    ReadlinkWork *w = container_of(work, ReadlinkWork, w);

    return cx->fs->ops->readlink(cx, &work->place[0].obj, w->buf, w->size);
}

int coroutine_fn v9fs_co_readlink(V9fsPDU *pdu, V9fsFid *fid, char *buf,
                                  size_t size)
{
    ReadlinkWork w = {
        .w = { .run = readlink_run,
               .place = { v9fs_at_fid(fid) }, .nplaces = 1 },
        .buf = buf, .size = size,
    };

    return v9fs_co_work(pdu, &w.w);
}

/* New names */

typedef struct MakeWork {
    V9fsWork w;
    const V9fsNew *new;
    V9fsStat *st;
} MakeWork;

static int make_run(const V9fsCtx *cx, V9fsWork *work)
{
    MakeWork *w = container_of(work, MakeWork, w);

    return cx->fs->ops->make(cx, work->place[0].obj.dir, w->new, w->st);
}

int coroutine_fn v9fs_co_make(V9fsPDU *pdu, V9fsFid *dir, const V9fsNew *new,
                              V9fsStat *st)
{
    MakeWork w = {
        .w = { .run = make_run,
               .place = { v9fs_at_name(dir, new->name) }, .nplaces = 1,
               .alters = true },
        .new = new, .st = st,
    };

    return v9fs_co_work(pdu, &w.w);
}

static int link_run(const V9fsCtx *cx, V9fsWork *work)
{
    return cx->fs->ops->link(cx, &work->place[0].obj, work->place[1].obj.dir,
                             work->place[1].name);
}

int coroutine_fn v9fs_co_link(V9fsPDU *pdu, V9fsFid *fid, V9fsFid *dir,
                              const char *name)
{
    V9fsWork w = {
        .run = link_run,
        .place = { v9fs_at_fid(fid), v9fs_at_name(dir, name) }, .nplaces = 2,
        .alters = true,
    };

    return v9fs_co_work(pdu, &w);
}

/* Names that go: whoever stands on one keeps what it was */

typedef struct GoneName {
    V9fsNode *node;             /* of the name; NULL if nobody knows it */
    bool in_use;
    V9fsHandle *pin;            /* what it was, if in use */
} GoneName;

/* Server's thread, before */
static void gone_prepare(V9fsState *s, GoneName *g, const V9fsPlace *p)
{
    *g = (GoneName) { .node = v9fs_node_find(s, p->dir, p->name) };
    if (g->node) {
        g->in_use = v9fs_node_in_use(g->node);
        v9fs_node_ref(g->node);
    }
}

/*
 * Worker, before the name goes.  Hosts whose handles are of what can be read
 * have none of links and the like: then whoever stands on it keeps nothing.
 */
static int gone_pin(const V9fsCtx *cx, GoneName *g, const V9fsPlace *p)
{
    g_autofree V9fsHandle *h = NULL;
    int err;

    /* It may be there already: from an attempt that could not go on */
    if (!g->in_use || g->pin) {
        return 0;
    }
    h = g_new0(V9fsHandle, 1);
    h->refs = 1;
    h->pinned = true;
    err = cx->fs->ops->open_handle(cx, p->obj.dir, p->name, false, h);
    if (err == 0) {
        g->pin = g_steal_pointer(&h);
    }
    return err == -EOPNOTSUPP || err == -EACCES ? 0 : err;
}

/* Server's thread, after */
static void gone_finish(V9fsState *s, GoneName *g, bool gone)
{
    if (g->node && gone && g->in_use && !g->pin) {
        v9fs_node_displace(s, g->node);         /* nothing had the name */
    } else if (g->node && gone) {
        v9fs_node_detach(s, g->node, g_steal_pointer(&g->pin));
    }
    if (g->pin) {
        v9fs_handle_unref(s, g->pin);
    }
    if (g->node) {
        v9fs_node_unref(s, g->node);
    }
    *g = (GoneName) { 0 };
}

typedef struct UnlinkWork {
    V9fsWork w;
    bool rmdir;
    GoneName gone;
} UnlinkWork;

/* A name that is gone cannot be removed, and the root has none. */
static int check_named(const V9fsPlace *p)
{
    if (p->name) {
        return 0;
    }
    return p->node->detached ? -ENOENT : -EBUSY;
}

static int unlink_prepare(V9fsWork *work)
{
    UnlinkWork *w = container_of(work, UnlinkWork, w);
    int err = check_named(&work->place[0]);

    if (err == 0) {
        gone_prepare(work->s, &w->gone, &work->place[0]);
    }
    return err;
}

static int unlink_run(const V9fsCtx *cx, V9fsWork *work)
{
    UnlinkWork *w = container_of(work, UnlinkWork, w);
    V9fsPlace *p = &work->place[0];

    return gone_pin(cx, &w->gone, p) ?:
           cx->fs->ops->unlink(cx, p->obj.dir, p->name, w->rmdir);
}

static void unlink_finish(V9fsWork *work, int ret)
{
    UnlinkWork *w = container_of(work, UnlinkWork, w);

    gone_finish(work->s, &w->gone, ret == 0);
}

static int coroutine_fn unlink_place(V9fsPDU *pdu, V9fsPlace place, bool rmdir)
{
    UnlinkWork w = {
        .w = { .prepare = unlink_prepare, .run = unlink_run,
               .finish = unlink_finish, .place = { place }, .nplaces = 1,
               .moves_dir = rmdir, .alters = true },
        .rmdir = rmdir,
    };

    w.w.place[0].change = true;
    return v9fs_co_work(pdu, &w.w);
}

int coroutine_fn v9fs_co_unlink(V9fsPDU *pdu, V9fsFid *dir, const char *name,
                                bool rmdir)
{
    return unlink_place(pdu, v9fs_at_name(dir, name), rmdir);
}

int coroutine_fn v9fs_co_remove(V9fsPDU *pdu, V9fsFid *fid)
{
    return unlink_place(pdu, v9fs_at_node(fid->node),
                        fid->node->qid_type == P9_QTDIR);
}

/* Renames */

typedef struct RenameWork {
    V9fsWork w;
    V9fsNode *moving;           /* node of the old name, if there is one */
    GoneName gone;              /* what has the new name */
    bool same;                  /* both names are one file: nothing happens */
} RenameWork;

static int rename_prepare(V9fsWork *work)
{
    RenameWork *w = container_of(work, RenameWork, w);
    V9fsPlace *from = &work->place[0];
    int err = check_named(from);

    if (err) {
        return err;
    }
    w->moving = v9fs_node_find(work->s, from->dir, from->name);
    if (!work->moves_dir &&
        (!w->moving || w->moving->qid_type == P9_QTDIR)) {
        work->moves_dir = true;
        return -EAGAIN;
    }
    if (w->moving) {
        v9fs_node_ref(w->moving);
    }
    gone_prepare(work->s, &w->gone, &work->place[1]);
    return 0;
}

static bool is_same(const V9fsCtx *cx, const V9fsObject *obj,
                    const V9fsHandle *h)
{
    V9fsStat st;

    return h && cx->fs->ops->stat(cx, obj, &st) == 0 &&
           st.ino == h->ino && st.dev == h->dev;
}

static int rename_run(const V9fsCtx *cx, V9fsWork *work)
{
    RenameWork *w = container_of(work, RenameWork, w);
    V9fsPlace *from = &work->place[0], *to = &work->place[1];
    int err = gone_pin(cx, &w->gone, to);

    if (err && err != -ENOENT) {
        return err;
    }
    w->same = is_same(cx, &from->obj, w->gone.pin);
    return cx->fs->ops->rename(cx, from->obj.dir, from->name,
                               to->obj.dir, to->name);
}

static bool is_below(const V9fsNode *node, const V9fsNode *top)
{
    while (node && node != top) {
        node = node->parent;
    }
    return node;
}

/*
 * What moves may have the new directory below it here though not on the host,
 * which has moved that itself: the node then stays behind, without a name.
 */
static void rename_finish(V9fsWork *work, int ret)
{
    RenameWork *w = container_of(work, RenameWork, w);
    V9fsPlace *to = &work->place[1];
    bool done = ret == 0 && !w->same;

    gone_finish(work->s, &w->gone, done);
    if (w->moving) {
        if (done && is_below(to->dir, w->moving)) {
            v9fs_node_displace(work->s, w->moving);
        } else if (done) {
            v9fs_node_move(work->s, w->moving, to->dir, to->name);
        }
        v9fs_node_unref(work->s, w->moving);
        w->moving = NULL;
    }
}

static int coroutine_fn rename_places(V9fsPDU *pdu, V9fsPlace from,
                                      V9fsPlace to)
{
    RenameWork w = {
        .w = { .prepare = rename_prepare, .run = rename_run,
               .finish = rename_finish, .place = { from, to }, .nplaces = 2,
               .alters = true },
    };

    w.w.place[0].change = w.w.place[1].change = true;
    return v9fs_co_work(pdu, &w.w);
}

int coroutine_fn v9fs_co_renameat(V9fsPDU *pdu, V9fsFid *olddir,
                                  const char *oldname, V9fsFid *newdir,
                                  const char *newname)
{
    return rename_places(pdu, v9fs_at_name(olddir, oldname),
                         v9fs_at_name(newdir, newname));
}

int coroutine_fn v9fs_co_rename(V9fsPDU *pdu, V9fsFid *fid, V9fsFid *dir,
                                const char *name)
{
    return rename_places(pdu, v9fs_at_node(fid->node),
                         v9fs_at_name(dir, name));
}

int coroutine_fn v9fs_co_rename_here(V9fsPDU *pdu, V9fsFid *fid,
                                     const char *name)
{
    V9fsPlace to = { .node = fid->node, .beside = name };

    return rename_places(pdu, v9fs_at_node(fid->node), to);
}
