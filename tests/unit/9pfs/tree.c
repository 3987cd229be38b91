/*
 * Directories of the host for tests to share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <ftw.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/xattr.h>
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

MemSession *tree_serve_as(Tree *t, V9fsModel model)
{
    MemSession *m = mem_new(&v9fs_local_ops, t->path, model);

    mem_start(m);
    mem_attach(m, 8192);
    return m;
}

MemSession *tree_serve(Tree *t)
{
    return tree_serve_as(t, V9FS_MODEL_NONE);
}

const TreeModel tree_models[] = {
    { "none", V9FS_MODEL_NONE },
    { "passthrough", V9FS_MODEL_PASSTHROUGH },
    { "mapped-xattr", V9FS_MODEL_MAPPED_XATTR },
    { "mapped-file", V9FS_MODEL_MAPPED_FILE },
    { }
};

const char *tree_model_lacks(V9fsModel model)
{
    V9fsExport exp = { .id = (char *)"test", .path = (char *)"/",
                       .model = model };

    if (!v9fs_local_ops.check(&exp, NULL)) {
        return "the driver does not have this model";
    }
    if (model == V9FS_MODEL_PASSTHROUGH && geteuid()) {
        return "security model passthrough needs root";
    }
    return NULL;
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

struct stat tree_stat(Tree *t, const char *path)
{
    g_autofree char *full = tree_path(t, path);
    struct stat st;

    g_assert_cmpint(lstat(full, &st), ==, 0);
    return st;
}

char *tree_read(Tree *t, const char *path)
{
    g_autofree char *full = tree_path(t, path);
    char *text;

    g_assert_true(g_file_get_contents(full, &text, NULL, NULL));
    return text;
}

bool tree_own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

void tree_rename(Tree *t, const char *from, const char *to)
{
    g_autofree char *old = tree_path(t, from);
    g_autofree char *new = tree_path(t, to);

    g_assert_cmpint(rename(old, new), ==, 0);
}

/* Snapshots: one line an object, sorted */

static GPtrArray *snapshot_lines;

static void describe_xattrs(GString *line, const char *path)
{
    char list[1024], value[256];
    ssize_t size = llistxattr(path, list, sizeof(list));

    for (char *name = list; size > 0 && name < list + size;
         name += strlen(name) + 1) {
        ssize_t len = lgetxattr(path, name, value, sizeof(value));
        g_autofree char *hex = NULL;

        g_assert_cmpint(len, >=, 0);
        hex = g_compute_checksum_for_data(G_CHECKSUM_MD5, (guchar *)value,
                                          len);
        g_string_append_printf(line, " %s=%s", name, hex);
    }
}

static int describe(const char *path, const struct stat *st, int flag,
                    struct FTW *ftw)
{
    GString *line = g_string_new(path);
    g_autofree char *text = NULL;
    g_autofree char *target = NULL;

    g_string_append_printf(line, " %o %u %u %ju", st->st_mode, st->st_uid,
                           st->st_gid, (uintmax_t)st->st_nlink);
    if (S_ISREG(st->st_mode) && g_file_get_contents(path, &text, NULL, NULL)) {
        g_string_append_printf(line, " '%s'", text);
    } else if (S_ISLNK(st->st_mode)) {
        target = g_file_read_link(path, NULL);
        g_string_append_printf(line, " -> '%s'", target);
    }
    describe_xattrs(line, path);
    g_ptr_array_add(snapshot_lines, g_string_free(line, false));
    return 0;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *tree_snapshot(Tree *t)
{
    char *all;

    snapshot_lines = g_ptr_array_new_with_free_func(g_free);
    g_assert_cmpint(nftw(t->path, describe, 64, FTW_PHYS), ==, 0);
    g_ptr_array_sort(snapshot_lines, compare_lines);
    g_ptr_array_add(snapshot_lines, NULL);
    all = g_strjoinv("\n", (char **)snapshot_lines->pdata);
    g_ptr_array_unref(snapshot_lines);
    return all;
}
