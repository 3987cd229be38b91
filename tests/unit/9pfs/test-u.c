/*
 * Tests of 9P2000.u: what a client of that dialect may rely on
 *
 * On a directory of the host with security model none, through the whole
 * server.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/sysmacros.h>
#include "client.h"
#include "tree.h"

/* A stat record that changes nothing */
#define KEEP \
    .type = UINT16_MAX, .dev = UINT32_MAX, .mode = UINT32_MAX, \
    .atime = UINT32_MAX, .mtime = UINT32_MAX, .length = UINT64_MAX, \
    .n_uid = UINT32_MAX, .n_gid = UINT32_MAX, .n_muid = UINT32_MAX

/* WSTAT(m, fid, .length = 5): changes what is named */
#define WSTAT(m, number, ...) \
    mem_call(m, P9_TWSTAT, &(P9Twstat) { number, wstat_of((P9Stat) { \
        __VA_ARGS__ }, #__VA_ARGS__) }, NULL)

/* All that is not named in @names is to stay. */
static P9Stat wstat_of(P9Stat set, const char *names)
{
    P9Stat s = { KEEP };

    s.mode = strstr(names, ".mode") ? set.mode : s.mode;
    s.atime = strstr(names, ".atime") ? set.atime : s.atime;
    s.mtime = strstr(names, ".mtime") ? set.mtime : s.mtime;
    s.length = strstr(names, ".length") ? set.length : s.length;
    s.n_uid = strstr(names, ".n_uid") ? set.n_uid : s.n_uid;
    s.n_gid = strstr(names, ".n_gid") ? set.n_gid : s.n_gid;
    s.name = set.name;
    s.uid = set.uid;
    s.gid = set.gid;
    s.extension = set.extension;
    return s;
}

static MemSession *serve(Tree *t)
{
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);

    mem_start(m);
    mem_attach_u(m, 8192);
    return m;
}

static P9Stat stat_of(MemSession *m, uint32_t fid)
{
    P9Rstat r;

    g_assert_cmpint(ASK(m, stat, &r, fid), ==, 0);
    return r.stat;
}

/* Creates in the root, by way of a new fid @fid */
static int create(MemSession *m, uint32_t fid, const char *name,
                  uint32_t perm, uint8_t mode, const char *extension)
{
    int err = clone_fid(m, 0, fid);

    return err ?: CALL(m, create, fid, name, perm, mode, extension);
}

/* Dialects */

static void test_version(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    P9Rversion r;

    g_assert_cmpint(ASK(m, version, &r, 8192, "9P2000.u"), ==, 0);
    g_assert_cmpstr(r.version, ==, "9P2000.u");
    g_assert_cmpuint(r.msize, ==, 8192);
    g_assert_cmpint(ASK(m, version, &r, 8192, "9P2000"), ==, 0);
    g_assert_cmpstr(r.version, ==, "unknown");
    g_assert_cmpint(CALL(m, stat, 0), ==, -EPROTO);
    mem_free(m);
}

/* In both directions a message of the other dialect does nothing. */
static void test_other_dialect(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);

    g_assert_cmpint(CALL(m, lopen, 0, P9_DOTL_RDONLY), ==, -EOPNOTSUPP);
    g_assert_cmpint(CALL(m, mkdir, 0, "d", 0755), ==, -EOPNOTSUPP);
    g_assert_cmpint(CALL(m, getattr, 0, P9_GETATTR_BASIC), ==, -EOPNOTSUPP);
    g_assert_cmpint(CALL(m, statfs, 0), ==, -EOPNOTSUPP);
    mem_attach(m, 8192);
    g_assert_cmpint(CALL(m, open, 0, P9_OREAD), ==, -EOPNOTSUPP);
    g_assert_cmpint(CALL(m, create, 0, "d", P9_DMDIR | 0755), ==,
                    -EOPNOTSUPP);
    g_assert_cmpint(CALL(m, stat, 0), ==, -EOPNOTSUPP);
    g_assert_cmpint(WSTAT(m, 0, .name = "x"), ==, -EOPNOTSUPP);
    g_assert_false(tree_exists(t, "d"));
    g_assert_cmpint(lopen(m, 0, P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(CALL(m, read, 0, 0, 4096), ==, -EISDIR);
    mem_free(m);
}

/* Rerror, which has a text besides the number, cut where room ends */
static void test_error(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    P9Tstat s = { .fid = 77 };

    for (size_t room = P9_ERROR_SIZE; room < 80; room++) {
        MemRequest *r = mem_send(m, 5, P9_TSTAT, &s, room);
        P9Rerror e;

        mem_wait(r);
        g_assert_cmpuint(p9_header(r->in).type, ==, P9_RERROR);
        g_assert_cmpint(p9_decode(p9_message(P9_RERROR), r->in, r->reply, &e),
                        ==, 0);
        g_assert_cmpuint(e.ecode, ==, EBADF);
        g_assert_true(g_str_has_prefix(strerror(EBADF), e.ename));
        g_assert_cmpuint(strlen(e.ename), ==,
                         MIN(strlen(strerror(EBADF)), room - P9_ERROR_SIZE));
        mem_request_free(r);
    }
    mem_free(m);
}

static void test_no_room_for_error(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    MemRequest *r = mem_send(m, 5, P9_TSTAT, &(P9Tstat) { 77 },
                             P9_ERROR_SIZE - 1);

    g_assert_true(r->done);
    g_assert_true(r->broken);
    mem_request_free(r);
    g_assert_cmpint(stat_of(m, 0).mode & P9_DMDIR, !=, 0);
    mem_free(m);
}

/* Stat records */

static void test_stat(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    struct stat host;
    P9Stat s;

    tree_write(t, "file", "hello");
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    host = tree_stat(t, "file");
    s = stat_of(m, 1);
    g_assert_cmpuint(s.mode, ==, host.st_mode & 0777);
    g_assert_cmpuint(s.length, ==, 5);
    g_assert_cmpuint(s.qid.type, ==, P9_QTFILE);
    g_assert_cmpuint(s.mtime, ==, host.st_mtime);
    g_assert_cmpuint(s.atime, ==, host.st_atime);
    g_assert_cmpuint(s.n_uid, ==, host.st_uid);
    g_assert_cmpuint(s.n_gid, ==, host.st_gid);
    g_assert_cmpstr(s.name, ==, "file");
    g_assert_cmpstr(s.extension, ==, "HARDLINKCOUNT 1");
    s = stat_of(m, 0);
    g_assert_cmpstr(s.name, ==, "/");
    g_assert_cmpuint(s.mode & P9_DMDIR, !=, 0);
    g_assert_cmpuint(s.qid.type, ==, P9_QTDIR);
    mem_free(m);
}

/* A target of the largest length there is comes whole. */
static void test_stat_link(void)
{
    g_autoptr(Tree) t = tree_new();
    g_autofree char *path = tree_path(t, "link");
    g_autofree char *target = g_strnfill(PATH_MAX - 1, 'x');
    MemSession *m = serve(t);
    P9Stat s;

    g_assert_cmpint(symlink(target, path), ==, 0);
    g_assert_cmpint(walk(m, 0, 1, "link"), ==, 0);
    s = stat_of(m, 1);
    g_assert_cmpuint(s.mode & ~0777, ==, P9_DMSYMLINK);
    g_assert_cmpuint(s.qid.type, ==, P9_QTSYMLINK);
    g_assert_cmpstr(s.extension, ==, target);
    mem_free(m);
}

static void test_stat_modes(void)
{
    static const struct {
        uint32_t host, u;
    } modes[] = {
        { 04755, P9_DMSETUID | 0755 }, { 02755, P9_DMSETGID | 0755 },
        { 01777, P9_DMSETVTX | 0777 }, { 0, 0 },
    };
    g_autoptr(Tree) t = tree_new();
    g_autofree char *path = tree_path(t, "file");
    MemSession *m = serve(t);

    tree_write(t, "file", "");
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    for (int i = 0; i < ARRAY_SIZE(modes); i++) {
        g_assert_cmpint(chmod(path, modes[i].host), ==, 0);
        g_assert_cmpuint(stat_of(m, 1).mode, ==, modes[i].u);
        g_assert_cmpint(chmod(path, 0600), ==, 0);
        g_assert_cmpint(WSTAT(m, 1, .mode = modes[i].u), ==, 0);
        g_assert_cmpuint(tree_stat(t, "file").st_mode & 07777, ==,
                         modes[i].host);
    }
    mem_free(m);
}

/* Topen */

static void test_open(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    g_autofree char *text = NULL;

    tree_write(t, "file", "hello");
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    g_assert_cmpint(CALL(m, open, 1, P9_OREAD), ==, 0);
    expect_text(m, 1, "hello");
    g_assert_cmpint(write_at(m, 1, 0, "x"), ==, -EBADF);
    g_assert_cmpint(CALL(m, open, 1, P9_OREAD), ==, -EINVAL);
    clunk(m, 1);
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    g_assert_cmpint(CALL(m, open, 1, P9_ORDWR | P9_OAPPEND), ==, 0);
    g_assert_cmpint(write_at(m, 1, 0, " you"), ==, 4);
    expect_text(m, 1, "hello you");
    clunk(m, 1);
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    g_assert_cmpint(CALL(m, open, 1, P9_OWRITE | P9_OTRUNC), ==, 0);
    g_assert_cmpint(write_at(m, 1, 0, "new"), ==, 3);
    text = tree_read(t, "file");
    g_assert_cmpstr(text, ==, "new");
    clunk(m, 1);
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    g_assert_cmpint(CALL(m, open, 1, P9_ORCLOSE), ==, -EOPNOTSUPP);
    g_assert_cmpint(CALL(m, open, 1, P9_OEXEC | P9_OCEXEC), ==, 0);
    expect_text(m, 1, "new");
    mem_free(m);
}

/* Tcreate */

static void test_create_file(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    P9Rcreate r;

    clone_fid(m, 0, 1);
    g_assert_cmpint(ASK(m, create, &r, 1, "file", 0640, P9_ORDWR), ==, 0);
    g_assert_cmpuint(r.qid.path, ==, stat_of(m, 1).qid.path);
    g_assert_cmpint(write_at(m, 1, 0, "hello"), ==, 5);
    expect_text(m, 1, "hello");
    g_assert_cmpstr(stat_of(m, 1).name, ==, "file");
    g_assert_cmpuint(tree_stat(t, "file").st_mode, ==, S_IFREG | 0640);
    g_assert_cmpint(create(m, 2, "file", 0640, P9_ORDWR, ""), ==, -EEXIST);
    expect_text(m, 1, "hello");
    g_assert_cmpint(CALL(m, create, 2, "..", 0640), ==, -EEXIST);
    g_assert_cmpint(CALL(m, create, 2, "a/b", 0640), ==, -ENOENT);
    g_assert_cmpint(CALL(m, create, 1, "x", 0640), ==, -EINVAL);
    mem_free(m);
}

static void test_create_dir(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);

    g_assert_cmpint(create(m, 1, "dir", P9_DMDIR | P9_DMSETVTX | 0777,
                           P9_OREAD, ""), ==, 0);
    g_assert_cmpuint(tree_stat(t, "dir").st_mode, ==, S_IFDIR | 01777);
    /* It is open, and the fid stands for it. */
    g_assert_cmpint(CALL(m, read, 1, 0, 4096), ==, 0);
    g_assert_cmpint(walk(m, 1, 2, ".."), ==, 0);
    g_assert_cmpuint(stat_of(m, 2).qid.path, ==, stat_of(m, 0).qid.path);
    g_assert_cmpint(create(m, 3, "dir", P9_DMDIR | 0777, P9_OREAD, ""), ==,
                    -EEXIST);
    mem_free(m);
}

static void test_create_symlink(void)
{
    g_autoptr(Tree) t = tree_new();
    g_autofree char *path = tree_path(t, "link");
    g_autofree char *target = NULL;
    MemSession *m = serve(t);

    g_assert_cmpint(create(m, 1, "link", P9_DMSYMLINK | 0777, P9_OREAD,
                           "../any/where"), ==, 0);
    target = g_file_read_link(path, NULL);
    g_assert_cmpstr(target, ==, "../any/where");
    g_assert_cmpstr(stat_of(m, 1).extension, ==, "../any/where");
    g_assert_cmpint(CALL(m, read, 1, 0, 10), ==, -EBADF);
    mem_free(m);
}

static void test_create_hard_link(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);

    tree_write(t, "file", "hello");
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    g_assert_cmpint(create(m, 2, "hard", P9_DMLINK, P9_OREAD, "1\n"), ==, 0);
    g_assert_cmpuint(tree_stat(t, "hard").st_ino, ==,
                     tree_stat(t, "file").st_ino);
    g_assert_cmpuint(stat_of(m, 2).qid.path, ==, stat_of(m, 1).qid.path);
    g_assert_cmpstr(stat_of(m, 2).name, ==, "hard");
    g_assert_cmpstr(stat_of(m, 1).extension, ==, "HARDLINKCOUNT 2");
    g_assert_cmpint(create(m, 3, "hard", P9_DMLINK, P9_OREAD, "1"), ==,
                    -EEXIST);
    g_assert_cmpint(CALL(m, create, 3, "x", P9_DMLINK, 0, "99"), ==, -EBADF);
    g_assert_cmpint(CALL(m, create, 3, "x", P9_DMLINK, 0, "me"), ==, -EINVAL);
    g_assert_false(tree_exists(t, "x"));
    mem_free(m);
}

static void test_create_special(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    uint64_t rdev;
    int err;

    g_assert_cmpint(create(m, 1, "fifo", P9_DMNAMEDPIPE | 0600, 0, ""), ==, 0);
    g_assert_cmpuint(tree_stat(t, "fifo").st_mode, ==, S_IFIFO | 0600);
    g_assert_cmpuint(stat_of(m, 1).mode, ==, P9_DMNAMEDPIPE | 0600);
    g_assert_cmpint(create(m, 2, "sock", P9_DMSOCKET | 0600, 0, ""), ==, 0);
    g_assert_cmpuint(tree_stat(t, "sock").st_mode, ==, S_IFSOCK | 0600);
    g_assert_cmpuint(stat_of(m, 2).mode, ==, P9_DMSOCKET | 0600);
    err = create(m, 3, "block", P9_DMDEVICE | 0600, 0, "b 8 17");
    if (err == 0) {
        rdev = tree_stat(t, "block").st_rdev;
        g_assert_cmpuint(major(rdev), ==, 8);
        g_assert_cmpuint(minor(rdev), ==, 17);
        g_assert_true(S_ISBLK(tree_stat(t, "block").st_mode));
        g_assert_cmpstr(stat_of(m, 3).extension, ==, "b 8 17");
    } else {
        g_assert_cmpint(err, ==, -EPERM);
    }
    mem_free(m);
}

static void test_create_refused(void)
{
    static const struct {
        uint32_t perm;
        uint8_t mode;
        const char *extension;
        int err;
    } cases[] = {
        { P9_DMDIR | P9_DMSYMLINK, 0, "", -EINVAL },
        { P9_DMDEVICE, 0, "", -EINVAL },
        { P9_DMDEVICE, 0, "x 1 2", -EINVAL },
        { P9_DMDEVICE, 0, "c 1", -EINVAL },
        { P9_DMAUTH | 0600, 0, "", -EOPNOTSUPP },
        { P9_DMEXCL | 0600, 0, "", -EOPNOTSUPP },
        { 0600, P9_ORCLOSE, "", -EOPNOTSUPP },
        { P9_DMSYMLINK, 0, "", -ENOENT },
    };
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);

    clone_fid(m, 0, 1);
    for (int i = 0; i < ARRAY_SIZE(cases); i++) {
        g_assert_cmpint(CALL(m, create, 1, "x", cases[i].perm, cases[i].mode,
                             cases[i].extension), ==, cases[i].err);
        g_assert_false(tree_exists(t, "x"));
    }
    mem_free(m);
}

/* Twstat */

static void test_wstat(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    struct stat before, host;

    tree_write(t, "file", "hello");
    before = tree_stat(t, "file");
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    g_assert_cmpint(WSTAT(m, 1, .length = 2), ==, 0);
    host = tree_stat(t, "file");
    g_assert_cmpuint(host.st_size, ==, 2);
    g_assert_cmpuint(host.st_mode, ==, before.st_mode);
    g_assert_cmpint(WSTAT(m, 1, .mtime = 1000000000), ==, 0);
    host = tree_stat(t, "file");
    g_assert_cmpuint(host.st_mtime, ==, 1000000000);
    g_assert_cmpuint(host.st_atime, ==, before.st_atime);
    g_assert_cmpint(WSTAT(m, 1, .atime = 7, .mode = 0400), ==, 0);
    host = tree_stat(t, "file");
    g_assert_cmpuint(host.st_atime, ==, 7);
    g_assert_cmpuint(host.st_mtime, ==, 1000000000);
    g_assert_cmpuint(host.st_mode, ==, S_IFREG | 0400);
    g_assert_cmpint(WSTAT(m, 1, .n_uid = getuid(), .n_gid = getgid()), ==, 0);
    g_assert_cmpint(WSTAT(m, 1, .mode = P9_DMDIR | 0700), ==, -EINVAL);
    g_assert_cmpint(WSTAT(m, 0, .mode = 0700), ==, -EINVAL);
    g_assert_cmpint(WSTAT(m, 1, .uid = "somebody"), ==, -EINVAL);
    g_assert_cmpint(WSTAT(m, 1, .length = INT64_MAX + 1ull), ==, -EFBIG);
    g_assert_cmpuint(tree_stat(t, "file").st_mode, ==, S_IFREG | 0400);
    mem_free(m);
}

static void test_wstat_owner(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m;

    if (getuid()) {
        g_test_skip("only root gives files away");
        return;
    }
    m = serve(t);
    tree_write(t, "file", "hello");
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    g_assert_cmpint(WSTAT(m, 1, .n_uid = 12), ==, 0);
    g_assert_cmpuint(tree_stat(t, "file").st_uid, ==, 12);
    g_assert_cmpuint(tree_stat(t, "file").st_gid, ==, getgid());
    g_assert_cmpint(WSTAT(m, 1, .gid = "34"), ==, 0);
    g_assert_cmpuint(tree_stat(t, "file").st_uid, ==, 12);
    g_assert_cmpuint(tree_stat(t, "file").st_gid, ==, 34);
    g_assert_cmpuint(stat_of(m, 1).n_gid, ==, 34);
    mem_free(m);
}

/* A new file belongs to who attached, and to its directory's group. */
static void test_create_owner(void)
{
    g_autoptr(Tree) t = tree_new();
    g_autofree char *path = tree_path(t, "dir");
    MemSession *m;

    if (getuid()) {
        g_test_skip("only root gives files away");
        return;
    }
    m = serve(t);
    tree_mkdir(t, "dir");
    g_assert_cmpint(chown(path, 12, 34), ==, 0);
    g_assert_cmpint(CALL(m, attach, 1, P9_NOFID, "", "", 56), ==, 0);
    g_assert_cmpint(walk(m, 1, 2, "dir"), ==, 0);
    g_assert_cmpint(CALL(m, create, 2, "file", 0644), ==, 0);
    g_assert_cmpuint(tree_stat(t, "dir/file").st_uid, ==, 56);
    g_assert_cmpuint(tree_stat(t, "dir/file").st_gid, ==, 34);
    g_assert_cmpint(CALL(m, attach, 3, P9_NOFID, "me", "", P9_NONUNAME), ==,
                    0);
    g_assert_cmpint(walk(m, 3, 4, "dir"), ==, 0);
    g_assert_cmpint(CALL(m, create, 4, "sub", P9_DMDIR | 0755), ==, 0);
    g_assert_cmpuint(tree_stat(t, "dir/sub").st_uid, ==, 12);
    g_assert_cmpuint(tree_stat(t, "dir/sub").st_gid, ==, 34);
    mem_free(m);
}

static void test_wstat_rename(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);
    g_autofree char *text = NULL;

    tree_mkdir(t, "dir");
    tree_write(t, "dir/a", "a");
    tree_write(t, "dir/b", "b");
    g_assert_cmpint(walk(m, 0, 1, "dir/a"), ==, 0);
    g_assert_cmpint(walk(m, 0, 2, "dir/b"), ==, 0);
    g_assert_cmpint(WSTAT(m, 1, .name = "c"), ==, 0);
    g_assert_false(tree_exists(t, "dir/a"));
    g_assert_cmpstr(stat_of(m, 1).name, ==, "c");
    /* Linux renames over what is there with this, too. */
    g_assert_cmpint(WSTAT(m, 1, .name = "b"), ==, 0);
    text = tree_read(t, "dir/b");
    g_assert_cmpstr(text, ==, "a");
    g_assert_cmpint(CALL(m, open, 2, P9_OREAD), ==, 0);
    expect_text(m, 2, "b");
    g_assert_cmpint(WSTAT(m, 1, .name = "x/y"), ==, -ENOENT);
    g_assert_cmpint(WSTAT(m, 1, .name = ".."), ==, -EBUSY);
    g_assert_cmpint(WSTAT(m, 0, .name = "root"), ==, -EBUSY);
    g_assert_cmpint(WSTAT(m, 1, .name = "d", .length = 0), ==, 0);
    g_assert_cmpuint(tree_stat(t, "dir/d").st_size, ==, 0);
    g_assert_cmpint(CALL(m, remove, 1), ==, 0);
    g_assert_false(tree_exists(t, "dir/d"));
    mem_free(m);
}

/* A record that changes nothing asks to have the file on the disk. */
static void test_wstat_sync(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);

    tree_write(t, "file", "hello");
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    g_assert_cmpint(WSTAT(m, 1, .name = ""), ==, -EBADF);
    g_assert_cmpint(CALL(m, open, 1, P9_ORDWR), ==, 0);
    g_assert_cmpint(WSTAT(m, 1, .name = ""), ==, 0);
    mem_free(m);
}

static void test_readonly(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);

    m->exp.readonly = true;
    mem_start(m);
    mem_attach_u(m, 8192);
    tree_write(t, "file", "hello");
    g_assert_cmpint(walk(m, 0, 1, "file"), ==, 0);
    g_assert_cmpint(WSTAT(m, 1, .name = "x"), ==, -EROFS);
    g_assert_cmpint(WSTAT(m, 1, .mode = 0), ==, -EROFS);
    g_assert_cmpint(create(m, 2, "x", 0600, 0, ""), ==, -EROFS);
    g_assert_cmpint(CALL(m, open, 1, P9_OREAD | P9_OTRUNC), ==, -EROFS);
    g_assert_cmpint(CALL(m, open, 1, P9_OWRITE), ==, -EROFS);
    g_assert_cmpint(CALL(m, open, 1, P9_OREAD), ==, 0);
    g_assert_cmpint(WSTAT(m, 1, .name = ""), ==, 0);
    mem_free(m);
}

/* Each message of the dialect with a fid in each state */
static void test_states(void)
{
    enum { WALKED = 1, FILE_OPEN, DIR_OPEN, ABSENT };
    static const struct {
        uint32_t fid;
        int open, create, stat, wstat, read, write;
    } cases[] = {
        { ABSENT, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF },
        { FILE_OPEN, -EINVAL, -EINVAL, 0, 0, 0, 1 },
        { DIR_OPEN, -EINVAL, -EINVAL, 0, -EISDIR, 0, -EISDIR },
        { WALKED, 0, -EINVAL, 0, 0, 0, 1 },     /* open since the first */
    };
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);

    tree_write(t, "file", "");
    g_assert_cmpint(walk(m, 0, WALKED, "file"), ==, 0);
    g_assert_cmpint(walk(m, 0, FILE_OPEN, "file"), ==, 0);
    g_assert_cmpint(clone_fid(m, 0, DIR_OPEN), ==, 0);
    g_assert_cmpint(CALL(m, open, FILE_OPEN, P9_ORDWR), ==, 0);
    g_assert_cmpint(CALL(m, open, DIR_OPEN, P9_OREAD), ==, 0);
    g_assert_cmpint(CALL(m, create, WALKED, "x", 0600), ==, -ENOTDIR);
    for (int i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t fid = cases[i].fid;

        g_assert_cmpint(CALL(m, open, fid, P9_ORDWR), ==, cases[i].open);
        g_assert_cmpint(CALL(m, create, fid, "x", 0600), ==, cases[i].create);
        g_assert_cmpint(CALL(m, stat, fid), ==, cases[i].stat);
        g_assert_cmpint(WSTAT(m, fid, .length = 3), ==, cases[i].wstat);
        g_assert_cmpint(CALL(m, read, fid, 0, 4096), ==, cases[i].read);
        g_assert_cmpint(write_at(m, fid, 0, "x"), ==, cases[i].write);
    }
    g_assert_cmpint(clone_fid(m, 0, 9), ==, 0);
    mem_free(m);
}

#define CROSSES(m, n, call) do { \
    uint64_t before_ = all_crossings(m); \
    g_assert_cmpint(call, >=, 0); \
    g_assert_cmpuint(all_crossings(m) - before_, ==, n); \
} while (0)

static void test_crossings(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve(t);

    m->s.try.mode = V9FS_TRY_OFF;
    for (int i = 1; i < 7; i++) {
        clone_fid(m, 0, i);
    }
    CROSSES(m, 1, CALL(m, create, 1, "file", 0644, P9_ORDWR));
    CROSSES(m, 1, CALL(m, create, 2, "dir", P9_DMDIR | 0755));
    CROSSES(m, 1, CALL(m, create, 3, "link", P9_DMSYMLINK, 0, "to"));
    CROSSES(m, 1, CALL(m, create, 4, "hard", P9_DMLINK, 0, "1"));
    CROSSES(m, 1, CALL(m, create, 5, "fifo", P9_DMNAMEDPIPE));
    CROSSES(m, 1, CALL(m, stat, 1));
    CROSSES(m, 1, CALL(m, stat, 3));
    CROSSES(m, 1, WSTAT(m, 1, .length = 9, .mode = 0600, .mtime = 1));
    CROSSES(m, 1, WSTAT(m, 1, .name = "other"));
    CROSSES(m, 1, WSTAT(m, 1, .name = ""));
    CROSSES(m, 1, CALL(m, open, 6, P9_OREAD));
    CROSSES(m, 1, CALL(m, read, 6, 0, 8000));
    CROSSES(m, 1, CALL(m, remove, 4));
    mem_free(m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    umask(0);
    g_test_add_func("/9pfs/u/version", test_version);
    g_test_add_func("/9pfs/u/other-dialect", test_other_dialect);
    g_test_add_func("/9pfs/u/error", test_error);
    g_test_add_func("/9pfs/u/no-room-for-error", test_no_room_for_error);
    g_test_add_func("/9pfs/u/stat", test_stat);
    g_test_add_func("/9pfs/u/stat/link", test_stat_link);
    g_test_add_func("/9pfs/u/stat/modes", test_stat_modes);
    g_test_add_func("/9pfs/u/open", test_open);
    g_test_add_func("/9pfs/u/create/file", test_create_file);
    g_test_add_func("/9pfs/u/create/dir", test_create_dir);
    g_test_add_func("/9pfs/u/create/symlink", test_create_symlink);
    g_test_add_func("/9pfs/u/create/hard-link", test_create_hard_link);
    g_test_add_func("/9pfs/u/create/special", test_create_special);
    g_test_add_func("/9pfs/u/create/refused", test_create_refused);
    g_test_add_func("/9pfs/u/create/owner", test_create_owner);
    g_test_add_func("/9pfs/u/wstat", test_wstat);
    g_test_add_func("/9pfs/u/wstat/owner", test_wstat_owner);
    g_test_add_func("/9pfs/u/wstat/rename", test_wstat_rename);
    g_test_add_func("/9pfs/u/wstat/sync", test_wstat_sync);
    g_test_add_func("/9pfs/u/readonly", test_readonly);
    g_test_add_func("/9pfs/u/states", test_states);
    g_test_add_func("/9pfs/u/crossings", test_crossings);
    return g_test_run();
}
