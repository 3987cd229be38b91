/*
 * Work item: what Tcreate of 9P2000.u makes
 *
 * One message makes objects of all kinds, gives them an owner that it does
 * not name, and opens what can be opened.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"

typedef struct CreateWork {
    V9fsWork w;
    V9fsNew new;
    V9fsUCreate *c;
    bool made;                  /* what is left is to open it */
} CreateWork;

/* A file's group is its directory's: the message has none. */
static int own(const V9fsCtx *cx, CreateWork *w)
{
    V9fsStat st;
    int err = cx->fs->ops->stat(cx, &w->w.place[1].obj, &st);

    if (err == 0) {
        w->new.gid = st.gid;
        /* Who attached without saying who he is */
        w->new.uid = w->new.uid == P9_NONUNAME ? st.uid : w->new.uid;
    }
    return err;
}

static int make(const V9fsCtx *cx, CreateWork *w)
{
    const V9fsHandle *dir = w->w.place[0].obj.dir;
    const V9fsFsOps *ops = cx->fs->ops;

    if (w->c->link_to) {
        /* In this order there is nothing left to fail when it is made. */
        return ops->stat(cx, &w->w.place[1].obj, &w->c->st) ?:
               ops->link(cx, &w->w.place[1].obj, dir, w->new.name);
    }
    if (S_ISREG(w->new.mode)) {
        return ops->create(cx, dir, &w->new, w->c->flags, &w->c->file,
                           &w->c->st);
    }
    return ops->make(cx, dir, &w->new, &w->c->st);
}

/* A directory that its maker may not read is made nonetheless. */
static int open_dir(const V9fsCtx *cx, CreateWork *w)
{
    V9fsObject obj = { .dir = w->w.place[0].obj.dir, .name = w->new.name };
    V9fsStat st;
    int err = cx->fs->ops->open(cx, &obj, P9_DOTL_RDONLY | P9_DOTL_DIRECTORY,
                                &w->c->file, &st);

    w->c->opened = err == 0;
    return cx->nowait && err == -EAGAIN ? err : 0;
}

static int create_run(const V9fsCtx *cx, V9fsWork *work)
{
    CreateWork *w = container_of(work, CreateWork, w);
    bool is_link = w->c->link_to;

    if (!w->made) {
        int err = (is_link ? 0 : own(cx, w)) ?: make(cx, w);

        if (err) {
            return err;
        }
        w->made = true;
        w->c->opened = !is_link && S_ISREG(w->new.mode);
    }
    return S_ISDIR(w->new.mode) && !is_link ? open_dir(cx, w) : 0;
}

static void create_finish(V9fsWork *work, int ret)
{
    CreateWork *w = container_of(work, CreateWork, w);

    if (ret == 0) {
        w->c->node = v9fs_node_get(work->s, work->place[0].dir, w->new.name);
        v9fs_node_seen(work->s, w->c->node, &w->c->st);
    }
}

int coroutine_fn v9fs_co_u_create(V9fsPDU *pdu, V9fsFid *dir,
                                  const V9fsNew *new, V9fsUCreate *c)
{
    CreateWork w = {
        .w = { .run = create_run, .finish = create_finish, .nplaces = 2,
               .place = { v9fs_at_name(dir, new->name),
                          v9fs_at_fid(c->link_to ?: dir) }, .alters = true },
        .new = *new, .c = c,
    };

    return v9fs_co_work(pdu, &w.w);
}
