/*
 * Tests of fids whose name goes, moves or is given to another file
 *
 * A table of what can happen to a name, by the guest's doing and by the
 * host's.  Whatever it is, an open fid is the open file, with all that can be
 * done through it, and never touches the one that has the name by then.  A
 * fid that is not open keeps the file when the guest takes the name away, and
 * stands for the name when the host does.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "client.h"
#include "tree.h"

/* Fids; all of "dir/file" but the first two.  HELPER is free. */
enum { ROOT, DIR_, WALKED, OPEN, RD, HELPER };

/*
 * What a walked fid stands for afterwards.  While a directory that the host
 * has moved is in the cache its names are found; after that they are not.
 */
typedef enum Stands {
    FOR_OLD, FOR_NEW, FOR_NOTHING, FOR_OLD_OR_NOTHING,
} Stands;

typedef struct Event {
    const char *name;
    void (*happen)(MemSession *m, Tree *t);
    const char *now;            /* where there is a new file, or NULL */
    unsigned nlink;             /* of the old file */
    Stands walked;
    bool removes_dir;           /* and what mapped-file keeps in that */
} Event;

/* By the guest */

static void guest_renames(MemSession *m, Tree *t)
{
    g_assert_cmpint(CALL(m, renameat, DIR_, "file", ROOT, "moved"), ==, 0);
}

static void guest_moves(MemSession *m, Tree *t)
{
    g_assert_cmpint(CALL(m, rename, WALKED, ROOT, "moved"), ==, 0);
}

static void guest_replaces(MemSession *m, Tree *t)
{
    g_assert_cmpint(CALL(m, renameat, ROOT, "other", DIR_, "file"), ==, 0);
}

static void guest_unlinks(MemSession *m, Tree *t)
{
    g_assert_cmpint(CALL(m, unlinkat, DIR_, "file"), ==, 0);
}

static void guest_removes(MemSession *m, Tree *t)
{
    g_assert_cmpint(clone_fid(m, WALKED, HELPER), ==, 0);
    g_assert_cmpint(CALL(m, remove, HELPER), ==, 0);
}

static void guest_makes_anew(MemSession *m, Tree *t)
{
    guest_unlinks(m, t);
    g_assert_cmpint(clone_fid(m, DIR_, HELPER), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, HELPER, "file", P9_DOTL_RDWR, 0644), ==,
                    0);
    g_assert_cmpint(write_at(m, HELPER, 0, "other"), ==, 5);
    g_assert_cmpint(clunk(m, HELPER), ==, 0);
}

static void guest_renames_parent(MemSession *m, Tree *t)
{
    g_assert_cmpint(CALL(m, renameat, ROOT, "dir", ROOT, "dir2"), ==, 0);
}

/* One more name, and the first one goes */
static void guest_links(MemSession *m, Tree *t)
{
    g_assert_cmpint(CALL(m, link, ROOT, WALKED, "moved"), ==, 0);
    guest_unlinks(m, t);
}

/* By the host */

static void host_renames(MemSession *m, Tree *t)
{
    tree_rename(t, "dir/file", "moved");
}

static void host_replaces(MemSession *m, Tree *t)
{
    tree_rename(t, "other", "dir/file");
}

static void host_unlinks(MemSession *m, Tree *t)
{
    tree_remove(t, "dir/file");
}

static void host_makes_anew(MemSession *m, Tree *t)
{
    host_unlinks(m, t);
    tree_write(t, "dir/file", "other");
}

static void host_renames_parent(MemSession *m, Tree *t)
{
    tree_rename(t, "dir", "dir2");
}

static void host_removes_parent(MemSession *m, Tree *t)
{
    tree_remove(t, "dir");
}

static void host_replaces_parent(MemSession *m, Tree *t)
{
    host_removes_parent(m, t);
    tree_mkdir(t, "dir");
    tree_write(t, "dir/file", "other");
}

static const Event events[] = {
    { "guest/renames", guest_renames, NULL, 1, FOR_OLD },
    { "guest/moves", guest_moves, NULL, 1, FOR_OLD },
    { "guest/replaces", guest_replaces, "dir/file", 0, FOR_OLD },
    { "guest/unlinks", guest_unlinks, NULL, 0, FOR_OLD },
    { "guest/removes", guest_removes, NULL, 0, FOR_OLD },
    { "guest/makes-anew", guest_makes_anew, "dir/file", 0, FOR_OLD },
    { "guest/renames-parent", guest_renames_parent, NULL, 1, FOR_OLD },
    { "guest/links", guest_links, NULL, 1, FOR_OLD },
    { "host/renames", host_renames, NULL, 1, FOR_NOTHING },
    { "host/replaces", host_replaces, "dir/file", 0, FOR_NEW },
    { "host/unlinks", host_unlinks, NULL, 0, FOR_NOTHING },
    { "host/makes-anew", host_makes_anew, "dir/file", 0, FOR_NEW },
    { "host/renames-parent", host_renames_parent, NULL, 1,
      FOR_OLD_OR_NOTHING },
    { "host/removes-parent", host_removes_parent, NULL, 0, FOR_NOTHING, true },
    { "host/replaces-parent", host_replaces_parent, "dir/file", 0, FOR_NEW,
      true },
};

/* The fixture */

static void make_file(MemSession *m, uint32_t dir, const char *name,
                      const char *text)
{
    g_assert_cmpint(clone_fid(m, dir, HELPER), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, HELPER, name, P9_DOTL_RDWR, 0644), ==, 0);
    g_assert_cmpint(write_at(m, HELPER, 0, text), ==, strlen(text));
    g_assert_cmpint(clunk(m, HELPER), ==, 0);
}

static void make_all(MemSession *m)
{
    g_assert_cmpint(CALL(m, mkdir, ROOT, "dir", 0755), ==, 0);
    g_assert_cmpint(walk(m, ROOT, DIR_, "dir"), ==, 0);
    make_file(m, DIR_, "file", "hello");
    make_file(m, ROOT, "other", "other");
    g_assert_cmpint(walk(m, DIR_, WALKED, "file"), ==, 0);
    g_assert_cmpint(set_xattr(m, WALKED, "user.x", "value", 0), ==, 0);
    g_assert_cmpint(walk_open(m, OPEN, "dir/file", P9_DOTL_RDWR), ==, 0);
    g_assert_cmpint(walk_open(m, RD, "dir/file", P9_DOTL_RDONLY), ==, 0);
}

/* All that works through an open file, whatever has become of its name */
static void use_open(MemSession *m, const Event *e, uint64_t ino)
{
    g_autofree char *value = NULL;
    P9Rgetattr a;
    int err;

    expect_text(m, OPEN, "hello");
    g_assert_cmpint(write_at(m, OPEN, 0, "HELLO world"), ==, 11);
    expect_text(m, RD, "HELLO world");
    g_assert_cmpint(CALL(m, setattr, OPEN, P9_SETATTR_SIZE, .size = 7), ==, 0);
    g_assert_cmpint(CALL(m, setattr, RD, P9_SETATTR_SIZE, .size = 5), ==, 0);
    g_assert_cmpint(CALL(m, setattr, RD, P9_SETATTR_MODE | P9_SETATTR_MTIME |
                         P9_SETATTR_MTIME_SET, 0751, .mtime_sec = 12345),
                    ==, 0);
    g_assert_cmpint(CALL(m, fsync, OPEN), ==, 0);
    g_assert_cmpint(CALL(m, statfs, OPEN), ==, 0);
    value = get_xattr(m, RD, "user.x", &err);
    g_assert_cmpstr(value, ==, "value");
    for (uint32_t fid = OPEN; fid <= RD; fid++) {
        g_assert_cmpint(getattr(m, fid, &a), ==, 0);
        g_assert_cmpuint(a.qid.path, ==, ino);
        g_assert_cmpuint(a.mode, ==, S_IFREG | 0751);
        g_assert_cmpuint(a.size, ==, 5);
        g_assert_cmpuint(a.nlink, ==, e->nlink);
        g_assert_cmpuint(a.mtime_sec, ==, 12345);
    }
}

static void check_walked(MemSession *m, const Event *e, uint64_t ino)
{
    P9Rgetattr a;
    int err = getattr(m, WALKED, &a);

    if (e->walked == FOR_OLD_OR_NOTHING && err) {
        g_assert_cmpint(err, ==, -ENOENT);
        return;
    }
    g_assert_cmpint(err, ==, e->walked == FOR_NOTHING ? -ENOENT : 0);
    if (e->walked == FOR_OLD || e->walked == FOR_OLD_OR_NOTHING) {
        g_assert_cmpuint(a.qid.path, ==, ino);
        g_assert_cmpint(CALL(m, setattr, WALKED, P9_SETATTR_MODE, 0700), ==,
                        0);
        g_assert_cmpint(mode_of(m, OPEN), ==, S_IFREG | 0700);
        g_assert_cmpint(set_xattr(m, WALKED, "user.x", "new", 0), ==, 0);
    } else if (e->walked == FOR_NEW) {
        g_assert_cmpuint(a.qid.path, !=, ino);
        g_assert_cmpint(lopen(m, WALKED, P9_DOTL_RDONLY), ==, 0);
        expect_text(m, WALKED, "other");
    }
}

static void run(const Event *e, V9fsModel model, unsigned max_handles)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve_as(t, model);
    g_autofree char *now = NULL;
    struct stat before = { 0 }, after;
    uint64_t ino;

    make_all(m);
    if (max_handles) {
        m->s.max_handles = max_handles;
    }
    ino = ino_of(m, OPEN);
    e->happen(m, t);
    if (e->now) {
        before = tree_stat(t, e->now);
    }
    use_open(m, e, ino);
    check_walked(m, e, ino);
    if (e->now) {
        now = tree_read(t, e->now);
        g_assert_cmpstr(now, ==, "other");
        after = tree_stat(t, e->now);
        g_assert_cmpuint(after.st_ino, ==, before.st_ino);
        g_assert_cmpuint(after.st_mode, ==, before.st_mode);
        g_assert_cmpuint(after.st_mtime, ==, before.st_mtime);
    }
    mem_free(m);
}

static void test_event(gconstpointer data)
{
    const Event *e = data;

    for (const TreeModel *model = tree_models; model->name; model++) {
        if (tree_model_lacks(model->model) ||
            (e->removes_dir && model->model == V9FS_MODEL_MAPPED_FILE)) {
            continue;
        }
        run(e, model->model, 0);
        run(e, model->model, 1);
    }
}

/* Open directories */

static unsigned count_entries(MemSession *m, uint32_t fid, int *err)
{
    P9Rreaddir r;
    const uint8_t *at;
    unsigned n = 0;
    size_t done = 0;

    *err = ASK(m, readdir, &r, fid, 0, 4096);
    if (*err) {
        return 0;
    }
    for (at = m->last->in + r.data.at; done < r.data.count; n++) {
        size_t size = P9_DIRENT_HDRSZ + lduw_le_p(at + P9_DIRENT_HDRSZ - 2);

        at += size;
        done += size;
    }
    return n;
}

static void test_directory(gconstpointer by_host)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    uint64_t ino;
    P9Rgetattr a;
    int err;

    tree_mkdir(t, "dir");
    tree_write(t, "dir/a", "");
    tree_write(t, "dir/b", "");
    g_assert_cmpint(walk_open(m, OPEN, "dir", P9_DOTL_RDONLY), ==, 0);
    ino = ino_of(m, OPEN);
    if (by_host) {
        tree_rename(t, "dir", "moved");
        tree_mkdir(t, "dir");
    } else {
        g_assert_cmpint(CALL(m, renameat, ROOT, "dir", ROOT, "moved"), ==, 0);
        g_assert_cmpint(CALL(m, mkdir, ROOT, "dir", 0755), ==, 0);
    }
    g_assert_cmpuint(count_entries(m, OPEN, &err), ==, 4);
    g_assert_cmpuint(ino_of(m, OPEN), ==, ino);
    tree_remove(t, "moved/a");
    g_assert_cmpuint(count_entries(m, OPEN, &err), ==, 3);
    tree_remove(t, "moved/b");
    if (by_host) {
        tree_remove(t, "moved");
    } else {
        g_assert_cmpint(CALL(m, unlinkat, ROOT, "moved",
                             P9_DOTL_AT_REMOVEDIR), ==, 0);
    }
    /* Linux says ENOENT; readdir() of the C library, that there is no more. */
    g_assert_cmpuint(count_entries(m, OPEN, &err), ==, 0);
    g_assert_true(err == 0 || err == -ENOENT);
    g_assert_cmpint(getattr(m, OPEN, &a), ==, 0);
    g_assert_cmpuint(a.qid.path, ==, ino);
    g_assert_cmpuint(a.nlink, ==, 0);
    mem_free(m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    for (int i = 0; i < ARRAY_SIZE(events); i++) {
        g_autofree char *path = g_strconcat("/9p/open/", events[i].name, NULL);

        g_test_add_data_func(path, &events[i], test_event);
    }
    g_test_add_data_func("/9p/open/guest/directory", NULL, test_directory);
    g_test_add_data_func("/9p/open/host/directory", "", test_directory);
    return g_test_run();
}
