/*
 * Tests of what holds for every message
 *
 * One table of requests that succeed, at least one for each message.  Each
 * crosses to a worker as often as the table says; is refused, with nothing
 * done, if its reply has no room; and if it is flushed while it waits for a
 * worker it either has never happened or is answered.  A read-only export
 * refuses what changes it; and all of them at once leave nothing behind.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "client.h"
#include "gate.h"
#include "tree.h"

/* Fids of the fixture; FREE is none, and used for new ones. */
enum { ROOT, FILE_, DIR_, LINK, OPEN, ODIR, XATTR, NEW_XATTR, FREE };

/* Crossings: whatever it takes, but not two */
#define AT_MOST_1   (-1)

typedef struct Row {
    const char *what;
    uint8_t type;
    P9Request req;
    int crossings;
    bool must_run;              /* once begun it is not given up */
} Row;

#define ROW(what, name, crossings, ...) \
    { what, CLIENT_T##name, { .name = { __VA_ARGS__ } }, crossings }
#define MUST_RUN(what, name, crossings, ...) \
    { what, CLIENT_T##name, { .name = { __VA_ARGS__ } }, crossings, true }

static const Row rows[] = {
    ROW("version", version, 0, 8192, "9P2000.L"),
    ROW("attach", attach, 1, FREE, P9_NOFID, "", ""),
    ROW("flush", flush, 0, 12345),
    ROW("clone", walk, 0, ROOT, FREE),
    ROW("walk", walk, 1, ROOT, FREE, { 1, { "file" } }),
    ROW("long walk", walk, 1, DIR_, FREE, { 4, { "sub", "..", "..", "dir" } }),
    ROW("move", walk, 1, DIR_, DIR_, { 1, { "sub" } }),
    ROW("clunk", clunk, 0, FILE_),
    MUST_RUN("close", clunk, 1, OPEN),
    MUST_RUN("close directory", clunk, 1, ODIR),
    ROW("clunk xattr", clunk, 0, XATTR),
    MUST_RUN("set xattr", clunk, 1, NEW_XATTR),
    ROW("remove", remove, 1, FILE_),
    ROW("remove link", remove, 1, LINK),
    ROW("statfs", statfs, 1, FILE_),
    ROW("fstatfs", statfs, 1, OPEN),
    ROW("getattr", getattr, 1, FILE_, P9_GETATTR_BASIC),
    ROW("getattr of open", getattr, 1, OPEN, P9_GETATTR_BASIC),
    ROW("setattr", setattr, 1, FILE_,
        P9_SETATTR_MODE | P9_SETATTR_SIZE | P9_SETATTR_MTIME | P9_SETATTR_GID,
        0600, .size = 2),
    ROW("setattr of open", setattr, 1, OPEN,
        P9_SETATTR_MODE | P9_SETATTR_SIZE | P9_SETATTR_MTIME, 0600, .size = 2),
    ROW("readlink", readlink, 1, LINK),
    ROW("xattrwalk", xattrwalk, 1, FILE_, FREE, "user.x"),
    ROW("list of xattrs", xattrwalk, 1, OPEN, FREE, ""),
    ROW("xattrcreate", xattrcreate, 0, FILE_, "user.y", 1),
    ROW("open", lopen, 1, FILE_, P9_DOTL_RDWR | P9_DOTL_TRUNC),
    ROW("open directory", lopen, 1, DIR_, P9_DOTL_RDONLY),
    ROW("create", lcreate, 1, DIR_, "new", P9_DOTL_RDWR, 0644),
    ROW("create or open", lcreate, 1, DIR_, "inner", P9_DOTL_RDWR, 0644),
    ROW("read", read, 1, OPEN, 0, 100),
    ROW("read xattr", read, 0, XATTR, 0, 100),
    ROW("write", write, 1, OPEN, 0, { .count = 4, .bytes = "HELL" }),
    ROW("write xattr", write, 0, NEW_XATTR, 0, { .count = 1, .bytes = "X" }),
    ROW("readdir", readdir, 1, ODIR, 0, 4096),
    ROW("fsync", fsync, 1, OPEN),
    ROW("fdatasync", fsync, 1, OPEN, 1),
    ROW("lock", lock, AT_MOST_1, OPEN, P9_LOCK_TYPE_WRLCK, .client_id = "me"),
    ROW("getlock", getlock, AT_MOST_1, OPEN, P9_LOCK_TYPE_WRLCK,
        .client_id = "someone whose name is long"),
    ROW("mkdir", mkdir, 1, ROOT, "new", 0755),
    ROW("symlink", symlink, 1, ROOT, "new", "to"),
    ROW("mknod", mknod, 1, ROOT, "new", S_IFIFO | 0644),
    ROW("link", link, 1, ROOT, FILE_, "new"),
    ROW("unlinkat", unlinkat, 1, ROOT, "file"),
    ROW("rmdir", unlinkat, 1, DIR_, "sub", P9_DOTL_AT_REMOVEDIR),
    ROW("rename", rename, 1, FILE_, DIR_, "new"),
    ROW("renameat", renameat, 1, ROOT, "dir", ROOT, "new"),
    ROW("rename over", renameat, 1, ROOT, "file", DIR_, "inner"),
};

/* The fixture */

static void make_files(MemSession *m)
{
    g_assert_cmpint(clone_fid(m, ROOT, FREE), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, FREE, "file", P9_DOTL_RDWR, 0644), ==, 0);
    g_assert_cmpint(write_at(m, FREE, 0, "hello"), ==, 5);
    g_assert_cmpint(set_xattr(m, FREE, "user.x", "value", 0), ==, 0);
    clunk(m, FREE);
    g_assert_cmpint(CALL(m, symlink, ROOT, "link", "a/longer/target"), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, ROOT, "dir", 0755), ==, 0);
    g_assert_cmpint(walk(m, ROOT, DIR_, "dir"), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, DIR_, "sub", 0755), ==, 0);
    g_assert_cmpint(CALL(m, mknod, DIR_, "inner", S_IFREG | 0644), ==, 0);
}

static MemSession *serve(Tree *t)
{
    MemSession *m = tree_serve(t);

    make_files(m);
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    g_assert_cmpint(walk(m, ROOT, LINK, "link"), ==, 0);
    g_assert_cmpint(walk_open(m, OPEN, "file", P9_DOTL_RDWR), ==, 0);
    g_assert_cmpint(walk_open(m, ODIR, "dir", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(CALL(m, xattrwalk, FILE_, XATTR, "user.x"), ==, 0);
    g_assert_cmpint(clone_fid(m, FILE_, NEW_XATTR), ==, 0);
    g_assert_cmpint(CALL(m, xattrcreate, NEW_XATTR, "user.new", 3), ==, 0);
    g_assert_cmpint(write_at(m, NEW_XATTR, 0, "new"), ==, 3);
    return m;
}

/* All fids are as serve() made them. */
static void check_fids(MemSession *m)
{
    P9Rgetattr a;
    int err;
    g_autofree char *value = NULL;

    g_assert_cmpint(clunk(m, FREE), ==, -EBADF);
    expect_text(m, OPEN, "hello");
    expect_text(m, XATTR, "value");
    g_assert_cmpint(CALL(m, readlink, LINK), ==, 0);
    g_assert_cmpint(CALL(m, readdir, ODIR, 0, 4096), ==, 0);
    g_assert_cmpint(getattr(m, DIR_, &a), ==, 0);
    g_assert_cmpuint(a.qid.path, ==, ino_of(m, ODIR));
    g_assert_cmpint(lopen(m, DIR_, P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpuint(ino_of(m, FILE_), ==, ino_of(m, OPEN));
    g_assert_cmpint(clunk(m, NEW_XATTR), ==, 0);
    value = get_xattr(m, FILE_, "user.new", &err);
    g_assert_cmpstr(value, ==, "new");
    g_assert_cmpint(lopen(m, FILE_, P9_DOTL_RDWR), ==, 0);
    g_assert_cmpint(clone_fid(m, ROOT, FREE), ==, 0);
}

/* Crossings */

static void test_crossings(gconstpointer data)
{
    const Row *row = data;
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    uint64_t before;

    m->s.try.mode = V9FS_TRY_OFF;
    before = all_crossings(m);
    g_assert_cmpint(mem_call(m, row->type, &row->req, NULL), ==, 0);
    if (row->crossings == AT_MOST_1) {
        g_assert_cmpuint(all_crossings(m) - before, <=, 1);
    } else {
        g_assert_cmpuint(all_crossings(m) - before, ==, row->crossings);
    }
    mem_free(m);
}

/* Room for the reply */

static size_t reply_size(const Row *row)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    size_t size;

    g_assert_cmpint(mem_call(m, row->type, &row->req, NULL), ==, 0);
    size = m->last->reply;
    mem_free(m);
    return size;
}

/* Whether a reply may have less data than the client has asked for */
static bool may_be_short(const Row *row, size_t room)
{
    return (row->type == P9_TREAD && room > P9_READ_HDRSZ) ||
           (row->type == P9_TREADDIR &&
            room > P9_READ_HDRSZ + P9_DIRENT_HDRSZ);
}

static void run_small(const Row *row, size_t room)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    g_autofree char *before = tree_snapshot(t);
    g_autofree char *after = NULL;
    MemRequest *r = mem_send(m, 1, row->type, &row->req, room);
    int err;

    mem_wait(r);
    err = mem_result(r, NULL);
    if (err || !may_be_short(row, room)) {
        g_assert_cmpint(err, ==, row->type == P9_TREADDIR ? -EINVAL :
                                                            -EMSGSIZE);
    }
    mem_request_free(r);
    after = tree_snapshot(t);
    g_assert_cmpstr(after, ==, before);
    if (row->type == P9_TVERSION) {
        mem_attach(m, 8192);        /* Whatever is left of the old session */
    } else {
        check_fids(m);
    }
    mem_free(m);
}

static void test_small_reply(gconstpointer data)
{
    const Row *row = data;
    size_t full = reply_size(row);

    for (size_t room = P9_LERROR_SIZE; room < full; room += 1 + room / 4) {
        run_small(row, room);
    }
    if (full > P9_LERROR_SIZE) {
        run_small(row, full - 1);
    }
}

/* Flush */

/* What a request that has come to nothing leaves is what was before. */
static void test_flushed(gconstpointer data)
{
    const Row *row = data;
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    g_autofree char *before = tree_snapshot(t);
    g_autofree char *after = NULL;
    MemRequest *r, *flush;
    Gate *gate;

    m->s.try.mode = V9FS_TRY_OFF;
    gate = gate_new();
    r = mem_send(m, 10, row->type, &row->req, 8192);
    if (r->done) {
        g_assert_cmpint(row->crossings, <=, 0);
        gate_open(gate);
        mem_request_free(r);
        mem_free(m);
        return;
    }
    flush = SEND(m, 11, flush, 10);
    g_assert_cmpint(flush->done, ==, r->done);
    gate_open(gate);
    mem_wait(flush);
    g_assert_cmpint(mem_result(flush, NULL), ==, 0);
    g_assert_true(r->done);
    if (row->must_run) {
        g_assert_cmpint(mem_result(r, NULL), ==, 0);
    } else {
        g_assert_cmpuint(r->reply, ==, 0);
        after = tree_snapshot(t);
        g_assert_cmpstr(after, ==, before);
        check_fids(m);
    }
    mem_request_free(flush);
    mem_request_free(r);
    mem_free(m);
}

/* Read-only exports */

/* What changes nothing here, but only because of who asks for it, or when */
static bool is_change(const Row *row)
{
    return row->type == P9_TLCREATE || row->type == P9_TXATTRCREATE ||
           row->type == P9_TWRITE;
}

/* What changes the tree is refused, and nothing else. */
static void test_readonly(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *before = NULL, *after = NULL;
    bool changes = is_change(row);

    if (row->type == P9_TCLUNK && row->req.clunk.fid == NEW_XATTR) {
        return;         /* A read-only export has no such fids. */
    }
    for (int readonly = 0; readonly < 2; readonly++) {
        g_autoptr(Tree) t = tree_new();
        MemSession *m = serve(t);
        int err;

        g_clear_pointer(&before, g_free);
        g_clear_pointer(&after, g_free);
        before = tree_snapshot(t);
        m->exp.readonly = readonly;
        err = mem_call(m, row->type, &row->req, NULL);
        after = tree_snapshot(t);
        if (readonly) {
            g_assert_cmpint(err, ==, changes ? -EROFS : 0);
            g_assert_cmpstr(after, ==, before);
        }
        changes = changes || !g_str_equal(after, before);
        mem_free(m);
    }
}

/* All at once */

static bool is_harmless(const Row *row)
{
    return row->type != P9_TVERSION && row->type != P9_TATTACH;
}

/*
 * Everything in any order at the same time, some of it flushed.  What comes
 * of each is chance, but all are answered and nothing is left.
 */
static void storm(bool reset)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    MemRequest *r[4 * ARRAY_SIZE(rows)];
    unsigned n = 0;

    while (n + 1 < ARRAY_SIZE(r)) {
        const Row *row = &rows[g_test_rand_int_range(0, ARRAY_SIZE(rows))];

        if (is_harmless(row)) {
            r[n] = mem_send(m, n, row->type, &row->req, 8192);
            n++;
        }
        if (n && g_test_rand_int_range(0, 4) == 0) {
            r[n] = SEND(m, n, flush, g_test_rand_int_range(0, n));
            n++;
        }
    }
    if (reset) {
        v9fs_reset(&m->s);
    }
    for (unsigned i = 0; i < n; i++) {
        mem_wait(r[i]);
        mem_request_free(r[i]);
    }
    v9fs_reset(&m->s);
    g_assert_cmpuint(g_hash_table_size(m->s.nodes), ==, 0);
    g_assert_cmpuint(m->s.fs.xattr_fids, ==, 0);
    mem_free(m);
}

static void test_storm(void)
{
    unsigned descriptors = open_descriptors();

    for (int i = 0; i < (g_test_slow() ? 300 : 10); i++) {
        storm(i & 1);
        g_assert_cmpuint(open_descriptors(), <=, descriptors);
    }
}

/* A message that is not in the table has no success, or does not exist. */
static void test_complete(void)
{
    bool seen[256] = { [P9_TLERROR] = true, [P9_TAUTH] = true };

#define OTHER_DIALECT(number, name) seen[number] = true;
    P9_MESSAGES_U(OTHER_DIALECT)
#undef OTHER_DIALECT
    for (int i = 0; i < ARRAY_SIZE(rows); i++) {
        seen[rows[i].type] = true;
    }
    for (int type = 0; type < 256; type += 2) {
        if (p9_message(type) && !seen[type]) {
            g_test_message("no row for %s", p9_message(type)->name);
            g_test_fail();
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(gconstpointer row);
    } tests[] = {
        { "crossings", test_crossings },
        { "small-reply", test_small_reply },
        { "flushed", test_flushed },
        { "readonly", test_readonly },
    };

    g_test_init(&argc, &argv, NULL);
    mem_init();
    g_test_add_func("/9p/requests/complete", test_complete);
    g_test_add_func("/9p/requests/storm", test_storm);
    for (int i = 0; i < ARRAY_SIZE(tests); i++) {
        for (int j = 0; j < ARRAY_SIZE(rows); j++) {
            g_autofree char *path = g_strdup_printf("/9p/requests/%s/%s",
                                                    tests[i].name,
                                                    rows[j].what);

            g_test_add_data_func(path, &rows[j], tests[i].test);
        }
    }
    return g_test_run();
}
