/*
 * Tests of requests that race with each other or with the host
 *
 * Each of these once hung or crashed the server, or made it forget what it
 * had.  Gates give the order in which things happen, so that nothing here
 * depends on luck; most need a sanitizer to fail where memory is misused.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/resource.h>
#include <sys/wait.h>
#include "hw/9pfs/9p-node.h"
#include "client.h"
#include "gate.h"
#include "tree.h"

/* Requests go to a worker, or are tried in place first. */
static void set_try(MemSession *m, bool on)
{
    m->s.try.mode = on ? V9FS_TRY_ON : V9FS_TRY_OFF;
}

static int result_of(MemRequest *r)
{
    int err;

    mem_wait(r);
    err = r->reply ? mem_result(r, NULL) : -ECANCELED;
    mem_request_free(r);
    return err;
}

/* Fids */

/* Two requests end one fid: both are answered, whoever does it. */
static void test_two_ends(void)
{
    static const uint8_t types[] = { P9_TREMOVE, P9_TCLUNK };

    for (int i = 0; i < 4; i++) {
        g_autoptr(Tree) t = tree_new();
        MemSession *m = tree_serve(t);
        unsigned before = open_descriptors();
        uint32_t fid = 1;
        MemRequest *r[2];
        Gate *gate;

        tree_write(t, "f", "x");
        g_assert_cmpint(walk_open(m, 1, "f", P9_DOTL_RDONLY), ==, 0);
        set_try(m, false);
        gate = gate_new();
        r[0] = mem_send(m, 10, types[i & 1], &fid, 100);
        r[1] = mem_send(m, 11, types[i / 2], &fid, 100);
        gate_open(gate);
        g_assert_cmpint(result_of(r[0]), ==, 0);
        result_of(r[1]);
        g_assert_cmpint(clunk(m, 1), ==, -EBADF);
        v9fs_reset(&m->s);
        g_assert_cmpuint(open_descriptors(), <=, before);
        mem_free(m);
    }
}

/* What ends later must not take away the fid that has its number by then. */
static void test_number_again(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    MemRequest *remove, *end;
    P9Rgetattr a;
    Gate *gate;

    tree_write(t, "f", "x");
    g_assert_cmpint(walk(m, 0, 1, "f"), ==, 0);
    set_try(m, false);
    gate = gate_new();
    remove = SEND(m, 10, remove, 1);
    end = SEND(m, 11, clunk, 1);
    g_assert_cmpint(clone_fid(m, 0, 1), ==, 0);
    gate_open(gate);
    g_assert_cmpint(result_of(remove), ==, 0);
    g_assert_cmpint(result_of(end), ==, 0);
    g_assert_cmpint(getattr(m, 1, &a), ==, 0);
    g_assert_true(S_ISDIR(a.mode));
    mem_free(m);
}

/* A fid that is opened before its Tattach is cancelled is closed again. */
static void test_flushed_attach(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    unsigned before = open_descriptors();
    MemRequest *attach, *open, *flush;
    Gate *gate;

    set_try(m, false);
    gate = gate_new();
    attach = SEND(m, 10, attach, 5, P9_NOFID, "", "");
    set_try(m, true);
    open = SEND(m, 11, lopen, 5, P9_DOTL_RDONLY);
    flush = SEND(m, 12, flush, 10);
    gate_open(gate);
    g_assert_cmpint(result_of(flush), ==, 0);
    g_assert_cmpint(result_of(attach), ==, -ECANCELED);
    result_of(open);
    g_assert_cmpint(clunk(m, 5), ==, -EBADF);
    g_assert_cmpuint(open_descriptors(), ==, before);
    mem_free(m);
}

static void test_many_versions(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    MemRequest *r[1025];
    Gate *gate;

    set_try(m, false);
    gate = gate_new();
    r[0] = SEND(m, 5000, getattr, 0, P9_GETATTR_BASIC);
    for (int i = 1; i < ARRAY_SIZE(r); i++) {
        r[i] = mem_send(m, i, P9_TVERSION, &(P9Tversion) { 8192, "9P2000.L" },
                        100);
    }
    gate_open(gate);
    for (int i = 0; i < ARRAY_SIZE(r); i++) {
        g_assert_cmpint(result_of(r[i]), ==, i ? 0 : -ECANCELED);
    }
    mem_free(m);
}

/* Nodes */

/*
 * The fid walks away from a directory while a request for a name in that
 * waits, and the directory's handle goes.
 */
static void test_directory_left(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    MemRequest *unlink, *mkdir, *walk_away;
    Gate *gate;

    tree_mkdir(t, "d");
    tree_write(t, "d/f", "x");
    g_assert_cmpint(walk(m, 0, 1, "d"), ==, 0);
    m->s.max_handles = 0;
    set_try(m, false);
    gate = gate_new();
    unlink = SEND(m, 10, unlinkat, 1, "f");
    mkdir = SEND(m, 11, mkdir, 1, "new", 0755);
    set_try(m, true);
    walk_away = SEND(m, 12, walk, 1, 1, { 1, { ".." } });
    gate_open(gate);
    g_assert_cmpint(result_of(unlink), ==, 0);
    g_assert_cmpint(result_of(mkdir), ==, 0);
    g_assert_cmpint(result_of(walk_away), ==, 0);
    g_assert_true(tree_exists(t, "d/new"));
    mem_free(m);
}

/* A file gets another name between a walk from it and the worker's turn. */
static void test_renamed_below_walk(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    MemRequest *rename, *walk_up;
    Gate *first, *second;

    tree_write(t, "f", "x");
    g_assert_cmpint(walk(m, 0, 1, "f"), ==, 0);
    set_try(m, false);
    first = gate_new();
    rename = SEND(m, 10, rename, 1, 0, "a-much-longer-name-than-f");
    second = gate_new();
    walk_up = SEND(m, 11, walk, 1, 2, { 2, { "..", "f" } });
    gate_open(first);
    g_assert_cmpint(result_of(rename), ==, 0);
    gate_open(second);
    /* There are no names below a file, and no more is known of that one. */
    g_assert_cmpint(result_of(walk_up), <, 0);
    mem_free(m);
}

/*
 * The host moves a directory out of its parent, then the guest moves the
 * parent into it: in the names that the guest knows that is a circle.
 */
static void test_circle(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    P9Rgetattr a;

    tree_mkdir(t, "a");
    tree_mkdir(t, "a/b");
    g_assert_cmpint(walk(m, 0, 1, "a"), ==, 0);
    g_assert_cmpint(walk(m, 1, 2, "b"), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, 2, "x", 0755), ==, 0);
    tree_rename(t, "a/b", "b");
    g_assert_cmpint(CALL(m, renameat, 0, "a", 2, "y"), ==, 0);
    g_assert_true(tree_exists(t, "b/y"));
    v9fs_handles_shrink(&m->s, 0);
    g_assert_cmpint(CALL(m, mkdir, 2, "z", 0755), ==, -ENOENT);
    g_assert_cmpint(getattr(m, 1, &a), ==, -ENOENT);
    g_assert_cmpint(walk(m, 0, 3, "b/y"), ==, 0);
    mem_free(m);
}

/* What a request found is told to the node that it asked for. */
static void test_moved_fid(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    MemRequest *stat, *walk_on;
    Gate *gate;

    tree_mkdir(t, "a");
    tree_mkdir(t, "b");
    g_assert_cmpint(walk(m, 0, 1, "a"), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, 1, "k", 0755), ==, 0);
    g_assert_nonnull(v9fs_node_find(&m->s, m->s.root, "a")->handle);
    g_assert_cmpint(walk(m, 0, 3, "b"), ==, 0);
    set_try(m, false);
    gate = gate_new();
    stat = SEND(m, 10, getattr, 3, P9_GETATTR_BASIC);
    set_try(m, true);
    walk_on = SEND(m, 11, walk, 3, 3, { 2, { "..", "a" } });
    gate_open(gate);
    g_assert_cmpint(result_of(stat), ==, 0);
    g_assert_cmpint(result_of(walk_on), ==, 0);
    g_assert_nonnull(v9fs_node_find(&m->s, m->s.root, "a")->handle);
    mem_free(m);
}

/* Forgetting what is below a directory takes no stack, however deep. */
static void test_forget_deep(void)
{
    enum { DEPTH = 300000 };
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    V9fsNode *top = v9fs_node_get(&m->s, m->s.root, "top");
    V9fsNode *node = v9fs_node_ref(top);
    V9fsHandle *h = g_new0(V9fsHandle, 1);
    V9fsStat another = { .ino = 1, .mode = S_IFDIR };

    for (int i = 0; i < DEPTH; i++) {
        V9fsNode *next = v9fs_node_get(&m->s, node, "d");

        v9fs_node_unref(&m->s, node);
        node = next;
    }
    *h = (V9fsHandle) { .fd = dup(m->s.fs.root.fd), .refs = 1 };
    v9fs_node_cache(&m->s, top, h);
    v9fs_node_seen(&m->s, top, &another);
    g_assert_null(top->handle);
    v9fs_node_unref(&m->s, node);
    v9fs_node_unref(&m->s, top);
    mem_free(m);
}

/* Trying in place */

/*
 * Another process has a lease on the file, and whoever opens it waits until
 * that is given back: a worker, not the server.
 */
static void hold_lease(const char *path, int in, int out)
{
    int fd = open(path, O_RDWR);
    char byte = 'n';

    signal(SIGIO, SIG_IGN);
    if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0) {
        byte = 'y';
    }
    if (write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1) {
        fcntl(fd, F_SETLEASE, F_UNLCK);
    }
    _exit(0);
}

static void test_lease(void)
{
    g_autoptr(Tree) t = tree_new();
    g_autofree char *path = tree_path(t, "f");
    MemSession *m = tree_serve(t);
    int go[2], ready[2];
    MemRequest *r;
    char has = 'n';
    pid_t child;

    tree_write(t, "f", "x");
    g_assert_cmpint(walk(m, 0, 1, "f"), ==, 0);
    g_assert_cmpint(pipe(go) | pipe(ready), ==, 0);
    child = fork();
    if (!child) {
        close(go[1]);       /* so that it ends when this process does */
        hold_lease(path, go[0], ready[1]);
    }
    g_assert_cmpint(read(ready[0], &has, 1), ==, 1);
    set_try(m, true);
    r = SEND(m, 10, lopen, 1, P9_DOTL_RDONLY);
    if (has == 'y') {
        g_assert_false(r->done);
    } else {
        g_test_skip("TMPDIR's file system has no leases");
    }
    g_assert_cmpint(write(go[1], "x", 1), ==, 1);
    g_assert_cmpint(result_of(r), ==, 0);
    g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
    close(go[0]);
    close(go[1]);
    close(ready[0]);
    close(ready[1]);
    mem_free(m);
}

/* Both ways of running a request have the same result. */

static void rmdir_in(MemSession *m, uint32_t dir, const char *name)
{
    g_assert_cmpint(CALL(m, unlinkat, dir, name, P9_DOTL_AT_REMOVEDIR), ==, 0);
}

static void test_long_way(void)
{
    enum { DEPTH = 20 };
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    char name[P9_NAME_MAX + 1];

    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    g_assert_cmpint(clone_fid(m, 0, 1), ==, 0);
    for (int i = 0; i < DEPTH; i++) {
        g_assert_cmpint(CALL(m, mkdir, 1, name, 0755), ==, 0);
        g_assert_cmpint(walk(m, 1, 1, name), ==, 0);
    }
    for (int on = 0; on < 2; on++) {
        set_try(m, on);
        v9fs_handles_shrink(&m->s, 0);
        g_assert_cmpint(CALL(m, mkdir, 1, on ? "y" : "z", 0755), ==, 0);
        v9fs_handles_shrink(&m->s, 0);
        g_assert_cmpint(walk(m, 1, 2, "z"), ==, 0);
        v9fs_handles_shrink(&m->s, 0);
        g_assert_cmpint(walk(m, 1, 3, "../.."), ==, 0);
        clunk(m, 2);
        clunk(m, 3);
    }
    /* tree_free() could not: its paths are as long. */
    rmdir_in(m, 1, "y");
    rmdir_in(m, 1, "z");
    for (int i = 0; i < DEPTH; i++) {
        g_assert_cmpint(walk(m, 1, 1, ".."), ==, 0);
        rmdir_in(m, 1, name);
    }
    mem_free(m);
}

static void test_link_on_the_way(void)
{
    g_autoptr(Tree) t = tree_new();
    g_autofree char *link = tree_path(t, "a");
    MemSession *m = tree_serve(t);
    P9Rgetattr a;

    tree_mkdir(t, "a");
    tree_mkdir(t, "a/b");
    tree_write(t, "a/b/f", "");
    g_assert_cmpint(walk(m, 0, 1, "a/b/f"), ==, 0);
    tree_rename(t, "a", "real");
    g_assert_cmpint(symlink("real", link), ==, 0);
    for (int on = 0; on < 2; on++) {
        set_try(m, on);
        v9fs_handles_shrink(&m->s, 0);
        g_assert_cmpint(getattr(m, 1, &a), ==, -ENOTDIR);
    }
    mem_free(m);
}

/* Descriptors */

/* Leaves so many descriptors at most; returns the limit that was */
static struct rlimit spare_descriptors(unsigned spare)
{
    struct rlimit was, few;
    int lowest = dup(0);

    g_assert_cmpint(lowest, >=, 0);
    close(lowest);
    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &was), ==, 0);
    few = was;
    few.rlim_cur = lowest + spare;
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
    return was;
}

/* A walk that lacks descriptors has not found out that a name is missing. */
static void test_no_descriptors(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    struct rlimit was;
    int err;

    tree_mkdir(t, "a");
    tree_mkdir(t, "a/b");
    tree_mkdir(t, "a/b/c");
    for (int on = 0; on < 2; on++) {
        set_try(m, on);
        v9fs_handles_shrink(&m->s, 0);
        was = spare_descriptors(1);
        err = walk(m, 0, 1, "a/b/c");
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &was), ==, 0);
        g_assert_cmpint(err, ==, -EMFILE);
        g_assert_cmpint(walk(m, 0, 1, "a/b/c"), ==, 0);
        clunk(m, 1);
    }
    mem_free(m);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(void);
    } tests[] = {
        { "fids/two-ends", test_two_ends },
        { "fids/number-again", test_number_again },
        { "fids/flushed-attach", test_flushed_attach },
        { "fids/many-versions", test_many_versions },
        { "nodes/directory-left", test_directory_left },
        { "nodes/renamed-below-walk", test_renamed_below_walk },
        { "nodes/circle", test_circle },
        { "nodes/moved-fid", test_moved_fid },
        { "nodes/forget-deep", test_forget_deep },
        { "try/lease", test_lease },
        { "try/long-way", test_long_way },
        { "try/link-on-the-way", test_link_on_the_way },
        { "try/no-descriptors", test_no_descriptors },
    };

    g_test_init(&argc, &argv, NULL);
    mem_init();
    for (int i = 0; i < ARRAY_SIZE(tests); i++) {
        g_autofree char *path = g_strconcat("/9p/attack/", tests[i].name,
                                            NULL);

        g_test_add_func(path, tests[i].test);
    }
    return g_test_run();
}
