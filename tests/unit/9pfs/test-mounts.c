/*
 * Tests of file systems that are mounted inside the export
 *
 * Numbers tell files apart, whatever devices they are on, and what a listing
 * says of a name is what is found by it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/mount.h>
#include "client.h"
#include "tree.h"

enum { ROOT, DIR_, FREE, OTHER };

/* Three of them, all with the same numbers inside; and a file over another */
static const char *const points[] = { "dir/a", "dir/b", "dir/b/c" };

static Tree *make_tree(void)
{
    Tree *t = tree_new();

    tree_mkdir(t, "dir");
    tree_mkdir(t, "dir/a");
    tree_mkdir(t, "dir/b");
    tree_mkdir(t, "dir/plain");
    tree_write(t, "dir/file", "over");
    tree_write(t, "file", "hello");
    return t;
}

static void mount_all(Tree *t)
{
    g_autofree char *from = tree_path(t, "file");
    g_autofree char *to = tree_path(t, "dir/file");

    for (int i = 0; i < ARRAY_SIZE(points); i++) {
        g_autofree char *path = tree_path(t, points[i]);
        g_autofree char *file = g_build_filename(points[i], "file", NULL);

        if (!tree_exists(t, points[i])) {
            tree_mkdir(t, points[i]);
        }
        g_assert_cmpint(mount("none", path, "tmpfs", 0, ""), ==, 0);
        tree_write(t, file, points[i]);
    }
    g_assert_cmpint(mount(from, to, NULL, MS_BIND, NULL), ==, 0);
}

static void umount_all(Tree *t)
{
    g_autofree char *file = tree_path(t, "dir/file");

    g_assert_cmpint(umount2(file, MNT_DETACH), ==, 0);
    for (int i = ARRAY_SIZE(points) - 1; i >= 0; i--) {
        g_autofree char *path = tree_path(t, points[i]);

        g_assert_cmpint(umount2(path, MNT_DETACH), ==, 0);
    }
}

/* The number that a walk finds for a name in "dir" */
static uint64_t walked(MemSession *m, const char *name)
{
    P9Twalk t = { DIR_, FREE, { 1, { name } } };
    P9Rwalk r;

    g_assert_cmpint(mem_call(m, P9_TWALK, &t, &r), ==, 0);
    g_assert_cmpuint(r.qids.n, ==, 1);
    g_assert_cmpint(clunk(m, FREE), ==, 0);
    return r.qids.qid[0].path;
}

/* In a listing of "dir" all names have the numbers that a walk finds. */
static void expect_true_listing(MemSession *m)
{
    g_autofree uint8_t *copy = NULL;
    P9Rreaddir r;
    P9Dirent ent;
    int n = 0;

    g_assert_cmpint(walk_open(m, OTHER, "dir", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(ASK(m, readdir, &r, OTHER, 0, 8000), ==, 0);
    copy = g_memdup2(m->last->in + r.data.at, r.data.count);
    g_assert_cmpint(clunk(m, OTHER), ==, 0);
    for (uint32_t at = 0; at < r.data.count;) {
        g_autofree char *name = NULL;

        at += p9_get_dirent(copy + at, r.data.count - at, &ent);
        name = g_strndup(ent.name, ent.namelen);
        if (*name != '.') {
            g_assert_cmphex(ent.qid.path, ==, walked(m, name));
            n++;
        }
    }
    g_assert_cmpint(n, ==, 4);
}

/* Mounted before the server starts, while it runs, and gone again */
static void test_listing(void)
{
    g_autoptr(Tree) t = make_tree();
    MemSession *m = tree_serve(t);

    g_assert_cmpint(walk(m, ROOT, DIR_, "dir"), ==, 0);
    for (int i = 0; i < 3; i++) {
        expect_true_listing(m);
        mount_all(t);
        expect_true_listing(m);
        umount_all(t);
    }
    mount_all(t);
    mem_free(m);
    m = tree_serve(t);
    g_assert_cmpint(walk(m, ROOT, DIR_, "dir"), ==, 0);
    expect_true_listing(m);
    mem_free(m);
    umount_all(t);
}

/* Equal numbers on several devices: each file its own, and the same again */
static void test_numbers(void)
{
    g_autoptr(Tree) t = make_tree();
    MemSession *m = tree_serve(t);
    uint64_t first[ARRAY_SIZE(points)];

    mount_all(t);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < ARRAY_SIZE(points); i++) {
            g_autofree char *file = g_build_filename(points[i], "file", NULL);

            g_assert_cmpint(walk_open(m, FREE, file, P9_DOTL_RDONLY), ==, 0);
            expect_text(m, FREE, points[i]);
            if (!round) {
                first[i] = ino_of(m, FREE);
            }
            g_assert_cmphex(ino_of(m, FREE), ==, first[i]);
            g_assert_cmpint(clunk(m, FREE), ==, 0);
            for (int j = 0; j < i; j++) {
                g_assert_cmphex(first[i], !=, first[j]);
            }
        }
    }
    umount_all(t);
    mem_free(m);
}

/* Without anything mounted no entry costs a call; see test-9p-syscalls. */
static void test_forbid(void)
{
    g_autoptr(Tree) t = make_tree();
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);
    P9Rreaddir r;

    m->exp.multidevs = V9FS_MULTIDEVS_FORBID;
    mem_start(m);
    mem_attach(m, 8192);
    mount_all(t);
    g_assert_cmpint(walk(m, ROOT, DIR_, "dir"), ==, 0);
    g_assert_cmpint(walk(m, DIR_, FREE, "a"), ==, -ENODEV);
    g_assert_cmpint(walk(m, ROOT, FREE, "dir/plain"), ==, 0);
    g_assert_cmpint(walk_open(m, OTHER, "dir", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(ASK(m, readdir, &r, OTHER, 0, 8000), ==, 0);
    umount_all(t);
    mem_free(m);
}

static bool may_mount;

static void run(const void *opaque)
{
    void (*test)(void) = opaque;

    if (may_mount) {
        test();
    } else {
        g_test_skip("nothing may be mounted here");
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    may_mount = tree_own_mounts();
    mem_init();
    g_test_add_data_func("/9p/mounts/listing", test_listing, run);
    g_test_add_data_func("/9p/mounts/numbers", test_numbers, run);
    g_test_add_data_func("/9p/mounts/forbid", test_forbid, run);
    return g_test_run();
}
