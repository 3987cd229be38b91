/*
 * Tests of a server that is not root, as most are
 *
 * Each runs in a process of its own that has given up its rights, on files
 * that it has made before as root, and on new ones.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <grp.h>
#include <sys/prctl.h>
#include "client.h"
#include "tree.h"

#define NOBODY      65534
#define GUEST_USER  2000
#define TREE_ENV    "V9FS_TEST_TREE"

enum { ROOT, FILE_, OPEN, OTHER, USER, FREE };

/* As root */
static void make_files(Tree *t)
{
    static const struct {
        const char *name;
        mode_t mode;
    } files[] = {
        { "writable", 0666 }, { "readable", 0644 }, { "secret", 0600 },
    };

    for (int i = 0; i < ARRAY_SIZE(files); i++) {
        g_autofree char *path = tree_path(t, files[i].name);

        tree_write(t, files[i].name, "hello");
        g_assert_cmpint(chmod(path, files[i].mode), ==, 0);
    }
    tree_mkdir(t, "folder");
    tree_write(t, "folder/file", "hello");
    g_assert_cmpint(chmod(t->path, 0777), ==, 0);
}

static void become_nobody(void)
{
    g_assert_cmpint(setgroups(0, NULL), ==, 0);
    g_assert_cmpint(setresgid(NOBODY, NOBODY, NOBODY), ==, 0);
    g_assert_cmpint(setresuid(NOBODY, NOBODY, NOBODY), ==, 0);
    /* Else /proc/self is root's, and the leak sanitizer does not work. */
    g_assert_cmpint(prctl(PR_SET_DUMPABLE, 1), ==, 0);
}

/* What a fid has open may do what the file's mode does not allow any more. */
static void test_mode_0(Tree *t)
{
    MemSession *m = tree_serve(t);
    P9Rgetattr a;
    uint64_t ino;

    clone_fid(m, ROOT, OPEN);
    g_assert_cmpint(CALL(m, lcreate, OPEN, "new", P9_DOTL_RDWR |
                         P9_DOTL_EXCL, 0), ==, 0);
    g_assert_cmpuint(mode_of(m, OPEN), ==, S_IFREG);
    g_assert_cmpint(CALL(m, setattr, OPEN, P9_SETATTR_SIZE, .size = 131072),
                    ==, 0);
    g_assert_cmpint(write_at(m, OPEN, 131071, "end"), ==, 3);
    g_assert_cmpint(walk(m, ROOT, FILE_, "new"), ==, 0);
    g_assert_cmpint(clone_fid(m, FILE_, FREE), ==, 0);
    g_assert_cmpint(lopen(m, FREE, P9_DOTL_RDONLY), ==, -EACCES);
    ino = ino_of(m, FILE_);
    g_assert_cmpint(CALL(m, unlinkat, ROOT, "new"), ==, 0);
    g_assert_false(tree_exists(t, "new"));
    g_assert_cmpint(getattr(m, OPEN, &a), ==, 0);
    g_assert_cmpuint(a.size, ==, 131074);
    g_assert_cmpuint(a.nlink, ==, 0);
    g_assert_cmpuint(ino_of(m, FILE_), ==, ino);
    mem_free(m);
}

static void test_noatime(Tree *t)
{
    MemSession *m = tree_serve(t);

    g_assert_cmpint(walk_open(m, OPEN, "readable", P9_DOTL_RDONLY |
                              P9_DOTL_NOATIME), ==, 0);
    expect_text(m, OPEN, "hello");
    mem_free(m);
}

static void attach_user(MemSession *m)
{
    g_assert_cmpint(CALL(m, attach, USER, P9_NOFID, "", "", GUEST_USER), ==,
                    0);
}

/* What cannot be given to its owner is not made. */
static void test_passthrough_owner(Tree *t)
{
    MemSession *m = tree_serve_as(t, V9FS_MODEL_PASSTHROUGH);
    g_autofree char *before = tree_snapshot(t);
    g_autofree char *after = NULL;

    attach_user(m);
    g_assert_cmpint(CALL(m, mkdir, USER, "new", 0755, GUEST_USER), ==, -EPERM);
    g_assert_cmpint(CALL(m, symlink, USER, "new", "to", GUEST_USER), ==,
                    -EPERM);
    g_assert_cmpint(CALL(m, mknod, USER, "new", S_IFIFO | 0644, 0, 0,
                         GUEST_USER), ==, -EPERM);
    g_assert_cmpint(CALL(m, lcreate, USER, "new", P9_DOTL_RDWR, 0644,
                         GUEST_USER), ==, -EPERM);
    after = tree_snapshot(t);
    g_assert_cmpstr(after, ==, before);
    /* Nor are others' files given away, or changed in other ways. */
    g_assert_cmpint(walk(m, ROOT, FILE_, "writable"), ==, 0);
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_UID, .uid = NOBODY),
                    ==, -EPERM);
    mem_free(m);
}

static void test_none_owner(Tree *t)
{
    MemSession *m = tree_serve(t);

    attach_user(m);
    g_assert_cmpint(CALL(m, lcreate, USER, "new", P9_DOTL_RDWR, 04755,
                         GUEST_USER), ==, 0);
    g_assert_cmpint(tree_stat(t, "new").st_uid, ==, NOBODY);
    g_assert_cmpuint(mode_of(m, USER), ==, S_IFREG | 04755);
    /* Not reported, but setuid bits go as if it had been done. */
    g_assert_cmpint(CALL(m, setattr, USER, P9_SETATTR_UID, .uid = 7), ==, 0);
    g_assert_cmpuint(mode_of(m, USER), ==, S_IFREG | 0755);
    g_assert_cmpint(CALL(m, setattr, USER, P9_SETATTR_MODE, 06755), ==, 0);
    g_assert_cmpint(write_at(m, USER, 0, "x"), ==, 1);
    g_assert_cmpuint(mode_of(m, USER), ==, S_IFREG | 0755);
    mem_free(m);
}

static void test_mapped_owner(Tree *t)
{
    static const V9fsModel models[] = { V9FS_MODEL_MAPPED_XATTR,
                                        V9FS_MODEL_MAPPED_FILE };

    for (int i = 0; i < ARRAY_SIZE(models); i++) {
        MemSession *m = tree_serve_as(t, models[i]);
        const char *name = i ? "one" : "two";
        P9Rgetattr a;

        attach_user(m);
        g_assert_cmpint(CALL(m, lcreate, USER, name, P9_DOTL_RDWR, 04000,
                             GUEST_USER), ==, 0);
        g_assert_cmpint(getattr(m, USER, &a), ==, 0);
        g_assert_cmpuint(a.uid, ==, GUEST_USER);
        g_assert_cmpuint(a.gid, ==, GUEST_USER);
        g_assert_cmpuint(a.mode, ==, S_IFREG | 04000);
        g_assert_cmpuint(tree_stat(t, name).st_mode, ==, S_IFREG | 0600);
        g_assert_cmpint(tree_stat(t, name).st_uid, ==, NOBODY);
        /* The mode is the guest's affair. */
        g_assert_cmpint(walk_open(m, OPEN, name, P9_DOTL_RDWR), ==, 0);
        mem_free(m);
    }
}

/* A file that may be written but is another's: all of a change or nothing */
static void test_others_file(Tree *t)
{
    static const P9Tsetattr refused[] = {
        { FILE_, P9_SETATTR_MODE, 0600 },
        { FILE_, P9_SETATTR_MODE | P9_SETATTR_SIZE, 0600, .size = 1 },
        { FILE_, P9_SETATTR_MTIME | P9_SETATTR_MTIME_SET, .mtime_sec = 7 },
        { FILE_, P9_SETATTR_MTIME | P9_SETATTR_MTIME_SET | P9_SETATTR_SIZE,
          .mtime_sec = 7, .size = 1 },
    };
    MemSession *m = tree_serve(t);
    g_autofree char *before = tree_snapshot(t);
    g_autofree char *after = NULL;

    g_assert_cmpint(walk(m, ROOT, FILE_, "writable"), ==, 0);
    for (int i = 0; i < ARRAY_SIZE(refused); i++) {
        g_assert_cmpint(mem_call(m, P9_TSETATTR, &refused[i], NULL), ==,
                        -EPERM);
    }
    after = tree_snapshot(t);
    g_assert_cmpstr(after, ==, before);
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_SIZE |
                         P9_SETATTR_MTIME, .size = 3), ==, 0);
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_ATIME |
                         P9_SETATTR_MTIME), ==, 0);
    g_assert_cmpuint(size_of(m, FILE_), ==, 3);
    mem_free(m);
}

static void test_no_rights(Tree *t)
{
    MemSession *m = tree_serve(t);
    g_autofree char *before = tree_snapshot(t);
    g_autofree char *after = NULL;
    P9Rgetattr a;

    g_assert_cmpint(walk(m, ROOT, FILE_, "secret"), ==, 0);
    g_assert_cmpint(getattr(m, FILE_, &a), ==, 0);
    g_assert_cmpint(lopen(m, FILE_, P9_DOTL_RDONLY), ==, -EACCES);
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_SIZE), ==, -EACCES);
    g_assert_cmpint(walk(m, ROOT, OTHER, "readable"), ==, 0);
    g_assert_cmpint(lopen(m, OTHER, P9_DOTL_WRONLY), ==, -EACCES);
    g_assert_cmpint(lopen(m, OTHER, P9_DOTL_RDONLY | P9_DOTL_TRUNC), ==,
                    -EACCES);
    g_assert_cmpint(set_xattr(m, OTHER, "user.x", "y", 0), ==, -EACCES);
    g_assert_cmpint(walk(m, ROOT, OPEN, "folder"), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, OPEN, "new", 0755), ==, -EACCES);
    g_assert_cmpint(CALL(m, unlinkat, OPEN, "file"), ==, -EACCES);
    g_assert_cmpint(CALL(m, renameat, OPEN, "file", ROOT, "new"), ==, -EACCES);
    g_assert_cmpint(clone_fid(m, OPEN, FREE), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, FREE, "new", P9_DOTL_RDWR, 0644), ==,
                    -EACCES);
    after = tree_snapshot(t);
    g_assert_cmpstr(after, ==, before);
    mem_free(m);
}

static const struct {
    const char *name;
    void (*test)(Tree *t);
} tests[] = {
    { "mode-0", test_mode_0 },
    { "noatime", test_noatime },
    { "passthrough-owner", test_passthrough_owner },
    { "none-owner", test_none_owner },
    { "mapped-owner", test_mapped_owner },
    { "others-file", test_others_file },
    { "no-rights", test_no_rights },
};

static void run(gconstpointer data)
{
    unsigned i = GPOINTER_TO_UINT(data);
    g_autoptr(Tree) t = NULL;

    if (g_test_subprocess()) {
        Tree made = { (char *)g_getenv(TREE_ENV) };

        make_files(&made);
        become_nobody();
        tests[i].test(&made);
        return;
    }
    if (geteuid()) {
        g_test_skip("needs root, to give that up");
        return;
    }
    t = tree_new();
    g_setenv(TREE_ENV, t->path, true);
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    for (unsigned i = 0; i < ARRAY_SIZE(tests); i++) {
        g_autofree char *path = g_strconcat("/9p/unprivileged/", tests[i].name,
                                            NULL);

        g_test_add_data_func(path, GUINT_TO_POINTER(i), run);
    }
    return g_test_run();
}
