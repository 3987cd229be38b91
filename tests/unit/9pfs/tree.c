/*
 * Directories of the host for tests to share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <ftw.h>
#include "tree.h"

Tree *tree_new(void)
{
    Tree *t = g_new0(Tree, 1);

    t->path = g_strdup_printf("%s/9p-test.XXXXXX", g_get_tmp_dir());
    g_assert_nonnull(g_mkdtemp(t->path));
    return t;
}

static int remove_one(const char *path, const struct stat *st, int flag,
                      struct FTW *ftw)
{
    return remove(path);
}

void tree_remove(Tree *t, const char *path)
{
    g_autofree char *full = tree_path(t, path);

    g_assert_cmpint(nftw(full, remove_one, 64, FTW_DEPTH | FTW_PHYS), ==, 0);
}

void tree_free(Tree *t)
{
    tree_remove(t, "");
    g_free(t->path);
    g_free(t);
}

MemSession *tree_serve(Tree *t)
{
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);

    mem_start(m);
    mem_attach(m, 8192);
    return m;
}

char *tree_path(Tree *t, const char *path)
{
    return *path ? g_build_filename(t->path, path, NULL) : g_strdup(t->path);
}

void tree_write(Tree *t, const char *path, const char *text)
{
    g_autofree char *full = tree_path(t, path);

    g_assert_true(g_file_set_contents(full, text, -1, NULL));
}

void tree_mkdir(Tree *t, const char *path)
{
    g_autofree char *full = tree_path(t, path);

    g_assert_cmpint(mkdir(full, 0755), ==, 0);
}

bool tree_exists(Tree *t, const char *path)
{
    g_autofree char *full = tree_path(t, path);

    return g_file_test(full, G_FILE_TEST_EXISTS);
}
