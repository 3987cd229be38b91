/*
 * Tests of the session: each message's success, errors and crossings
 *
 * On a directory of the host with security model none, through the whole
 * server.  A test says what a client may rely on.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/xattr.h>
#include "client.h"
#include "tree.h"

/* Crossings: none for what needs no file system, one for all the rest */

#define CROSSES(m, n, call) do { \
    uint64_t before_ = all_crossings(m); \
    g_assert_cmpint(call, >=, 0); \
    g_assert_cmpuint(all_crossings(m) - before_, ==, n); \
} while (0)

/* Nothing is tried in place: all that needs a file system goes to a worker. */
static MemSession *serve_counting(Tree *t)
{
    MemSession *m = tree_serve(t);

    m->s.try.mode = V9FS_TRY_OFF;
    return m;
}

static void test_crossings_names(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve_counting(t);

    tree_write(t, "file", "hello");
    CROSSES(m, 0, clone_fid(m, 0, 1));
    CROSSES(m, 0, clunk(m, 1));
    CROSSES(m, 1, walk(m, 0, 1, "file"));
    CROSSES(m, 1, CALL(m, mkdir, 0, "dir", 0755, 0));
    CROSSES(m, 1, CALL(m, symlink, 0, "link", "to", 0));
    CROSSES(m, 1, CALL(m, mknod, 0, "fifo", S_IFIFO | 0644));
    CROSSES(m, 1, CALL(m, link, 0, 1, "hard"));
    CROSSES(m, 1, CALL(m, renameat, 0, "hard", 0, "hard2"));
    CROSSES(m, 1, CALL(m, rename, 1, 0, "file2"));
    CROSSES(m, 1, CALL(m, unlinkat, 0, "hard2", 0));
    CROSSES(m, 1, CALL(m, unlinkat, 0, "dir",
                       P9_DOTL_AT_REMOVEDIR));
    CROSSES(m, 1, walk(m, 0, 2, "link"));
    CROSSES(m, 1, CALL(m, readlink, 2));
    CROSSES(m, 1, CALL(m, remove, 1));
    mem_free(m);
}

static void test_crossings_files(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve_counting(t);
    P9Rgetattr a;

    CROSSES(m, 0, clone_fid(m, 0, 1));
    CROSSES(m, 1, CALL(m, lcreate, 1, "new", P9_DOTL_RDWR, 0644));
    CROSSES(m, 1, write_at(m, 1, 0, "hello"));
    CROSSES(m, 1, CALL(m, read, 1, 0, 100));
    CROSSES(m, 1, CALL(m, fsync, 1, 1));
    CROSSES(m, 1, getattr(m, 1, &a));
    CROSSES(m, 1, CALL(m, setattr, 1, P9_SETATTR_MODE |
                       P9_SETATTR_SIZE | P9_SETATTR_ATIME | P9_SETATTR_MTIME,
                       0600, 0, 0, 3));
    CROSSES(m, 1, CALL(m, statfs, 1));
    CROSSES(m, 1, CALL(m, lock, 1, P9_LOCK_TYPE_WRLCK, 0, 0, 0, 1,
                       "me"));
    CROSSES(m, 1, CALL(m, getlock, 1, P9_LOCK_TYPE_WRLCK, 0, 0,
                       1, "me"));
    /* What another client of the device has is no question to the host. */
    CROSSES(m, 0, CALL(m, lock, 1, P9_LOCK_TYPE_WRLCK, 0, 0, 0, 1,
                       "other"));
    CROSSES(m, 0, CALL(m, getlock, 1, P9_LOCK_TYPE_WRLCK, 0, 0,
                       1, "other"));
    CROSSES(m, 1, clunk(m, 1));
    CROSSES(m, 1, walk(m, 0, 1, "new"));
    CROSSES(m, 1, lopen(m, 1, P9_DOTL_RDONLY));
    CROSSES(m, 1, clunk(m, 1));
    CROSSES(m, 0, CALL(m, flush, 77));
    CROSSES(m, 0, CALL(m, version, 8192, "9P2000.L"));
    CROSSES(m, 1, CALL(m, attach, 0, P9_NOFID, "", "", 0));
    mem_free(m);
}

static void test_crossings_xattrs(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve_counting(t);

    tree_write(t, "file", "");
    CROSSES(m, 1, walk(m, 0, 1, "file"));
    CROSSES(m, 0, CALL(m, xattrcreate, 1, "user.x", 5));
    CROSSES(m, 0, write_at(m, 1, 0, "value"));
    CROSSES(m, 1, clunk(m, 1));
    CROSSES(m, 1, walk(m, 0, 1, "file"));
    CROSSES(m, 1, CALL(m, xattrwalk, 1, 2, "user.x"));
    CROSSES(m, 0, CALL(m, read, 2, 0, 100));
    CROSSES(m, 0, clunk(m, 2));
    CROSSES(m, 1, CALL(m, xattrwalk, 1, 2, ""));
    mem_free(m);
}

static void test_crossings_readdir(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve_counting(t);

    tree_mkdir(t, "dir");
    tree_write(t, "dir/a", "");
    tree_write(t, "dir/b", "");
    CROSSES(m, 1, walk(m, 0, 1, "dir"));
    CROSSES(m, 1, lopen(m, 1, P9_DOTL_RDONLY | P9_DOTL_DIRECTORY));
    CROSSES(m, 1, CALL(m, readdir, 1, 0, 4096));
    mem_free(m);
}

/* Sixteen names are walked in one crossing, near the root and far from it. */
static void test_crossings_walk(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve_counting(t);
    P9Twalk w = { 0, 1, { 16, { NULL } } };
    GString *path = g_string_new("d");

    for (int i = 0; i < 16; i++) {
        tree_mkdir(t, path->str);
        g_string_append(path, "/d");
        w.names.name[i] = "d";
    }
    for (int i = 0; i < 3; i++) {
        CROSSES(m, 1, mem_call(m, P9_TWALK, &w, NULL));
        CROSSES(m, 0, clunk(m, 1));
    }
    /* ".." and names in turns, above where it starts, are one, too. */
    CROSSES(m, 1, mem_call(m, P9_TWALK, &w, NULL));
    w = (P9Twalk) { 1, 2, { 5, { "..", "d", "..", "..", "d" } } };
    CROSSES(m, 1, mem_call(m, P9_TWALK, &w, NULL));
    g_string_free(path, true);
    mem_free(m);
}

/*
 * What is in the kernel's caches takes no crossing, wherever names and
 * attributes can be had without waiting.
 */
static void test_crossings_in_place(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    P9Rgetattr a;

    if (!m->s.fs.root.nowait) {
        g_test_skip("nothing can be tried on TMPDIR's file system");
        mem_free(m);
        return;
    }
    m->s.try.mode = V9FS_TRY_ON;
    tree_mkdir(t, "dir");
    tree_write(t, "dir/file", "hello");
    g_assert_cmpint(walk(m, 0, 1, "dir"), ==, 0);
    g_assert_cmpint(walk(m, 1, 2, "file"), ==, 0);
    clunk(m, 2);
    CROSSES(m, 0, walk(m, 1, 2, "file"));
    CROSSES(m, 0, getattr(m, 2, &a));
    CROSSES(m, 0, CALL(m, statfs, 2));
    CROSSES(m, 0, lopen(m, 2, P9_DOTL_RDONLY));
    CROSSES(m, 0, getattr(m, 2, &a));
    CROSSES(m, 0, CALL(m, read, 2, 0, 100));
    CROSSES(m, 0, clunk(m, 2));
    mem_free(m);
}

/* Errors that are the same for all messages */

static void test_before_version(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);

    mem_start(m);
    g_assert_cmpint(CALL(m, attach, 0, P9_NOFID, "", "", 0), ==,
                    -EPROTO);
    g_assert_cmpint(CALL(m, version, 4095, "9P2000.L"), ==,
                    -EMSGSIZE);
    g_assert_false(m->mounted);
    mem_free(m);
}

static void test_version(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);
    P9Rversion r;

    mem_start(m);
    g_assert_cmpint(mem_call(m, P9_TVERSION,
                             &(P9Tversion) { UINT32_MAX, "9P2000.L" }, &r),
                    ==, 0);
    g_assert_cmpuint(r.msize, ==, MEM_MSIZE);
    g_assert_cmpstr(r.version, ==, "9P2000.L");
    g_assert_cmpint(mem_call(m, P9_TVERSION,
                             &(P9Tversion) { 8192, "9P2010" }, &r), ==, 0);
    g_assert_cmpstr(r.version, ==, "unknown");
    mem_attach(m, 4096);
    g_assert_true(m->mounted);
    mem_free(m);
}

static void test_mount_refused(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);

    mem_start(m);
    CALL(m, version, 8192, "9P2000.L");
    m->refuse_mount = EBUSY;
    g_assert_cmpint(CALL(m, attach, 0, P9_NOFID, "", "", 0), ==,
                    -EBUSY);
    m->refuse_mount = 0;
    g_assert_cmpint(CALL(m, attach, P9_NOFID, P9_NOFID, "", ""),
                    ==, -EINVAL);
    g_assert_false(m->mounted);
    g_assert_cmpint(CALL(m, attach, 0, 0, "", "", 0), ==, -EBADF);
    g_assert_cmpint(CALL(m, auth, 0, "", "", 0), ==, -EOPNOTSUPP);
    mem_free(m);
}

static bool in_dialect(int type)
{
    return p9_message(type) && (p9_message(type)->dialects & P9_DIALECT_L);
}

/* Every message that names a fid, with one that does not exist */
static void test_no_such_fid(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);

    for (int type = P9_TSTATFS; type < 128; type += 2) {
        uint8_t buf[256];
        P9Request zero;
        MemRequest *r;
        ssize_t size;

        if (!in_dialect(type) || type == P9_TVERSION || type == P9_TATTACH ||
            type == P9_TAUTH || type == P9_TFLUSH) {
            continue;
        }
        memset(&zero, 0, sizeof(zero));
        size = p9_encode(type, 5, &zero, buf, sizeof(buf));
        /* Valid names, so that the fid is what is wrong; all fids are 99 */
        if (type == P9_TLCREATE || type == P9_TSYMLINK || type == P9_TMKNOD ||
            type == P9_TRENAME || type == P9_TLINK || type == P9_TMKDIR ||
            type == P9_TRENAMEAT || type == P9_TUNLINKAT) {
            continue;
        }
        buf[P9_HDRSZ] = 99;
        r = mem_send_bytes(m, buf, size, 4096, 0);
        mem_wait(r);
        g_assert_cmpint(mem_result(r, NULL), ==, -EBADF);
        mem_request_free(r);
    }
    g_assert_cmpint(CALL(m, mkdir, 99, "x"), ==, -EBADF);
    g_assert_cmpint(CALL(m, lcreate, 99, "x"), ==, -EBADF);
    g_assert_cmpint(CALL(m, symlink, 99, "x", "y"), ==, -EBADF);
    g_assert_cmpint(CALL(m, mknod, 99, "x"), ==, -EBADF);
    g_assert_cmpint(CALL(m, rename, 0, 99, "x"), ==, -EBADF);
    g_assert_cmpint(CALL(m, link, 0, 99, "x"), ==, -EBADF);
    g_assert_cmpint(CALL(m, renameat, 0, "x", 99, "x"), ==,
                    -EBADF);
    g_assert_cmpint(CALL(m, unlinkat, 99, "x"), ==, -EBADF);
    mem_free(m);
}

static void test_malformed(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);

    for (int type = 0; type < 256; type++) {
        uint8_t buf[P9_HDRSZ + 1];
        MemRequest *r;
        bool known = in_dialect(type) && !(type & 1) && type != P9_TLERROR;

        memset(buf, 0, sizeof(buf));
        p9_put_header(buf, (P9Header) { sizeof(buf), type, 3 });
        r = mem_send_bytes(m, buf, sizeof(buf), 64, 3);
        mem_wait(r);
        g_assert_cmpuint(p9_header(r->in).type, ==, P9_RLERROR);
        g_assert_cmpuint(r->in[P9_HDRSZ], ==, known ? EPROTO : EOPNOTSUPP);
        mem_request_free(r);
    }
    mem_free(m);
}

/* Sizes that the header claims, against what is there */
static void test_sizes(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    static const struct {
        uint32_t claims;
        int err;
    } cases[] = {
        { 0, EPROTO }, { 6, EPROTO }, { 12, EPROTO }, { 1000, EPROTO },
        { UINT32_MAX, EPROTO },
    };

    for (int i = 0; i < ARRAY_SIZE(cases); i++) {
        uint8_t buf[P9_HDRSZ + 4] = { 0 };
        MemRequest *r;

        p9_put_header(buf, (P9Header) { cases[i].claims, P9_TCLUNK, 3 });
        r = mem_send_bytes(m, buf, sizeof(buf), 64, 0);
        mem_wait(r);
        g_assert_cmpint(r->in[P9_HDRSZ], ==, cases[i].err);
        mem_request_free(r);
    }
    /* Nothing can be answered to these. */
    for (size_t size = 0; size < P9_HDRSZ; size++) {
        MemRequest *r = mem_send_bytes(m, "\0\0\0\0\0\0", size, 64, 0);

        mem_wait(r);
        g_assert_true(r->broken);
        mem_request_free(r);
    }
    mem_free(m);
}

/* A reply that has no room is an error, and nothing has happened. */
static void test_small_reply(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    P9Tmkdir mkdir = { 0, "dir", 0755, 0 };
    P9Tgetattr getattr = { 0, P9_GETATTR_BASIC };
    MemRequest *r = mem_send(m, 1, P9_TMKDIR, &mkdir, P9_HDRSZ + 12);

    mem_wait(r);
    g_assert_cmpint(mem_result(r, NULL), ==, -EMSGSIZE);
    g_assert_false(tree_exists(t, "dir"));
    mem_request_free(r);
    r = mem_send(m, 1, P9_TGETATTR, &getattr, 100);
    mem_wait(r);
    g_assert_cmpint(mem_result(r, NULL), ==, -EMSGSIZE);
    mem_request_free(r);
    r = mem_send(m, 1, P9_TGETATTR, &getattr, P9_LERROR_SIZE - 1);
    mem_wait(r);
    g_assert_true(r->broken);
    mem_request_free(r);
    mem_free(m);
}

/* Fids in the wrong state */

static void test_fid_states(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);

    tree_write(t, "file", "hello");
    tree_mkdir(t, "dir");
    walk(m, 0, 1, "file");
    g_assert_cmpint(walk(m, 0, 1, "dir"), ==, -EINVAL);    /* in use */
    g_assert_cmpint(CALL(m, read, 1, 0, 10), ==, -EBADF);
    g_assert_cmpint(write_at(m, 1, 0, "x"), ==, -EBADF);
    g_assert_cmpint(CALL(m, fsync, 1), ==, -EBADF);
    g_assert_cmpint(CALL(m, readdir, 1, 0, 100), ==, -EBADF);
    g_assert_cmpint(lopen(m, 1, P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(lopen(m, 1, P9_DOTL_RDONLY), ==, -EINVAL);
    g_assert_cmpint(CALL(m, readdir, 1, 0, 100), ==, -ENOTDIR);
    g_assert_cmpint(write_at(m, 1, 0, "x"), ==, -EBADF);    /* read only */
    walk(m, 0, 2, "dir");
    g_assert_cmpint(lopen(m, 2, P9_DOTL_RDWR), ==, -EISDIR);
    g_assert_cmpint(lopen(m, 2, P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(CALL(m, read, 2, 0, 10), ==, -EISDIR);
    g_assert_cmpint(walk(m, 1, 3, "x"), ==, -ENOTDIR);
    g_assert_cmpint(walk(m, 0, 3, "none"), ==, -ENOENT);
    g_assert_cmpint(clunk(m, 3), ==, -EBADF);
    mem_free(m);
}

static void test_partial_walk(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    P9Twalk w = { 0, 1, { 4, { "a", "b", "missing", "d" } } };
    P9Rwalk r;

    tree_mkdir(t, "a");
    tree_mkdir(t, "a/b");
    tree_write(t, "a/file", "");
    g_assert_cmpint(mem_call(m, P9_TWALK, &w, &r), ==, 0);
    g_assert_cmpuint(r.qids.n, ==, 2);
    g_assert_cmpint(clunk(m, 1), ==, -EBADF);
    w = (P9Twalk) { 0, 1, { 3, { "a", "file", "x" } } };
    g_assert_cmpint(mem_call(m, P9_TWALK, &w, &r), ==, 0);
    g_assert_cmpuint(r.qids.n, ==, 2);
    g_assert_cmpint(clunk(m, 1), ==, -EBADF);
    w = (P9Twalk) { 0, 1, { 2, { "missing", "x" } } };
    g_assert_cmpint(mem_call(m, P9_TWALK, &w, &r), ==, -ENOENT);
    mem_free(m);
}

static void test_dotdot(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    P9Twalk up = { 0, 1, { 3, { "..", "..", "a" } } };
    P9Rgetattr root, got;

    tree_mkdir(t, "a");
    g_assert_cmpint(getattr(m, 0, &root), ==, 0);
    g_assert_cmpint(mem_call(m, P9_TWALK, &up, NULL), ==, 0);
    g_assert_cmpint(walk(m, 1, 2, ".."), ==, 0);
    g_assert_cmpint(getattr(m, 2, &got), ==, 0);
    g_assert_cmpuint(got.qid.path, ==, root.qid.path);
    g_assert_cmpint(walk(m, 2, 3, ".."), ==, 0);
    g_assert_cmpint(getattr(m, 3, &got), ==, 0);
    g_assert_cmpuint(got.qid.path, ==, root.qid.path);
    mem_free(m);
}

/* Data through scatter lists of all shapes */
static void test_scattered(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    g_autofree uint8_t *buf = g_malloc(P9_WRITE_HDRSZ + 1000);
    uint8_t data[1000];

    for (int i = 0; i < sizeof(data); i++) {
        data[i] = g_test_rand_int();
    }
    tree_write(t, "file", "");
    walk(m, 0, 1, "file");
    lopen(m, 1, P9_DOTL_RDWR);
    for (size_t piece = 1; piece < 300; piece += 13) {
        P9Twrite w = { 1, 0, { .count = 1000, .bytes = data } };
        P9Tread rd = { 1, 0, 1000 };
        P9Rread got;
        ssize_t size = p9_encode(P9_TWRITE, 1, &w, buf, 2000);
        MemRequest *r = mem_send_bytes(m, buf, size, 100, piece);

        mem_wait(r);
        g_assert_cmpint(mem_result(r, NULL), ==, 0);
        mem_request_free(r);
        size = p9_encode(P9_TREAD, 1, &rd, buf, 2000);
        r = mem_send_bytes(m, buf, size, 1200, piece);
        mem_wait(r);
        g_assert_cmpint(mem_result(r, &got), ==, 0);
        g_assert_cmpmem(r->in + got.data.at, got.data.count, data, 1000);
        mem_request_free(r);
    }
    mem_free(m);
}

/* An open fid is the file, whatever becomes of the name. */
static void test_open_unlinked(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    g_autofree char *text = NULL;
    P9Rgetattr a;

    tree_write(t, "file", "hello");
    walk(m, 0, 1, "file");
    walk(m, 0, 2, "file");
    lopen(m, 1, P9_DOTL_RDWR);
    g_assert_cmpint(CALL(m, unlinkat, 0, "file", 0), ==, 0);
    tree_write(t, "file", "another");
    for (uint32_t fid = 1; fid <= 2; fid++) {
        g_assert_cmpint(getattr(m, fid, &a), ==, 0);
        g_assert_cmpuint(a.size, ==, 5);
        g_assert_cmpuint(a.nlink, ==, 0);
        g_assert_cmpint(CALL(m, setattr, fid, P9_SETATTR_MODE,
                             0600), ==, 0);
    }
    g_assert_cmpint(CALL(m, setattr, 2, P9_SETATTR_SIZE, 0, 0, 0,
                         2), ==, 0);
    text = read_at(m, 1, 0, 100);
    g_assert_cmpstr(text, ==, "he");
    g_assert_cmpint(write_at(m, 1, 0, "HELLO"), ==, 5);
    g_assert_cmpint(walk(m, 0, 3, "file"), ==, 0);
    g_assert_cmpint(getattr(m, 3, &a), ==, 0);
    g_assert_cmpuint(a.size, ==, 7);
    mem_free(m);
}

/* What is beyond the limit waits, an hour here, but not for a reset. */
static void test_throttle(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);
    P9Tread rd = { 1, 0, 4000 };
    MemRequest *r[4];

    throttle_config_init(&m->exp.throttle);
    m->exp.throttle.buckets[THROTTLE_BPS_READ].avg = 1;
    mem_start(m);
    mem_attach(m, 8192);
    tree_write(t, "file", "hello");
    walk(m, 0, 1, "file");
    lopen(m, 1, P9_DOTL_RDONLY);
    for (int i = 0; i < ARRAY_SIZE(r); i++) {
        r[i] = mem_send(m, 10 + i, P9_TREAD, &rd, 5000);
    }
    mem_wait(r[0]);
    g_assert_cmpint(mem_result(r[0], NULL), ==, 0);
    /* Other messages are not held up. */
    g_assert_cmpint(clone_fid(m, 0, 2), ==, 0);
    for (int i = 1; i < ARRAY_SIZE(r); i++) {
        g_assert_false(r[i]->done);
    }
    v9fs_reset(&m->s);
    for (int i = 0; i < ARRAY_SIZE(r); i++) {
        g_assert_true(r[i]->done);
        mem_request_free(r[i]);
    }
    mem_free(m);
}

static void test_limits(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);

    m->exp.max_fids = 3;
    m->exp.max_xattr = 1;
    mem_start(m);
    mem_attach(m, 8192);
    g_assert_cmpint(clone_fid(m, 0, 1), ==, 0);
    g_assert_cmpint(CALL(m, xattrcreate, 1, "user.x", 1), ==,
                    0);
    g_assert_cmpint(clone_fid(m, 0, 2), ==, 0);
    g_assert_cmpint(CALL(m, xattrcreate, 2, "user.x", 1), ==,
                    -ENOSPC);
    g_assert_cmpint(clone_fid(m, 0, 3), ==, -ENFILE);
    clunk(m, 1);
    g_assert_cmpint(CALL(m, xattrcreate, 2, "user.x", 65537),
                    ==, -E2BIG);
    g_assert_cmpint(CALL(m, xattrcreate, 2, "user.x", 1), ==,
                    0);
    mem_free(m);
}

static void test_readonly(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);

    m->exp.readonly = true;
    mem_start(m);
    mem_attach(m, 8192);
    tree_write(t, "file", "hello");
    walk(m, 0, 1, "file");
    g_assert_cmpint(lopen(m, 1, P9_DOTL_RDWR), ==, -EROFS);
    g_assert_cmpint(lopen(m, 1, P9_DOTL_TRUNC), ==, -EROFS);
    g_assert_cmpint(CALL(m, mkdir, 0, "x", 0755), ==, -EROFS);
    g_assert_cmpint(CALL(m, symlink, 0, "x", "y"), ==, -EROFS);
    g_assert_cmpint(CALL(m, mknod, 0, "x", 0), ==, -EROFS);
    g_assert_cmpint(CALL(m, link, 0, 1, "x"), ==, -EROFS);
    g_assert_cmpint(CALL(m, lcreate, 0, "x"), ==, -EROFS);
    g_assert_cmpint(CALL(m, setattr, 1, 1), ==, -EROFS);
    g_assert_cmpint(CALL(m, unlinkat, 0, "file"), ==, -EROFS);
    g_assert_cmpint(CALL(m, rename, 1, 0, "x"), ==, -EROFS);
    g_assert_cmpint(CALL(m, xattrcreate, 1, "user.x"), ==,
                    -EROFS);
    g_assert_cmpint(lopen(m, 1, P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(CALL(m, remove, 1), ==, -EROFS);
    g_assert_cmpint(clunk(m, 1), ==, -EBADF);       /* ended all the same */
    g_assert_true(tree_exists(t, "file"));
    mem_free(m);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(void);
    } tests[] = {
        { "crossings/names", test_crossings_names },
        { "crossings/files", test_crossings_files },
        { "crossings/xattrs", test_crossings_xattrs },
        { "crossings/readdir", test_crossings_readdir },
        { "crossings/walk", test_crossings_walk },
        { "crossings/in-place", test_crossings_in_place },
        { "before-version", test_before_version },
        { "version", test_version },
        { "mount-refused", test_mount_refused },
        { "no-such-fid", test_no_such_fid },
        { "malformed", test_malformed },
        { "sizes", test_sizes },
        { "small-reply", test_small_reply },
        { "fid-states", test_fid_states },
        { "partial-walk", test_partial_walk },
        { "dotdot", test_dotdot },
        { "scattered", test_scattered },
        { "open-unlinked", test_open_unlinked },
        { "throttle", test_throttle },
        { "limits", test_limits },
        { "readonly", test_readonly },
    };

    g_test_init(&argc, &argv, NULL);
    mem_init();
    for (int i = 0; i < ARRAY_SIZE(tests); i++) {
        g_autofree char *path = g_strconcat("/9p/session/", tests[i].name,
                                            NULL);

        g_test_add_func(path, tests[i].test);
    }
    return g_test_run();
}
