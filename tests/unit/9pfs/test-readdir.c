/*
 * Tests of Treaddir through the whole server
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/9p-synth.h"
#include "memory-transport.h"
#include "tree.h"

#define DIR_FID     1

static void walk_and_open(MemSession *m, uint32_t fid, const char *name)
{
    P9Twalk walk = { 0, fid, { 1, { name } } };
    P9Tlopen open = { fid, P9_DOTL_RDONLY | P9_DOTL_DIRECTORY };

    walk.names.n = *name ? 1 : 0;
    g_assert_cmpint(mem_call(m, P9_TWALK, &walk, NULL), ==, 0);
    g_assert_cmpint(mem_call(m, P9_TLOPEN, &open, NULL), ==, 0);
}

/* A Treaddir whose reply has room for @room bytes in pieces of @piece */
static MemRequest *readdir_in(MemSession *m, uint64_t offset, uint32_t count,
                              size_t room, size_t piece)
{
    P9Treaddir t = { DIR_FID, offset, count };
    uint8_t buf[64];
    ssize_t size = p9_encode(P9_TREADDIR, 1, &t, buf, sizeof(buf));
    MemRequest *r = mem_send_bytes(m, buf, size, room, piece);

    mem_wait(r);
    return r;
}

/* Entries in a reply, which they must fill exactly */
static unsigned count_entries(MemRequest *r, const P9Data *data)
{
    uint32_t at = 0;
    unsigned n;

    for (n = 0; at < data->count; n++) {
        P9Dirent ent;
        size_t size = p9_get_dirent(r->in + data->at + at, data->count - at,
                                    &ent);

        g_assert_cmpuint(size, >, 0);
        at += size;
    }
    return n;
}

static Tree *tree_of_files(unsigned n)
{
    Tree *t = tree_new();

    tree_mkdir(t, "dir");
    for (unsigned i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("dir/file%u", i);

        tree_write(t, name, "");
    }
    return t;
}

/* Whatever a client claims, no reply is larger than its buffer and msize. */
static void test_count(void)
{
    static const uint32_t counts[] = { 100, 4096, 8192, 1 << 20, UINT32_MAX };
    static const size_t rooms[] = { 64, 100, 300, 4096, 8192, 20000 };
    g_autoptr(Tree) t = tree_of_files(500);
    MemSession *m = tree_serve(t);

    walk_and_open(m, DIR_FID, "dir");
    for (int i = 0; i < ARRAY_SIZE(counts); i++) {
        for (int j = 0; j < ARRAY_SIZE(rooms); j++) {
            uint32_t most = MIN(MIN(counts[i], rooms[j] - P9_READ_HDRSZ),
                                8192 - P9_READ_HDRSZ);
            MemRequest *r = readdir_in(m, 0, counts[i], rooms[j], 0);
            P9Rreaddir got;

            g_assert_cmpint(mem_result(r, &got), ==, 0);
            g_assert_cmpuint(got.data.count, <=, most);
            g_assert_cmpuint(count_entries(r, &got.data), >, 0);
            mem_request_free(r);
        }
    }
    mem_free(m);
}

/* An empty reply means the end, so too little room must not give one. */
static void test_too_small(void)
{
    g_autoptr(Tree) t = tree_of_files(10);
    MemSession *m = tree_serve(t);

    walk_and_open(m, DIR_FID, "dir");
    for (uint32_t room = 0; room <= P9_DIRENT_HDRSZ; room++) {
        MemRequest *by_count = readdir_in(m, 0, room, 8192, 0);
        MemRequest *by_room = readdir_in(m, 0, 8192, P9_READ_HDRSZ + room, 0);

        g_assert_cmpint(mem_result(by_count, NULL), ==, -EINVAL);
        g_assert_cmpint(mem_result(by_room, NULL), ==, -EINVAL);
        mem_request_free(by_count);
        mem_request_free(by_room);
    }
    mem_free(m);
}

/* The directory that benchmarks and qtests read */

static MemSession *serve_synth(void)
{
    MemSession *m = mem_new(&v9fs_synth_ops, NULL, V9FS_MODEL_UNSET);

    mem_start(m);
    return m;
}

static void test_synth(void)
{
    MemSession *m = serve_synth();
    MemRequest *r;
    P9Rreaddir got;

    mem_attach(m, 512000);
    walk_and_open(m, DIR_FID, QTEST_V9FS_SYNTH_READDIR_DIR);
    r = readdir_in(m, 0, 500000, 512000, 0);
    g_assert_cmpint(mem_result(r, &got), ==, 0);
    g_assert_cmpuint(count_entries(r, &got.data), ==,
                     QTEST_V9FS_SYNTH_READDIR_NFILES + 2);
    mem_request_free(r);
    mem_free(m);
}

/* Whole listings */

/* Reads on from @offset to the end and adds the names to @names */
static void list_into(MemSession *m, GHashTable *names, uint64_t offset,
                      uint32_t count, size_t piece)
{
    P9Rreaddir got;
    MemRequest *r;

    do {
        r = readdir_in(m, offset, count, count + P9_READ_HDRSZ, piece);
        g_assert_cmpint(mem_result(r, &got), ==, 0);
        for (uint32_t at = 0; at < got.data.count;) {
            P9Dirent ent;

            at += p9_get_dirent(r->in + got.data.at + at,
                                got.data.count - at, &ent);
            /* Each name once */
            g_assert_true(g_hash_table_add(names, g_strndup(ent.name,
                                                            ent.namelen)));
            offset = ent.offset;
        }
        mem_request_free(r);
    } while (got.data.count);
}

static GHashTable *list(MemSession *m, uint32_t count, size_t piece)
{
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal,
                                              g_free, NULL);

    list_into(m, names, 0, count, piece);
    return names;
}

static void expect_files(GHashTable *names, const char *format, unsigned n)
{
    g_assert_cmpuint(g_hash_table_size(names), ==, n + 2);
    g_assert_true(g_hash_table_contains(names, "."));
    g_assert_true(g_hash_table_contains(names, ".."));
    for (unsigned i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf(format, i);

        g_assert_true(g_hash_table_contains(names, name));
    }
}

static void test_complete(void)
{
    g_autoptr(Tree) t = tree_of_files(1000);
    MemSession *m = tree_serve(t);
    g_autoptr(GHashTable) names = NULL;

    walk_and_open(m, DIR_FID, "dir");
    names = list(m, 8000, 0);
    expect_files(names, "file%u", 1000);
    mem_free(m);
}

/* Small replies, scattered over buffers that no entry fits */
static void test_split(void)
{
    static const uint32_t counts[] = { 512, 256, 128, 40, 37 };
    static const size_t pieces[] = { 0, 1, 7, 24, 64, 100 };
    g_autoptr(Tree) t = tree_of_files(100);
    MemSession *m = tree_serve(t);

    walk_and_open(m, DIR_FID, "dir");
    for (int i = 0; i < ARRAY_SIZE(counts); i++) {
        for (int j = 0; j < ARRAY_SIZE(pieces); j++) {
            g_autoptr(GHashTable) names = list(m, counts[i], pieces[j]);

            expect_files(names, "file%u", 100);
        }
    }
    mem_free(m);
}

/* Names, positions, types and qids of a listing */
typedef struct Listing {
    unsigned n;
    P9Dirent ent[200];
    char name[200][32];
} Listing;

static void list_all(MemSession *m, uint64_t offset, Listing *l)
{
    MemRequest *r = readdir_in(m, offset, 8000, 8192, 0);
    P9Rreaddir got;

    g_assert_cmpint(mem_result(r, &got), ==, 0);
    l->n = 0;
    for (uint32_t at = 0; at < got.data.count; l->n++) {
        P9Dirent *ent = &l->ent[l->n];

        g_assert_cmpuint(l->n, <, ARRAY_SIZE(l->ent));
        at += p9_get_dirent(r->in + got.data.at + at, got.data.count - at,
                            ent);
        memcpy(l->name[l->n], ent->name, ent->namelen);
        l->name[l->n][ent->namelen] = '\0';
    }
    mem_request_free(r);
}

/* From every earlier position the rest is the same. */
static void test_positions(void)
{
    g_autoptr(Tree) t = tree_of_files(60);
    MemSession *m = tree_serve(t);
    static Listing all, rest;

    walk_and_open(m, DIR_FID, "dir");
    list_all(m, 0, &all);
    g_assert_cmpuint(all.n, ==, 62);
    g_assert_cmpuint(mem_crossings(m, P9_TREADDIR), <=, 1);
    for (int i = all.n - 1; i >= 0; i--) {
        list_all(m, all.ent[i].offset, &rest);
        g_assert_cmpuint(rest.n, ==, all.n - i - 1);
        for (int j = 0; j < rest.n; j++) {
            g_assert_cmpstr(rest.name[j], ==, all.name[i + 1 + j]);
        }
    }
    mem_free(m);
}

/* Each Treaddir is in the histogram once, in the right place. */
static void test_histogram(void)
{
    g_autoptr(Tree) t = tree_of_files(3);
    MemSession *m = tree_serve(t);
    V9fsHistogram h = { { 0 } };
    uint64_t sum = 0;

    walk_and_open(m, DIR_FID, "dir");
    for (int i = 0; i < 5; i++) {
        mem_request_free(readdir_in(m, 0, 4096, 8192, 0));
    }
    for (int i = 0; i < V9FS_HISTOGRAM_BINS; i++) {
        sum += m->s.stats.readdir.count[i];
    }
    g_assert_cmpuint(sum, ==, 5);
    mem_free(m);

    v9fs_histogram_add(&h, 0);
    v9fs_histogram_add(&h, 1023);
    v9fs_histogram_add(&h, 1024);
    v9fs_histogram_add(&h, UINT64_MAX);
    g_assert_cmpuint(h.count[0], ==, 1);
    g_assert_cmpuint(h.count[10], ==, 1);
    g_assert_cmpuint(h.count[11], ==, 1);
    g_assert_cmpuint(h.count[V9FS_HISTOGRAM_BINS - 1], ==, 1);
}

/* An entry's qid is that of the file, as far as it tells. */
static void test_qids(void)
{
    g_autoptr(Tree) t = tree_of_files(20);
    MemSession *m = tree_serve(t);
    static Listing all;

    walk_and_open(m, DIR_FID, "dir");
    list_all(m, 0, &all);
    for (int i = 0; i < all.n; i++) {
        bool dir = all.name[i][0] == '.';
        P9Twalk walk = { 0, 2, { 2, { "dir", all.name[i] } } };
        P9Rwalk got;

        g_assert_cmpuint(all.ent[i].type, ==, dir ? DT_DIR : DT_REG);
        g_assert_cmpuint(all.ent[i].qid.type, ==, dir ? P9_QTDIR : P9_QTFILE);
        if (!g_str_equal(all.name[i], ".")) {
            g_assert_cmpint(mem_call(m, P9_TWALK, &walk, &got), ==, 0);
            g_assert_cmpuint(got.qids.qid[1].path, ==, all.ent[i].qid.path);
            mem_call(m, P9_TCLUNK, &(P9Tclunk) { 2 }, NULL);
        }
    }
    mem_free(m);
}

/* What is there all the time is found, whatever goes and comes meanwhile. */
static void test_removing(void)
{
    g_autoptr(Tree) t = tree_of_files(100);
    MemSession *m = tree_serve(t);
    g_autoptr(GHashTable) names = NULL;
    MemRequest *r;
    P9Rreaddir got;
    P9Dirent ent;

    names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    walk_and_open(m, DIR_FID, "dir");
    r = readdir_in(m, 0, 64, 100, 0);
    g_assert_cmpint(mem_result(r, &got), ==, 0);
    g_assert_cmpuint(p9_get_dirent(r->in + got.data.at, got.data.count, &ent),
                     >, 0);
    g_hash_table_add(names, g_strndup(ent.name, ent.namelen));
    for (int i = 0; i < 100; i += 2) {
        g_autofree char *name = g_strdup_printf("dir/file%d", i);
        g_autofree char *path = tree_path(t, name);

        g_assert_cmpint(unlink(path), ==, 0);
    }
    list_into(m, names, ent.offset, 200, 0);
    mem_request_free(r);
    for (int i = 1; i < 100; i += 2) {
        g_autofree char *name = g_strdup_printf("file%d", i);

        g_assert_true(g_hash_table_contains(names, name));
    }
    mem_free(m);
}

/* The synthetic driver, at its own interface: one entry a call */

typedef struct Taken {
    unsigned n, most;
    uint64_t next;
} Taken;

static bool take(void *opaque, const V9fsDirent *ent)
{
    Taken *t = opaque;

    if (t->n == t->most) {
        return false;
    }
    t->n++;
    t->next = ent->offset;
    return true;
}

static int read_one(const V9fsCtx *cx, V9fsFile *file, Taken *t)
{
    return cx->fs->ops->readdir(cx, file, t->next, 4096, take, t);
}

/* Reads a directory of @n files, one entry a call; returns the calls */
static uint64_t calls_for(unsigned n)
{
    MemSession *m = serve_synth();
    V9fsCtx cx = { .fs = &m->s.fs };
    V9fsObject obj = { .dir = &m->s.fs.root, .name = "big" };
    V9fsFile file = { 0 };
    V9fsStat st;
    V9fsSynthNode *dir;
    uint64_t steps = 0;
    Taken t = { 0, 1, 0 };

    g_assert_cmpint(v9fs_synth_mkdir(cx.fs, NULL, "big", 0755, &dir), ==, 0);
    for (unsigned i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("f%u", i);

        g_assert_cmpint(v9fs_synth_add_file(cx.fs, dir, name, 0644, NULL,
                                            NULL), ==, 0);
    }
    g_assert_cmpint(cx.fs->ops->open(&cx, &obj, P9_DOTL_RDONLY, &file, &st),
                    ==, 0);
    do {
        t = (Taken) { 0, 1, t.next };
        g_assert_cmpint(read_one(&cx, &file, &t), ==, 0);
        steps += t.n;
    } while (t.n);
    g_assert_cmpuint(steps, ==, n + 2);
    cx.fs->ops->close(&cx, &file);
    mem_free(m);
    return steps;
}

/*
 * One call an entry, a hundred thousand of them: with a walk from the start
 * for each this would be five thousand million steps, and not end.
 */
static void test_synth_large(void)
{
    g_assert_cmpint(calls_for(100), ==, 102);
    g_assert_cmpint(calls_for(100000), ==, 100002);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    g_test_add_func("/9p/readdir/count", test_count);
    g_test_add_func("/9p/readdir/too-small", test_too_small);
    g_test_add_func("/9p/readdir/synth", test_synth);
    g_test_add_func("/9p/readdir/complete", test_complete);
    g_test_add_func("/9p/readdir/split", test_split);
    g_test_add_func("/9p/readdir/positions", test_positions);
    g_test_add_func("/9p/readdir/histogram", test_histogram);
    g_test_add_func("/9p/readdir/qids", test_qids);
    g_test_add_func("/9p/readdir/removing", test_removing);
    g_test_add_func("/9p/readdir/synth-large", test_synth_large);
    return g_test_run();
}
