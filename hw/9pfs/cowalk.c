/*
 * Work item: walking names
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"

typedef struct WalkWork {
    V9fsWork w;
    V9fsNode *start;
    const P9Names *names;
    V9fsStat *st;
    V9fsNode **node;

    /* Names from the place down to @start, if ".." leads above that */
    unsigned nlead;
    char *lead[P9_MAXWELEM];            /* copies: a file may be renamed */
    /* Handles of the directories that were walked into */
    V9fsHandle *known[P9_MAXWELEM];     /* that the cache had */
    V9fsHandle *opened[P9_MAXWELEM];    /* that the worker had to open */
    /* Worker: where it is, and how it came there */
    const V9fsHandle *stack[2 * P9_MAXWELEM + 1];
    unsigned top;
    V9fsHandle lead_handle[P9_MAXWELEM];
} WalkWork;

static bool is_dotdot(const char *name)
{
    return g_str_equal(name, "..");
}

/* How far above its start a walk comes */
static unsigned levels_up(const P9Names *names)
{
    int level = 0, lowest = 0;

    for (int i = 0; i < names->n; i++) {
        level += is_dotdot(names->name[i]) ? -1 : 1;
        lowest = MIN(lowest, level);
    }
    return -lowest;
}

/* Server's thread: takes from the node table what the worker can use of it */
static int walk_prepare(V9fsWork *work)
{
    WalkWork *w = container_of(work, WalkWork, w);
    V9fsNode *node = w->start;

    w->nlead = 0;
    for (V9fsNode *n = node; n != work->place[0].dir; n = n->parent) {
        w->lead[w->nlead++] = g_strdup(n->name);
    }
    for (int i = 0; node && i < w->names->n; i++) {
        if (is_dotdot(w->names->name[i])) {
            node = node->parent ?: node;
            continue;
        }
        node = v9fs_node_find(work->s, node, w->names->name[i]);
        if (node && node->handle) {
            w->known[i] = v9fs_handle_ref(node->handle);
        }
    }
    return 0;
}

/* Goes to the directory that step @i leads into, and tells what it is */
static int enter(const V9fsCtx *cx, WalkWork *w, int i)
{
    V9fsObject obj = { .dir = w->stack[w->top], .name = w->names->name[i] };
    V9fsHandle *known = w->known[i];
    g_autofree V9fsHandle *h = NULL;
    int err;

    if (known) {
        err = cx->fs->ops->stat(cx, &obj, &w->st[i]);
        if (err) {
            return err;
        }
        if (known->ino == w->st[i].ino && known->dev == w->st[i].dev) {
            w->stack[++w->top] = known;
            return 0;
        }
    }
    /* It may be there already: from an attempt that could not go on */
    if (!w->opened[i]) {
        h = g_new0(V9fsHandle, 1);
        h->refs = 1;
        err = cx->fs->ops->open_handle(cx, obj.dir, obj.name, true, h);
        if (err) {
            return err;
        }
        w->opened[i] = g_steal_pointer(&h);
    }
    w->stack[++w->top] = w->opened[i];
    obj = (V9fsObject) { .dir = w->opened[i] };
    return cx->fs->ops->stat(cx, &obj, &w->st[i]);
}

static int go_up(const V9fsCtx *cx, WalkWork *w, int i)
{
    V9fsObject obj;

    if (w->top) {
        w->top--;
    }
    obj = (V9fsObject) { .dir = w->stack[w->top] };
    return cx->fs->ops->stat(cx, &obj, &w->st[i]);
}

static int walk_names(const V9fsCtx *cx, WalkWork *w)
{
    int last = w->names->n - 1;
    int err = 0;
    int i;

    for (i = 0; i <= last && !err; i++) {
        const char *name = w->names->name[i];
        V9fsObject obj = { .dir = w->stack[w->top], .name = name };

        if (is_dotdot(name)) {
            err = go_up(cx, w, i);
        } else if (i == last) {
            err = cx->fs->ops->stat(cx, &obj, &w->st[i]);
        } else {
            err = enter(cx, w, i);
            if (err == -ENOTDIR) {
                err = cx->fs->ops->stat(cx, &obj, &w->st[i]);
                if (!err) {
                    return i + 1;       /* found, but it leads nowhere */
                }
            }
        }
    }
    if ((err == -EAGAIN && cx->nowait) || err == -EMFILE || err == -ENFILE) {
        return err;     /* there is more to try than to end here */
    }
    return err && i == 1 ? err : i - !!err;
}

static int walk_run(const V9fsCtx *cx, V9fsWork *work)
{
    WalkWork *w = container_of(work, WalkWork, w);
    unsigned opened = 0;
    int ret = 0;

    w->stack[0] = work->place[0].obj.dir;
    w->top = 0;
    while (ret == 0 && opened < w->nlead) {
        V9fsHandle *h = &w->lead_handle[opened];

        ret = cx->fs->ops->open_handle(cx, w->stack[w->top],
                                       w->lead[w->nlead - 1 - opened], true, h);
        if (ret == 0) {
            w->stack[++w->top] = h;
            opened++;
        }
    }
    ret = ret ?: walk_names(cx, w);
    while (opened) {
        cx->fs->ops->close_handle(cx->fs, &w->lead_handle[--opened]);
    }
    return ret;
}

/* Makes the nodes of a walk that arrived, and gives them their handles */
static V9fsNode *enter_nodes(WalkWork *w)
{
    V9fsState *s = w->w.s;
    V9fsNode *node = v9fs_node_ref(w->start);

    for (int i = 0; i < w->names->n; i++) {
        bool up = is_dotdot(w->names->name[i]);
        V9fsNode *next = up ? v9fs_node_ref(node->parent ?: node)
                            : v9fs_node_get(s, node, w->names->name[i]);

        v9fs_node_seen(s, next, &w->st[i]);
        if (w->opened[i]) {
            v9fs_node_cache(s, next, g_steal_pointer(&w->opened[i]));
        }
        v9fs_node_unref(s, node);
        node = next;
    }
    return node;
}

static void walk_finish(V9fsWork *work, int ret)
{
    WalkWork *w = container_of(work, WalkWork, w);

    if (ret == w->names->n) {
        *w->node = enter_nodes(w);
    }
    for (int i = 0; i < w->names->n; i++) {
        if (w->known[i]) {
            v9fs_handle_unref(work->s, w->known[i]);
        }
        if (w->opened[i]) {
            v9fs_handle_unref(work->s, w->opened[i]);
        }
        w->known[i] = w->opened[i] = NULL;
    }
    while (w->nlead) {
        g_free(w->lead[--w->nlead]);
    }
}

int coroutine_fn v9fs_co_walk(V9fsPDU *pdu, V9fsFid *fid, const P9Names *names,
                              V9fsStat *st, V9fsNode **node)
{
    bool one = names->n == 1 && !is_dotdot(names->name[0]);
    WalkWork w = {
        .w = { .prepare = walk_prepare, .run = walk_run,
               .finish = walk_finish, .nplaces = 1, .walks = !one,
               .place = { one ? v9fs_at_name(fid, names->name[0])
                              : v9fs_in_dir(fid->node, levels_up(names)) } },
        .start = fid->node, .names = names, .st = st, .node = node,
    };

    return v9fs_co_work(pdu, &w.w);
}
