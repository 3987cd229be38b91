/*
 * Tests of the local driver: what Linux does with files, through the server
 *
 * setuid bits, extended attributes, special files and full file systems,
 * under every security model that can be used.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/mount.h>
#include <sys/xattr.h>
#include "qemu/bswap.h"
#include "client.h"
#include "tree.h"

/* Fids: the file, the same one open, and one that is free */
enum { ROOT, FILE_, OPEN, FREE };

#define MAX_VALUE 65536

static bool have_own_mounts;

static void make_file(MemSession *m, const char *name, uint32_t mode)
{
    g_assert_cmpint(clone_fid(m, ROOT, FREE), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, FREE, name, P9_DOTL_RDWR, 0644), ==, 0);
    g_assert_cmpint(write_at(m, FREE, 0, "hello"), ==, 5);
    g_assert_cmpint(clunk(m, FREE), ==, 0);
    g_assert_cmpint(walk(m, ROOT, FREE, name), ==, 0);
    g_assert_cmpint(CALL(m, setattr, FREE, P9_SETATTR_MODE, mode), ==, 0);
    g_assert_cmpint(clunk(m, FREE), ==, 0);
}

/* setuid and setgid bits */

static void do_write(MemSession *m)
{
    g_assert_cmpint(write_at(m, OPEN, 0, "HELLO"), ==, 5);
}

static void do_append(MemSession *m)
{
    g_assert_cmpint(walk_open(m, FREE, "file", P9_DOTL_WRONLY |
                              P9_DOTL_APPEND), ==, 0);
    g_assert_cmpint(write_at(m, FREE, 0, "!"), ==, 1);
}

static void do_truncate(MemSession *m)
{
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_SIZE, .size = 2), ==,
                    0);
}

static void do_ftruncate(MemSession *m)
{
    g_assert_cmpint(CALL(m, setattr, OPEN, P9_SETATTR_SIZE, .size = 2), ==, 0);
}

static void do_open_truncate(MemSession *m)
{
    g_assert_cmpint(walk_open(m, FREE, "file", P9_DOTL_RDWR | P9_DOTL_TRUNC),
                    ==, 0);
}

static void do_create_truncate(MemSession *m)
{
    g_assert_cmpint(clone_fid(m, ROOT, FREE), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, FREE, "file", P9_DOTL_RDWR |
                         P9_DOTL_TRUNC, 0644), ==, 0);
}

static void do_chown(MemSession *m)
{
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_UID, .uid = 1234), ==,
                    0);
}

static void do_fchown_group(MemSession *m)
{
    g_assert_cmpint(CALL(m, setattr, OPEN, P9_SETATTR_GID, .gid = 1234), ==,
                    0);
}

static void do_read(MemSession *m)
{
    expect_text(m, OPEN, "hello");
}

static void do_touch(MemSession *m)
{
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_MTIME), ==, 0);
}

static void do_write_in_vain(MemSession *m)
{
    g_assert_cmpint(CALL(m, write, OPEN, INT64_MAX, { .count = 1,
                         .bytes = "x" }), ==, -EFBIG);
}

static void do_set_xattr(MemSession *m)
{
    g_assert_cmpint(set_xattr(m, FILE_, "user.x", "y", 0), ==, 0);
}

static const struct {
    const char *name;
    void (*act)(MemSession *m);
    bool drops;
} acts[] = {
    { "write", do_write, true },
    { "append", do_append, true },
    { "truncate", do_truncate, true },
    { "ftruncate", do_ftruncate, true },
    { "open and truncate", do_open_truncate, true },
    { "create and truncate", do_create_truncate, true },
    { "chown", do_chown, true },
    { "fchown", do_fchown_group, true },
    { "read", do_read },
    { "touch", do_touch },
    { "failing write", do_write_in_vain },
    { "set xattr", do_set_xattr },
};

/* Without group execution setgid is no privilege. */
static const struct {
    uint32_t mode, dropped;
} suid_modes[] = {
    { 06755, 0755 }, { 04644, 0644 }, { 06644, 02644 }, { 01755, 01755 },
};

static void run_suid(MemSession *m, int act, int mode)
{
    uint32_t want = acts[act].drops ? suid_modes[mode].dropped
                                    : suid_modes[mode].mode;

    make_file(m, "file", suid_modes[mode].mode);
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    g_assert_cmpint(walk_open(m, OPEN, "file", P9_DOTL_RDWR), ==, 0);
    acts[act].act(m);
    if (mode_of(m, OPEN) != (S_IFREG | want)) {
        g_test_message("%s, mode %o: %o instead of %o", acts[act].name,
                       suid_modes[mode].mode, mode_of(m, OPEN) & 07777, want);
        g_test_fail();
    }
    g_assert_cmpuint(mode_of(m, FILE_), ==, mode_of(m, OPEN));
    clunk(m, FREE);
    clunk(m, OPEN);
    g_assert_cmpint(CALL(m, remove, FILE_), ==, 0);
}

static void test_suid(V9fsModel model)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve_as(t, model);

    for (int act = 0; act < ARRAY_SIZE(acts); act++) {
        for (int mode = 0; mode < ARRAY_SIZE(suid_modes); mode++) {
            run_suid(m, act, mode);
        }
    }
    mem_free(m);
}

/* What is set in the same breath stays, and so does a directory's. */
static void test_suid_kept(V9fsModel model)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve_as(t, model);

    make_file(m, "file", 0644);
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_MODE | P9_SETATTR_SIZE |
                         P9_SETATTR_UID, 06755, .uid = 1234, .size = 2), ==,
                    0);
    g_assert_cmpuint(mode_of(m, FILE_), ==, S_IFREG | 06755);
    g_assert_cmpint(CALL(m, mkdir, ROOT, "dir", 0755), ==, 0);
    g_assert_cmpint(walk(m, ROOT, FREE, "dir"), ==, 0);
    g_assert_cmpint(CALL(m, setattr, FREE, P9_SETATTR_MODE, 06755), ==, 0);
    g_assert_cmpint(CALL(m, setattr, FREE, P9_SETATTR_UID, .uid = 1234), ==,
                    0);
    g_assert_cmpuint(mode_of(m, FREE), ==, S_IFDIR | 06755);
    mem_free(m);
}

/* Extended attributes */

static int set_value(MemSession *m, uint32_t fid, const char *name,
                     const uint8_t *value, size_t size, uint32_t flags)
{
    int err, clunked;

    g_assert_cmpint(clone_fid(m, fid, FREE), ==, 0);
    err = CALL(m, xattrcreate, FREE, name, size, flags);
    for (size_t at = 0; !err && at < size; at += 4000) {
        err = CALL(m, write, FREE, at, { .count = MIN(size - at, 4000),
                   .bytes = value + at });
    }
    clunked = clunk(m, FREE);
    return err ?: clunked;
}

/* -errno, or the size with the value in @buf of MAX_VALUE bytes */
static int get_value(MemSession *m, uint32_t fid, const char *name,
                     uint8_t *buf)
{
    P9Rxattrwalk r;
    P9Rread got;
    int err = ASK(m, xattrwalk, &r, fid, FREE, name);
    size_t size = r.size, done = 0;

    if (err) {
        return err;
    }
    g_assert_cmpuint(size, <=, MAX_VALUE);
    do {
        g_assert_cmpint(ASK(m, read, &got, FREE, done, 5000), ==, 0);
        g_assert_cmpuint(done + got.data.count, <=, size);
        memcpy(buf + done, m->last->in + got.data.at, got.data.count);
        done += got.data.count;
    } while (got.data.count);
    g_assert_cmpuint(done, ==, size);
    g_assert_cmpint(clunk(m, FREE), ==, 0);
    return size;
}

/* What the host says to a value of this size */
static int host_says(Tree *t, const uint8_t *value, size_t size)
{
    g_autofree char *path = tree_path(t, "host's");
    int err;

    tree_write(t, "host's", "");
    err = setxattr(path, "user.big", value, size, 0) ? -errno : 0;
    tree_remove(t, "host's");
    return err;
}

static void test_xattr_sizes(V9fsModel model)
{
    static const size_t sizes[] = { 0, 1, 3000, 4096, 20000, MAX_VALUE };
    g_autofree uint8_t *value = g_malloc(MAX_VALUE + 1);
    g_autofree uint8_t *got = g_malloc(MAX_VALUE);
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve_as(t, model);

    for (int i = 0; i <= MAX_VALUE; i++) {
        value[i] = g_test_rand_int();
    }
    make_file(m, "file", 0644);
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    for (int i = 0; i < ARRAY_SIZE(sizes); i++) {
        int want = host_says(t, value, sizes[i]);

        g_assert_cmpint(set_value(m, FILE_, "user.big", (uint8_t *)"old", 3,
                                  0), ==, 0);
        g_assert_cmpint(set_value(m, FILE_, "user.big", value, sizes[i], 0),
                        ==, want);
        if (want) {     /* as a whole, or not at all */
            g_assert_cmpint(get_value(m, FILE_, "user.big", got), ==, 3);
            g_assert_cmpmem(got, 3, "old", 3);
        } else {
            g_assert_cmpint(get_value(m, FILE_, "user.big", got), ==,
                            sizes[i]);
            g_assert_cmpmem(got, sizes[i], value, sizes[i]);
        }
    }
    g_assert_cmpint(set_value(m, FILE_, "user.big", value, MAX_VALUE + 1, 0),
                    ==, -E2BIG);
    mem_free(m);
}

static void test_xattr_flags(V9fsModel model)
{
    static const uint8_t value[] = "v";
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve_as(t, model);
    uint8_t got[MAX_VALUE];

    make_file(m, "file", 0644);
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    g_assert_cmpint(set_value(m, FILE_, "user.x", value, 1, P9_XATTR_REPLACE),
                    ==, -ENODATA);
    g_assert_cmpint(set_value(m, FILE_, "user.x", NULL, 0, P9_XATTR_REPLACE),
                    ==, -ENODATA);
    g_assert_cmpint(set_value(m, FILE_, "user.x", value, 1, P9_XATTR_CREATE),
                    ==, 0);
    g_assert_cmpint(set_value(m, FILE_, "user.x", value, 1, P9_XATTR_CREATE),
                    ==, -EEXIST);
    g_assert_cmpint(set_value(m, FILE_, "user.x", value, 2, P9_XATTR_REPLACE),
                    ==, 0);
    g_assert_cmpint(get_value(m, FILE_, "user.x", got), ==, 2);
    /* Nothing, instead: that is how Linux asks for it to be removed. */
    g_assert_cmpint(set_value(m, FILE_, "user.x", NULL, 0, P9_XATTR_REPLACE),
                    ==, 0);
    g_assert_cmpint(get_value(m, FILE_, "user.x", got), ==, -ENODATA);
    g_assert_cmpint(set_value(m, FILE_, "user.x", NULL, 0, P9_XATTR_CREATE),
                    ==, 0);
    g_assert_cmpint(get_value(m, FILE_, "user.x", got), ==, 0);
    g_assert_cmpint(get_value(m, FILE_, "", got), ==, sizeof("user.x"));
    g_assert_cmpmem(got, sizeof("user.x"), "user.x", sizeof("user.x"));
    /* What means something to the host is not the guest's. */
    g_assert_cmpint(set_value(m, FILE_, "trusted.x", value, 1, 0), <, 0);
    g_assert_cmpint(set_value(m, FILE_, "nothing.x", value, 1, 0), ==,
                    -EOPNOTSUPP);
    g_assert_cmpint(set_value(m, FILE_, "user.virtfs.uid", value, 1, 0), ==,
                    model == V9FS_MODEL_MAPPED_XATTR ||
                    model == V9FS_MODEL_MAPPED_FILE ? -EOPNOTSUPP : 0);
    mem_free(m);
}

/* Special files */

static const struct {
    const char *name;
    uint32_t mode, major, minor;
} kinds[] = {
    { "fifo", S_IFIFO | 0640 }, { "socket", S_IFSOCK | 0755 },
    { "chr", S_IFCHR | 0666, 1, 3 }, { "blk", S_IFBLK | 0660, 259, 70000 },
};

/* Everything but opening it */
static void use_special(MemSession *m, int kind)
{
    const char *name = kinds[kind].name;
    P9Rgetattr a;

    g_assert_cmpint(walk(m, ROOT, FILE_, name), ==, 0);
    g_assert_cmpint(getattr(m, FILE_, &a), ==, 0);
    g_assert_cmpuint(a.mode, ==, kinds[kind].mode);
    g_assert_cmpuint(a.rdev, ==,
                     makedev(kinds[kind].major, kinds[kind].minor));
    for (uint32_t flags = 0; flags < 3; flags++) {
        g_assert_cmpint(lopen(m, FILE_, flags), ==, -ENXIO);
    }
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_MODE | P9_SETATTR_UID |
                         P9_SETATTR_MTIME | P9_SETATTR_MTIME_SET, 0600,
                         .uid = 0, .mtime_sec = 77), ==, 0);
    g_assert_cmpint(CALL(m, link, ROOT, FILE_, "other"), ==, 0);
    g_assert_cmpint(CALL(m, renameat, ROOT, "other", ROOT, "last"), ==, 0);
    g_assert_cmpint(CALL(m, unlinkat, ROOT, name), ==, 0);
    g_assert_cmpint(getattr(m, FILE_, &a), ==, 0);
    g_assert_cmpuint(a.mode, ==, (kinds[kind].mode & S_IFMT) | 0600);
    g_assert_cmpuint(a.nlink, ==, 1);
    g_assert_cmpuint(a.mtime_sec, ==, 77);
    g_assert_cmpint(CALL(m, unlinkat, ROOT, "last"), ==, 0);
    clunk(m, FILE_);
}

static void test_special(V9fsModel model)
{
    bool mapped = model == V9FS_MODEL_MAPPED_XATTR ||
                  model == V9FS_MODEL_MAPPED_FILE;
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve_as(t, model);

    for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
        int err = CALL(m, mknod, ROOT, kinds[i].name, kinds[i].mode,
                       kinds[i].major, kinds[i].minor);

        if (err == -EPERM && kinds[i].major && !mapped) {
            /* The host keeps devices to itself. */
            g_assert_false(tree_exists(t, kinds[i].name));
        } else {
            g_assert_cmpint(err, ==, 0);
            use_special(m, i);
        }
    }
    mem_free(m);
}

/* A FIFO or link that the host puts in a file's place is not opened. */
static void test_swapped(V9fsModel model)
{
    g_autoptr(Tree) t = tree_new();
    g_autofree char *path = tree_path(t, "file");
    MemSession *m = tree_serve_as(t, model);

    tree_write(t, "secret", "hello");
    tree_write(t, "file", "");
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    tree_remove(t, "file");
    g_assert_cmpint(mkfifo(path, 0666), ==, 0);
    for (uint32_t flags = 0; flags < 3; flags++) {
        g_assert_cmpint(lopen(m, FILE_, flags), ==, -ENXIO);
    }
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_SIZE), ==, -EINVAL);
    tree_remove(t, "file");
    g_assert_cmpint(symlink("secret", path), ==, 0);
    g_assert_cmpint(lopen(m, FILE_, P9_DOTL_RDONLY), ==, -ELOOP);
    g_assert_cmpint(lopen(m, FILE_, P9_DOTL_RDWR | P9_DOTL_TRUNC), ==, -ELOOP);
    g_assert_cmpint(CALL(m, setattr, FILE_, P9_SETATTR_SIZE), ==, -EINVAL);
    g_assert_cmpint(tree_stat(t, "secret").st_size, ==, 5);
    mem_free(m);
}

/* Full file systems */

/* A file system of so much memory on top of @t; false with the test skipped */
static bool mount_small(Tree *t, const char *options)
{
    if (!have_own_mounts || mount("9p-test", t->path, "tmpfs", 0, options)) {
        g_test_skip("cannot mount a small file system");
        return false;
    }
    return true;
}

/* What cannot be done in a full file system */
static void expect_full(MemSession *m, Tree *t, int err)
{
    g_autofree char *before = tree_snapshot(t);
    g_autofree char *after = NULL;

    g_assert_cmpint(CALL(m, mkdir, ROOT, "new", 0755), ==, err);
    g_assert_cmpint(CALL(m, mknod, ROOT, "new", S_IFREG | 0644), ==, err);
    g_assert_cmpint(CALL(m, symlink, ROOT, "new", "to"), ==, err);
    g_assert_cmpint(clone_fid(m, ROOT, FREE), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, FREE, "new", P9_DOTL_RDWR, 0644), ==,
                    err);
    g_assert_cmpint(clunk(m, FREE), ==, 0);
    after = tree_snapshot(t);
    g_assert_cmpstr(after, ==, before);
}

static void test_no_inodes(V9fsModel model)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m;
    char name[16];
    int err = 0, n;

    if (!mount_small(t, "size=1m,nr_inodes=20")) {
        return;
    }
    m = tree_serve_as(t, model);
    for (n = 0; !err && n < 100; n++) {
        snprintf(name, sizeof(name), "file%d", n);
        err = CALL(m, mknod, ROOT, name, S_IFREG | 0644);
    }
    g_assert_cmpint(err, ==, -ENOSPC);
    g_assert_false(tree_exists(t, name));
    expect_full(m, t, -ENOSPC);
    g_assert_cmpint(CALL(m, unlinkat, ROOT, "file1"), ==, 0);
    g_assert_cmpint(CALL(m, mknod, ROOT, "file1", S_IFREG | 0644), ==, 0);
    mem_free(m);
    g_assert_cmpint(umount2(t->path, MNT_DETACH), ==, 0);
}

/* Short writes, then errors; what has been written is there. */
static void test_no_blocks(V9fsModel model)
{
    g_autoptr(Tree) t = tree_new();
    g_autofree char *data = g_malloc0(8000);
    MemSession *m;
    P9Rwrite r;
    uint64_t size = 0;
    int err;

    if (!mount_small(t, "size=64k,nr_inodes=100")) {
        return;
    }
    m = tree_serve_as(t, model);
    make_file(m, "file", 0644);
    g_assert_cmpint(walk_open(m, OPEN, "file", P9_DOTL_RDWR), ==, 0);
    while (1) {
        err = ASK(m, write, &r, OPEN, size, { .count = 8000, .bytes = data });
        if (err) {
            break;
        }
        g_assert_cmpuint(r.count, >, 0);
        g_assert_cmpuint(r.count, <=, 8000);
        size += r.count;
        g_assert_cmpuint(size, <=, 64 * 1024);
    }
    g_assert_cmpint(err, ==, -ENOSPC);
    g_assert_cmpuint(size_of(m, OPEN), ==, size);
    g_assert_cmpint(CALL(m, setattr, OPEN, P9_SETATTR_SIZE), ==, 0);
    g_assert_cmpint(write_at(m, OPEN, 0, "hello"), ==, 5);
    expect_text(m, OPEN, "hello");
    mem_free(m);
    g_assert_cmpint(umount2(t->path, MNT_DETACH), ==, 0);
}

/* POSIX ACLs: version 2, then tag, permissions and number of each entry */

typedef struct QEMU_PACKED DefaultAcl {
    uint32_t version;
    struct QEMU_PACKED {
        uint16_t tag, perm;
        uint32_t id;
    } entry[3];
} DefaultAcl;

static DefaultAcl owner_only(void)
{
    return (DefaultAcl) {
        cpu_to_le32(2), {
            { cpu_to_le16(1), cpu_to_le16(7), UINT32_MAX },     /* owner */
            { cpu_to_le16(4), 0, UINT32_MAX },                  /* group */
            { cpu_to_le16(32), 0, UINT32_MAX },                 /* others */
        },
    };
}

static bool set_acl(MemSession *m, const char *name, const DefaultAcl *acl)
{
    int err;

    g_assert_cmpint(clone_fid(m, ROOT, FREE), ==, 0);
    g_assert_cmpint(CALL(m, xattrcreate, FREE, name, sizeof(*acl)), ==, 0);
    g_assert_cmpint(CALL(m, write, FREE, 0, { .count = sizeof(*acl),
                                              .bytes = acl }), ==, 0);
    err = clunk(m, FREE);
    if (err == -EOPNOTSUPP) {
        g_test_skip("TMPDIR's file system has no ACLs");
        return false;
    }
    g_assert_cmpint(err, ==, 0);
    return true;
}

/*
 * Where the host knows the ACL it is the host that hands it on, and nothing
 * gives back what it takes away.
 */
static void expect_handed_on(MemSession *m, Tree *t)
{
    g_autofree char *dir = tree_path(t, "dir");
    DefaultAcl got;

    make_file(m, "later", 0640);
    g_assert_cmpint(clone_fid(m, ROOT, FREE), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, FREE, "new", P9_DOTL_RDWR, 0666), ==, 0);
    g_assert_cmpint(clunk(m, FREE), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, ROOT, "dir", 01777), ==, 0);
    g_assert_cmphex(tree_stat(t, "new").st_mode, ==, S_IFREG | 0600);
    g_assert_cmphex(tree_stat(t, "dir").st_mode, ==, S_IFDIR | 01700);
    g_assert_cmphex(tree_stat(t, "later").st_mode, ==, S_IFREG | 0640);
    g_assert_cmpint(lgetxattr(dir, "system.posix_acl_default", &got,
                              sizeof(got)), ==, sizeof(got));
}

static void test_default_acl(V9fsModel model)
{
    static const char name[] = "system.posix_acl_default";
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve_as(t, model);
    DefaultAcl acl = owner_only(), got;
    int err;

    g_assert_null(get_xattr(m, ROOT, name, &err));
    g_assert_true(err == -ENODATA || err == -EOPNOTSUPP);
    if (set_acl(m, name, &acl)) {
        if (model == V9FS_MODEL_NONE || model == V9FS_MODEL_PASSTHROUGH) {
            expect_handed_on(m, t);
        } else {
            g_assert_cmpint(lgetxattr(t->path, "user.virtfs.system."
                                      "posix_acl_default", &got, sizeof(got)),
                            ==, sizeof(got));
            g_assert_cmpmem(&got, sizeof(got), &acl, sizeof(acl));
        }
    }
    mem_free(m);
}

static void expect_xattr(MemSession *m, uint32_t fid, const char *name,
                         const char *value, int error)
{
    g_autofree char *got = NULL;
    int err;

    g_assert_cmpint(set_xattr(m, fid, name, "value", 0), ==, error);
    got = get_xattr(m, fid, name, &err);
    g_assert_cmpint(err, ==, error);
    g_assert_cmpstr(got, ==, value);
}

/* What means something to the host is the guest's only if the user says so. */
static void test_all_xattrs(V9fsModel model)
{
    static const char *const names[] = { "trusted.x", "security.x" };
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve_as(t, model);

    tree_write(t, "file", "hello");
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    for (int i = 0; i < ARRAY_SIZE(names); i++) {
        expect_xattr(m, FILE_, names[i], NULL, -EOPNOTSUPP);
    }
    mem_free(m);
    if (model != V9FS_MODEL_PASSTHROUGH) {
        return;
    }
    m = mem_new(&v9fs_local_ops, t->path, model);
    m->exp.all_xattrs = true;
    mem_start(m);
    mem_attach(m, 8192);
    g_assert_cmpint(walk(m, ROOT, FILE_, "file"), ==, 0);
    for (int i = 0; i < ARRAY_SIZE(names); i++) {
        g_autofree char *path = tree_path(t, "file");
        char value[8];

        expect_xattr(m, FILE_, names[i], "value", 0);
        g_assert_cmpint(lgetxattr(path, names[i], value, sizeof(value)), ==,
                        5);
    }
    mem_free(m);
}

static const struct {
    const char *name;
    void (*test)(V9fsModel model);
} tests[] = {
    { "suid", test_suid },
    { "suid-kept", test_suid_kept },
    { "xattr-sizes", test_xattr_sizes },
    { "xattr-flags", test_xattr_flags },
    { "special", test_special },
    { "swapped", test_swapped },
    { "no-inodes", test_no_inodes },
    { "no-blocks", test_no_blocks },
    { "default-acl", test_default_acl },
    { "all-xattrs", test_all_xattrs },
};

typedef struct TestCase {
    unsigned test;
    V9fsModel model;
} TestCase;

static void run(gconstpointer data)
{
    const TestCase *c = data;
    const char *lacks = tree_model_lacks(c->model);

    if (lacks) {
        g_test_skip(lacks);
    } else {
        tests[c->test].test(c->model);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    have_own_mounts = tree_own_mounts();
    mem_init();
    for (const TreeModel *model = tree_models; model->name; model++) {
        for (int i = 0; i < ARRAY_SIZE(tests); i++) {
            g_autofree char *path = g_strdup_printf("/9p/local/%s/%s",
                                                    model->name,
                                                    tests[i].name);
            TestCase *c = g_new(TestCase, 1);

            *c = (TestCase) { i, model->model };
            g_test_add_data_func_full(path, c, run, g_free);
        }
    }
    return g_test_run();
}
