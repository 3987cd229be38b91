/*
 * What fids stand for, against a model
 *
 * A thousand steps at random, of the guest and of the host, on a real
 * directory.  The model knows nothing of nodes: it keeps for each fid either
 * a path, if the fid stands for a name, or an inode number, if the guest has
 * removed or replaced the name; and it follows the guest's renames by editing
 * paths.  After each step every fid must be what the model says.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "memory-transport.h"
#include "tree.h"

#define NFIDS   24
/* What is kept in step after each of them; many more under -m slow */
#define STEPS       250
#define SLOW_STEPS  5000

typedef struct ModelFid {
    bool used;
    char *path;                 /* "" for the root; NULL: its name is gone */
    uint64_t ino;               /* then; 0: it stood for nothing any more */
} ModelFid;

typedef struct Model {
    Tree *t;
    MemSession *m;
    ModelFid fid[NFIDS];        /* number 0 is the root and stays */
} Model;

static unsigned choose(unsigned n)
{
    return g_test_rand_int_range(0, n);
}

static int call(Model *o, uint8_t type, const void *req, void *res)
{
    return mem_call(o->m, type, req, res);
}

static bool look(Model *o, const char *path, struct stat *st)
{
    g_autofree char *full = tree_path(o->t, path);

    return lstat(full, st) == 0;
}

static bool is_dir(Model *o, const char *path)
{
    struct stat st;

    return look(o, path, &st) && S_ISDIR(st.st_mode);
}

/* Whether @path is @top or below it */
static bool is_below(const char *path, const char *top)
{
    size_t len = strlen(top);

    return !strncmp(path, top, len) && (path[len] == '/' || !path[len]);
}

static void forget(ModelFid *f)
{
    g_free(f->path);
    *f = (ModelFid) { 0 };
}

/*
 * The guest takes the name from what has it: fids keep the old file.  Those on
 * names below a directory, which had been emptied by the host, keep nothing.
 */
static void name_goes(Model *o, const char *path, uint64_t ino)
{
    for (int i = 1; i < NFIDS; i++) {
        ModelFid *f = &o->fid[i];

        if (f->used && f->path && is_below(f->path, path)) {
            f->ino = g_str_equal(f->path, path) ? ino : 0;
            g_clear_pointer(&f->path, g_free);
        }
    }
}

static void name_moves(Model *o, const char *from, const char *to)
{
    for (int i = 1; i < NFIDS; i++) {
        ModelFid *f = &o->fid[i];

        if (f->used && f->path && is_below(f->path, from)) {
            char *moved = g_strconcat(to, f->path + strlen(from), NULL);

            g_free(f->path);
            f->path = moved;
        }
    }
}

/* A fid that stands for a directory that is there, and a name in it */
static uint32_t some_dir(Model *o)
{
    for (int tries = 0; tries < 50; tries++) {
        uint32_t i = choose(NFIDS);

        if (o->fid[i].used && o->fid[i].path && is_dir(o, o->fid[i].path)) {
            return i;
        }
    }
    return 0;
}

static char *some_name(Model *o)
{
    return g_strdup_printf("%c", 'a' + choose(5));
}

static char *join(const char *dir, const char *name)
{
    return *dir ? g_strconcat(dir, "/", name, NULL) : g_strdup(name);
}

/* Steps */

static void step_walk(Model *o)
{
    uint32_t dir = some_dir(o), new = 1 + choose(NFIDS - 1);
    g_autofree char *name = some_name(o);
    g_autofree char *path = join(o->fid[dir].path, name);
    P9Twalk t = { dir, new, { 1, { name } } };
    struct stat st;
    int err;

    if (o->fid[new].used) {
        return;
    }
    err = call(o, P9_TWALK, &t, NULL);
    g_assert_cmpint(err, ==, look(o, path, &st) ? 0 : -ENOENT);
    if (!err) {
        o->fid[new] = (ModelFid) { true, g_steal_pointer(&path) };
    }
}

static void step_clone(Model *o)
{
    uint32_t from = choose(NFIDS), to = 1 + choose(NFIDS - 1);
    P9Twalk t = { from, to };

    if (!o->fid[from].used || o->fid[to].used) {
        return;
    }
    g_assert_cmpint(call(o, P9_TWALK, &t, NULL), ==, 0);
    o->fid[to] = o->fid[from];
    o->fid[to].path = g_strdup(o->fid[from].path);
}

static void step_clunk(Model *o)
{
    uint32_t i = 1 + choose(NFIDS - 1);

    g_assert_cmpint(call(o, P9_TCLUNK, &(P9Tclunk) { i }, NULL), ==,
                    o->fid[i].used ? 0 : -EBADF);
    forget(&o->fid[i]);
}

static void step_make(Model *o)
{
    uint32_t dir = some_dir(o);
    g_autofree char *name = some_name(o);
    g_autofree char *path = join(o->fid[dir].path, name);
    P9Tmkdir mkdir = { dir, name, 0755, 0 };
    P9Tmknod mknod = { dir, name, S_IFREG | 0644 };
    struct stat st;
    int want = look(o, path, &st) ? -EEXIST : 0;

    if (choose(2)) {
        g_assert_cmpint(call(o, P9_TMKDIR, &mkdir, NULL), ==, want);
    } else {
        g_assert_cmpint(call(o, P9_TMKNOD, &mknod, NULL), ==, want);
    }
}

/* What a fid stands for gets one more name, if there is anything. */
static void step_link(Model *o)
{
    uint32_t dir = some_dir(o), fid = choose(NFIDS);
    g_autofree char *name = some_name(o);
    g_autofree char *path = join(o->fid[dir].path, name);
    P9Tlink t = { dir, fid, name };
    ModelFid *f = &o->fid[fid];
    struct stat st, new;
    bool taken = look(o, path, &new);
    int err;

    if (!f->used) {
        return;
    }
    err = call(o, P9_TLINK, &t, NULL);
    if (f->path && !look(o, f->path, &st)) {
        g_assert_true(err == -ENOENT || err == -ENOTDIR || err == -EEXIST);
    } else if (f->path) {
        g_assert_cmpint(err, ==, taken ? -EEXIST :
                        S_ISDIR(st.st_mode) ? -EPERM : 0);
    }
    if (err) {
        return;
    }
    g_assert_true(look(o, path, &new));
    g_assert_cmpuint(new.st_ino, ==, f->path ? st.st_ino : f->ino);
}

static void step_unlink(Model *o)
{
    uint32_t dir = some_dir(o);
    g_autofree char *name = some_name(o);
    g_autofree char *path = join(o->fid[dir].path, name);
    bool rmdir = is_dir(o, path);
    P9Tunlinkat t = { dir, name, rmdir ? P9_DOTL_AT_REMOVEDIR : 0 };
    struct stat st;
    bool there = look(o, path, &st);
    int err = call(o, P9_TUNLINKAT, &t, NULL);

    g_assert_cmpint(err == 0 || err == -ENOTEMPTY, ==, there);
    if (!err) {
        name_goes(o, path, st.st_ino);
    }
}

/* Whether a fid stands on a name that is nothing's, or below it */
static bool is_waited_for(Model *o, const char *path)
{
    for (int i = 1; i < NFIDS; i++) {
        ModelFid *f = &o->fid[i];

        if (f->used && f->path && is_below(f->path, path)) {
            return true;
        }
    }
    return false;
}

static void step_rename(Model *o)
{
    uint32_t from = some_dir(o), to = some_dir(o);
    g_autofree char *old = some_name(o), *new = some_name(o);
    g_autofree char *path = join(o->fid[from].path, old);
    g_autofree char *target = join(o->fid[to].path, new);
    g_autofree char *full = tree_path(o->t, path);
    g_autofree char *full_target = tree_path(o->t, target);
    P9Trenameat t = { from, old, to, new };
    struct stat a, b;
    bool there = look(o, path, &a), taken = look(o, target, &b);
    ModelFid saved[NFIDS];
    int err;

    if (!there || (!taken && is_waited_for(o, target))) {
        return;
    }
    if (taken && a.st_ino == b.st_ino) {
        /* Two names of one file: both stay. */
        g_assert_cmpint(call(o, P9_TRENAMEAT, &t, NULL), ==, 0);
        return;
    }
    memcpy(saved, o->fid, sizeof(saved));
    for (int i = 0; i < NFIDS; i++) {
        saved[i].path = g_strdup(o->fid[i].path);
    }
    if (taken) {
        name_goes(o, target, b.st_ino);
    }
    err = call(o, P9_TRENAMEAT, &t, NULL);
    if (!err) {
        name_moves(o, path, target);
    }
    for (int i = 0; i < NFIDS; i++) {
        if (err) {
            g_free(o->fid[i].path);
            o->fid[i] = saved[i];
        } else {
            g_free(saved[i].path);
        }
    }
    g_assert_cmpint(access(full, F_OK), ==, err ? 0 : -1);
    g_assert_true(err || access(full_target, F_OK) == 0);
}

/*
 * The host puts another file in the place of one (written aside, renamed
 * over), or another directory (rm -r build, mkdir build).
 */
static void step_host_replaces(Model *o)
{
    uint32_t dir = some_dir(o);
    g_autofree char *name = some_name(o);
    g_autofree char *path = join(o->fid[dir].path, name);
    g_autofree char *full = tree_path(o->t, path);
    g_autofree char *aside = tree_path(o->t, "aside");
    struct stat st;

    if (!look(o, path, &st)) {
        return;
    }
    if (S_ISDIR(st.st_mode)) {
        tree_remove(o->t, path);
        g_assert_cmpint(mkdir(full, 0755), ==, 0);
    } else {
        tree_write(o->t, "aside", "another");
        g_assert_cmpint(rename(aside, full), ==, 0);
    }
}

/* Every fid is what the model says. */
static void check(Model *o)
{
    for (uint32_t i = 0; i < NFIDS; i++) {
        ModelFid *f = &o->fid[i];
        P9Tgetattr t = { i, P9_GETATTR_BASIC };
        P9Rgetattr got;
        struct stat st;
        int err;

        if (!f->used) {
            continue;
        }
        err = call(o, P9_TGETATTR, &t, &got);
        if (!f->path && !f->ino) {
            g_assert_cmpint(err, <, 0);
        } else if (!f->path) {
            g_assert_cmpint(err, ==, 0);
            g_assert_cmpuint(got.qid.path, ==, f->ino);
        } else if (look(o, f->path, &st)) {
            g_assert_cmpint(err, ==, 0);
            g_assert_cmpuint(got.qid.path, ==, st.st_ino);
            g_assert_cmpuint(got.mode, ==, st.st_mode);
            g_assert_cmpuint(got.size, ==, st.st_size);
            g_assert_cmpuint(got.nlink, ==, st.st_nlink);
        } else {
            g_assert_true(err == -ENOENT || err == -ENOTDIR);
        }
    }
}

static void run(unsigned max_handles, bool host)
{
    static void (*const steps[])(Model *) = {
        step_walk, step_walk, step_walk, step_clone, step_clunk, step_make,
        step_make, step_link, step_unlink, step_rename, step_rename,
        step_host_replaces,
    };
    g_autoptr(Tree) t = tree_new();
    Model o = { .t = t, .m = tree_serve(t) };

    if (max_handles) {
        o.m->s.max_handles = max_handles;
    }
    o.fid[0] = (ModelFid) { true, g_strdup("") };
    for (int i = 0; i < (g_test_slow() ? SLOW_STEPS : STEPS); i++) {
        steps[choose(ARRAY_SIZE(steps) - !host)](&o);
        check(&o);
    }
    for (int i = 0; i < NFIDS; i++) {
        forget(&o.fid[i]);
    }
    mem_free(o.m);
}

static void test_guest(void)
{
    run(0, false);
}

static void test_guest_few_handles(void)
{
    run(2, false);
}

static void test_host(void)
{
    run(0, true);
}

static void test_host_few_handles(void)
{
    run(1, true);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    g_test_add_func("/9p/nodes/guest", test_guest);
    g_test_add_func("/9p/nodes/guest/few-handles", test_guest_few_handles);
    g_test_add_func("/9p/nodes/host", test_host);
    g_test_add_func("/9p/nodes/host/few-handles", test_host_few_handles);
    return g_test_run();
}
