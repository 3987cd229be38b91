/*
 * Fuzz target: sessions on the driver "local", in a scratch directory
 *
 * The directory has a neighbour that must stay as it is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <ftw.h>
#include "fuzz-session.h"

static char *top, *export, *outside;
static struct stat untouched, untouched_dir;

/* What the guest has made may not even let its owner in. */
static int remove_one(const char *path, const struct stat *st, int flag,
                      struct FTW *ftw)
{
    if (flag == FTW_DNR) {
        chmod(path, 0700);
    } else {
        remove(path);
    }
    return 0;
}

static void remove_all(const char *path)
{
    struct stat st;

    while (lstat(path, &st) == 0) {
        nftw(path, remove_one, 64, FTW_DEPTH | FTW_PHYS);
    }
}

static void make_file(const char *dir, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);

    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void make_dir(const char *dir, const char *name)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);

    g_assert_cmpint(mkdir(path, 0755), ==, 0);
}

static void make_link(const char *dir, const char *name, const char *target)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);

    g_assert_cmpint(symlink(target, path), ==, 0);
}

static void remember_outside(void)
{
    g_assert_cmpint(lstat(outside, &untouched), ==, 0);
    g_assert_cmpint(lstat(top, &untouched_dir), ==, 0);
}

static void remove_scratch(void)
{
    remove_all(top);
}

static void make_scratch(void)
{
    top = g_build_filename(g_get_tmp_dir(), "9p-fuzz.XXXXXX", NULL);
    g_assert_nonnull(g_mkdtemp(top));
    atexit(remove_scratch);
    export = g_build_filename(top, "export", NULL);
    outside = g_build_filename(top, "outside", NULL);
    make_file(top, "outside", "secret");
    make_dir(top, "export");
    remember_outside();
}

/* The export is emptied, not replaced: what is around it must not change. */
static void empty_export(void)
{
    g_autoptr(GDir) dir = NULL;
    const char *name;

    chmod(export, 0755);
    dir = g_dir_open(export, 0, NULL);
    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(export, name, NULL);

        remove_all(path);
    }
}

static void fill_export(void)
{
    g_autofree char *dir = g_build_filename(export, "d", NULL);

    make_file(export, "f", "content of a file");
    make_dir(export, "d");
    make_file(dir, "x", "");
    make_link(export, "l", "../outside");
    make_link(dir, "up", "..");
}

MemSession *fuzz_new(uint8_t choice)
{
    static const V9fsModel models[] = {
        V9FS_MODEL_NONE, V9FS_MODEL_PASSTHROUGH, V9FS_MODEL_MAPPED_XATTR,
        V9FS_MODEL_MAPPED_FILE,
    };
    MemSession *m;

    if (!top) {
        make_scratch();
    }
    empty_export();
    fill_export();
    m = mem_new(&v9fs_local_ops, export, models[choice >> 3 & 3]);
    m->exp.readonly = choice & 1;
    m->exp.max_fids = choice & 2 ? 8 : 0;
    m->exp.max_xattr = choice & 4 ? 2 : 0;
    return m;
}

void fuzz_check(void)
{
    struct stat now;

    g_assert_cmpint(lstat(outside, &now), ==, 0);
    g_assert_cmpuint(now.st_nlink, ==, 1);
    g_assert_cmpint(now.st_ctim.tv_sec, ==, untouched.st_ctim.tv_sec);
    g_assert_cmpint(now.st_ctim.tv_nsec, ==, untouched.st_ctim.tv_nsec);
    g_assert_cmpint(lstat(top, &now), ==, 0);
    g_assert_cmpint(now.st_ctim.tv_sec, ==, untouched_dir.st_ctim.tv_sec);
    g_assert_cmpint(now.st_ctim.tv_nsec, ==, untouched_dir.st_ctim.tv_nsec);
}
