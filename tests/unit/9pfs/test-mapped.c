/*
 * The mapped security models: what the guest has and what the host keeps
 *
 * Each test is run for mapped-xattr and for mapped-file.  What is on the host
 * is checked byte by byte (mapped.c), and written as shares that exist have it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include "mapped.h"

/* Kinds of objects and what the host has of each */
typedef struct Kind {
    const char *name;
    uint32_t mode;
    unsigned major, minor;
    const char *target;
} Kind;

static const Kind kinds[] = {
    { "file", S_IFREG | 04751 },
    { "dir", S_IFDIR | 02755 },
    { "link", S_IFLNK | 0777, .target = "../no/where" },
    { "fifo", S_IFIFO | 0600 },
    { "sock", S_IFSOCK | 0777 },
    { "chr", S_IFCHR | 0666, 5, 1 },
    { "blk", S_IFBLK | 0640, 259, 70000 },
};

static V9fsModel model_of(gconstpointer data)
{
    return GPOINTER_TO_INT(data);
}

static int make_kind(Share *s, const char *dir, const Kind *k)
{
    uint32_t fid = USER_FID;
    int err;

    if (*dir) {
        fid = 900;
        g_assert_cmpint(walk(s->m, USER_FID, fid, dir), ==, 0);
    }
    if (S_ISDIR(k->mode)) {
        err = CALL(s->m, mkdir, fid, k->name, k->mode & 07777, GROUP);
    } else if (S_ISLNK(k->mode)) {
        err = CALL(s->m, symlink, fid, k->name, k->target, GROUP);
    } else {
        err = CALL(s->m, mknod, fid, k->name, k->mode, k->major, k->minor,
                   GROUP);
    }
    if (*dir) {
        g_assert_cmpint(clunk(s->m, fid), ==, 0);
    }
    return err;
}

static void expect_kind(Share *s, const char *path, const Kind *k)
{
    P9Rreadlink link;
    P9Rgetattr r;

    g_assert_cmpint(walk(s->m, 0, 901, path), ==, 0);
    g_assert_cmpint(getattr(s->m, 901, &r), ==, 0);
    g_assert_cmphex(r.mode, ==, k->mode);
    g_assert_cmpuint(r.uid, ==, USER);
    g_assert_cmpuint(r.gid, ==, GROUP);
    if (k->major) {
        g_assert_cmphex(r.rdev, ==, makedev(k->major, k->minor));
    }
    if (k->target) {
        g_assert_cmpint(ASK(s->m, readlink, &link, 901), ==, 0);
        g_assert_cmpstr(link.target, ==, k->target);
    } else {
        g_assert_cmpint(CALL(s->m, readlink, 901), ==, -EINVAL);
    }
    if (!S_ISREG(k->mode) && !S_ISDIR(k->mode)) {
        g_assert_cmpint(lopen(s->m, 901, P9_DOTL_RDONLY), ==,
                        S_ISLNK(k->mode) ? -ELOOP : -ENXIO);
    }
    g_assert_cmpint(clunk(s->m, 901), ==, 0);
}

/* What the guest makes is the guest's, and on the host QEMU's. */
static void test_make(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
        const Kind *k = &kinds[i];
        bool dir = S_ISDIR(k->mode);
        g_autofree char *text = NULL;
        g_autofree char *words = NULL;
        g_autofree char *rdev = NULL;
        struct stat st;

        g_assert_cmpint(make_kind(s, "", k), ==, 0);
        g_assert_cmpint(make_kind(s, "", k), ==, -EEXIST);
        expect_kind(s, k->name, k);

        st = tree_stat(s->t, k->name);
        g_assert_cmphex(st.st_mode, ==,
                        dir ? S_IFDIR | HOST_DIR : S_IFREG | HOST_FILE);
        g_assert_cmpuint(st.st_uid, ==, geteuid());
        if (!dir) {
            text = tree_read(s->t, k->name);
            g_assert_cmpstr(text, ==, k->target ?: "");
        }
        rdev = k->major ? g_strdup_printf("%" PRIu64, (uint64_t)
                                          makedev(k->major, k->minor))
                        : g_strdup("-");
        words = g_strdup_printf("%u %u %o %s", USER, GROUP, k->mode, rdev);
        g_assert_cmpstr(kept(s, k->name), ==, words);
    }
    share_restart(s);
    for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
        expect_kind(s, kinds[i].name, &kinds[i]);
    }
}

/* A share that exists means what it meant. */
static void test_existing(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    tree_mkdir(s->t, "sub");
    keep(s, "", "1 2 41777 -");
    expect_seen(s, 0, S_IFDIR | 01777, 1, 2);
    for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
        const Kind *k = &kinds[i];
        g_autofree char *path = g_strconcat("sub/", k->name, NULL);
        g_autofree char *words = g_strdup_printf(
            "%u %u %o %" PRIu64, USER, GROUP, k->mode,
            (uint64_t)makedev(k->major, k->minor));

        if (S_ISDIR(k->mode)) {
            tree_mkdir(s->t, path);
        } else {
            tree_write(s->t, path, k->target ?: "");
        }
        keep(s, path, words);
        expect_kind(s, path, k);
    }
    /* Part of it: the rest is the host's */
    tree_write(s->t, "some", "");
    keep(s, "some", "12 - - -");
    expect_seen_at(s, "some", tree_stat(s->t, "some").st_mode, 12, getegid());
    g_assert_cmpint(chmod_path(s, "some", 0123), ==, 0);
    g_assert_cmpstr(kept(s, "some"), ==, "12 - 100123 -");
    /* None: all is the host's, until the guest changes it */
    tree_write(s->t, "none", "");
    expect_seen_at(s, "none", tree_stat(s->t, "none").st_mode, geteuid(),
                   getegid());
    g_assert_cmpstr(kept(s, "none"), ==, "- - - -");
    g_assert_cmpint(chown_path(s, "none", 4000000000u, 5), ==, 0);
    g_assert_cmpstr(kept(s, "none"), ==, "4000000000 5 - -");
    share_restart(s);
    expect_seen_at(s, "none", tree_stat(s->t, "none").st_mode, 4000000000u, 5);
}

/* Mode and owner of each kind; a change of owner takes setuid away. */
static void test_change(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
        const Kind *k = &kinds[i];
        uint32_t type = k->mode & S_IFMT;
        bool file = S_ISREG(k->mode);
        struct stat before, after;

        g_assert_cmpint(make_kind(s, "", k), ==, 0);
        before = tree_stat(s->t, k->name);
        if (S_ISLNK(k->mode)) {
            g_assert_cmpint(chmod_path(s, k->name, 0600), ==, -EOPNOTSUPP);
            g_assert_cmpint(chown_path(s, k->name, 8, 9), ==, 0);
            expect_seen_at(s, k->name, k->mode, 8, 9);
            continue;
        }
        g_assert_cmpint(chmod_path(s, k->name, 06711), ==, 0);
        expect_seen_at(s, k->name, type | 06711, USER, GROUP);
        g_assert_cmpint(chown_path(s, k->name, 8, UINT32_MAX), ==, 0);
        expect_seen_at(s, k->name, type | (file ? 0711 : 06711), 8, GROUP);
        g_assert_cmpint(chmod_path(s, k->name, 0), ==, 0);
        expect_seen_at(s, k->name, type, 8, GROUP);
        share_restart(s);
        expect_seen_at(s, k->name, type, 8, GROUP);

        after = tree_stat(s->t, k->name);
        g_assert_cmphex(after.st_mode, ==, before.st_mode);
        g_assert_cmpuint(after.st_uid, ==, before.st_uid);
        g_assert_cmpuint(after.st_gid, ==, before.st_gid);
        g_assert_true(after.st_ctim.tv_sec > before.st_ctim.tv_sec ||
                      after.st_ctim.tv_nsec != before.st_ctim.tv_nsec);
    }
    g_assert_cmpint(chmod_path(s, "", 0711), ==, 0);
    g_assert_cmpint(chown_path(s, "", 3, 4), ==, 0);
    share_restart(s);
    expect_seen(s, 0, S_IFDIR | 0711, 3, 4);
    g_assert_cmpstr(kept(s, ""), ==, "3 4 40711 -");
}

/* Times are the host's own; what holds a link cannot be cut. */
static void test_times_and_size(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
        const Kind *k = &kinds[i];
        bool file = S_ISREG(k->mode);
        P9Tsetattr t = {
            .fid = 1, .valid = P9_SETATTR_MTIME | P9_SETATTR_MTIME_SET,
            .mtime_sec = 12345, .mtime_nsec = 678,
        };
        P9Rgetattr r;

        g_assert_cmpint(make_kind(s, "", k), ==, 0);
        g_assert_cmpint(walk(s->m, 0, 1, k->name), ==, 0);
        g_assert_cmpint(mem_call(s->m, P9_TSETATTR, &t, NULL), ==, 0);
        g_assert_cmpint(getattr(s->m, 1, &r), ==, 0);
        g_assert_cmpuint(r.mtime_sec, ==, 12345);
        g_assert_cmpuint(r.mtime_nsec, ==, 678);
        g_assert_cmpuint(tree_stat(s->t, k->name).st_mtime, ==, 12345);

        t = (P9Tsetattr) { .fid = 1, .valid = P9_SETATTR_SIZE, .size = 5 };
        g_assert_cmpint(mem_call(s->m, P9_TSETATTR, &t, NULL), ==,
                        file ? 0 : S_ISDIR(k->mode) ? -EISDIR : -EINVAL);
        expect_seen(s, 1, file ? S_IFREG | 0751 : k->mode, USER, GROUP);
        g_assert_cmpint(clunk(s->m, 1), ==, 0);
    }
}

/* Writing takes setuid away, whoever gave it and whenever he did. */
static void test_drop_suid(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    g_assert_cmpint(create(s, 1, "", "f", 06755), ==, 0);
    g_assert_cmpint(write_at(s->m, 1, 0, "x"), ==, 1);
    expect_seen(s, 1, S_IFREG | 0755, USER, GROUP);
    g_assert_cmpint(write_at(s->m, 1, 0, "x"), ==, 1);
    g_assert_cmpint(chmod_path(s, "f", 04711), ==, 0);
    expect_seen(s, 1, S_IFREG | 04711, USER, GROUP);
    g_assert_cmpint(write_at(s->m, 1, 0, "x"), ==, 1);
    expect_seen(s, 1, S_IFREG | 0711, USER, GROUP);
    /* through the open file, by another name, and when the name is gone */
    g_assert_cmpint(CALL(s->m, setattr, .fid = 1, .valid = P9_SETATTR_MODE,
                         .mode = 02770), ==, 0);
    g_assert_cmpint(CALL(s->m, renameat, 0, "f", 0, "g"), ==, 0);
    g_assert_cmpint(write_at(s->m, 1, 0, "x"), ==, 1);
    expect_seen_at(s, "g", S_IFREG | 0770, USER, GROUP);
    g_assert_cmpint(chmod_path(s, "g", 04711), ==, 0);
    g_assert_cmpint(CALL(s->m, unlinkat, 0, "g", 0), ==, 0);
    g_assert_cmpint(write_at(s->m, 1, 0, "x"), ==, 1);
    expect_seen(s, 1, S_IFREG | 0711, USER, GROUP);
    g_assert_cmpint(clunk(s->m, 1), ==, 0);
    /* Opening to truncate */
    g_assert_cmpint(create(s, 1, "", "f", 04755), ==, 0);
    g_assert_cmpint(clunk(s->m, 1), ==, 0);
    g_assert_cmpint(walk_open(s->m, 1, "f", P9_DOTL_WRONLY | P9_DOTL_TRUNC),
                    ==, 0);
    expect_seen(s, 1, S_IFREG | 0755, USER, GROUP);
}

/* A new name takes all along, and gives up what the replaced one had. */
static void test_rename(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
        const Kind *k = &kinds[i];
        g_autofree char *path = g_strconcat("to/", k->name, NULL);
        Kind other = { k->name, S_ISDIR(k->mode) ? S_IFDIR | 0700
                                                 : S_IFREG | 0600 };

        if (i == 0) {
            g_assert_cmpint(CALL(s->m, mkdir, 0, "to", 0755, 0), ==, 0);
            g_assert_cmpint(walk(s->m, 0, 1, "to"), ==, 0);
        }
        g_assert_cmpint(make_kind(s, "", k), ==, 0);
        g_assert_cmpint(CALL(s->m, renameat, 0, k->name, 0, "x"), ==, 0);
        expect_kind(s, "x", k);
        g_assert_cmpint(CALL(s->m, renameat, 0, "x", 1, k->name), ==, 0);
        expect_kind(s, path, k);
        /* The name it had is a new object's. */
        tree_write(s->t, "x", "");
        g_assert_cmpstr(kept(s, "x"), ==, "- - - -");
        tree_remove(s->t, "x");
        /* over another one */
        g_assert_cmpint(make_kind(s, "", &other), ==, 0);
        g_assert_cmpint(CALL(s->m, renameat, 1, k->name, 0, k->name), ==, 0);
        expect_kind(s, k->name, k);
        g_assert_cmpint(walk(s->m, 0, 2, path), ==, -ENOENT);
    }
    /* what the host made over what the guest made */
    tree_write(s->t, "plain", "");
    g_assert_cmpint(CALL(s->m, renameat, 0, "plain", 0, "file"), ==, 0);
    g_assert_cmpstr(kept(s, "file"), ==, "- - - -");
    expect_seen_at(s, "file", tree_stat(s->t, "file").st_mode, geteuid(),
                   getegid());
    share_restart(s);
    expect_kind(s, "chr", &kinds[5]);
}

static uint64_t links_of(Share *s, const char *path)
{
    P9Rgetattr r;

    g_assert_cmpint(walk(s->m, 0, 901, path), ==, 0);
    g_assert_cmpint(getattr(s->m, 901, &r), ==, 0);
    g_assert_cmpint(clunk(s->m, 901), ==, 0);
    return r.nlink;
}

/* Programs take a directory's links for the number of those in it. */
static void test_dir_links(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    g_assert_cmpint(CALL(s->m, mkdir, 0, "d", 0755, 0), ==, 0);
    if (links_of(s, "d") != 2) {
        g_test_skip("TMPDIR's file system does not count directories");
        return;
    }
    g_assert_cmpint(walk(s->m, 0, 1, "d"), ==, 0);
    g_assert_cmpint(CALL(s->m, mknod, 1, "file", S_IFREG | 0644), ==, 0);
    g_assert_cmpuint(links_of(s, "d"), ==, 2);
    g_assert_cmpint(CALL(s->m, mkdir, 1, "e", 0755, 0), ==, 0);
    g_assert_cmpuint(links_of(s, "d"), ==, 3);
    tree_mkdir(s->t, "d/f");
    g_assert_cmpuint(links_of(s, "d"), ==, 4);
    tree_mkdir(s->t, "d/f/g");
    g_assert_cmpuint(links_of(s, "d/f"), ==, 3);
}

/* Whatever is in a directory goes along, open files too. */
static void test_rename_dir(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    g_assert_cmpint(CALL(s->m, mkdir, 0, "a", 0755, 0), ==, 0);
    for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
        g_assert_cmpint(make_kind(s, "a", &kinds[i]), ==, 0);
    }
    g_assert_cmpint(create(s, 1, "a", "open", 0640), ==, 0);
    g_assert_cmpint(CALL(s->m, renameat, 0, "a", 0, "b"), ==, 0);
    g_assert_cmpint(CALL(s->m, setattr, .fid = 1, .valid = P9_SETATTR_MODE,
                         .mode = 0604), ==, 0);
    expect_seen(s, 1, S_IFREG | 0604, USER, GROUP);
    expect_seen_at(s, "b/open", S_IFREG | 0604, USER, GROUP);
    for (int i = 0; i < ARRAY_SIZE(kinds); i++) {
        g_autofree char *path = g_strconcat("b/", kinds[i].name, NULL);

        expect_kind(s, path, &kinds[i]);
    }
}

/* All names of a file are one file. */
static void test_link(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    g_assert_cmpint(CALL(s->m, mkdir, 0, "d", 0755, 0), ==, 0);
    g_assert_cmpint(create(s, 1, "", "a", 0640), ==, 0);
    g_assert_cmpint(clunk(s->m, 1), ==, 0);
    tree_write(s->t, "host", "");
    g_assert_cmpint(walk(s->m, 0, 1, "a"), ==, 0);
    g_assert_cmpint(walk(s->m, 0, 2, "d"), ==, 0);
    g_assert_cmpint(walk(s->m, 0, 3, "host"), ==, 0);
    g_assert_cmpint(CALL(s->m, link, 2, 1, "b"), ==, 0);
    g_assert_cmpint(CALL(s->m, link, 2, 1, "b"), ==, -EEXIST);
    g_assert_cmpint(CALL(s->m, link, 2, 3, "host"), ==, 0);
    expect_seen_at(s, "d/b", S_IFREG | 0640, USER, GROUP);
    g_assert_cmpint(chmod_path(s, "d/b", 0604), ==, 0);
    expect_seen_at(s, "a", S_IFREG | 0604, USER, GROUP);
    g_assert_cmpint(chown_path(s, "host", 1, 2), ==, 0);
    g_assert_cmpint(chmod_path(s, "host", 0604), ==, 0);
    expect_seen_at(s, "d/host", S_IFREG | 0604, 1, 2);
    /* Renamed over itself it keeps both names */
    g_assert_cmpint(CALL(s->m, renameat, 0, "a", 2, "b"), ==, 0);
    expect_seen_at(s, "a", S_IFREG | 0604, USER, GROUP);
    expect_seen_at(s, "d/b", S_IFREG | 0604, USER, GROUP);
    /* One name goes; what stands on it changes the other's, too */
    g_assert_cmpint(CALL(s->m, unlinkat, 0, "a", 0), ==, 0);
    expect_seen_at(s, "d/b", S_IFREG | 0604, USER, GROUP);
    g_assert_cmpint(CALL(s->m, setattr, .fid = 1, .valid = P9_SETATTR_MODE,
                         .mode = 0666), ==, 0);
    expect_seen_at(s, "d/b", S_IFREG | 0666, USER, GROUP);
    /* and can have a new one */
    g_assert_cmpint(CALL(s->m, link, 0, 1, "c"), ==, 0);
    g_assert_cmpint(chmod_path(s, "c", 0444), ==, 0);
    expect_seen_at(s, "d/b", S_IFREG | 0444, USER, GROUP);
    expect_seen(s, 1, S_IFREG | 0444, USER, GROUP);
}

/* What has lost its name lives on by what stands on it. */
static void check_unlinked(Share *s, const char *how)
{
    bool replace = g_str_equal(how, "replace");

    /* 1: the open file, 2: its name */
    g_assert_cmpint(walk_open(s->m, 1, "f", P9_DOTL_RDWR), ==, 0);
    g_assert_cmpint(walk(s->m, 0, 2, "f"), ==, 0);
    if (replace) {
        g_assert_cmpint(create(s, 3, "", "new", 0606), ==, 0);
        g_assert_cmpint(CALL(s->m, renameat, 0, "new", 0, "f"), ==, 0);
    } else {
        g_assert_cmpint(CALL(s->m, unlinkat, 0, "f", 0), ==, 0);
        g_assert_cmpint(create(s, 3, "", "f", 0606), ==, 0);
    }
    for (uint32_t fid = 1; fid <= 2; fid++) {
        g_assert_cmpint(CALL(s->m, setattr, .fid = fid, .mode = 0770 + fid,
                             .uid = fid, .gid = 10 + fid,
                             .valid = P9_SETATTR_MODE | P9_SETATTR_UID |
                                      P9_SETATTR_GID), ==, 0);
        for (uint32_t look = 1; look <= 2; look++) {
            expect_seen(s, look, S_IFREG | (0770 + fid), fid, 10 + fid);
        }
        g_assert_cmpint(CALL(s->m, setattr, .fid = fid, .size = 131072,
                             .valid = P9_SETATTR_SIZE), ==, 0);
        g_assert_cmpuint(size_of(s->m, 3 - fid), ==, 131072);
    }
    expect_seen(s, 3, S_IFREG | 0606, USER, GROUP);
    expect_seen_at(s, "f", S_IFREG | 0606, USER, GROUP);
    for (uint32_t fid = 1; fid <= 3; fid++) {
        g_assert_cmpint(clunk(s->m, fid), ==, 0);
    }
    share_restart(s);
    expect_seen_at(s, "f", S_IFREG | 0606, USER, GROUP);
    g_assert_cmpint(CALL(s->m, unlinkat, 0, "f", 0), ==, 0);
}

static void test_unlinked(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    for (int i = 0; i < 2; i++) {
        const char *how = i ? "replace" : "unlink";

        g_assert_cmpint(create(s, 1, "", "f", 0640), ==, 0);
        g_assert_cmpint(clunk(s->m, 1), ==, 0);
        check_unlinked(s, how);
        /* One that nothing was kept of */
        tree_write(s->t, "f", "of the host");
        check_unlinked(s, how);
    }
    g_assert_cmpint(CALL(s->m, mkdir, 0, "d", 0705, 0), ==, 0);
    g_assert_cmpint(walk(s->m, 0, 1, "d"), ==, 0);
    g_assert_cmpint(CALL(s->m, unlinkat, 0, "d", P9_DOTL_AT_REMOVEDIR), ==,
                    0);
    expect_seen(s, 1, S_IFDIR | 0705, 0, 0);
    g_assert_cmpint(CALL(s->m, setattr, .fid = 1, .valid = P9_SETATTR_MODE,
                         .mode = 0750), ==, 0);
    expect_seen(s, 1, S_IFDIR | 0750, 0, 0);
}

/* What the host changes under an open file does no harm. */
static void test_host_changes(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));
    g_autofree char *was = NULL;

    g_assert_cmpint(CALL(s->m, mkdir, 0, "d", 0755, 0), ==, 0);
    g_assert_cmpint(create(s, 1, "d", "f", 0640), ==, 0);
    g_assert_cmpint(walk_open(s->m, 2, "d/f", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(chmod_path(s, "d/f", 04751), ==, 0);
    /* Replaced: the guest has the old one open */
    tree_write(s->t, "d/other", "");
    tree_rename(s->t, "d/other", "d/f");
    was = g_strdup(kept(s, "d/f"));
    expect_seen(s, 1, S_IFREG | 04751, USER, GROUP);
    g_assert_cmpint(write_at(s->m, 1, 0, "x"), ==, 1);
    expect_seen(s, 2, S_IFREG | 0751, USER, GROUP);
    g_assert_cmpint(CALL(s->m, setattr, .fid = 2, .uid = 9, .mode = 0600,
                         .valid = P9_SETATTR_UID | P9_SETATTR_MODE), ==, 0);
    expect_seen(s, 1, S_IFREG | 0600, 9, GROUP);
    /* What it has now is another file's */
    g_assert_cmpstr(kept(s, "d/f"), ==, was);
    /* The whole directory is gone, and another one there */
    tree_remove(s->t, "d");
    g_assert_cmpuint(size_of(s->m, 1), ==, 1);
    g_assert_cmpint(write_at(s->m, 1, 1, "y"), ==, 1);
    tree_mkdir(s->t, "d");
    expect_text(s->m, 1, "xy");
    g_assert_cmpuint(size_of(s->m, 1), ==, 2);
}

/* Links of the host are real ones, are read, and lead nowhere. */
static void test_host_links(gconstpointer data)
{
    static const char *const targets[] = {
        "file", "/etc/passwd", "no/where", "../../../etc",
    };
    g_autoptr(Share) s = share_new(model_of(data));
    bool file = s->model == V9FS_MODEL_MAPPED_FILE;

    for (int i = 0; i < ARRAY_SIZE(targets); i++) {
        g_autofree char *path = tree_path(s->t, "link");
        P9Rreadlink r;

        g_assert_cmpint(symlink(targets[i], path), ==, 0);
        g_assert_cmpint(walk(s->m, 0, 1, "link"), ==, 0);
        expect_seen(s, 1, S_IFLNK | 0777, geteuid(), getegid());
        g_assert_cmpint(ASK(s->m, readlink, &r, 1), ==, 0);
        g_assert_cmpstr(r.target, ==, targets[i]);
        g_assert_cmpint(lopen(s->m, 1, P9_DOTL_RDONLY), ==, -ELOOP);
        g_assert_cmpint(chmod_path(s, "link", 0600), ==, -EOPNOTSUPP);
        /* A link has no attributes of ours, but a metadata file it can. */
        g_assert_cmpint(chown_path(s, "link", 8, 9), ==, file ? 0 : -EPERM);
        if (file) {
            expect_seen(s, 1, S_IFLNK | 0777, 8, 9);
        }
        g_assert_cmpint(CALL(s->m, unlinkat, 0, "link", 0), ==, 0);
        g_assert_cmpint(clunk(s->m, 1), ==, 0);
    }
}

/* What is kept cannot make one kind of object of the host look like another. */
static void test_wrong_types(gconstpointer data)
{
    g_autoptr(Share) s = share_new(model_of(data));

    tree_mkdir(s->t, "dir");
    keep(s, "dir", "1 2 120777 -");
    expect_seen_at(s, "dir", S_IFDIR | 0777, 1, 2);
    tree_write(s->t, "file", "");
    keep(s, "file", "1 2 40755 -");
    expect_seen_at(s, "file", S_IFREG | 0755, 1, 2);
    keep(s, "file", "1 2 644 -");
    expect_seen_at(s, "file", S_IFREG | 0644, 1, 2);
}

/* What belongs to the model is not the guest's. */
static void test_xattrs(gconstpointer data)
{
    static const char *const refused[] = {
        "user.virtfs.uid", "user.virtfs.new", "security.x", "trusted.x",
    };
    g_autoptr(Share) s = share_new(model_of(data));
    g_autofree char *list = NULL;
    g_autofree char *value = NULL;
    g_autofree char *path = tree_path(s->t, "f");
    int err;

    g_assert_cmpint(create(s, 1, "", "f", 0640), ==, 0);
    for (int i = 0; i < ARRAY_SIZE(refused); i++) {
        g_assert_cmpint(set_xattr(s->m, 1, refused[i], "x", 0), ==,
                        -EOPNOTSUPP);
    }
    g_assert_cmpint(set_xattr(s->m, 1, "user.mine", "v", 0), ==, 0);
    g_assert_cmpint(setxattr(path, "user.virtfs.system.posix_acl_access",
                             "acl", 3, 0), ==, 0);
    list = get_xattr(s->m, 1, "", &err);
    g_assert_cmpint(err, ==, 0);
    value = get_xattr(s->m, 1, "system.posix_acl_access", &err);
    g_assert_cmpint(err, ==, 0);
    g_assert_cmpstr(value, ==, "acl");
    g_free(get_xattr(s->m, 1, "user.virtfs.mode", &err));
    g_assert_cmpint(err, ==, -EOPNOTSUPP);
}

static bool has_xattrs(void)
{
    g_autoptr(Tree) t = tree_new();

    return setxattr(t->path, "user.virtfs.test", "x", 1, 0) == 0;
}

static const struct {
    const char *name;
    GTestDataFunc test;
    bool xattrs;                /* needs them in both models */
} tests[] = {
    { "make", test_make },
    { "existing", test_existing },
    { "change", test_change },
    { "times-and-size", test_times_and_size },
    { "drop-suid", test_drop_suid },
    { "rename", test_rename },
    { "rename-dir", test_rename_dir },
    { "dir-links", test_dir_links },
    { "link", test_link },
    { "unlinked", test_unlinked },
    { "host-changes", test_host_changes },
    { "host-links", test_host_links },
    { "wrong-types", test_wrong_types },
    { "xattrs", test_xattrs, true },
};

int main(int argc, char **argv)
{
    bool xattrs = has_xattrs();

    g_test_init(&argc, &argv, NULL);
    mem_init();
    for (int i = 0; i < ARRAY_SIZE(tests); i++) {
        g_autofree char *x = g_strconcat("/9p/mapped/xattr/", tests[i].name,
                                         NULL);
        g_autofree char *f = g_strconcat("/9p/mapped/file/", tests[i].name,
                                         NULL);

        if (xattrs) {
            g_test_add_data_func(x, GINT_TO_POINTER(V9FS_MODEL_MAPPED_XATTR),
                                 tests[i].test);
        }
        if (xattrs || !tests[i].xattrs) {
            g_test_add_data_func(f, GINT_TO_POINTER(V9FS_MODEL_MAPPED_FILE),
                                 tests[i].test);
        }
    }
    return g_test_run();
}
