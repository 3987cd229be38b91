/*
 * Tests of a guest that asks for too much
 *
 * Many fids, many and large attributes, counts beyond everything, paths
 * without end: the limits hold, the errors are right, and afterwards the
 * server is as it was.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/9p-node.h"
#include "client.h"
#include "gate.h"
#include "tree.h"

enum { ROOT, DIR_, FILE_, OPEN, FREE };

/* Fids that are made in large numbers begin here. */
#define FIRST   1000

static void check_nothing_left(MemSession *m)
{
    v9fs_reset(&m->s);
    g_assert_cmpuint(g_hash_table_size(m->s.fids), ==, 0);
    g_assert_cmpuint(g_hash_table_size(m->s.nodes), ==, 0);
    g_assert_cmpuint(m->s.fs.xattr_fids, ==, 0);
}

/* As many fids as are allowed, and no more; they cost no descriptor. */
static void test_fids(void)
{
    uint32_t max = g_test_slow() ? 1048576 : 5000;
    g_autoptr(Tree) t = tree_new();
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);
    unsigned descriptors;

    m->exp.max_fids = max;
    mem_start(m);
    mem_attach(m, 8192);
    tree_write(t, "file", "hello");
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    descriptors = open_descriptors();
    for (uint32_t i = 0; i < max - 2; i++) {
        g_assert_cmpint(clone_fid(m, i & 1 ? FILE_ : ROOT, FIRST + i), ==, 0);
    }
    g_assert_cmpint(clone_fid(m, FILE_, FREE), ==, -ENFILE);
    g_assert_cmpint(walk(m, ROOT, FREE, "file"), ==, -ENFILE);
    g_assert_cmpint(CALL(m, attach, FREE, P9_NOFID, "", ""), ==, -ENFILE);
    g_assert_cmpint(CALL(m, xattrwalk, FILE_, FREE, ""), ==, -ENFILE);
    g_assert_cmpuint(open_descriptors(), ==, descriptors);
    g_assert_cmpint(clunk(m, FIRST), ==, 0);
    g_assert_cmpint(clone_fid(m, FILE_, FREE), ==, 0);
    g_assert_cmpint(lopen(m, FREE, P9_DOTL_RDONLY), ==, 0);
    expect_text(m, FREE, "hello");
    mem_attach(m, 8192);        /* a new session has none of them */
    g_assert_cmpuint(g_hash_table_size(m->s.fids), ==, 1);
    check_nothing_left(m);
    mem_free(m);
}

/* Values under way are limited in number and size, whatever comes of them. */
static void test_xattrs(void)
{
    unsigned rounds = g_test_slow() ? 1000000 : 1000;
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    const unsigned max = m->exp.max_xattr;

    tree_write(t, "file", "hello");
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    for (unsigned i = 0; i < rounds; i++) {
        g_assert_cmpint(clone_fid(m, FILE_, FREE), ==, 0);
        g_assert_cmpint(CALL(m, xattrcreate, FREE, "user.x", 65536), ==, 0);
        /* It has not come as a whole. */
        g_assert_cmpint(clunk(m, FREE), ==, -EINVAL);
    }
    for (unsigned i = 0; i < 2 * max; i++) {
        g_assert_cmpint(clone_fid(m, FILE_, FIRST + i), ==, 0);
        g_assert_cmpint(CALL(m, xattrcreate, FIRST + i, "user.x", 65536), ==,
                        i < max ? 0 : -ENOSPC);
    }
    g_assert_cmpuint(m->s.fs.xattr_fids, ==, max);
    g_assert_cmpint(CALL(m, xattrwalk, FILE_, FREE, ""), ==, -ENOSPC);
    for (unsigned i = 0; i < 2 * max; i++) {
        g_assert_cmpint(clunk(m, FIRST + i), ==, i < max ? -EINVAL : 0);
    }
    g_assert_cmpint(CALL(m, xattrwalk, FILE_, FREE, ""), ==, 0);
    check_nothing_left(m);
    mem_free(m);
}

/* No reply is longer than the room for it, whatever count is asked for. */
static void test_counts(void)
{
    static const uint32_t counts[] = { 0x7fffffff, 0x80000000, UINT32_MAX };
    g_autoptr(Tree) t = tree_new();
    g_autofree char *path = tree_path(t, "file");
    MemSession *m = tree_serve(t);
    MemRequest *r[128];

    tree_write(t, "file", "");
    g_assert_cmpint(truncate(path, 1 << 20), ==, 0);
    g_assert_cmpint(walk_open(m, OPEN, "file", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(clone_fid(m, ROOT, DIR_), ==, 0);
    g_assert_cmpint(lopen(m, DIR_, P9_DOTL_RDONLY), ==, 0);
    for (int i = 0; i < ARRAY_SIZE(r); i++) {
        uint32_t count = counts[i % ARRAY_SIZE(counts)];

        /* Buffers longer and shorter than msize */
        r[i] = i & 1 ?
            mem_send(m, i, P9_TREAD, &(P9Tread) { OPEN, 0, count },
                     i & 2 ? 100 : 20000) :
            mem_send(m, i, P9_TREADDIR, &(P9Treaddir) { DIR_, 0, count },
                     i & 2 ? 100 : 20000);
    }
    for (int i = 0; i < ARRAY_SIZE(r); i++) {
        P9Reply reply;

        mem_wait(r[i]);
        g_assert_cmpint(mem_result(r[i], &reply), ==, 0);
        g_assert_cmpuint(r[i]->reply, <=, m->s.msize);
        if (i & 1) {
            g_assert_cmpuint(reply.read.data.count, ==,
                             (i & 2 ? 100 : 8192) - P9_READ_HDRSZ);
        }
        mem_request_free(r[i]);
    }
    mem_free(m);
}

/* Numbers in a message that say more than there is */
static void test_lies(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    static const struct {
        uint8_t type;
        unsigned at, bytes;     /* of the number in the message */
    } numbers[] = {
        { P9_TWRITE, P9_HDRSZ + 12, 4 }, { P9_TWALK, P9_HDRSZ + 8, 2 },
        { P9_TWALK, P9_HDRSZ + 10, 2 }, { P9_TMKDIR, P9_HDRSZ + 4, 2 },
        { P9_TSYMLINK, P9_HDRSZ + 7, 2 }, { P9_TXATTRCREATE, P9_HDRSZ + 4, 2 },
    };
    static const uint32_t values[] = { 2, 17, 0x7fff, 0xffff, 0x7fffffff,
                                       UINT32_MAX };

    for (int i = 0; i < ARRAY_SIZE(numbers); i++) {
        for (int j = 0; j < ARRAY_SIZE(values); j++) {
            static const uint8_t ones[64] = { [0 ... 63] = 1 };
            uint8_t buf[P9_HDRSZ + 22];
            MemRequest *r;

            memcpy(buf, ones, sizeof(buf));
            p9_put_header(buf, (P9Header) { sizeof(buf), numbers[i].type, 1 });
            stn_le_p(buf + numbers[i].at, numbers[i].bytes, values[j]);
            r = mem_send_bytes(m, buf, sizeof(buf), 1000, 5);
            mem_wait(r);
            g_assert_cmpint(mem_result(r, NULL), <, 0);
            mem_request_free(r);
        }
    }
    g_assert_cmpint(clone_fid(m, ROOT, FREE), ==, 0);
    check_nothing_left(m);
    mem_free(m);
}

/* A path longer than any number of 16 bits, used from both its ends */
static void test_deep(void)
{
    enum { DEPTH = 300 };
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    char name[P9_NAME_MAX + 1];
    P9Rgetattr a;

    memset(name, 'd', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    g_assert_cmpint(clone_fid(m, ROOT, DIR_), ==, 0);
    for (int i = 0; i < DEPTH; i++) {
        g_assert_cmpint(CALL(m, mkdir, DIR_, name, 0755), ==, 0);
        g_assert_cmpint(walk(m, DIR_, DIR_, name), ==, 0);
    }
    g_assert_cmpint(clone_fid(m, DIR_, OPEN), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, OPEN, name, P9_DOTL_RDWR, 0644), ==, 0);
    g_assert_cmpint(write_at(m, OPEN, 0, "hello"), ==, 5);
    v9fs_handles_shrink(&m->s, 0);
    g_assert_cmpint(CALL(m, renameat, ROOT, name, ROOT, "top"), ==, 0);
    g_assert_cmpint(walk(m, DIR_, FILE_, name), ==, 0);
    v9fs_handles_shrink(&m->s, 0);
    g_assert_cmpint(getattr(m, FILE_, &a), ==, 0);
    g_assert_cmpuint(a.size, ==, 5);
    g_assert_cmpint(CALL(m, remove, FILE_), ==, 0);
    /* tree_free() could not: its paths are as long. */
    for (int i = 0; i < DEPTH; i++) {
        g_assert_cmpint(walk(m, DIR_, DIR_, ".."), ==, 0);
        g_assert_cmpint(CALL(m, unlinkat, DIR_, i < DEPTH - 1 ? name : "top",
                             P9_DOTL_AT_REMOVEDIR), ==, 0);
    }
    check_nothing_left(m);
    mem_free(m);
}

/* More requests in flight than there can be workers */
static void test_requests(void)
{
    enum { N = 3000 };
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    g_autofree MemRequest **r = g_new(MemRequest *, N);
    Gate *gate;

    tree_write(t, "file", "hello");
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    m->s.try.mode = V9FS_TRY_OFF;
    gate = gate_new();
    for (int i = 0; i < N; i++) {
        r[i] = i & 1 ? SEND(m, i, getattr, FILE_, P9_GETATTR_BASIC)
                     : SEND(m, i, walk, ROOT, FIRST + i, { 1, { "file" } });
    }
    gate_open(gate);
    for (int i = 0; i < N; i++) {
        mem_wait(r[i]);
        g_assert_cmpint(mem_result(r[i], NULL), ==, 0);
        mem_request_free(r[i]);
    }
    check_nothing_left(m);
    mem_free(m);
}

/* The guest renames a directory, and removes it, between read and reading. */
static void test_readdir_renamed(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    MemRequest *list, *rename;
    P9Rreaddir got;
    Gate *gate;

    m->s.try.mode = V9FS_TRY_OFF;
    tree_mkdir(t, "dir");
    tree_write(t, "dir/entry", "");
    g_assert_cmpint(walk_open(m, DIR_, "dir", P9_DOTL_RDONLY), ==, 0);
    gate = gate_new();
    rename = SEND(m, 10, renameat, ROOT, "dir", ROOT, "moved");
    list = SEND(m, 11, readdir, DIR_, 0, 4096);
    gate_open(gate);
    mem_wait(rename);
    mem_wait(list);
    g_assert_cmpint(mem_result(rename, NULL), ==, 0);
    g_assert_cmpint(mem_result(list, &got), ==, 0);
    g_assert_nonnull(memmem(list->in + got.data.at, got.data.count, "entry",
                            strlen("entry")));
    mem_request_free(rename);
    mem_request_free(list);
    check_nothing_left(m);
    mem_free(m);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(void);
    } tests[] = {
        { "fids", test_fids },
        { "xattrs", test_xattrs },
        { "counts", test_counts },
        { "lies", test_lies },
        { "deep", test_deep },
        { "requests", test_requests },
        { "readdir-renamed", test_readdir_renamed },
    };

    g_test_init(&argc, &argv, NULL);
    mem_init();
    for (int i = 0; i < ARRAY_SIZE(tests); i++) {
        g_autofree char *path = g_strconcat("/9p/abuse/", tests[i].name, NULL);

        g_test_add_func(path, tests[i].test);
    }
    return g_test_run();
}
