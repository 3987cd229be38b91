/*
 * Tests of a host that changes the tree under the server's hands
 *
 * A thread exchanges directories and files of the share, at every level, for
 * symbolic links to a place outside that looks the same, while messages that
 * take names run.  What they come to is chance; but nothing outside is read
 * or changed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/syscall.h>
#include <sys/xattr.h>
#include "qemu/thread.h"
#include "client.h"
#include "tree.h"

#define LEVELS      4           /* share, share/a, share/a/b, share/a/b/c */
#define STEPS       400
#define SLOW_STEPS  5000

/* Fids: each directory, the file "f" in each, and one that is free */
enum { DIR_0, FILE_0 = DIR_0 + LEVELS, FREE = FILE_0 + LEVELS };

static const char *const level_names[LEVELS] = { "share", "a", "b", "c" };

/* Where the share is, or the place that looks like it, and level @n of it */
static char *level_path(const char *top, int n)
{
    GString *path = g_string_new(top);

    for (int i = 1; i <= n; i++) {
        g_string_append_printf(path, "/%s", level_names[i]);
    }
    return g_string_free(path, false);
}

/* The host */

typedef struct Host {
    QemuThread thread;
    int dir[LEVELS];
    bool stop;                  /* atomic */
    unsigned exchanges;
} Host;

static const char *const exchanged[] = { "f", "a", "b", "c",
                                         ".virtfs_metadata" };

static void exchange(int dir, const char *name)
{
    g_autofree char *link = g_strconcat("link-", name, NULL);

    syscall(SYS_renameat2, dir, name, dir, link, 2 /* RENAME_EXCHANGE */);
}

static void *run_host(void *opaque)
{
    Host *host = opaque;
    unsigned n = 0;

    while (!qatomic_read(&host->stop)) {
        exchange(host->dir[n % LEVELS], exchanged[n % ARRAY_SIZE(exchanged)]);
        n++;
    }
    host->exchanges = n;
    return NULL;
}

static void start_host(Host *host, Tree *t)
{
    *host = (Host) { 0 };
    for (int i = 0; i < LEVELS; i++) {
        g_autofree char *path = level_path("share", i);
        g_autofree char *full = tree_path(t, path);

        host->dir[i] = open(full, O_PATH | O_DIRECTORY);
        g_assert_cmpint(host->dir[i], >=, 0);
    }
    qemu_thread_create(&host->thread, "host", run_host, host,
                       QEMU_THREAD_JOINABLE);
}

static void stop_host(Host *host)
{
    qatomic_set(&host->stop, true);
    qemu_thread_join(&host->thread);
    g_assert_cmpuint(host->exchanges, >, 0);
    for (int i = 0; i < LEVELS; i++) {
        close(host->dir[i]);
    }
}

static void make_link(Tree *t, const char *dir, const char *name,
                      const char *target_dir)
{
    g_autofree char *link = g_strdup_printf("%s/link-%s", dir, name);
    g_autofree char *full = tree_path(t, link);
    g_autofree char *target = g_strdup_printf("%s/%s/%s", t->path, target_dir,
                                              name);

    g_assert_cmpint(symlink(target, full), ==, 0);
}

/* One level of the share, or of what is outside */
static void make_level(Tree *t, const char *top, int n, const char *text)
{
    g_autofree char *dir = level_path(top, n);
    g_autofree char *outside = level_path("outside", n);
    g_autofree char *file = g_strconcat(dir, "/f", NULL);
    g_autofree char *full = tree_path(t, file);
    g_autofree char *metadata = g_strconcat(dir, "/.virtfs_metadata", NULL);

    tree_mkdir(t, dir);
    tree_mkdir(t, metadata);
    tree_write(t, file, text);
    g_assert_cmpint(setxattr(full, "user.x", text, strlen(text), 0), ==, 0);
    if (g_str_equal(top, "share")) {
        make_link(t, dir, "f", outside);
        make_link(t, dir, ".virtfs_metadata", outside);
        if (n + 1 < LEVELS) {
            make_link(t, dir, level_names[n + 1], outside);
        }
    }
}

/* Names that there are outside only, files and directories to be destroyed */
static void make_victims(Tree *t, int n)
{
    g_autofree char *dir = level_path("outside", n);
    g_autofree char *file = g_strconcat(dir, "/victim", NULL);
    g_autofree char *folder = g_strconcat(dir, "/victim-dir", NULL);
    g_autofree char *meta = g_strconcat(dir, "/.virtfs_metadata/victim", NULL);

    tree_write(t, file, "secret");
    tree_write(t, meta, "virtfs.uid=1\n");
    tree_mkdir(t, folder);
}

/* The guest */

static uint32_t some(uint32_t first)
{
    return first + g_test_rand_int_range(0, LEVELS);
}

static void expect_no_secret(MemSession *m, uint32_t fid)
{
    g_autofree char *text = read_at(m, fid, 0, 100);

    g_assert_cmpstr(text, !=, "secret");
}

static void read_free(MemSession *m)
{
    if (lopen(m, FREE, P9_DOTL_RDONLY) == 0) {
        expect_no_secret(m, FREE);
    }
}

static void walk_down(MemSession *m)
{
    if (walk(m, DIR_0, FREE, "a/b/c/f") == 0) {
        read_free(m);
    }
}

static void walk_about(MemSession *m)
{
    if (walk(m, DIR_0 + 3, FREE, "../../b/c/../f") == 0) {
        read_free(m);
    }
}

static void walk_one(MemSession *m)
{
    if (walk(m, some(DIR_0), FREE, "f") == 0) {
        read_free(m);
    }
    g_assert_cmpint(walk(m, some(DIR_0), FREE + 1, "victim"), <, 0);
}

static void open_file(MemSession *m)
{
    clone_fid(m, some(FILE_0), FREE);
    read_free(m);
}

static void write_file(MemSession *m)
{
    uint32_t flags = g_test_rand_bit() ? P9_DOTL_TRUNC : P9_DOTL_APPEND;

    clone_fid(m, some(FILE_0), FREE);
    if (lopen(m, FREE, P9_DOTL_RDWR | flags) == 0) {
        write_at(m, FREE, 0, "x");
    }
}

static void change(MemSession *m)
{
    CALL(m, setattr, some(FILE_0), P9_SETATTR_MODE, 0640);
    CALL(m, setattr, some(FILE_0), P9_SETATTR_SIZE, .size = 3);
    CALL(m, setattr, some(FILE_0), P9_SETATTR_UID | P9_SETATTR_GID |
         P9_SETATTR_MODE | P9_SETATTR_MTIME, 0644, 7, 7);
    CALL(m, setattr, some(DIR_0), P9_SETATTR_MODE | P9_SETATTR_UID, 0755, 7);
}

static void use_xattrs(MemSession *m)
{
    g_autofree char *value = NULL;
    int err;

    set_xattr(m, some(FILE_0), "user.y", "y", 0);
    set_xattr(m, some(DIR_0), "user.y", "y", 0);
    set_xattr(m, some(FILE_0), "user.x", "", P9_XATTR_REPLACE);
    set_xattr(m, some(FILE_0), "user.x", "x", 0);
    value = get_xattr(m, some(FILE_0), "user.x", &err);
    g_assert_cmpstr(value, !=, "secret");
}

static void create(MemSession *m)
{
    clone_fid(m, some(DIR_0), FREE);
    if (CALL(m, lcreate, FREE, "new", P9_DOTL_RDWR, 0644) == 0) {
        write_at(m, FREE, 0, "x");
    }
    clunk(m, FREE);
    clone_fid(m, some(DIR_0), FREE);
    if (CALL(m, lcreate, FREE, "f", P9_DOTL_RDWR, 0644) == 0) {
        expect_no_secret(m, FREE);
    }
}

static void make(MemSession *m)
{
    CALL(m, mkdir, some(DIR_0), "new-dir", 0755);
    CALL(m, symlink, some(DIR_0), "new-link", "f");
    CALL(m, mknod, some(DIR_0), "new-node", S_IFIFO | 0644);
    CALL(m, link, some(DIR_0), some(FILE_0), "new-hard");
}

static void unmake(MemSession *m)
{
    CALL(m, unlinkat, some(DIR_0), "new-dir", P9_DOTL_AT_REMOVEDIR);
    CALL(m, unlinkat, some(DIR_0), "new-link");
    CALL(m, unlinkat, some(DIR_0), "new-node");
    CALL(m, unlinkat, some(DIR_0), "new-hard");
    CALL(m, unlinkat, some(DIR_0), "new");
    g_assert_cmpint(CALL(m, unlinkat, some(DIR_0), "victim"), <, 0);
    g_assert_cmpint(CALL(m, unlinkat, some(DIR_0), "victim-dir",
                         P9_DOTL_AT_REMOVEDIR), <, 0);
}

static void move(MemSession *m)
{
    CALL(m, renameat, some(DIR_0), "new", some(DIR_0), "new-hard");
    CALL(m, renameat, some(DIR_0), "new-dir", some(DIR_0), "new-dir");
    if (walk(m, some(DIR_0), FREE, "new-node") == 0) {
        CALL(m, rename, FREE, some(DIR_0), "new-link");
        CALL(m, remove, FREE);
    }
    g_assert_cmpint(CALL(m, renameat, some(DIR_0), "victim", DIR_0, "v"), <,
                    0);
}

static void list(MemSession *m)
{
    P9Rreaddir r;

    clone_fid(m, some(DIR_0), FREE);
    if (lopen(m, FREE, P9_DOTL_RDONLY) == 0 &&
        ASK(m, readdir, &r, FREE, 0, 8000) == 0) {
        g_assert_null(memmem(m->last->in + r.data.at, r.data.count,
                             "victim", strlen("victim")));
    }
}

static void look(MemSession *m)
{
    CALL(m, getattr, some(FILE_0), P9_GETATTR_BASIC);
    CALL(m, getattr, some(DIR_0), P9_GETATTR_BASIC);
    CALL(m, statfs, some(FILE_0));
    CALL(m, readlink, some(FILE_0));
}

static void (*const steps[])(MemSession *m) = {
    walk_down, walk_about, walk_one, open_file, write_file, change,
    use_xattrs, create, make, unmake, move, list, look,
};

/* Together */

static MemSession *serve(Tree *t, V9fsModel model)
{
    g_autofree char *share = tree_path(t, "share");
    MemSession *m = mem_new(&v9fs_local_ops, share, model);

    mem_start(m);
    mem_attach(m, 8192);
    for (int i = 0; i < LEVELS; i++) {
        if (i) {
            g_assert_cmpint(walk(m, DIR_0 + i - 1, DIR_0 + i, level_names[i]),
                            ==, 0);
        }
        g_assert_cmpint(walk(m, DIR_0 + i, FILE_0 + i, "f"), ==, 0);
    }
    return m;
}

static Tree *make_tree(void)
{
    Tree *t = tree_new();

    for (int i = 0; i < LEVELS; i++) {
        make_level(t, "share", i, "open");
        make_level(t, "outside", i, "secret");
        make_victims(t, i);
    }
    return t;
}

static char *snapshot_outside(Tree *t)
{
    g_autofree char *outside = tree_path(t, "outside");
    Tree sub = { outside };

    return tree_snapshot(&sub);
}

static void race(V9fsModel model, unsigned max_handles)
{
    g_autoptr(Tree) t = make_tree();
    MemSession *m = serve(t, model);
    g_autofree char *before = snapshot_outside(t);
    g_autofree char *after = NULL;
    Host host;

    m->s.max_handles = max_handles;
    start_host(&host, t);
    for (int i = 0; i < (g_test_slow() ? SLOW_STEPS : STEPS); i++) {
        steps[g_test_rand_int_range(0, ARRAY_SIZE(steps))](m);
        clunk(m, FREE);
    }
    stop_host(&host);
    after = snapshot_outside(t);
    g_assert_cmpstr(after, ==, before);
    mem_free(m);
}

static void test_race(gconstpointer data)
{
    V9fsModel model = GPOINTER_TO_UINT(data);
    const char *lacks = tree_model_lacks(model);

    if (lacks) {
        g_test_skip(lacks);
        return;
    }
    race(model, 0);
    race(model, 100);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    for (const TreeModel *model = tree_models; model->name; model++) {
        g_autofree char *path = g_strconcat("/9p/race/", model->name, NULL);

        g_test_add_data_func(path, GUINT_TO_POINTER(model->model), test_race);
    }
    return g_test_run();
}
