/*
 * The mapped security models: what fails, what is hidden, what is not true
 *
 * A request that fails half-way leaves everything as it was, whatever it was
 * short of: descriptors, space, permission.  The names of mapped-file's
 * metadata are not the guest's, and what lies about there does no harm.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include "mapped.h"

#define META        ".virtfs_metadata"
#define META_ROOT   ".virtfs_metadata_root"
#define NOBODY      65534

/* Objects that the steps need: fid 1 is "dir", fid 2 "dir/full" */

static void make_objects(Share *s)
{
    g_assert_cmpint(CALL(s->m, mkdir, 0, "dir", 0755, 0), ==, 0);
    g_assert_cmpint(walk(s->m, 0, 1, "dir"), ==, 0);
    g_assert_cmpint(CALL(s->m, mkdir, 1, "full", 0755, 0), ==, 0);
    g_assert_cmpint(walk(s->m, 1, 2, "full"), ==, 0);
    g_assert_cmpint(CALL(s->m, mknod, 2, "x", S_IFREG | 0640, 0, 0, 1), ==, 0);
    g_assert_cmpint(CALL(s->m, mkdir, 1, "empty", 0755, 0), ==, 0);
    g_assert_cmpint(CALL(s->m, mknod, 1, "a", S_IFREG | 06755, 0, 0, 1), ==,
                    0);
    g_assert_cmpint(CALL(s->m, mknod, 1, "b", S_IFCHR | 0600, 1, 3, 2), ==, 0);
    tree_write(s->t, "dir/host", "host");
}

/* Steps, each of which may fail */

static int step_create(Share *s)
{
    int err = create(s, 10, "dir", "new", 04755);

    return err ?: clunk(s->m, 10);
}

static int step_mkdir(Share *s)
{
    return CALL(s->m, mkdir, 1, "new", 0700, 3);
}

static int step_mknod(Share *s)
{
    return CALL(s->m, mknod, 1, "new", S_IFBLK | 0600, 7, 8, 3);
}

static int step_symlink(Share *s)
{
    return CALL(s->m, symlink, 1, "new", "some/where", 3);
}

static int step_unlink(Share *s)
{
    return CALL(s->m, unlinkat, 1, "a", 0);
}

static int step_unlink_in_use(Share *s)
{
    int err = walk(s->m, 1, 10, "a");

    err = err ?: CALL(s->m, unlinkat, 1, "a", 0);
    clunk(s->m, 10);
    return err;
}

static int step_rmdir(Share *s)
{
    return CALL(s->m, unlinkat, 1, "empty", P9_DOTL_AT_REMOVEDIR);
}

static int step_rename(Share *s)
{
    return CALL(s->m, renameat, 1, "a", 2, "new");
}

static int step_rename_over(Share *s)
{
    return CALL(s->m, renameat, 1, "a", 2, "x");
}

static int step_rename_over_host(Share *s)
{
    return CALL(s->m, renameat, 1, "a", 1, "host");
}

static int step_rename_host_over(Share *s)
{
    return CALL(s->m, renameat, 1, "host", 1, "a");
}

static int step_link(Share *s)
{
    int err = walk(s->m, 1, 10, "a");

    err = err ?: CALL(s->m, link, 2, 10, "new");
    clunk(s->m, 10);
    return err;
}

static int step_chmod(Share *s)
{
    return chmod_path(s, "dir/b", 0777);
}

static int step_chown_host(Share *s)
{
    return chown_path(s, "dir/host", 4000000000u, 4000000001u);
}

static const struct {
    const char *name;
    int (*step)(Share *s);
    bool needs_space;           /* with mapped-file, in any case */
    bool in_place;              /* no name of metadata comes or goes */
} steps[] = {
    { "create", step_create, true },
    { "mkdir", step_mkdir, true },
    { "mknod", step_mknod, true },
    { "symlink", step_symlink, true },
    { "unlink", step_unlink },
    { "unlink-in-use", step_unlink_in_use },
    { "rmdir", step_rmdir },
    { "rename", step_rename },
    { "rename-over", step_rename_over },
    { "rename-over-host", step_rename_over_host },
    { "rename-host-over", step_rename_host_over },
    { "link", step_link },
    { "chmod", step_chmod, .in_place = true },
    { "chown-host", step_chown_host, true },
};

static void expect_same(Share *s, const char *before, const char *step)
{
    g_autofree char *after = tree_snapshot(s->t);

    if (!g_str_equal(before, after)) {
        g_test_message("%s, before: %s", step, before);
        g_test_message("%s, after: %s", step, after);
        g_test_fail();
    }
}

/* No metadata file is left on its way from one name to another. */
static void expect_tidy(Share *s)
{
    g_autofree char *now = tree_snapshot(s->t);

    g_assert_null(strstr(now, META "/" META));
}

/* Descriptors */

static void set_nofile(rlim_t n)
{
    struct rlimit lim;

    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &lim), ==, 0);
    lim.rlim_cur = n;
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &lim), ==, 0);
}

/* One more each time, until there are enough */
static void run_out_of_descriptors(Share *s, int i)
{
    g_autofree char *before = tree_snapshot(s->t);
    int first = dup(0);
    int err = -EMFILE;
    struct rlimit lim;

    close(first);
    getrlimit(RLIMIT_NOFILE, &lim);
    for (int more = 0; err; more++) {
        g_assert_cmpint(more, <, 40);
        set_nofile(first + more);
        err = steps[i].step(s);
        set_nofile(lim.rlim_cur);
        if (err) {
            g_assert_cmpint(err, ==, -EMFILE);
            expect_same(s, before, steps[i].name);
        }
    }
    expect_tidy(s);
}

static void test_descriptors(gconstpointer data)
{
    for (int i = 0; i < ARRAY_SIZE(steps); i++) {
        g_autoptr(Share) s = share_new(GPOINTER_TO_INT(data));

        make_objects(s);
        run_out_of_descriptors(s, i);
    }
}

/* Space */

static char *small;             /* a file system that is soon full, or NULL */

static void mount_small(void)
{
    char path[] = "/tmp/9p-small.XXXXXX";

    if (geteuid() || unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        !mkdtemp(path)) {
        return;
    }
    if (mount("none", path, "tmpfs", 0, "size=256k,nr_inodes=64") == 0) {
        small = g_strdup(path);
    } else {
        rmdir(path);
    }
}

static void umount_small(void)
{
    if (small) {
        umount2(small, MNT_DETACH);
        rmdir(small);
    }
}

static Share *small_share(gconstpointer data)
{
    Tree *t = g_new0(Tree, 1);

    t->path = g_build_filename(small, "share", NULL);
    g_assert_cmpint(mkdir(t->path, 0700), ==, 0);
    return share_of(t, GPOINTER_TO_INT(data));
}

static void fill_blocks(Share *s)
{
    g_autofree char *path = tree_path(s->t, "fill");
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    char page[4096] = "x";
    ssize_t n;

    do {
        n = write(fd, page, sizeof(page));
    } while (n > 0);
    close(fd);
}

/* All but @left of them */
static void fill_inodes(Share *s, unsigned left)
{
    g_autofree char *dir = tree_path(s->t, "fill");
    unsigned n = 0;

    g_assert_cmpint(mkdir(dir, 0700), ==, 0);
    for (;; n++) {
        g_autofree char *path = g_strdup_printf("%s/%u", dir, n);

        if (mknod(path, S_IFREG | 0600, 0) < 0) {
            break;
        }
    }
    g_assert_cmpuint(n, >=, left);
    for (; left; left--) {
        g_autofree char *path = g_strdup_printf("%s/%u", dir, --n);

        unlink(path);
    }
}

static void run_out_of_space(Share *s, int i, bool must_fail)
{
    g_autofree char *before = tree_snapshot(s->t);
    int err = steps[i].step(s);

    g_assert_true(err == 0 || err == -ENOSPC);
    if (must_fail) {
        g_assert_cmpint(err, ==, -ENOSPC);
    }
    if (err) {
        expect_same(s, before, steps[i].name);
    }
    if (steps[i].in_place) {
        g_assert_cmpint(err, ==, 0);
    }
}

static void test_space(gconstpointer data)
{
    bool file = GPOINTER_TO_INT(data) == V9FS_MODEL_MAPPED_FILE;

    if (!small) {
        g_test_skip("a small file system needs root and CLONE_NEWNS");
        return;
    }
    for (int i = 0; i < ARRAY_SIZE(steps); i++) {
        for (int way = 0; way < 3; way++) {
            g_autoptr(Share) s = small_share(data);

            make_objects(s);
            if (way == 0) {
                fill_blocks(s);
            } else {
                fill_inodes(s, way - 1);
            }
            /* What a host's object has to get needs one inode only. */
            run_out_of_space(s, i, file && steps[i].needs_space &&
                             (way < 2 || !g_str_equal(steps[i].name,
                                                      "chown-host")));
        }
    }
}

/* Permission */

static bool is_root;

/* Root may do everything, so be somebody else for a while. */
static void leave_root(void)
{
    is_root = geteuid() == 0;
    g_assert_true(!is_root || seteuid(NOBODY) == 0);
}

static void return_to_root(void)
{
    g_assert_true(!is_root || seteuid(0) == 0);
}

static void chmod_host(Share *s, const char *path, mode_t mode)
{
    g_autofree char *full = tree_path(s->t, path);

    g_assert_cmpint(chmod(full, mode), ==, 0);
}

/* Metadata that may be read but not be changed */
static void check_permission(int i)
{
    g_autoptr(Share) s = share_new(V9FS_MODEL_MAPPED_FILE);
    g_autofree char *before = NULL;
    int err;

    make_objects(s);
    chmod_host(s, "dir/" META, 0500);
    before = tree_snapshot(s->t);
    err = steps[i].step(s);
    g_assert_cmpint(err, ==, steps[i].in_place ? 0 : -EACCES);
    if (err) {
        expect_same(s, before, steps[i].name);
    }
    chmod_host(s, "dir/" META, 0700);
}

static void test_permission(void)
{
    leave_root();
    for (int i = 0; i < ARRAY_SIZE(steps); i++) {
        /* A link made elsewhere changes nothing here. */
        if (steps[i].step != step_link) {
            check_permission(i);
        }
    }
    return_to_root();
}

/* Metadata that may not be read: better nothing than somebody's rights */
static void test_unreadable(void)
{
    leave_root();
    {
        g_autoptr(Share) s = share_new(V9FS_MODEL_MAPPED_FILE);

        make_objects(s);
        chmod_host(s, "dir/" META "/a", 0400);
        expect_seen_at(s, "dir/a", S_IFREG | 06755, 0, 1);
        g_assert_cmpint(chmod_path(s, "dir/a", 0600), ==, -EACCES);
        chmod_host(s, "dir/" META "/a", 0);
        g_assert_cmpint(walk(s->m, 0, 10, "dir/a"), ==, -ENOENT);
        g_assert_cmpint(walk(s->m, 1, 10, "a"), ==, -EACCES);
    }
    return_to_root();
}

/* Names */

static void expect_hidden(Share *s, uint32_t dir, const char *name)
{
    g_assert_cmpint(walk(s->m, dir, 10, name), ==, -ENOENT);
    g_assert_cmpint(clone_fid(s->m, dir, 10), ==, 0);
    g_assert_cmpint(CALL(s->m, lcreate, 10, name, P9_DOTL_RDWR, 0644), ==,
                    -EINVAL);
    g_assert_cmpint(clunk(s->m, 10), ==, 0);
    g_assert_cmpint(CALL(s->m, mkdir, dir, name, 0755), ==, -EINVAL);
    g_assert_cmpint(CALL(s->m, symlink, dir, name, "x"), ==, -EINVAL);
    g_assert_cmpint(CALL(s->m, mknod, dir, name, S_IFIFO | 0644), ==, -EINVAL);
    g_assert_cmpint(walk(s->m, 1, 10, "a"), ==, 0);
    g_assert_cmpint(CALL(s->m, link, dir, 10, name), ==, -EINVAL);
    g_assert_cmpint(CALL(s->m, rename, 10, dir, name), ==, -EINVAL);
    g_assert_cmpint(clunk(s->m, 10), ==, 0);
    g_assert_cmpint(CALL(s->m, renameat, 1, "a", dir, name), ==, -EINVAL);
    g_assert_cmpint(CALL(s->m, renameat, dir, name, 1, "z"), ==, -ENOENT);
    g_assert_cmpint(CALL(s->m, unlinkat, dir, name, 0), ==, -ENOENT);
    g_assert_cmpint(CALL(s->m, unlinkat, dir, name, P9_DOTL_AT_REMOVEDIR), ==,
                    -ENOENT);
}

static void test_hidden(void)
{
    g_autoptr(Share) s = share_new(V9FS_MODEL_MAPPED_FILE);
    g_autofree char *before = NULL;
    g_autofree char *names = NULL;

    make_objects(s);
    g_assert_cmpint(chmod_path(s, "", 0755), ==, 0);
    before = tree_snapshot(s->t);
    for (uint32_t dir = 0; dir <= 2; dir++) {
        expect_hidden(s, dir, META);
        expect_hidden(s, dir, META_ROOT);
    }
    g_assert_cmpint(walk(s->m, 0, 10, "dir/" META "/a"), ==, -ENOENT);
    g_assert_cmpint(walk(s->m, 0, 10, META "/dir"), ==, -ENOENT);
    expect_same(s, before, "hidden names");
    /* Others are like any */
    g_assert_cmpint(CALL(s->m, mkdir, 0, META "_", 0755), ==, 0);
    g_assert_cmpint(CALL(s->m, mkdir, 0, META "_root_", 0755), ==, 0);
    g_assert_cmpint(CALL(s->m, mkdir, 0, ".virtfs", 0755), ==, 0);
    names = names_in(s, "");
    g_assert_cmpstr(names, ==, ".virtfs " META "_ " META "_root_ dir ");
}

/* In the other model these are names. */
static void test_not_hidden(void)
{
    g_autoptr(Share) s = share_new(V9FS_MODEL_MAPPED_XATTR);
    g_autofree char *names = NULL;

    g_assert_cmpint(CALL(s->m, mkdir, 0, META, 0755), ==, 0);
    names = names_in(s, "");
    g_assert_cmpstr(names, ==, META " ");
}

/* A directory with nothing but metadata in it is empty. */
static void test_rmdir(void)
{
    g_autoptr(Share) s = share_new(V9FS_MODEL_MAPPED_FILE);
    g_autofree char *kept_x = NULL;

    make_objects(s);
    kept_x = g_strdup(kept(s, "dir/full/x"));
    g_assert_cmpint(CALL(s->m, unlinkat, 1, "full", P9_DOTL_AT_REMOVEDIR), ==,
                    -ENOTEMPTY);
    g_assert_cmpint(CALL(s->m, renameat, 1, "empty", 1, "full"), ==,
                    -ENOTEMPTY);
    g_assert_cmpstr(kept(s, "dir/full/x"), ==, kept_x);
    /* The host removes what was in it, and leaves the rest. */
    tree_remove(s->t, "dir/full/x");
    tree_write(s->t, "dir/full/" META_ROOT, "virtfs.uid=1\n");
    for (int i = 0; i < 300; i++) {
        g_autofree char *path = g_strdup_printf("dir/full/" META "/%d", i);

        tree_write(s->t, path, "virtfs.uid=1\n");
    }
    g_assert_cmpint(CALL(s->m, renameat, 1, "empty", 1, "full"), ==, 0);
    expect_seen_at(s, "dir/full", S_IFDIR | 0755, 0, 0);
    g_assert_false(tree_exists(s->t, "dir/full/" META));
    g_assert_cmpint(CALL(s->m, mkdir, 1, "empty", 0700, 5), ==, 0);
    tree_mkdir(s->t, "dir/empty/" META);
    g_assert_cmpint(CALL(s->m, unlinkat, 1, "empty", P9_DOTL_AT_REMOVEDIR),
                    ==, 0);
    g_assert_cmpstr(kept(s, "dir/empty"), ==, "- - - -");
    /* What else is in there is not ours to remove. */
    g_assert_cmpint(CALL(s->m, mkdir, 1, "empty", 0700, 5), ==, 0);
    tree_mkdir(s->t, "dir/empty/" META);
    tree_mkdir(s->t, "dir/empty/" META "/sub");
    g_assert_cmpint(CALL(s->m, unlinkat, 1, "empty", P9_DOTL_AT_REMOVEDIR),
                    ==, -ENOTEMPTY);
    expect_seen_at(s, "dir/empty", S_IFDIR | 0700, 0, 5);
}

/* What lies about */

static const struct {
    const char *text;
    uint32_t mode, uid, gid;    /* UINT32_MAX: the host's */
} texts[] = {
    { "", -1, -1, -1 },
    { "\n\n\n", -1, -1, -1 },
    { "virtfs.uid=1\nvirtfs.gid=2\nvirtfs.mode=33188\nvirtfs.rdev=0\n",
      S_IFREG | 0644, 1, 2 },
    { "virtfs.mode=33188\n\nvirtfs.other=7\nvirtfs.gid=2", S_IFREG | 0644, -1,
      2 },
    { "virtfs.uid=1\r\nvirtfs.gid=2\t\n", -1, 1, 2 },
    { "virtfs.uid=-2\nvirtfs.gid=4294967294\n", -1, 4294967294u, 4294967294u },
    { "virtfs.uid=4294967296\nvirtfs.gid=99999999999999999999999\n", -1, -1,
      -1 },
    { "virtfs.uid=x\nvirtfs.gid=\nvirtfs.mode=0x1ff\nvirtfs.uid", -1, -1, -1 },
    { "virtfs.uid=1x\nvirtfs.gid=--1\n virtfs.mode=33188\n", -1, -1, -1 },
    { "virtfs.uid=1\nvirtfs.uid=3\n", -1, 3, -1 },
    { "virtfs.mode=4294967295\n", S_IFREG | 07777, -1, -1 },
    { "uid=1\nVIRTFS.GID=2\nvirtfs.uidd=4\n", -1, -1, -1 },
};

static void check_text(Share *s, const char *path, uint32_t mode, uint32_t uid,
                       uint32_t gid)
{
    struct stat st = tree_stat(s->t, path);

    expect_seen_at(s, path, mode == UINT32_MAX ? st.st_mode : mode,
                   uid == UINT32_MAX ? st.st_uid : uid,
                   gid == UINT32_MAX ? st.st_gid : gid);
}

static void test_texts(void)
{
    g_autoptr(Share) s = share_new(V9FS_MODEL_MAPPED_FILE);
    g_autofree char *huge = g_strnfill(100000, '7');
    g_autoptr(GString) late = g_string_new(NULL);

    tree_mkdir(s->t, META);
    for (int i = 0; i < ARRAY_SIZE(texts); i++) {
        tree_write(s->t, "f", "");
        tree_write(s->t, META "/f", texts[i].text);
        check_text(s, "f", texts[i].mode, texts[i].uid, texts[i].gid);
        /* It can be changed, and what else it says stays true. */
        g_assert_cmpint(chmod_path(s, "f", 0123), ==, 0);
        check_text(s, "f", S_IFREG | 0123, texts[i].uid, texts[i].gid);
        kept(s, "f");
    }
    /* No file is too large, but what is far behind does not count */
    tree_write(s->t, META "/f", huge);
    check_text(s, "f", -1, -1, -1);
    g_string_printf(late, "virtfs.uid=5\n%s\nvirtfs.gid=6\n", huge);
    tree_write(s->t, META "/f", late->str);
    check_text(s, "f", -1, 5, -1);
    g_assert_cmpint(chown_path(s, "f", 7, 8), ==, 0);
    share_restart(s);
    check_text(s, "f", -1, 7, 8);
}

/* Whatever has the name of a metadata file: not followed, not waited for */
static void test_no_files(void)
{
    g_autoptr(Share) s = share_new(V9FS_MODEL_MAPPED_FILE);
    g_autoptr(Tree) other = tree_new();
    g_autofree char *meta = tree_path(s->t, META "/f");
    g_autofree char *secret = tree_path(other, "secret");
    g_autofree char *text = NULL;

    tree_mkdir(s->t, META);
    tree_write(other, "secret", "virtfs.uid=5\n");
    for (int i = 0; i < 3; i++) {
        tree_write(s->t, "f", "");
        if (i == 0) {
            g_assert_cmpint(symlink(secret, meta), ==, 0);
        } else if (i == 1) {
            g_assert_cmpint(mkfifo(meta, 0666), ==, 0);
        } else {
            g_assert_cmpint(symlink("nowhere", meta), ==, 0);
        }
        check_text(s, "f", -1, -1, -1);
        g_assert_cmpint(chown_path(s, "f", 7, 8), ==, 0);
        g_assert_cmpstr(kept(s, "f"), ==, "7 8 - -");
        g_assert_cmpint(CALL(s->m, unlinkat, 0, "f", 0), ==, 0);
        g_assert_false(tree_exists(s->t, META "/f"));
    }
    text = tree_read(other, "secret");
    g_assert_cmpstr(text, ==, "virtfs.uid=5\n");
    g_assert_false(tree_exists(s->t, META "/nowhere"));
}

/* The same for what has the name of a directory of metadata */
static void test_no_directory(void)
{
    g_autoptr(Share) s = share_new(V9FS_MODEL_MAPPED_FILE);
    g_autoptr(Tree) other = tree_new();
    g_autofree char *meta = tree_path(s->t, META);
    g_autofree char *before = NULL;
    g_autofree char *here = NULL;

    tree_write(other, "f", "virtfs.uid=5\n");
    tree_write(s->t, "f", "");
    before = tree_snapshot(other);
    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            g_assert_cmpint(symlink(other->path, meta), ==, 0);
        } else {
            tree_write(s->t, META, "virtfs.uid=5\n");
        }
        check_text(s, "f", -1, -1, -1);
        g_free(here);
        here = tree_snapshot(s->t);
        g_assert_cmpint(chown_path(s, "f", 7, 8), ==, -EIO);
        g_assert_cmpint(create(s, 10, "", "new", 0600), ==, -EIO);
        expect_same(s, here, "no directory");
        g_assert_cmpint(CALL(s->m, renameat, 0, "f", 0, "g"), ==, 0);
        g_assert_cmpint(CALL(s->m, renameat, 0, "g", 0, "f"), ==, 0);
        tree_remove(s->t, META);
    }
    expect_same(&(Share) { .t = other }, before, "outside");
}

/* What was left of another object is not the new one's. */
static void test_left_over(void)
{
    g_autoptr(Share) s = share_new(V9FS_MODEL_MAPPED_FILE);

    make_objects(s);
    tree_remove(s->t, "dir/a");
    g_assert_cmpint(walk(s->m, 0, 10, "dir/b"), ==, 0);
    g_assert_cmpint(CALL(s->m, link, 1, 10, "a"), ==, 0);
    expect_seen_at(s, "dir/a", S_IFCHR | 0600, 0, 2);
    tree_remove(s->t, "dir/a");
    g_assert_cmpint(create(s, 11, "dir", "a", 0600), ==, 0);
    expect_seen(s, 11, S_IFREG | 0600, USER, GROUP);
    /* which had shared the other's */
    expect_seen(s, 10, S_IFCHR | 0600, 0, 2);
    tree_remove(s->t, "dir/a");
    g_assert_cmpint(CALL(s->m, renameat, 1, "host", 1, "a"), ==, 0);
    g_assert_cmpstr(kept(s, "dir/a"), ==, "- - - -");
}

/* One crossing at most, whatever is kept */
static void test_crossings(gconstpointer data)
{
    for (int i = 0; i < ARRAY_SIZE(steps); i++) {
        g_autoptr(Share) s = share_new(GPOINTER_TO_INT(data));

        make_objects(s);
        g_assert_cmpint(steps[i].step(s), ==, 0);
        for (int type = 0; type < ARRAY_SIZE(s->m->s.stats.type); type++) {
            const V9fsCounters *c = &s->m->s.stats.type[type];

            g_assert_cmpuint(c->crossings, <=, c->requests);
        }
    }
}

static const struct {
    const char *name;
    GTestDataFunc test;
} both[] = {
    { "descriptors", test_descriptors },
    { "space", test_space },
    { "crossings", test_crossings },
};

static const struct {
    const char *name;
    GTestFunc test;
} file[] = {
    { "permission", test_permission },
    { "unreadable", test_unreadable },
    { "hidden", test_hidden },
    { "rmdir", test_rmdir },
    { "texts", test_texts },
    { "no-files", test_no_files },
    { "no-directory", test_no_directory },
    { "left-over", test_left_over },
};

int main(int argc, char **argv)
{
    int ret;

    mount_small();
    g_test_init(&argc, &argv, NULL);
    mem_init();
    for (int i = 0; i < ARRAY_SIZE(both); i++) {
        g_autofree char *x = g_strconcat("/9p/mapped-fail/xattr/",
                                         both[i].name, NULL);
        g_autofree char *f = g_strconcat("/9p/mapped-fail/file/",
                                         both[i].name, NULL);

        g_test_add_data_func(x, GINT_TO_POINTER(V9FS_MODEL_MAPPED_XATTR),
                             both[i].test);
        g_test_add_data_func(f, GINT_TO_POINTER(V9FS_MODEL_MAPPED_FILE),
                             both[i].test);
    }
    for (int i = 0; i < ARRAY_SIZE(file); i++) {
        g_autofree char *f = g_strconcat("/9p/mapped-fail/file/",
                                         file[i].name, NULL);

        g_test_add_func(f, file[i].test);
    }
    g_test_add_func("/9p/mapped-fail/xattr/hidden", test_not_hidden);
    ret = g_test_run();
    umount_small();
    return ret;
}
