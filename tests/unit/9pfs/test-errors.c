/*
 * Tests of requests that must fail: each message's errors, and nothing else
 *
 * One table of requests on one tree, with the errno that Linux gives for the
 * same on a local file system, under each security model.  Whatever fails
 * leaves the tree and all fids as they were.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "client.h"
#include "tree.h"

/* Fids of the fixture */
enum {
    ROOT, FILE_, DIR_, SUB, LINK, FIFO, EMPTY,
    OPEN, OPEN_RD, OPEN_WR, OPEN_DIR,
    GONE, GONE_DIR, HOST_GONE,
    XATTR, NEW_XATTR,
    NFIDS, NONE = 99, FREE = 100,
};

#define LONG_NAME \
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

typedef struct Case {
    const char *what;
    uint8_t type;
    P9Request req;
    int err;
} Case;

#define CASE(what, name, error, ...) \
    { what, CLIENT_T##name, { .name = { __VA_ARGS__ } }, error }

static const Case walks[] = {
    CASE("missing", walk, ENOENT, ROOT, FREE, { 1, { "missing" } }),
    CASE("below file", walk, ENOTDIR, FILE_, FREE, { 1, { "x" } }),
    CASE("below open file", walk, ENOTDIR, OPEN, FREE, { 1, { "x" } }),
    CASE("below link", walk, ENOTDIR, LINK, FREE, { 1, { "x" } }),
    CASE("below fifo", walk, ENOTDIR, FIFO, FREE, { 1, { "x" } }),
    CASE("below removed", walk, ENOENT, GONE_DIR, FREE, { 1, { "x" } }),
    CASE("below host's", walk, ENOENT, HOST_GONE, FREE, { 1, { "x" } }),
    CASE("no name", walk, ENOENT, ROOT, FREE, { 1, { "" } }),
    CASE("dot", walk, ENOENT, ROOT, FREE, { 1, { "." } }),
    CASE("slash", walk, ENOENT, ROOT, FREE, { 1, { "dir/sub" } }),
    CASE("long", walk, ENAMETOOLONG, ROOT, FREE, { 1, { LONG_NAME } }),
    CASE("newfid in use", walk, EINVAL, ROOT, DIR_, { 1, { "file" } }),
    CASE("clone to one in use", walk, EINVAL, ROOT, DIR_),
    CASE("newfid NOFID", walk, EINVAL, ROOT, P9_NOFID, { 1, { "file" } }),
    CASE("no fid", walk, EBADF, NONE, FREE, { 1, { "file" } }),
    CASE("move an open fid", walk, EINVAL, OPEN_DIR, OPEN_DIR,
         { 1, { "inner" } }),
    CASE("from xattr", walk, EINVAL, XATTR, FREE),
};

static const Case opens[] = {
    CASE("no fid", lopen, EBADF, NONE, P9_DOTL_RDONLY),
    CASE("twice", lopen, EINVAL, OPEN, P9_DOTL_RDONLY),
    CASE("directory twice", lopen, EINVAL, OPEN_DIR, P9_DOTL_RDONLY),
    CASE("xattr", lopen, EINVAL, XATTR, P9_DOTL_RDONLY),
    CASE("write a directory", lopen, EISDIR, DIR_, P9_DOTL_WRONLY),
    CASE("truncate a directory", lopen, EISDIR, DIR_,
         P9_DOTL_RDONLY | P9_DOTL_TRUNC),
    CASE("O_DIRECTORY of a file", lopen, ENOTDIR, FILE_, P9_DOTL_DIRECTORY),
    CASE("link", lopen, ELOOP, LINK, P9_DOTL_RDONLY),
    CASE("fifo", lopen, ENXIO, FIFO, P9_DOTL_RDONLY),
    CASE("fifo to write", lopen, ENXIO, FIFO, P9_DOTL_WRONLY),
    CASE("host's removed", lopen, ENOENT, HOST_GONE, P9_DOTL_RDONLY),
    CASE("no fid", lcreate, EBADF, NONE, "new", P9_DOTL_RDWR, 0644),
    CASE("open fid", lcreate, EINVAL, OPEN_DIR, "new", P9_DOTL_RDWR, 0644),
    CASE("exclusive", lcreate, EEXIST, ROOT, "file",
         P9_DOTL_RDWR | P9_DOTL_EXCL, 0644),
    CASE("exclusive, a link", lcreate, EEXIST, ROOT, "link",
         P9_DOTL_RDWR | P9_DOTL_EXCL, 0644),
    CASE("over directory", lcreate, EISDIR, ROOT, "dir", P9_DOTL_RDWR, 0644),
    CASE("over link", lcreate, ELOOP, ROOT, "link", P9_DOTL_RDWR, 0644),
    CASE("over fifo", lcreate, ENXIO, ROOT, "fifo", P9_DOTL_RDWR, 0644),
    CASE("in file", lcreate, ENOTDIR, FILE_, "new", P9_DOTL_RDWR, 0644),
    CASE("in removed", lcreate, ENOENT, GONE_DIR, "new", P9_DOTL_RDWR, 0644),
    CASE("in host's", lcreate, ENOENT, HOST_GONE, "new", P9_DOTL_RDWR, 0644),
    CASE("no name", lcreate, ENOENT, ROOT, "", P9_DOTL_RDWR, 0644),
    CASE("dot", lcreate, EEXIST, ROOT, ".", P9_DOTL_RDWR, 0644),
    CASE("slash", lcreate, ENOENT, ROOT, "dir/x", P9_DOTL_RDWR, 0644),
    CASE("long", lcreate, ENAMETOOLONG, ROOT, LONG_NAME, P9_DOTL_RDWR, 0644),
};

static const Case makes[] = {
    CASE("no fid", mkdir, EBADF, NONE, "new", 0755),
    CASE("exists", mkdir, EEXIST, ROOT, "file", 0755),
    CASE("exists as link", mkdir, EEXIST, ROOT, "link", 0755),
    CASE("in file", mkdir, ENOTDIR, FILE_, "new", 0755),
    CASE("in removed", mkdir, ENOENT, GONE_DIR, "new", 0755),
    CASE("in host's", mkdir, ENOENT, HOST_GONE, "new", 0755),
    CASE("no name", mkdir, ENOENT, ROOT, "", 0755),
    CASE("dot", mkdir, EEXIST, ROOT, ".", 0755),
    CASE("dotdot", mkdir, EEXIST, ROOT, "..", 0755),
    CASE("slash", mkdir, ENOENT, ROOT, "dir/x", 0755),
    CASE("long", mkdir, ENAMETOOLONG, ROOT, LONG_NAME, 0755),
    CASE("in xattr", mkdir, EINVAL, XATTR, "new", 0755),
    CASE("no fid", symlink, EBADF, NONE, "new", "to"),
    CASE("exists", symlink, EEXIST, ROOT, "file", "to"),
    CASE("in file", symlink, ENOTDIR, FILE_, "new", "to"),
    CASE("in removed", symlink, ENOENT, GONE_DIR, "new", "to"),
    CASE("to nothing", symlink, ENOENT, ROOT, "new", ""),
    CASE("no name", symlink, ENOENT, ROOT, "", "to"),
    CASE("slash", symlink, ENOENT, ROOT, "a/b", "to"),
    CASE("no fid", mknod, EBADF, NONE, "new", S_IFIFO | 0644),
    CASE("exists", mknod, EEXIST, ROOT, "file", S_IFIFO | 0644),
    CASE("in file", mknod, ENOTDIR, FILE_, "new", S_IFREG | 0644),
    CASE("in removed", mknod, ENOENT, GONE_DIR, "new", S_IFREG | 0644),
    CASE("a directory", mknod, EINVAL, ROOT, "new", S_IFDIR | 0755),
    CASE("a link", mknod, EINVAL, ROOT, "new", S_IFLNK | 0777),
    CASE("dotdot", mknod, EEXIST, ROOT, "..", S_IFREG | 0644),
    CASE("no directory fid", link, EBADF, NONE, FILE_, "new"),
    CASE("no fid", link, EBADF, ROOT, NONE, "new"),
    CASE("exists", link, EEXIST, ROOT, FILE_, "dir"),
    CASE("a directory", link, EPERM, ROOT, DIR_, "new"),
    CASE("in file", link, ENOTDIR, FILE_, FIFO, "new"),
    CASE("in removed", link, ENOENT, GONE_DIR, FILE_, "new"),
    CASE("a removed one", link, ENOENT, ROOT, GONE, "new"),
    CASE("dot", link, EEXIST, ROOT, FILE_, "."),
};

static const Case moves[] = {
    CASE("no fid", renameat, EBADF, NONE, "file", ROOT, "x"),
    CASE("no newfid", renameat, EBADF, ROOT, "file", NONE, "x"),
    CASE("missing", renameat, ENOENT, ROOT, "missing", ROOT, "x"),
    CASE("onto full directory", renameat, ENOTEMPTY, ROOT, "empty", ROOT,
         "dir"),
    CASE("file onto directory", renameat, EISDIR, ROOT, "file", ROOT,
         "empty"),
    CASE("directory onto file", renameat, ENOTDIR, ROOT, "empty", ROOT,
         "file"),
    CASE("into itself", renameat, EINVAL, ROOT, "dir", SUB, "x"),
    CASE("onto its parent", renameat, ENOTEMPTY, DIR_, "sub", ROOT, "dir"),
    CASE("into file", renameat, ENOTDIR, ROOT, "empty", FILE_, "x"),
    CASE("from file", renameat, ENOTDIR, FILE_, "x", ROOT, "x"),
    CASE("into removed", renameat, ENOENT, ROOT, "file", GONE_DIR, "x"),
    CASE("from removed", renameat, ENOENT, GONE_DIR, "x", ROOT, "x"),
    CASE("dot", renameat, EBUSY, ROOT, ".", ROOT, "x"),
    CASE("to dotdot", renameat, EBUSY, ROOT, "file", DIR_, ".."),
    CASE("no name", renameat, ENOENT, ROOT, "", ROOT, "x"),
    CASE("slash", renameat, ENOENT, ROOT, "dir/inner", ROOT, "x"),
    CASE("long", renameat, ENAMETOOLONG, ROOT, "file", ROOT, LONG_NAME),
    CASE("no fid", rename, EBADF, NONE, ROOT, "x"),
    CASE("no directory fid", rename, EBADF, FILE_, NONE, "x"),
    CASE("root", rename, EBUSY, ROOT, DIR_, "x"),
    CASE("removed", rename, ENOENT, GONE, ROOT, "x"),
    CASE("host's removed", rename, ENOENT, HOST_GONE, ROOT, "x"),
    CASE("onto full directory", rename, ENOTEMPTY, EMPTY, ROOT, "dir"),
    CASE("into itself", rename, EINVAL, DIR_, SUB, "x"),
    CASE("into file", rename, ENOTDIR, EMPTY, FILE_, "x"),
    CASE("dot", rename, EBUSY, FILE_, ROOT, "."),
    CASE("no fid", unlinkat, EBADF, NONE, "file"),
    CASE("missing", unlinkat, ENOENT, ROOT, "missing"),
    CASE("directory", unlinkat, EISDIR, ROOT, "empty"),
    CASE("rmdir of a file", unlinkat, ENOTDIR, ROOT, "file",
         P9_DOTL_AT_REMOVEDIR),
    CASE("rmdir of a link", unlinkat, ENOTDIR, ROOT, "link",
         P9_DOTL_AT_REMOVEDIR),
    CASE("full directory", unlinkat, ENOTEMPTY, ROOT, "dir",
         P9_DOTL_AT_REMOVEDIR),
    CASE("below file", unlinkat, ENOTDIR, FILE_, "x"),
    CASE("in removed", unlinkat, ENOENT, GONE_DIR, "x"),
    CASE("dot", unlinkat, EINVAL, ROOT, ".", P9_DOTL_AT_REMOVEDIR),
    CASE("dotdot", unlinkat, ENOTEMPTY, DIR_, "..", P9_DOTL_AT_REMOVEDIR),
    CASE("slash", unlinkat, ENOENT, ROOT, "dir/inner"),
    CASE("no name", unlinkat, ENOENT, ROOT, ""),
    CASE("unknown flag", unlinkat, EINVAL, ROOT, "file", 1),
};

static const Case data[] = {
    CASE("no fid", read, EBADF, NONE, 0, 10),
    CASE("not open", read, EBADF, FILE_, 0, 10),
    CASE("directory", read, EISDIR, OPEN_DIR, 0, 10),
    CASE("for writing only", read, EBADF, OPEN_WR, 0, 10),
    CASE("offset", read, EINVAL, OPEN, UINT64_MAX, 10),
    CASE("new xattr", read, EINVAL, NEW_XATTR, 0, 1),
    CASE("no fid", write, EBADF, NONE, 0, { .count = 1, .bytes = "x" }),
    CASE("not open", write, EBADF, FILE_, 0, { .count = 1, .bytes = "x" }),
    CASE("directory", write, EISDIR, OPEN_DIR, 0,
         { .count = 1, .bytes = "x" }),
    CASE("for reading only", write, EBADF, OPEN_RD, 0,
         { .count = 1, .bytes = "x" }),
    CASE("offset", write, EFBIG, OPEN, UINT64_MAX,
         { .count = 1, .bytes = "x" }),
    CASE("last offset", write, EFBIG, OPEN, INT64_MAX,
         { .count = 1, .bytes = "x" }),
    CASE("xattr", write, EINVAL, XATTR, 0, { .count = 1, .bytes = "x" }),
    CASE("xattr beyond", write, ENOSPC, NEW_XATTR, 0,
         { .count = 7, .bytes = "sevenxx" }),
    CASE("xattr gap", write, EINVAL, NEW_XATTR, 1,
         { .count = 1, .bytes = "x" }),
    CASE("xattr offset", write, EINVAL, NEW_XATTR, UINT64_MAX,
         { .count = 1, .bytes = "x" }),
    CASE("no fid", readdir, EBADF, NONE, 0, 4096),
    CASE("not open", readdir, EBADF, DIR_, 0, 4096),
    CASE("file", readdir, ENOTDIR, OPEN, 0, 4096),
    CASE("xattr", readdir, EINVAL, XATTR, 0, 4096),
    CASE("no room", readdir, EINVAL, OPEN_DIR, 0, 10),
    CASE("offset", readdir, EINVAL, OPEN_DIR, UINT64_MAX, 4096),
    CASE("no fid", fsync, EBADF, NONE),
    CASE("not open", fsync, EBADF, FILE_),
    CASE("xattr", fsync, EINVAL, XATTR),
    CASE("no fid", lock, EBADF, NONE, P9_LOCK_TYPE_RDLCK, .client_id = "me"),
    CASE("not open", lock, EBADF, FILE_, P9_LOCK_TYPE_RDLCK,
         .client_id = "me"),
    CASE("type", lock, EINVAL, OPEN, 3, .client_id = "me"),
    CASE("flags", lock, EINVAL, OPEN, P9_LOCK_TYPE_RDLCK, 4,
         .client_id = "me"),
    CASE("no fid", getlock, EBADF, NONE, P9_LOCK_TYPE_RDLCK,
         .client_id = "me"),
    CASE("not open", getlock, EBADF, FILE_, P9_LOCK_TYPE_RDLCK,
         .client_id = "me"),
    CASE("type", getlock, EINVAL, OPEN, 3, .client_id = "me"),
};

static const Case attributes[] = {
    CASE("no fid", getattr, EBADF, NONE, P9_GETATTR_BASIC),
    CASE("xattr", getattr, EINVAL, XATTR, P9_GETATTR_BASIC),
    CASE("host's removed", getattr, ENOENT, HOST_GONE, P9_GETATTR_BASIC),
    CASE("no fid", statfs, EBADF, NONE),
    CASE("xattr", statfs, EINVAL, XATTR),
    CASE("host's removed", statfs, ENOENT, HOST_GONE),
    CASE("no fid", readlink, EBADF, NONE),
    CASE("file", readlink, EINVAL, FILE_),
    CASE("open file", readlink, EINVAL, OPEN),
    CASE("directory", readlink, EINVAL, DIR_),
    CASE("root", readlink, EINVAL, ROOT),
    CASE("removed", readlink, EINVAL, GONE),
    CASE("no fid", setattr, EBADF, NONE, P9_SETATTR_MODE, 0600),
    CASE("xattr", setattr, EINVAL, XATTR, P9_SETATTR_MODE, 0600),
    CASE("host's removed", setattr, ENOENT, HOST_GONE, P9_SETATTR_MODE,
         0600),
    CASE("size of directory", setattr, EISDIR, DIR_, P9_SETATTR_SIZE),
    CASE("size of open directory", setattr, EISDIR, OPEN_DIR,
         P9_SETATTR_SIZE),
    CASE("size of link", setattr, EINVAL, LINK, P9_SETATTR_SIZE),
    CASE("size of fifo", setattr, EINVAL, FIFO, P9_SETATTR_SIZE),
    CASE("size", setattr, EFBIG, FILE_, P9_SETATTR_SIZE,
         .size = UINT64_MAX),
    CASE("size and mode", setattr, EFBIG, FILE_,
         P9_SETATTR_MODE | P9_SETATTR_SIZE, 0600, .size = UINT64_MAX),
    CASE("nanoseconds", setattr, EINVAL, FILE_,
         P9_SETATTR_MTIME | P9_SETATTR_MTIME_SET, .mtime_nsec = 1000000000),
    CASE("mode and nanoseconds", setattr, EINVAL, FILE_,
         P9_SETATTR_MODE | P9_SETATTR_MTIME | P9_SETATTR_MTIME_SET, 0600,
         .mtime_nsec = 1000000000),
    CASE("UTIME_NOW as a time", setattr, EINVAL, FILE_,
         P9_SETATTR_MTIME | P9_SETATTR_MTIME_SET, .mtime_nsec = UTIME_NOW),
    CASE("UTIME_OMIT as a time", setattr, EINVAL, FILE_,
         P9_SETATTR_MODE | P9_SETATTR_ATIME | P9_SETATTR_ATIME_SET, 0600,
         .atime_nsec = UTIME_OMIT),
};

static const Case xattrs[] = {
    CASE("no fid", xattrwalk, EBADF, NONE, FREE, "user.x"),
    CASE("missing", xattrwalk, ENODATA, FILE_, FREE, "user.none"),
    CASE("newfid in use", xattrwalk, EINVAL, FILE_, DIR_, ""),
    CASE("newfid NOFID", xattrwalk, EINVAL, FILE_, P9_NOFID, ""),
    CASE("of xattr", xattrwalk, EINVAL, XATTR, FREE, "user.x"),
    CASE("long", xattrwalk, ERANGE, FILE_, FREE, "user." LONG_NAME),
    CASE("host's removed", xattrwalk, ENOENT, HOST_GONE, FREE, "user.x"),
    CASE("no fid", xattrcreate, EBADF, NONE, "user.x", 1),
    CASE("open fid", xattrcreate, EINVAL, OPEN, "user.x", 1),
    CASE("xattr", xattrcreate, EINVAL, XATTR, "user.x", 1),
    CASE("size", xattrcreate, E2BIG, FILE_, "user.x", 65537),
    CASE("size 2^64", xattrcreate, E2BIG, FILE_, "user.x", UINT64_MAX),
    CASE("flags", xattrcreate, EINVAL, FILE_, "user.x", 1, 4),
};

static const Case session[] = {
    CASE("no fid", clunk, EBADF, NONE),
    CASE("no fid", remove, EBADF, NONE),
    CASE("fid in use", attach, EINVAL, ROOT, P9_NOFID, "", ""),
    CASE("NOFID", attach, EINVAL, P9_NOFID, P9_NOFID, "", ""),
    CASE("afid", attach, EBADF, FREE, ROOT, "", ""),
    CASE("nothing to do", auth, EOPNOTSUPP, FREE, "", ""),
    CASE("request", lerror, EOPNOTSUPP),
};

static const struct {
    const char *name;
    const Case *cases;
    unsigned n;
} tables[] = {
    { "walk", walks, ARRAY_SIZE(walks) },
    { "open", opens, ARRAY_SIZE(opens) },
    { "make", makes, ARRAY_SIZE(makes) },
    { "move", moves, ARRAY_SIZE(moves) },
    { "data", data, ARRAY_SIZE(data) },
    { "attributes", attributes, ARRAY_SIZE(attributes) },
    { "xattrs", xattrs, ARRAY_SIZE(xattrs) },
    { "session", session, ARRAY_SIZE(session) },
};

static void make_files(MemSession *m, Tree *t)
{
    g_assert_cmpint(clone_fid(m, ROOT, FREE), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, FREE, "file", P9_DOTL_RDWR, 0644), ==,
                    0);
    g_assert_cmpint(write_at(m, FREE, 0, "hello"), ==, 5);
    clunk(m, FREE);
    g_assert_cmpint(CALL(m, mknod, ROOT, "gone", S_IFREG | 0644), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, ROOT, "dir", 0755), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, ROOT, "empty", 0755), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, ROOT, "gone-dir", 0755), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, ROOT, "host-gone", 0755), ==, 0);
    g_assert_cmpint(CALL(m, symlink, ROOT, "link", "file"), ==, 0);
    g_assert_cmpint(CALL(m, mknod, ROOT, "fifo", S_IFIFO | 0644), ==, 0);
    g_assert_cmpint(walk(m, ROOT, DIR_, "dir"), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, DIR_, "sub", 0755), ==, 0);
    g_assert_cmpint(CALL(m, mknod, DIR_, "inner", S_IFREG | 0644), ==, 0);
}

static void make_fids(MemSession *m, Tree *t)
{
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    g_assert_cmpint(walk(m, DIR_, SUB, "sub"), ==, 0);
    g_assert_cmpint(walk(m, ROOT, LINK, "link"), ==, 0);
    g_assert_cmpint(walk(m, ROOT, FIFO, "fifo"), ==, 0);
    g_assert_cmpint(walk(m, ROOT, EMPTY, "empty"), ==, 0);
    g_assert_cmpint(walk_open(m, OPEN, "file", P9_DOTL_RDWR), ==, 0);
    g_assert_cmpint(walk_open(m, OPEN_RD, "file", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(walk_open(m, OPEN_WR, "file", P9_DOTL_WRONLY), ==, 0);
    g_assert_cmpint(walk_open(m, OPEN_DIR, "dir", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(walk(m, ROOT, GONE, "gone"), ==, 0);
    g_assert_cmpint(walk(m, ROOT, GONE_DIR, "gone-dir"), ==, 0);
    g_assert_cmpint(walk(m, ROOT, HOST_GONE, "host-gone"), ==, 0);
    g_assert_cmpint(CALL(m, unlinkat, ROOT, "gone"), ==, 0);
    g_assert_cmpint(CALL(m, unlinkat, ROOT, "gone-dir",
                         P9_DOTL_AT_REMOVEDIR), ==, 0);
    tree_remove(t, "host-gone");
    g_assert_cmpint(CALL(m, xattrwalk, FILE_, XATTR, ""), ==, 0);
    g_assert_cmpint(clone_fid(m, FILE_, NEW_XATTR), ==, 0);
    g_assert_cmpint(CALL(m, xattrcreate, NEW_XATTR, "user.new", 6), ==, 0);
}

/* Every fid is as the fixture made it. */
static void check_fids(MemSession *m)
{
    P9Rgetattr a;

    for (uint32_t fid = 0; fid < NFIDS; fid++) {
        int want = fid == XATTR || fid == NEW_XATTR ? -EINVAL :
                   fid == HOST_GONE ? -ENOENT : 0;

        g_assert_cmpint(getattr(m, fid, &a), ==, want);
    }
    g_assert_cmpint(clunk(m, FREE), ==, -EBADF);
    g_assert_cmpint(clunk(m, P9_NOFID), ==, -EBADF);
    expect_text(m, OPEN, "hello");
}

static void run_table(unsigned table, V9fsModel model)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve_as(t, model);
    g_autofree char *before = NULL;
    g_autofree char *after = NULL;

    make_files(m, t);
    make_fids(m, t);
    before = tree_snapshot(t);
    for (unsigned i = 0; i < tables[table].n; i++) {
        const Case *c = &tables[table].cases[i];
        int err = mem_call(m, c->type, &c->req, NULL);

        if (err != -c->err) {
            g_test_message("%s, %s: %s instead of %s",
                           p9_message(c->type)->name, c->what,
                           err ? strerror(-err) : "success",
                           strerror(c->err));
            g_test_fail();
        }
    }
    after = tree_snapshot(t);
    if (!g_str_equal(after, before)) {
        g_test_message("before: %s", before);
        g_test_message("after: %s", after);
        g_test_fail();
    }
    check_fids(m);
    mem_free(m);
}

static void test_none(gconstpointer table)
{
    run_table(GPOINTER_TO_UINT(table), V9FS_MODEL_NONE);
}

static void test_passthrough(gconstpointer table)
{
    if (geteuid()) {
        g_test_skip("security model passthrough needs root");
        return;
    }
    run_table(GPOINTER_TO_UINT(table), V9FS_MODEL_PASSTHROUGH);
}

static void test_mapped_xattr(gconstpointer table)
{
    run_table(GPOINTER_TO_UINT(table), V9FS_MODEL_MAPPED_XATTR);
}

static void test_mapped_file(gconstpointer table)
{
    run_table(GPOINTER_TO_UINT(table), V9FS_MODEL_MAPPED_FILE);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(gconstpointer table);
    } models[] = {
        { "none", test_none },
        { "passthrough", test_passthrough },
        { "mapped-xattr", test_mapped_xattr },
        { "mapped-file", test_mapped_file },
    };

    g_test_init(&argc, &argv, NULL);
    mem_init();
    for (unsigned i = 0; i < ARRAY_SIZE(models); i++) {
        for (unsigned j = 0; j < ARRAY_SIZE(tables); j++) {
            g_autofree char *path = g_strdup_printf("/9p/errors/%s/%s",
                                                    models[i].name,
                                                    tables[j].name);

            g_test_add_data_func(path, GUINT_TO_POINTER(j), models[i].test);
        }
    }
    return g_test_run();
}
