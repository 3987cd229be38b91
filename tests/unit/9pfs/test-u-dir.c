/*
 * Tests of 9P2000.u: directories, which are read as stat records
 *
 * On a directory of the host with security model none, through the whole
 * server.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "client.h"
#include "tree.h"

static MemSession *serve(Tree *t)
{
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);

    mem_start(m);
    mem_attach_u(m, 8192);
    return m;
}

/* Reads one reply of records into @names; returns its bytes or -errno */
static int read_names(MemSession *m, uint32_t fid, uint64_t offset,
                      uint32_t count, GHashTable *names)
{
    P9Rread r;
    size_t at = 0;
    int err = ASK(m, read, &r, fid, offset, count);

    if (err) {
        return err;
    }
    while (at < r.data.count) {
        P9Stat s;
        size_t size = p9_get_stat(m->last->in + r.data.at + at,
                                  r.data.count - at, &s);

        g_assert_cmpuint(size, >, 0);
        g_assert_true(g_hash_table_insert(names, g_strdup(s.name),
                                          g_strdup(s.extension)));
        at += size;
    }
    return r.data.count;
}

static GHashTable *all_names(MemSession *m, uint32_t fid, uint32_t count)
{
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                              g_free);
    uint64_t offset = 0;
    int ret;

    do {
        ret = read_names(m, fid, offset, count, names);
        g_assert_cmpint(ret, >=, 0);
        offset += ret;
    } while (ret);
    g_assert_cmpint(read_names(m, fid, offset, count, names), ==, 0);
    return names;
}

/* Whatever the size of a reply, all names come once, and again from 0. */
static void test_read_dir(void)
{
    static const uint32_t counts[] = { 400, 1000, 4096, 8000 };
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);

    tree_mkdir(t, "dir");
    for (int i = 0; i < 300; i++) {
        g_autofree char *name = g_strdup_printf("dir/%0*d", 1 + i % 240, i);

        tree_write(t, name, "");
    }
    g_assert_cmpint(walk(m, 0, 1, "dir"), ==, 0);
    g_assert_cmpint(CALL(m, open, 1, P9_OREAD), ==, 0);
    for (int i = 0; i < ARRAY_SIZE(counts); i++) {
        g_autoptr(GHashTable) names = all_names(m, 1, counts[i]);

        g_assert_cmpuint(g_hash_table_size(names), ==, 302);
        g_assert_true(g_hash_table_contains(names, "."));
        g_assert_true(g_hash_table_contains(names, ".."));
    }
    mem_free(m);
}

static void test_read_dir_offsets(void)
{
    g_autoptr(Tree) t = tree_new();
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash,
                                                        g_str_equal, g_free,
                                                        g_free);
    MemSession *m = serve(t);
    int size;

    for (int i = 0; i < 20; i++) {
        g_autofree char *name = g_strdup_printf("%d", i);

        tree_write(t, name, "");
    }
    g_assert_cmpint(clone_fid(m, 0, 1), ==, 0);
    g_assert_cmpint(CALL(m, open, 1, P9_OREAD), ==, 0);
    g_assert_cmpint(CALL(m, read, 1, 1, 4096), ==, -EINVAL);
    size = read_names(m, 1, 0, 500, names);
    g_assert_cmpint(size, >, 0);
    g_assert_cmpint(CALL(m, read, 1, size - 1, 4096), ==, -EINVAL);
    g_assert_cmpint(CALL(m, read, 1, size + 1, 4096), ==, -EINVAL);
    /* What does not fit is an error, not an end, and is not lost. */
    g_assert_cmpint(CALL(m, read, 1, size, 20), ==, -EINVAL);
    g_assert_cmpint(read_names(m, 1, size, 4096, names), >, 0);
    g_assert_cmpuint(g_hash_table_size(names), ==, 22);
    mem_free(m);
}

/*
 * Linux fills a buffer with one read after the other: what is left of it at
 * the end is too small for a record, which is no error.
 */
static void test_read_dir_leftover(void)
{
    g_autoptr(Tree) t = tree_new();
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash,
                                                        g_str_equal, g_free,
                                                        g_free);
    MemSession *m = serve(t);
    uint64_t offset = 0;
    int left, size;

    for (int i = 0; i < 100; i++) {
        g_autofree char *name = g_strdup_printf("a-name-%d", i);

        tree_write(t, name, "");
    }
    g_assert_cmpint(clone_fid(m, 0, 1), ==, 0);
    g_assert_cmpint(CALL(m, open, 1, P9_OREAD), ==, 0);
    do {
        left = 1000;
        do {
            size = read_names(m, 1, offset, left, names);
            g_assert_cmpint(size, >=, 0);
            offset += size;
            left -= size;
        } while (left && size);
    } while (left < 1000);
    g_assert_cmpuint(g_hash_table_size(names), ==, 102);
    mem_free(m);
}

/* Each record says what Tstat of the entry would. */
static void test_read_dir_records(void)
{
    g_autoptr(Tree) t = tree_new();
    g_autofree char *path = tree_path(t, "link");
    g_autoptr(GHashTable) names = NULL;
    MemSession *m = serve(t);
    P9Rread r;
    size_t at = 0;

    tree_write(t, "file", "hello");
    g_assert_cmpint(symlink("target", path), ==, 0);
    g_assert_cmpint(clone_fid(m, 0, 1), ==, 0);
    g_assert_cmpint(CALL(m, open, 1, P9_OREAD), ==, 0);
    names = all_names(m, 1, 4096);
    g_assert_cmpstr(g_hash_table_lookup(names, "link"), ==, "target");
    g_assert_cmpstr(g_hash_table_lookup(names, "file"), ==,
                    "HARDLINKCOUNT 1");
    g_assert_cmpint(ASK(m, read, &r, 1, 0, 4096), ==, 0);
    while (at < r.data.count) {
        P9Stat s;

        at += p9_get_stat(m->last->in + r.data.at + at, r.data.count - at, &s);
        if (g_str_equal(s.name, "file")) {
            g_assert_cmpuint(s.qid.path, !=, 0);
            g_assert_cmpuint(s.length, ==, 5);
            g_assert_cmpuint(s.mode, ==,
                             tree_stat(t, "file").st_mode & 0777);
        } else {
            g_assert_cmpuint(s.mode & (s.name[0] == '.' ? P9_DMDIR :
                                       P9_DMSYMLINK), !=, 0);
        }
    }
    mem_free(m);
}

/* ".." of the root is the root, and tells nothing of what is above. */
static void test_read_dir_root(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    P9Rread r;
    size_t at = 0;

    g_assert_cmpint(clone_fid(m, 0, 1), ==, 0);
    g_assert_cmpint(CALL(m, open, 1, P9_OREAD), ==, 0);
    g_assert_cmpint(ASK(m, read, &r, 1, 0, 4096), ==, 0);
    while (at < r.data.count) {
        P9Stat s;

        at += p9_get_stat(m->last->in + r.data.at + at, r.data.count - at, &s);
        g_assert_cmpuint(s.qid.path, ==, tree_stat(t, "").st_ino);
    }
    mem_free(m);
}

/* The tree of the tests' driver */
static void test_synth(void)
{
    MemSession *m = mem_new(&v9fs_synth_ops, NULL, V9FS_MODEL_UNSET);
    g_autoptr(GHashTable) names = NULL;

    mem_start(m);
    mem_attach_u(m, 4096);
    g_assert_cmpint(walk(m, 0, 1, "ReadDirDir"), ==, 0);
    g_assert_cmpint(CALL(m, open, 1, P9_OREAD), ==, 0);
    names = all_names(m, 1, 2048);
    g_assert_cmpuint(g_hash_table_size(names), ==, 102);
    mem_free(m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    umask(0);
    g_test_add_func("/9pfs/u/read-dir/all", test_read_dir);
    g_test_add_func("/9pfs/u/read-dir/offsets", test_read_dir_offsets);
    g_test_add_func("/9pfs/u/read-dir/leftover", test_read_dir_leftover);
    g_test_add_func("/9pfs/u/read-dir/records", test_read_dir_records);
    g_test_add_func("/9pfs/u/read-dir/root", test_read_dir_root);
    g_test_add_func("/9pfs/u/read-dir/synth", test_synth);
    return g_test_run();
}
