/*
 * Tests of every message with a fid in every state
 *
 * One table says what each request comes to for each of the things a fid can
 * be, from what 9P2000.L says and what Linux does with a descriptor or a name
 * of that kind.  The same is true under all security models.  After each
 * request that fails the tree is as it was, and after all of them nothing is
 * left in the server: no fid, no node, no descriptor.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/9p-node.h"
#include "client.h"
#include "tree.h"

/* Fids: the one to test, a directory, a file, and a number not in use */
enum { ROOT, SUBJECT, DIR_, OTHER, FREE, NFIDS };

/* What the subject is */
typedef enum State {
    ABSENT,                     /* there is no such fid */
    FILE_, FOLDER, LINK, FIFO,  /* walked to, not opened */
    RD, WR, RDWR, ODIR,         /* open file; open directory */
    XATTR, NEW_XATTR,           /* to be read; to be set */
    GONE, GONE_DIR,             /* walked to, and removed by the guest */
    OPEN_GONE,                  /* the same of an open file */
    NSTATES,
} State;

static const char *const state_names[] = {
    "absent", "file", "directory", "link", "fifo", "read", "write",
    "read-write", "open-directory", "xattr", "new-xattr", "removed",
    "removed-directory", "removed-open",
};

typedef struct Row {
    const char *what;
    uint8_t type;
    P9Request req;
    int err[NSTATES];
} Row;

#define ROW(what, name, errors, ...) \
    { what, CLIENT_T##name, { .name = { __VA_ARGS__ } }, errors }
/* In the order of State: walked to, opened and xattrs, removed */
#define ERR(...) { __VA_ARGS__ }
#define ALL(e) ERR(e, e, e, e, e, e, e, e, e, e, e, e, e, e)

/* A name in what the subject is */
#define IN_IT \
    ERR(EBADF, ENOTDIR, 0, ENOTDIR, ENOTDIR, \
        ENOTDIR, ENOTDIR, ENOTDIR, 0, EINVAL, EINVAL, \
        ENOTDIR, ENOENT, ENOTDIR)
/* Whatever has attributes */
#define OF_IT \
    ERR(EBADF, 0, 0, 0, 0, \
        0, 0, 0, 0, EINVAL, EINVAL, \
        0, 0, 0)
/* Its name, which must still be there */
#define NAME_OF_IT \
    ERR(EBADF, 0, 0, 0, 0, \
        0, 0, 0, 0, EINVAL, EINVAL, \
        ENOENT, ENOENT, ENOENT)
/* Its open file or directory */
#define OPENED \
    ERR(EBADF, EBADF, EBADF, EBADF, EBADF, \
        0, 0, 0, 0, EINVAL, EINVAL, \
        EBADF, EBADF, 0)
/* A new fid of its number */
#define NUMBER_FREE \
    ERR(0, EINVAL, EINVAL, EINVAL, EINVAL, \
        EINVAL, EINVAL, EINVAL, EINVAL, EINVAL, EINVAL, \
        EINVAL, EINVAL, EINVAL)

static const Row rows[] = {
    ROW("attach", attach, NUMBER_FREE, SUBJECT, P9_NOFID, "", ""),
    ROW("auth", auth, ALL(EOPNOTSUPP), SUBJECT, "", ""),

    ROW("clone", walk, OF_IT, SUBJECT, FREE),
    ROW("walk", walk, IN_IT, SUBJECT, FREE, { 1, { "inner" } }),
    ROW("walk on", walk,
        ERR(EBADF, ENOTDIR, 0, ENOTDIR, ENOTDIR,
            ENOTDIR, ENOTDIR, ENOTDIR, EINVAL, EINVAL, EINVAL,
            ENOTDIR, ENOENT, ENOTDIR),
        SUBJECT, SUBJECT, { 1, { "inner" } }),
    /* What is removed is in no directory any more. */
    ROW("walk up", walk,
        ERR(EBADF, ENOTDIR, 0, ENOTDIR, ENOTDIR,
            ENOTDIR, ENOTDIR, ENOTDIR, 0, EINVAL, EINVAL,
            ENOENT, ENOENT, ENOENT),
        SUBJECT, FREE, { 1, { ".." } }),
    ROW("walk to it", walk, NUMBER_FREE, ROOT, SUBJECT, { 1, { "dir" } }),
    ROW("clone to it", walk, NUMBER_FREE, ROOT, SUBJECT),

    ROW("open to read", lopen,
        ERR(EBADF, 0, 0, ELOOP, ENXIO,
            EINVAL, EINVAL, EINVAL, EINVAL, EINVAL, EINVAL,
            0, 0, EINVAL),
        SUBJECT, P9_DOTL_RDONLY),
    ROW("open to write", lopen,
        ERR(EBADF, 0, EISDIR, ELOOP, ENXIO,
            EINVAL, EINVAL, EINVAL, EINVAL, EINVAL, EINVAL,
            0, EISDIR, EINVAL),
        SUBJECT, P9_DOTL_WRONLY),
    ROW("open to truncate", lopen,
        ERR(EBADF, 0, EISDIR, ELOOP, ENXIO,
            EINVAL, EINVAL, EINVAL, EINVAL, EINVAL, EINVAL,
            0, EISDIR, EINVAL),
        SUBJECT, P9_DOTL_RDWR | P9_DOTL_TRUNC),
    ROW("open directory", lopen,
        ERR(EBADF, ENOTDIR, 0, ENOTDIR, ENOTDIR,
            EINVAL, EINVAL, EINVAL, EINVAL, EINVAL, EINVAL,
            ENOTDIR, 0, EINVAL),
        SUBJECT, P9_DOTL_DIRECTORY),

    ROW("create", lcreate,
        ERR(EBADF, ENOTDIR, 0, ENOTDIR, ENOTDIR,
            EINVAL, EINVAL, EINVAL, EINVAL, EINVAL, EINVAL,
            ENOTDIR, ENOENT, EINVAL),
        SUBJECT, "new", P9_DOTL_RDWR, 0644),
    ROW("mkdir", mkdir, IN_IT, SUBJECT, "new", 0755),
    ROW("mknod", mknod, IN_IT, SUBJECT, "new", S_IFREG | 0644),
    ROW("symlink", symlink, IN_IT, SUBJECT, "new", "to"),
    ROW("link in it", link, IN_IT, SUBJECT, OTHER, "new"),
    ROW("link to it", link,
        ERR(EBADF, 0, EPERM, 0, 0,
            0, 0, 0, EPERM, EINVAL, EINVAL,
            ENOENT, EPERM, ENOENT),
        DIR_, SUBJECT, "new"),

    ROW("rename", rename, NAME_OF_IT, SUBJECT, DIR_, "new"),
    ROW("rename into it", rename, IN_IT, OTHER, SUBJECT, "new"),
    ROW("renameat out of it", renameat, IN_IT, SUBJECT, "inner", DIR_, "new"),
    ROW("renameat into it", renameat, IN_IT, ROOT, "other", SUBJECT, "new"),
    ROW("unlinkat", unlinkat, IN_IT, SUBJECT, "inner"),
    ROW("rmdir", unlinkat, IN_IT, SUBJECT, "sub", P9_DOTL_AT_REMOVEDIR),
    ROW("remove", remove,
        ERR(EBADF, 0, ENOTEMPTY, 0, 0,
            0, 0, 0, ENOTEMPTY, EINVAL, EINVAL,
            ENOENT, ENOENT, ENOENT),
        SUBJECT),
    /* A value that has not come as a whole is not set. */
    ROW("clunk", clunk,
        ERR(EBADF, 0, 0, 0, 0,
            0, 0, 0, 0, 0, EINVAL,
            0, 0, 0),
        SUBJECT),

    ROW("getattr", getattr, OF_IT, SUBJECT, P9_GETATTR_BASIC),
    ROW("statfs", statfs, OF_IT, SUBJECT),
    ROW("readlink", readlink,
        ERR(EBADF, EINVAL, EINVAL, 0, EINVAL,
            EINVAL, EINVAL, EINVAL, EINVAL, EINVAL, EINVAL,
            EINVAL, EINVAL, EINVAL),
        SUBJECT),
    ROW("chmod", setattr,
        ERR(EBADF, 0, 0, EOPNOTSUPP, 0,
            0, 0, 0, 0, EINVAL, EINVAL,
            0, 0, 0),
        SUBJECT, P9_SETATTR_MODE, 0700),
    ROW("chown", setattr, OF_IT, SUBJECT, P9_SETATTR_UID | P9_SETATTR_GID,
        .uid = 1234, .gid = 1235),
    ROW("truncate", setattr,
        ERR(EBADF, 0, EISDIR, EINVAL, EINVAL,
            0, 0, 0, EISDIR, EINVAL, EINVAL,
            0, EISDIR, 0),
        SUBJECT, P9_SETATTR_SIZE, .size = 2),
    ROW("touch", setattr, OF_IT, SUBJECT,
        P9_SETATTR_ATIME | P9_SETATTR_MTIME),
    ROW("set times", setattr, OF_IT, SUBJECT,
        P9_SETATTR_MTIME | P9_SETATTR_MTIME_SET, .mtime_sec = 1000000000),

    ROW("read", read,
        ERR(EBADF, EBADF, EBADF, EBADF, EBADF,
            0, EBADF, 0, EISDIR, 0, EINVAL,
            EBADF, EBADF, 0),
        SUBJECT, 0, 10),
    ROW("write", write,
        ERR(EBADF, EBADF, EBADF, EBADF, EBADF,
            EBADF, 0, 0, EISDIR, EINVAL, 0,
            EBADF, EBADF, 0),
        SUBJECT, 0, { .count = 1, .bytes = "x" }),
    ROW("readdir", readdir,
        ERR(EBADF, EBADF, EBADF, EBADF, EBADF,
            ENOTDIR, ENOTDIR, ENOTDIR, 0, EINVAL, EINVAL,
            EBADF, EBADF, ENOTDIR),
        SUBJECT, 0, 4096),
    ROW("fsync", fsync, OPENED, SUBJECT),
    ROW("unlock", lock, OPENED, SUBJECT, P9_LOCK_TYPE_UNLCK,
        .client_id = "me"),
    ROW("getlock", getlock, OPENED, SUBJECT, P9_LOCK_TYPE_WRLCK,
        .client_id = "me"),

    /* User attributes are those of files and directories. */
    ROW("xattr", xattrwalk,
        ERR(EBADF, 0, 0, ENODATA, ENODATA,
            0, 0, 0, 0, EINVAL, EINVAL,
            0, 0, 0),
        SUBJECT, FREE, "user.x"),
    ROW("absent xattr", xattrwalk,
        ERR(EBADF, ENODATA, ENODATA, ENODATA, ENODATA,
            ENODATA, ENODATA, ENODATA, ENODATA, EINVAL, EINVAL,
            ENODATA, ENODATA, ENODATA),
        SUBJECT, FREE, "user.none"),
    ROW("list of xattrs", xattrwalk, OF_IT, SUBJECT, FREE, ""),
    ROW("xattrs to it", xattrwalk, NUMBER_FREE, ROOT, SUBJECT, ""),
    ROW("new xattr", xattrcreate,
        ERR(EBADF, 0, 0, 0, 0,
            EINVAL, EINVAL, EINVAL, EINVAL, EINVAL, EINVAL,
            0, 0, EINVAL),
        SUBJECT, "user.new", 1),
};

/* The fixture */

static void make_file(MemSession *m, const char *name)
{
    g_assert_cmpint(clone_fid(m, ROOT, FREE), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, FREE, name, P9_DOTL_RDWR, 0644), ==, 0);
    g_assert_cmpint(write_at(m, FREE, 0, "hello"), ==, 5);
    g_assert_cmpint(set_xattr(m, FREE, "user.x", "1", 0), ==, 0);
    clunk(m, FREE);
}

static void make_folder(MemSession *m)
{
    g_assert_cmpint(CALL(m, mkdir, ROOT, "it", 0755), ==, 0);
    g_assert_cmpint(walk(m, ROOT, FREE, "it"), ==, 0);
    g_assert_cmpint(set_xattr(m, FREE, "user.x", "1", 0), ==, 0);
    clunk(m, FREE);
}

static void fill_folder(MemSession *m)
{
    g_assert_cmpint(walk(m, ROOT, FREE, "it"), ==, 0);
    g_assert_cmpint(CALL(m, mknod, FREE, "inner", S_IFREG | 0644), ==, 0);
    g_assert_cmpint(CALL(m, mkdir, FREE, "sub", 0755), ==, 0);
    clunk(m, FREE);
}

static void make_object(MemSession *m, State state)
{
    switch (state) {
    case ABSENT:
        break;
    case LINK:
        g_assert_cmpint(CALL(m, symlink, ROOT, "it", "other"), ==, 0);
        break;
    case FIFO:
        g_assert_cmpint(CALL(m, mknod, ROOT, "it", S_IFIFO | 0644), ==, 0);
        break;
    case GONE_DIR:
        make_folder(m);
        break;
    case FOLDER:
    case ODIR:
        make_folder(m);
        fill_folder(m);
        break;
    default:
        make_file(m, "it");
    }
}

static int make_fid(MemSession *m, State state)
{
    switch (state) {
    case ABSENT:
        return 0;
    case RD:
    case ODIR:
        return walk_open(m, SUBJECT, "it", P9_DOTL_RDONLY);
    case WR:
        return walk_open(m, SUBJECT, "it", P9_DOTL_WRONLY);
    case RDWR:
        return walk_open(m, SUBJECT, "it", P9_DOTL_RDWR);
    case XATTR:
        return CALL(m, xattrwalk, OTHER, SUBJECT, "");
    case NEW_XATTR:
        return walk(m, ROOT, SUBJECT, "it") ?:
               CALL(m, xattrcreate, SUBJECT, "user.new", 6);
    case GONE_DIR:
        return walk(m, ROOT, SUBJECT, "it") ?:
               CALL(m, unlinkat, ROOT, "it", P9_DOTL_AT_REMOVEDIR);
    case GONE:
        return walk(m, ROOT, SUBJECT, "it") ?:
               CALL(m, unlinkat, ROOT, "it");
    case OPEN_GONE:
        return walk_open(m, SUBJECT, "it", P9_DOTL_RDWR) ?:
               CALL(m, unlinkat, ROOT, "it");
    default:
        return walk(m, ROOT, SUBJECT, "it");
    }
}

static void make_all(MemSession *m, State state)
{
    mem_attach(m, 8192);
    make_file(m, "other");
    g_assert_cmpint(CALL(m, mkdir, ROOT, "dir", 0755), ==, 0);
    g_assert_cmpint(walk(m, ROOT, DIR_, "dir"), ==, 0);
    g_assert_cmpint(walk(m, ROOT, OTHER, "other"), ==, 0);
    make_object(m, state);
    g_assert_cmpint(make_fid(m, state), ==, 0);
}

/* What the client has is ended, one by one, and then there is nothing. */
static void check_health(MemSession *m)
{
    for (uint32_t fid = ROOT; fid < NFIDS; fid++) {
        clunk(m, fid);
    }
    g_assert_cmpuint(g_hash_table_size(m->s.fids), ==, 0);
    g_assert_cmpuint(m->s.fs.xattr_fids, ==, 0);
    g_assert_false(m->mounted);
    v9fs_reset(&m->s);
    g_assert_cmpuint(g_hash_table_size(m->s.nodes), ==, 0);
    g_assert_cmpuint(m->s.root->refs, ==, 1);
    g_assert_cmpuint(m->broken, ==, 0);
}

static void complain(const Row *row, State state, int err)
{
    g_test_message("%s, %s: %s instead of %s", row->what, state_names[state],
                   err ? strerror(-err) : "success",
                   row->err[state] ? strerror(row->err[state]) : "success");
    g_test_fail();
}

/* A server with one fid to test */
typedef struct Fixture {
    Tree *t;
    MemSession *m;
    unsigned descriptors;       /* open when nothing had been asked for yet */
    char *before;               /* the tree */
} Fixture;

static Fixture fixture_new(State state, V9fsModel model)
{
    Fixture f = { .t = tree_new() };

    f.m = mem_new(&v9fs_local_ops, f.t->path, model);
    mem_start(f.m);
    f.descriptors = open_descriptors();
    make_all(f.m, state);
    f.before = tree_snapshot(f.t);
    return f;
}

static void fixture_free(Fixture *f)
{
    check_health(f->m);
    g_assert_cmpuint(open_descriptors(), ==, f->descriptors);
    mem_free(f->m);
    tree_free(f->t);
    g_free(f->before);
    f->m = NULL;
}

/* What failed must leave everything as it was; returns whether it did fail. */
static bool run_row(Fixture *f, const Row *row, State state)
{
    g_autofree char *after = NULL;
    uint64_t crossings = all_crossings(f->m);
    int err = mem_call(f->m, row->type, &row->req, NULL);

    crossings = all_crossings(f->m) - crossings;
    /* Removing what is open is two things to do, and closing comes last. */
    g_assert_cmpuint(crossings, <=, row->type == P9_TREMOVE ? 2 : 1);
    if (err != -row->err[state]) {
        complain(row, state, err);
    }
    if (err) {
        after = tree_snapshot(f->t);
        g_assert_cmpstr(after, ==, f->before);
    }
    return err;
}

static void test_state(gconstpointer data)
{
    unsigned number = GPOINTER_TO_UINT(data);
    V9fsModel model = number / NSTATES;
    State state = number % NSTATES;
    const char *lacks = tree_model_lacks(model);
    Fixture f = { 0 };

    if (lacks) {
        g_test_skip(lacks);
        return;
    }
    for (int i = 0; i < ARRAY_SIZE(rows); i++) {
        if (!f.m) {
            f = fixture_new(state, model);
        }
        /* These end the fid even if they fail. */
        if (!run_row(&f, &rows[i], state) || rows[i].type == P9_TCLUNK ||
            rows[i].type == P9_TREMOVE) {
            fixture_free(&f);
        }
    }
    if (f.m) {
        fixture_free(&f);
    }
}

/* A message that is not in the table has no fid, or does not exist. */
static void test_complete(void)
{
    bool seen[256] = { [P9_TLERROR] = true, [P9_TVERSION] = true,
                       [P9_TFLUSH] = true };

    for (int i = 0; i < ARRAY_SIZE(rows); i++) {
        seen[rows[i].type] = true;
    }
    for (int type = 0; type < 256; type += 2) {
        const P9Message *m = p9_message(type);

        if (m && (m->dialects & P9_DIALECT_L) && !seen[type]) {
            g_test_message("no row for %s", m->name);
            g_test_fail();
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    g_test_add_func("/9p/states/complete", test_complete);
    for (const TreeModel *model = tree_models; model->name; model++) {
        for (unsigned state = 0; state < NSTATES; state++) {
            unsigned number = model->model * NSTATES + state;
            g_autofree char *path = g_strdup_printf("/9p/states/%s/%s",
                                                    model->name,
                                                    state_names[state]);

            g_test_add_data_func(path, GUINT_TO_POINTER(number), test_state);
        }
    }
    return g_test_run();
}
