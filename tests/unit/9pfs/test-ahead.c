/*
 * Tests of directories that are read ahead
 *
 * What a listing must be is tested in test-readdir.c; here, that what has
 * been fetched before it is asked for saves crossings and is not served
 * where something else would be true by now.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/units.h"
#include "client.h"
#include "tree.h"

#define DIR_FID     1
#define NFILES      400
#define COUNT       2000        /* bytes a request: many make a listing */

static Tree *make_files(void)
{
    Tree *t = tree_new();

    tree_mkdir(t, "dir");
    for (int i = 0; i < NFILES; i++) {
        g_autofree char *name = g_strdup_printf("dir/file%d", i);

        tree_write(t, name, "");
    }
    return t;
}

static MemSession *serve_dir(Tree *t)
{
    MemSession *m = tree_serve(t);

    g_assert_cmpint(walk_open(m, DIR_FID, "dir", P9_DOTL_RDONLY), ==, 0);
    return m;
}

static GHashTable *no_names(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

/* One request; false at the end.  @offset goes on. */
static bool read_some(MemSession *m, GHashTable *names, uint64_t *offset)
{
    P9Rreaddir r;
    P9Dirent ent;

    g_assert_cmpint(ASK(m, readdir, &r, DIR_FID, *offset, COUNT), ==, 0);
    for (uint32_t at = 0; at < r.data.count;) {
        at += p9_get_dirent(m->last->in + r.data.at + at, r.data.count - at,
                            &ent);
        g_hash_table_add(names, g_strndup(ent.name, ent.namelen));
        *offset = ent.offset;
    }
    return r.data.count;
}

static void read_rest(MemSession *m, GHashTable *names, uint64_t offset)
{
    while (read_some(m, names, &offset)) {
        continue;
    }
}

static void settle(MemSession *m)
{
    while (m->s.aheads) {
        aio_poll(qemu_get_aio_context(), true);
    }
}

/* A listing of many requests crosses for the first of them at most. */
static void test_crossings(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_dir(t);

    for (int i = 0; i < 3; i++) {
        g_autoptr(GHashTable) names = no_names();
        uint64_t before = mem_crossings(m, P9_TREADDIR);

        read_rest(m, names, 0);
        g_assert_cmpuint(g_hash_table_size(names), ==, NFILES + 2);
        g_assert_cmpuint(mem_crossings(m, P9_TREADDIR) - before, <=, 1);
    }
    settle(m);
    g_assert_cmpuint(m->s.ahead_bytes, ==, 0);
    mem_free(m);
}

/* The end is told once; then what has come since is found. */
static void test_end(void)
{
    g_autoptr(Tree) t = make_files();
    g_autoptr(GHashTable) names = no_names();
    MemSession *m = serve_dir(t);
    uint64_t offset = 0;

    while (read_some(m, names, &offset)) {
        continue;
    }
    tree_write(t, "dir/late", "");
    g_hash_table_remove_all(names);
    read_rest(m, names, 0);
    g_assert_true(g_hash_table_contains(names, "late"));
    mem_free(m);
}

/* Some name that a listing from @offset on would have */
static char *name_beyond(MemSession *m, uint64_t offset)
{
    g_autoptr(GHashTable) rest = no_names();
    GHashTableIter iter;
    gpointer name;

    read_rest(m, rest, offset);
    g_hash_table_iter_init(&iter, rest);
    do {
        g_assert_true(g_hash_table_iter_next(&iter, &name, NULL));
    } while (*(char *)name == '.');
    return g_strdup(name);
}

/* What the guest removes while it reads is not listed after that. */
static void test_removed(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_dir(t);

    g_assert_cmpint(walk(m, 0, 2, "dir"), ==, 0);
    for (int i = 0; i < 20; i++) {
        g_autoptr(GHashTable) names = no_names();
        g_autofree char *victim = NULL;
        uint64_t offset = 0;

        read_some(m, names, &offset);
        victim = name_beyond(m, offset);
        offset = 0;
        g_hash_table_remove_all(names);
        read_some(m, names, &offset);
        if (i % 2) {
            settle(m);
        }
        g_assert_cmpint(CALL(m, unlinkat, 2, victim), ==, 0);
        read_rest(m, names, offset);
        g_assert_false(g_hash_table_contains(names, victim));
        g_assert_cmpuint(g_hash_table_size(names), ==, NFILES + 1 - i);
    }
    mem_free(m);
}

/* Each way to make a name: it is there when the rest is read. */
static void make_name(MemSession *m, int how)
{
    switch (how) {
    case 0:
        g_assert_cmpint(CALL(m, mkdir, 2, "new0", 0755), ==, 0);
        break;
    case 1:
        g_assert_cmpint(CALL(m, symlink, 2, "new1", "x"), ==, 0);
        break;
    case 2:
        g_assert_cmpint(CALL(m, link, 2, 3, "new2"), ==, 0);
        break;
    case 3:
        g_assert_cmpint(CALL(m, renameat, 0, "moved", 2, "new3"), ==, 0);
        break;
    case 4:
        g_assert_cmpint(CALL(m, lcreate, 2, "new4", P9_DOTL_RDWR, 0600), ==,
                        0);
        break;
    }
}

static void test_made(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_dir(t);

    tree_write(t, "moved", "");
    g_assert_cmpint(walk(m, 0, 2, "dir"), ==, 0);
    g_assert_cmpint(walk(m, 2, 3, "file1"), ==, 0);
    for (int how = 0; how < 5; how++) {
        g_autofree char *name = g_strdup_printf("new%d", how);
        g_autoptr(GHashTable) names = no_names();
        uint64_t end = 0;

        /* Up to the end, which is now known; then there is one more. */
        while (read_some(m, names, &end)) {
            if (g_hash_table_size(names) == NFILES + 2 + how) {
                break;
            }
        }
        make_name(m, how);
        read_rest(m, names, end);
        read_rest(m, names, 0);
        g_assert_true(g_hash_table_contains(names, name));
    }
    mem_free(m);
}

/* A request for somewhere else is answered from there. */
static void test_seek(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = serve_dir(t);
    g_autoptr(GHashTable) all = no_names();
    g_autoptr(GHashTable) again = no_names();
    uint64_t offset = 0, third;

    for (int i = 0; i < 3; i++) {
        read_some(m, all, &offset);
    }
    third = offset;
    read_rest(m, all, 0);
    offset = 0;
    read_some(m, again, &offset);
    read_rest(m, again, third);
    for (offset = 0; offset != third;) {
        read_some(m, again, &offset);
    }
    g_assert_cmpuint(g_hash_table_size(again), ==, g_hash_table_size(all));
    mem_free(m);
}

/* Whatever ends the fid while a worker reads ahead waits for it. */
static void test_ended(void)
{
    g_autoptr(Tree) t = make_files();

    for (int i = 0; i < 30; i++) {
        MemSession *m = serve_dir(t);
        g_autoptr(GHashTable) names = no_names();
        unsigned descriptors = open_descriptors();
        uint64_t offset = 0;

        read_some(m, names, &offset);
        if (i % 3 == 0) {
            g_assert_cmpint(clunk(m, DIR_FID), ==, 0);
            g_assert_cmpuint(m->s.aheads, ==, 0);
            g_assert_cmpuint(m->s.ahead_bytes, ==, 0);
            g_assert_cmpuint(open_descriptors(), <, descriptors);
        } else if (i % 3 == 1) {
            mem_attach(m, 8192);
            g_assert_cmpuint(m->s.aheads, ==, 0);
        }
        mem_free(m);
    }
}

/* However many directories are half read, the memory has a limit. */
static void test_memory(void)
{
    g_autoptr(Tree) t = make_files();
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);
    P9Rreaddir r;

    m->max_msize = MEM_MSIZE;
    mem_start(m);
    mem_attach(m, MEM_MSIZE);
    for (int i = 0; i < 2000; i++) {
        uint32_t fid = DIR_FID + i;
        int err = walk_open(m, fid, "dir", P9_DOTL_RDONLY);

        if (err == -EMFILE) {
            break;
        }
        g_assert_cmpint(err, ==, 0);
        g_assert_cmpint(ASK(m, readdir, &r, fid, 0, 10000), ==, 0);
        g_assert_cmpuint(r.data.count, >, 0);
    }
    settle(m);
    g_assert_cmpuint(m->s.ahead_bytes, >, 0);
    g_assert_cmpuint(m->s.ahead_bytes, <=, 4 * MiB);
    mem_attach(m, 8192);
    g_assert_cmpuint(m->s.ahead_bytes, ==, 0);
    mem_free(m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    g_test_add_func("/9p/ahead/crossings", test_crossings);
    g_test_add_func("/9p/ahead/end", test_end);
    g_test_add_func("/9p/ahead/removed", test_removed);
    g_test_add_func("/9p/ahead/made", test_made);
    g_test_add_func("/9p/ahead/seek", test_seek);
    g_test_add_func("/9p/ahead/ended", test_ended);
    g_test_add_func("/9p/ahead/memory", test_memory);
    return g_test_run();
}
