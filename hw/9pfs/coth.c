/*
 * Work items: the one place where a request leaves the server's thread
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "hw/9pfs/coth.h"
#include "trace.h"

V9fsPlace v9fs_at_node(V9fsNode *node)
{
    return (V9fsPlace) { .node = node };
}

V9fsPlace v9fs_at_fid(V9fsFid *fid)
{
    V9fsPlace p = v9fs_at_node(fid->node);

    if (fid->state & V9FS_FID_OPEN) {
        p.file = &fid->file;
    }
    return p;
}

V9fsPlace v9fs_at_file(V9fsFile *file)
{
    return (V9fsPlace) { .file = file };
}

V9fsPlace v9fs_at_name(V9fsFid *fid, const char *name)
{
    return (V9fsPlace) { .dir = fid->node, .name = name };
}

V9fsPlace v9fs_in_dir(V9fsNode *dir, unsigned up)
{
    return (V9fsPlace) { .node = dir, .itself = true, .up = up };
}

/*
 * Where a node's name is to be looked up.  Renames and removals change that,
 * so it is true only while the directory's lock is held.
 */
static void locate(V9fsPlace *p)
{
    V9fsNode *node = p->node;

    if (node && (p->itself || node->detached || !node->parent)) {
        for (int i = 0; i < p->up && node->parent; i++) {
            node = node->parent;
        }
        p->dir = node;
        p->name = NULL;
    } else if (node) {
        p->dir = node->parent;
        p->name = p->beside ?: node->name;
    }
}

static bool has_moved(const V9fsPlace *p)
{
    V9fsPlace now = *p;

    locate(&now);
    return now.dir != p->dir || now.name != p->name;
}

/* Locks */

static bool takes_lock(const V9fsPlace *p)
{
    return p->dir && p->name;
}

static void coroutine_fn lock_names(V9fsPlace *p, bool change)
{
    if (change) {
        qemu_co_rwlock_wrlock(&p->dir->names);
    } else {
        qemu_co_rwlock_rdlock(&p->dir->names);
    }
}

/* Whether both places need one lock, which is then taken once */
static bool share_lock(const V9fsWork *w)
{
    return w->nplaces == 2 && takes_lock(&w->place[0]) &&
           takes_lock(&w->place[1]) && w->place[0].dir == w->place[1].dir;
}

static void coroutine_fn lock_places(V9fsWork *w)
{
    V9fsPlace *a = &w->place[0], *b = &w->place[1];

    if (share_lock(w)) {
        lock_names(a, a->change || b->change);
        return;
    }
    if (w->nplaces == 2 && a->dir > b->dir) {
        V9fsPlace *t = a;
        a = b;
        b = t;
    }
    if (takes_lock(a)) {
        lock_names(a, a->change);
    }
    if (w->nplaces == 2 && takes_lock(b)) {
        lock_names(b, b->change);
    }
}

static void coroutine_fn unlock_places(V9fsWork *w)
{
    unsigned n = share_lock(w) ? 1 : w->nplaces;

    for (int i = 0; i < n; i++) {
        if (takes_lock(&w->place[i])) {
            qemu_co_rwlock_unlock(&w->place[i].dir->names);
        }
    }
}

/* Ways to the places */

static bool has_handle(const V9fsPlace *p)
{
    return !p->dir || p->dir->handle;
}

static char *path_to(V9fsNode *from, V9fsNode *to)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    GString *path = g_string_new(NULL);

    for (; to != from; to = to->parent) {
        g_ptr_array_add(names, to->name);
    }
    for (int i = names->len - 1; i >= 0; i--) {
        g_string_append(path, names->pdata[i]);
        if (i) {
            g_string_append_c(path, '/');
        }
    }
    return g_string_free(path, false);
}

/*
 * Finds the nearest handle; false if there is no way to the directory, which
 * an open file can do without
 */
static bool plan_place(V9fsState *s, V9fsPlace *p)
{
    V9fsNode *node = p->dir;

    p->obj = (V9fsObject) { .file = p->file, .name = p->name };
    if (!node) {
        return true;
    }
    while (!node->handle) {
        if (node->detached) {
            p->obj.name = NULL;
            return p->file;
        }
        node = node->parent;
    }
    v9fs_node_touch(s, node);
    p->base_node = v9fs_node_ref(node);
    p->base = v9fs_handle_ref(node->handle);
    p->cached = !node->detached && node->parent;
    p->obj.dir = p->base;
    if (node != p->dir) {
        p->path = path_to(node, p->dir);
    }
    return true;
}

static bool plan(V9fsWork *w)
{
    bool ok = true;

    for (int i = 0; i < w->nplaces; i++) {
        ok = plan_place(w->s, &w->place[i]) && ok;
    }
    return ok;
}

static void coroutine_fn lock_all(V9fsWork *w, bool tree)
{
    for (int i = 0; i < w->nplaces; i++) {
        locate(&w->place[i]);
        if (w->place[i].dir) {
            v9fs_node_ref(w->place[i].dir);
        }
    }
    w->locked_tree = tree;
    if (tree && w->moves_dir) {
        qemu_co_rwlock_wrlock(&w->s->tree_lock);
    } else if (tree) {
        qemu_co_rwlock_rdlock(&w->s->tree_lock);
    }
    lock_places(w);
}

static void coroutine_fn unlock_all(V9fsWork *w)
{
    unlock_places(w);
    if (w->locked_tree) {
        qemu_co_rwlock_unlock(&w->s->tree_lock);
    }
    for (int i = 0; i < w->nplaces; i++) {
        if (w->place[i].dir) {
            v9fs_node_unref(w->s, w->place[i].dir);
        }
    }
}

/*
 * Locks and plans.  What locks it takes is only certain when they are held:
 * meanwhile a name may have moved, or a handle be gone so that more than one
 * name has to be walked.  Then all is done again.
 */
static bool coroutine_fn begin(V9fsWork *w)
{
    bool tree = w->walks || w->moves_dir;
    bool again;

    do {
        lock_all(w, tree);
        again = false;
        for (int i = 0; i < w->nplaces; i++) {
            V9fsPlace *p = &w->place[i];

            again = again || has_moved(p) || (!tree && !has_handle(p));
            tree = tree || !has_handle(p);
        }
        if (again) {
            unlock_all(w);
        }
    } while (again);
    return plan(w);
}

static void coroutine_fn end(V9fsWork *w)
{
    for (int i = 0; i < w->nplaces; i++) {
        V9fsPlace *p = &w->place[i];

        if (w->alters && takes_lock(p)) {
            p->dir->changes++;
        }
        if (p->opened) {
            v9fs_node_cache(w->s, p->dir, p->opened);
        }
        if (p->base) {
            v9fs_handle_unref(w->s, p->base);
            v9fs_node_unref(w->s, p->base_node);
        }
        g_free(p->path);
        p->opened = p->base = NULL;
        p->path = NULL;
    }
    unlock_all(w);
}

/* The worker's side */

static int open_place(const V9fsCtx *cx, V9fsPlace *p)
{
    g_autofree V9fsHandle *h = NULL;
    int err;

    if (!p->path || p->opened) {
        return 0;
    }
    h = g_new0(V9fsHandle, 1);
    h->refs = 1;
    err = cx->fs->ops->open_handle(cx, p->base, p->path, true, h);
    if (err == 0) {
        p->opened = g_steal_pointer(&h);
        p->obj.dir = p->opened;
        p->obj.name = p->name;
    } else if (p->file && (err == -ENOENT || err == -ENOTDIR)) {
        p->obj = (V9fsObject) { .file = p->file };
        err = 0;
    }
    return err;
}

static int open_places_and_run(const V9fsCtx *cx, V9fsWork *w)
{
    for (int i = 0; i < w->nplaces; i++) {
        int err = open_place(cx, &w->place[i]);

        if (err) {
            return err;
        }
    }
    return w->run(cx, w);
}

/*
 * Nothing is found in a directory that the host has removed.  Another one may
 * have its name by now.
 */
static void check_stale(const V9fsCtx *cx, V9fsWork *w)
{
    for (int i = 0; i < w->nplaces; i++) {
        V9fsPlace *p = &w->place[i];

        p->stale = p->cached && cx->fs->ops->is_gone(cx, p->base);
    }
}

static int run(const V9fsCtx *cx, V9fsWork *w)
{
    int ret = open_places_and_run(cx, w);

    if (ret == -ENOENT) {
        check_stale(cx, w);
    }
    return ret;
}

static int run_job(V9fsJob *job)
{
    V9fsWork *w = container_of(job, V9fsWork, job);
    V9fsCtx cx = { .fs = &w->s->fs };

    return run(&cx, w);
}

static int coroutine_fn run_in_worker(V9fsPDU *pdu, V9fsWork *w)
{
    int ret;

    w->job = (V9fsJob) { .run = run_job, .must_run = w->must_run };
    pdu->crossings++;
    trace_v9fs_crossing(pdu->header.tag, pdu->header.type);
    pdu->job = &w->job;
    ret = v9fs_workers_run(&w->s->workers, &w->job);
    pdu->job = NULL;
    return ret;
}

/* The server's thread's side */

/*
 * Tries that are refused, or take long, cost the guest more than they gain.
 * Their time adds up; when it is too much, trying is suspended for a number
 * of items, and for twice as many the next time.
 */
#define TRY_LONG        100000      /* ns for one try, refused or not */
#define TRY_TOO_MUCH    1000000     /* ns for tries in vain, together */
#define TRY_CREDIT      1000        /* ns that a good one makes up for */
#define TRY_MIN_PAUSE   64
#define TRY_MAX_PAUSE   16384

static void judge_try(V9fsTry *t, int ret, int64_t ns)
{
    if (ret == -EAGAIN || ns > TRY_LONG) {
        t->wasted += ns;
    } else {
        t->wasted -= MIN(t->wasted, TRY_CREDIT);
        if (!t->wasted) {
            t->pause = TRY_MIN_PAUSE;
        }
    }
    if (t->wasted > TRY_TOO_MUCH) {
        t->skip = t->pause;
        t->pause = MIN(2 * t->pause, TRY_MAX_PAUSE);
        t->wasted = 0;
    }
}

/* -EAGAIN: it takes a worker */
static int try_in_place(V9fsPDU *pdu, V9fsWork *w)
{
    V9fsTry *t = &w->s->try;
    V9fsCtx cx = {
        .fs = &w->s->fs, .nowait = true, .random = t->mode == V9FS_TRY_RANDOM,
    };
    int64_t start;
    int ret;

    if (t->mode == V9FS_TRY_OFF) {
        return -EAGAIN;
    }
    if (t->skip) {
        t->skip--;
        return -EAGAIN;
    }
    start = get_clock();
    ret = run(&cx, w);
    judge_try(t, ret, get_clock() - start);
    return ret;
}

static int coroutine_fn run_anywhere(V9fsPDU *pdu, V9fsWork *w)
{
    int ret;

    if (pdu->cancelled && !w->must_run) {
        return -ECANCELED;
    }
    ret = try_in_place(pdu, w);
    return ret == -EAGAIN ? run_in_worker(pdu, w) : ret;
}

void v9fs_place_seen(V9fsState *s, const V9fsPlace *p, const V9fsStat *st)
{
    /* An open file may not be what has the name by now. */
    if (p->node && !p->file) {
        v9fs_node_seen(s, p->node, st);
    }
}

/* Forgets handles that are no good; true if it is worth another run */
static bool forget_stale(V9fsWork *w)
{
    bool again = false;

    for (int i = 0; i < w->nplaces; i++) {
        V9fsPlace *p = &w->place[i];

        if (p->stale && p->base_node->handle == p->base) {
            v9fs_node_uncache(w->s, p->base_node);
        }
        again = again || p->stale;
        p->stale = false;
    }
    return again;
}

/*
 * Without descriptors: handles go first, then idle files.  If there are none
 * other requests may soon give theirs back.  No locks are held.
 */
#define SHORT_RUNS      1000
#define SHORT_TIME      (10 * NANOSECONDS_PER_SECOND)

static bool coroutine_fn find_descriptors(V9fsPDU *pdu, V9fsWork *w, int ret)
{
    V9fsState *s = w->s;
    int64_t now = get_clock();

    if ((ret != -EMFILE && ret != -ENFILE) || w->reclaims) {
        return false;
    }
    w->short_since = w->short_since ?: now;
    if (w->short_runs++ == SHORT_RUNS || now - w->short_since > SHORT_TIME) {
        return false;
    }
    return v9fs_handles_shrink(s, s->nhandles / 2) ||
           v9fs_reclaim(pdu, s->nfiles / 2) || v9fs_wait_for_others(pdu);
}

/*
 * What a place is made from.  Another request may let the fid stand for
 * another node meanwhile, while this one holds no locks to begin anew.
 */
static V9fsNode *node_of(const V9fsPlace *p)
{
    return p->node ?: p->dir;
}

int coroutine_fn v9fs_co_work(V9fsPDU *pdu, V9fsWork *w)
{
    bool again;
    int ret;

    w->s = pdu->s;
    for (int i = 0; i < w->nplaces; i++) {
        if (w->place[i].file && !w->s->fs.files_by_name) {
            w->place[i].node = NULL;
        }
        if (node_of(&w->place[i])) {
            v9fs_node_ref(node_of(&w->place[i]));
        }
    }
    do {
        ret = begin(w) ? 0 : -ENOENT;
        if (ret == 0 && w->prepare) {
            ret = w->prepare(w);
        }
        again = ret == -EAGAIN;
        if (ret == 0) {
            ret = run_anywhere(pdu, w);
            again = ret < 0 && forget_stale(w);
            if (w->finish) {
                w->finish(w, ret);
            }
        }
        end(w);
    } while (again || find_descriptors(pdu, w, ret));
    for (int i = 0; i < w->nplaces; i++) {
        if (node_of(&w->place[i])) {
            v9fs_node_unref(w->s, node_of(&w->place[i]));
        }
    }
    return ret;
}
