/*
 * Tests of a server with fewer descriptors than the guest has files open
 *
 * The guest must not notice: no error, no byte of another file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/resource.h>
#include "qemu/main-loop.h"
#include "client.h"
#include "tree.h"

#define LIMIT       64          /* descriptors of this process */
#define NFILES      1000
#define NDIRS       50
#define FIRST_FILE  10
#define FIRST_DIR   2000
#define SOME        20          /* files in each of the directories */

/* The hard one, too: the server raises the other one to it. */
static void limit_descriptors(rlim_t n)
{
    struct rlimit limit;

    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &limit), ==, 0);
    limit.rlim_cur = limit.rlim_max = n;
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
}

static MemSession *serve_limited(Tree *t)
{
    limit_descriptors(LIMIT);
    return tree_serve(t);
}

static char *file_name(int i)
{
    return g_strdup_printf("file%d", i);
}

static char *file_text(int i)
{
    return g_strdup_printf("this is file %d", i);
}

static Tree *make_files(void)
{
    Tree *t = tree_new();

    for (int i = 0; i < NFILES; i++) {
        g_autofree char *name = file_name(i);
        g_autofree char *text = file_text(i);

        tree_write(t, name, text);
    }
    return t;
}

static void open_files(MemSession *m, uint32_t flags)
{
    for (int i = 0; i < NFILES; i++) {
        g_autofree char *name = file_name(i);

        g_assert_cmpint(walk_open(m, FIRST_FILE + i, name, flags), ==, 0);
    }
}

static void expect_all(MemSession *m, const char *suffix)
{
    for (int i = 0; i < NFILES; i++) {
        g_autofree char *text = file_text(i);
        g_autofree char *all = g_strconcat(text, suffix, NULL);

        expect_text(m, FIRST_FILE + i, all);
    }
}

static void clunk_all(MemSession *m)
{
    for (int i = 0; i < NFILES; i++) {
        g_assert_cmpint(clunk(m, FIRST_FILE + i), ==, 0);
    }
}

/* Written through descriptors that come and go, read back the same way */
static void test_write(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_limited(t);
    unsigned descriptors = open_descriptors();

    open_files(m, P9_DOTL_RDWR);
    for (int i = 0; i < NFILES; i++) {
        g_autofree char *text = file_text(i);

        g_assert_cmpint(write_at(m, FIRST_FILE + i, strlen(text), "!"), ==, 1);
    }
    expect_all(m, "!");
    g_assert_cmpuint(open_descriptors(), <, LIMIT);
    clunk_all(m);
    g_assert_cmpuint(open_descriptors(), <=, descriptors);
    mem_free(m);
}

/* Renamed by the guest: still the same files */
static void test_renamed(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_limited(t);

    tree_mkdir(t, "dir");
    g_assert_cmpint(walk(m, 0, 1, "dir"), ==, 0);
    open_files(m, P9_DOTL_RDONLY);
    for (int i = 0; i < NFILES; i += 3) {
        g_autofree char *name = file_name(i);

        g_assert_cmpint(CALL(m, renameat, 0, name, i % 2 ? 1 : 0, "moved"), ==,
                        0);
        g_assert_cmpint(CALL(m, renameat, i % 2 ? 1 : 0, "moved", 1, name),
                        ==, 0);
    }
    expect_all(m, "");
    clunk_all(m);
    mem_free(m);
}

/* What is removed, or replaced, while it is parked is still there. */
static void test_removed(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_limited(t);
    g_autofree char *text = NULL;

    open_files(m, P9_DOTL_RDWR);
    for (int i = 0; i < 10; i++) {
        g_autofree char *name = file_name(i);
        g_autofree char *other = file_name(500 + i);

        g_assert_true(m->s.nfiles < NFILES);
        if (i % 2) {
            g_assert_cmpint(CALL(m, unlinkat, 0, name), ==, 0);
            tree_write(t, name, "another one");
        } else {
            g_assert_cmpint(CALL(m, renameat, 0, other, 0, name), ==, 0);
        }
    }
    expect_all(m, "");
    clunk_all(m);
    mem_free(m);
}

/* What the host has replaced is not there any more, and nothing else is. */
static void test_replaced(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_limited(t);
    P9Rread r;

    open_files(m, P9_DOTL_RDONLY);
    tree_write(t, "new", "another one");
    tree_rename(t, "new", "file0");
    g_assert_cmpint(ASK(m, read, &r, FIRST_FILE, 0, 100), ==, -ESTALE);
    g_assert_cmpint(clunk(m, FIRST_FILE), ==, 0);
    mem_free(m);
}

/* The flags of an open stay, but for those that are for once. */
static void test_flags(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_limited(t);

    g_assert_cmpint(clone_fid(m, 0, 1), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, 1, "made", P9_DOTL_RDWR | P9_DOTL_EXCL |
                         P9_DOTL_APPEND | P9_DOTL_TRUNC, 0600), ==, 0);
    g_assert_cmpint(write_at(m, 1, 0, "one"), ==, 3);
    open_files(m, P9_DOTL_RDONLY);
    g_assert_cmpint(write_at(m, 1, 0, "two"), ==, 3);
    expect_all(m, "");
    expect_text(m, 1, "onetwo");
    g_assert_cmpint(write_at(m, FIRST_FILE, 0, "x"), ==, -EBADF);
    mem_free(m);
}

/* Whether another program of the host could lock a file */
static bool host_can_lock(Tree *t, const char *name)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    g_autofree char *path = tree_path(t, name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int ret;

    g_assert_cmpint(fd, >=, 0);
    ret = fcntl(fd, F_OFD_SETLK, &lock);
    close(fd);
    return ret == 0;
}

/* What is locked stays so while its file is parked. */
static void test_locked(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_limited(t);
    P9Rlock r;

    open_files(m, P9_DOTL_RDWR);
    g_assert_cmpint(ASK(m, lock, &r, FIRST_FILE, P9_LOCK_TYPE_WRLCK,
                        .proc_id = 1, .client_id = "guest"), ==, 0);
    g_assert_cmpint(r.status, ==, P9_LOCK_SUCCESS);
    g_assert_false(host_can_lock(t, "file0"));
    expect_all(m, "");
    g_assert_false(host_can_lock(t, "file0"));
    expect_text(m, FIRST_FILE, "this is file 0");
    g_assert_cmpint(clunk(m, FIRST_FILE), ==, 0);
    g_assert_true(host_can_lock(t, "file0"));
    mem_free(m);
}

static char *dir_name(int i)
{
    return g_strdup_printf("dir%d", i);
}

static void make_dirs(Tree *t)
{
    for (int i = 0; i < NDIRS; i++) {
        g_autofree char *dir = dir_name(i);

        tree_mkdir(t, dir);
        for (int j = 0; j < SOME; j++) {
            g_autofree char *name = g_strdup_printf("%s/name%d", dir, j);

            tree_write(t, name, "");
        }
    }
}

/* Reads a few entries on from *@offset; how many */
static int read_dir(MemSession *m, uint32_t fid, uint64_t *offset)
{
    P9Rreaddir r;
    P9Dirent ent;
    int n = 0;

    g_assert_cmpint(ASK(m, readdir, &r, fid, *offset, 200), ==, 0);
    for (uint32_t at = 0; at < r.data.count; n++) {
        at += p9_get_dirent(m->last->in + r.data.at + at, r.data.count - at,
                            &ent);
        *offset = ent.offset;
    }
    return n;
}

/* Half-read directories go on where they were, between files that are used. */
static void test_directories(void)
{
    g_autoptr(Tree) t = make_files();
    uint64_t offset[NDIRS] = { 0 };
    int found[NDIRS] = { 0 };
    MemSession *m;

    make_dirs(t);
    m = serve_limited(t);
    for (int i = 0; i < NDIRS; i++) {
        g_autofree char *dir = dir_name(i);

        g_assert_cmpint(walk_open(m, FIRST_DIR + i, dir, P9_DOTL_RDONLY), ==,
                        0);
        found[i] = read_dir(m, FIRST_DIR + i, &offset[i]);
        g_assert_cmpint(found[i], <, SOME + 2);
    }
    open_files(m, P9_DOTL_RDONLY);
    expect_all(m, "");
    for (int i = 0; i < NDIRS; i++) {
        int n;

        do {
            n = read_dir(m, FIRST_DIR + i, &offset[i]);
            found[i] += n;
        } while (n);
        g_assert_cmpint(found[i], ==, SOME + 2);
    }
    mem_free(m);
}

/* Many at once: each takes what the others give back. */
static void test_at_once(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_limited(t);
    MemRequest *r[NFILES];

    open_files(m, P9_DOTL_RDONLY);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < NFILES; i++) {
            P9Tread read = { FIRST_FILE + i, 0, 100 };

            r[i] = mem_send(m, i, P9_TREAD, &read, 4096);
        }
        for (int i = 0; i < NFILES; i++) {
            g_autofree char *text = file_text(i);
            P9Rread got;

            mem_wait(r[i]);
            g_assert_cmpint(mem_result(r[i], &got), ==, 0);
            g_assert_cmpmem(r[i]->in + got.data.at, got.data.count, text,
                            strlen(text));
            mem_request_free(r[i]);
        }
    }
    mem_free(m);
}

/* Parked or on its way to be: a fid can be ended, by whatever ends fids. */
static void test_ended(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_limited(t);
    unsigned descriptors = open_descriptors();

    open_files(m, P9_DOTL_RDONLY);
    g_assert_cmpint(CALL(m, remove, FIRST_FILE), ==, 0);
    g_assert_false(tree_exists(t, "file0"));
    mem_attach(m, 8192);
    g_assert_cmpuint(m->s.nfiles, ==, 0);
    while (m->s.closing) {      /* the handle of what has been removed */
        aio_poll(qemu_get_aio_context(), true);
    }
    g_assert_cmpuint(open_descriptors(), <=, descriptors);
    tree_write(t, "file0", "");
    open_files(m, P9_DOTL_RDONLY);
    mem_free(m);
}

/* The limit cannot be raised again: each has a process of its own. */
static void in_child(const void *opaque)
{
    void (*test)(void) = opaque;

    if (g_test_subprocess()) {
        test();
        return;
    }
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed();
}

static void add(const char *path, void (*test)(void))
{
    g_test_add_data_func(path, test, in_child);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    add("/9p/reclaim/write", test_write);
    add("/9p/reclaim/renamed", test_renamed);
    add("/9p/reclaim/removed", test_removed);
    add("/9p/reclaim/replaced", test_replaced);
    add("/9p/reclaim/flags", test_flags);
    add("/9p/reclaim/locked", test_locked);
    add("/9p/reclaim/directories", test_directories);
    add("/9p/reclaim/at-once", test_at_once);
    add("/9p/reclaim/ended", test_ended);
    return g_test_run();
}
