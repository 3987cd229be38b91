/*
 * Tests of locks: between owners, sessions and programs of the host
 *
 * A test says what a program that locks may rely on, from POSIX; the host's
 * own view is that of another open file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/wait.h>
#include "hw/9pfs/9p-synth.h"
#include "client.h"
#include "tree.h"

#define RD      P9_LOCK_TYPE_RDLCK
#define WR      P9_LOCK_TYPE_WRLCK
#define UN      P9_LOCK_TYPE_UNLCK
#define OK      P9_LOCK_SUCCESS
#define HELD    P9_LOCK_BLOCKED

/* Bytes of the file that maps of locks show */
#define BYTES   12

/*
 * Owners that a number stands for are of different clients: between its own a
 * client arbitrates, see test_own().
 */
static char *client_of(uint32_t proc)
{
    return g_strdup_printf("vm%u", proc);
}

static int lock_flags(MemSession *m, uint32_t fid, uint32_t proc, int type,
                      uint64_t start, uint64_t length, uint32_t flags)
{
    g_autofree char *client = client_of(proc);
    P9Rlock r;
    int err = ASK(m, lock, &r, fid, type, flags, start, length, proc, client);

    return err ?: r.status;
}

/* The status of Rlock, or -errno */
static int lock(MemSession *m, uint32_t fid, uint32_t proc, int type,
                uint64_t start, uint64_t length)
{
    return lock_flags(m, fid, proc, type, start, length, 0);
}

/* What Linux sends for flock() */
static int flock_fid(MemSession *m, uint32_t fid, uint32_t proc, int type)
{
    return lock_flags(m, fid, proc, type, 0, 0, P9_LOCK_FLAGS_BLOCK);
}

static P9Rgetlock getlock(MemSession *m, uint32_t fid, uint32_t proc, int type,
                          uint64_t start, uint64_t length)
{
    g_autofree char *client = client_of(proc);
    P9Rgetlock r;

    g_assert_cmpint(ASK(m, getlock, &r, fid, type, start, length, proc,
                        client), ==, 0);
    return r;
}

/* What another program of the host sees: "-" free, "r" and "w" locked */
static char *host_map(Tree *t, const char *name)
{
    g_autofree char *path = tree_path(t, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    GString *map = g_string_new(NULL);

    g_assert_cmpint(fd, >=, 0);
    for (int i = 0; i < BYTES; i++) {
        struct flock f = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1,
        };

        g_assert_cmpint(fcntl(fd, F_OFD_GETLK, &f), ==, 0);
        g_string_append_c(map, f.l_type == F_UNLCK ? '-' :
                          f.l_type == F_RDLCK ? 'r' : 'w');
    }
    close(fd);
    return g_string_free(map, false);
}

static void expect_host(Tree *t, const char *map)
{
    g_autofree char *got = host_map(t, "file");

    g_assert_cmpstr(got, ==, map);
}

#define FREE    "------------"

/* A session with fids 1 and 2 open on "file" */
static MemSession *serve_file(Tree *t)
{
    MemSession *m = tree_serve(t);

    g_assert_cmpint(walk_open(m, 1, "file", P9_DOTL_RDWR), ==, 0);
    g_assert_cmpint(walk_open(m, 2, "file", P9_DOTL_RDWR), ==, 0);
    return m;
}

static Tree *tree_with_file(void)
{
    Tree *t = tree_new();

    tree_write(t, "file", "text");
    return t;
}

/* Owners: processes, through whatever fid */

static void test_owners(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);

    for (uint32_t fid = 1; fid <= 2; fid++) {
        g_assert_cmpint(lock(m, 1, 10, WR, 2, 4), ==, OK);
        g_assert_cmpint(lock(m, fid, 11, WR, 5, 4), ==, HELD);
        g_assert_cmpint(lock(m, fid, 11, RD, 0, 0), ==, HELD);
        g_assert_cmpint(lock(m, fid, 11, WR, 6, 4), ==, OK);
        expect_host(t, "--wwwwwwww--");
        g_assert_cmpint(lock(m, fid, 10, RD, 2, 4), ==, OK);
        g_assert_cmpint(lock(m, fid, 11, RD, 0, 8), ==, OK);
        expect_host(t, "rrrrrrrrww--");
        g_assert_cmpint(lock(m, 1, 10, WR, 2, 1), ==, HELD);
        g_assert_cmpint(lock(m, fid, 10, UN, 0, 0), ==, OK);
        expect_host(t, "rrrrrrrrww--");
        g_assert_cmpint(lock(m, 1, 11, UN, 0, 0), ==, OK);
        expect_host(t, FREE);
    }
    mem_free(m);
}

static void test_clients(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);
    P9Rlock r;

    /* The same number of a process, of two clients */
    g_assert_cmpint(lock(m, 1, 10, WR, 0, 4), ==, OK);
    g_assert_cmpint(ASK(m, lock, &r, 1, WR, 0, 0, 4, 10, "other"), ==, 0);
    g_assert_cmpint(r.status, ==, HELD);
    mem_free(m);
}

static int lock_of(MemSession *m, const char *client, uint32_t proc, int type,
                   uint64_t start, uint64_t length)
{
    P9Rlock r;

    g_assert_cmpint(ASK(m, lock, &r, 1, type, 0, start, length, proc, client),
                    ==, 0);
    return r.status;
}

/*
 * Linux frees a lock for its own processes before it tells the server: the
 * next one's request may come first, and must not be refused.
 */
static void test_own(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);

    g_assert_cmpint(lock_of(m, "vm", 1, WR, 0, 6), ==, OK);
    g_assert_cmpint(lock_of(m, "vm", 2, WR, 4, 4), ==, OK);
    expect_host(t, "wwwwwwww----");
    g_assert_cmpint(lock_of(m, "vm", 1, UN, 0, 0), ==, OK);
    expect_host(t, "----wwww----");
    g_assert_cmpint(lock_of(m, "vm", 3, RD, 0, 6), ==, OK);
    g_assert_cmpint(lock_of(m, "other", 3, RD, 0, 2), ==, OK);
    g_assert_cmpint(lock_of(m, "other", 3, RD, 4, 1), ==, HELD);
    g_assert_cmpint(lock_of(m, "vm", 2, UN, 0, 0), ==, OK);
    g_assert_cmpint(lock_of(m, "other", 3, RD, 4, 1), ==, OK);
    g_assert_cmpint(lock_of(m, "vm", 3, UN, 0, 0), ==, OK);
    g_assert_cmpint(lock_of(m, "other", 3, UN, 0, 0), ==, OK);
    expect_host(t, FREE);
    mem_free(m);
}

static void test_getlock(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);
    P9Rgetlock r;

    g_assert_cmpint(lock(m, 1, 10, RD, 2, 4), ==, OK);
    g_assert_cmpint(lock(m, 2, 11, WR, 8, 0), ==, OK);
    r = getlock(m, 1, 12, WR, 0, 5);
    g_assert_cmpuint(r.type, ==, RD);
    g_assert_cmpuint(r.start, ==, 2);
    g_assert_cmpuint(r.length, ==, 4);
    g_assert_cmpuint(r.proc_id, ==, 10);
    g_assert_cmpstr(r.client_id, ==, "vm10");
    r = getlock(m, 1, 10, RD, 1000, 5);
    g_assert_cmpuint(r.type, ==, WR);
    g_assert_cmpuint(r.start, ==, 8);
    g_assert_cmpuint(r.length, ==, 0);
    g_assert_cmpuint(r.proc_id, ==, 11);
    /* Its own is not in the way, and neither is one that can be shared. */
    r = getlock(m, 1, 10, WR, 1, 5);
    g_assert_cmpuint(r.type, ==, UN);
    g_assert_cmpuint(r.start, ==, 1);
    g_assert_cmpuint(r.length, ==, 5);
    g_assert_cmpuint(r.proc_id, ==, 10);
    g_assert_cmpuint(getlock(m, 2, 12, RD, 0, 8).type, ==, UN);
    mem_free(m);
}

/* Ranges: what is held after each step, by one owner */

static void test_ranges(void)
{
    static const struct {
        int type;
        uint64_t start, length;
        const char *map;
    } steps[] = {
        { WR, 2, 8, "--wwwwwwww--" },
        { UN, 5, 2, "--www--www--" },       /* split */
        { RD, 0, 3, "rrrww--www--" },       /* downgraded in part */
        { WR, 5, 2, "rrrwwwwwww--" },       /* merged */
        { WR, 0, 4, "wwwwwwwwww--" },       /* upgraded */
        { RD, 4, 0, "wwwwrrrrrrrr" },       /* to the end */
        { UN, 6, 3, "wwwwrr---rrr" },
        { UN, 11, 1, "wwwwrr---rr-" },      /* and beyond: see below */
        { UN, 3, 7, "www-------r-" },
        { UN, 20, 5, "www-------r-" },      /* what is not held */
        { UN, 0, 0, FREE },
        { UN, 0, 0, FREE },
    };
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);

    for (int i = 0; i < ARRAY_SIZE(steps); i++) {
        g_assert_cmpint(lock(m, 1 + i % 2, 10, steps[i].type, steps[i].start,
                             steps[i].length), ==, OK);
        expect_host(t, steps[i].map);
        g_assert_cmpuint(getlock(m, 1, 11, WR, 1 << 20, 1).type, ==,
                         i >= 5 && i < 10 ? RD : UN);
    }
    mem_free(m);
}

/* Against a model that knows bytes only */

#define OWNERS  3

typedef struct Model {
    int held[OWNERS][BYTES];    /* UN, RD or WR */
} Model;

static bool model_conflict(const Model *model, int owner, int type, int start,
                           int end)
{
    for (int o = 0; o < OWNERS; o++) {
        for (int i = start; i < end && o != owner; i++) {
            if (model->held[o][i] != UN && type != UN &&
                (type == WR || model->held[o][i] == WR)) {
                return true;
            }
        }
    }
    return false;
}

static char *model_map(const Model *model)
{
    GString *map = g_string_new(NULL);

    for (int i = 0; i < BYTES; i++) {
        char c = '-';

        for (int o = 0; o < OWNERS; o++) {
            c = model->held[o][i] == WR ? 'w' :
                model->held[o][i] == RD ? 'r' : c;
        }
        g_string_append_c(map, c);
    }
    return g_string_free(map, false);
}

static void random_step(MemSession *m, Tree *t, Model *model)
{
    int owner = g_random_int_range(0, OWNERS);
    int type = g_random_int_range(RD, UN + 1);
    int start = g_random_int_range(0, BYTES);
    int end = g_random_int_range(start, BYTES) + 1;
    bool conflict = model_conflict(model, owner, type, start, end);
    g_autofree char *map = NULL;

    g_assert_cmpint(lock(m, g_random_int_range(1, 3), owner, type, start,
                         end - start), ==, conflict ? HELD : OK);
    for (int i = start; i < end && !conflict; i++) {
        model->held[owner][i] = type;
    }
    map = model_map(model);
    expect_host(t, map);
}

static void test_random(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);
    Model model;

    for (int o = 0; o < OWNERS; o++) {
        for (int i = 0; i < BYTES; i++) {
            model.held[o][i] = UN;
        }
    }
    for (int i = 0; i < 2000; i++) {
        random_step(m, t, &model);
    }
    mem_free(m);
}

/* Two devices, and programs of the host */

static void test_sessions(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *a = serve_file(t);
    MemSession *b = serve_file(t);
    P9Rgetlock r;

    g_assert_cmpint(lock(a, 1, 10, WR, 0, 4), ==, OK);
    g_assert_cmpint(lock(b, 1, 10, WR, 3, 1), ==, HELD);
    g_assert_cmpint(lock(b, 1, 10, RD, 0, 0), ==, HELD);
    g_assert_cmpint(lock(b, 1, 10, WR, 4, 1), ==, OK);
    r = getlock(b, 2, 10, WR, 0, 0);
    g_assert_cmpuint(r.type, ==, WR);
    g_assert_cmpuint(r.start, ==, 0);
    g_assert_cmpuint(r.length, ==, 4);
    g_assert_cmpstr(r.client_id, !=, "vm");

    /* Not upgraded while another one reads, and still its reader */
    g_assert_cmpint(lock(a, 1, 10, RD, 0, 4), ==, OK);
    g_assert_cmpint(lock(b, 1, 10, RD, 0, 4), ==, OK);
    g_assert_cmpint(lock(a, 1, 10, WR, 0, 4), ==, HELD);
    g_assert_cmpint(lock(b, 1, 10, UN, 0, 4), ==, OK);
    g_assert_cmpint(lock(b, 1, 10, WR, 0, 4), ==, HELD);
    mem_free(a);
    g_assert_cmpint(lock(b, 1, 10, WR, 0, 4), ==, OK);
    mem_free(b);
    expect_host(t, FREE);
}

/* A program of the host that locks bytes 2 to 5; ends when told so */
typedef struct HostProgram {
    pid_t pid;
    int tell;
} HostProgram;

static HostProgram host_program(Tree *t)
{
    g_autofree char *path = tree_path(t, "file");
    struct flock f = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 4,
    };
    int tell[2], hear[2];
    HostProgram p;
    char c = 0;

    g_assert_cmpint(pipe(tell), ==, 0);
    g_assert_cmpint(pipe(hear), ==, 0);
    p.pid = fork();
    if (p.pid == 0) {
        int fd = open(path, O_RDWR);

        close(tell[1]);
        c = fcntl(fd, F_SETLK, &f) == 0;
        if (write(hear[1], &c, 1) == 1 && read(tell[0], &c, 1) == 0) {
            _exit(0);
        }
        _exit(1);
    }
    close(tell[0]);
    close(hear[1]);
    g_assert_cmpint(read(hear[0], &c, 1), ==, 1);
    g_assert_cmpint(c, ==, 1);
    close(hear[0]);
    p.tell = tell[1];
    return p;
}

static void end_program(HostProgram *p)
{
    int status;

    close(p->tell);
    g_assert_cmpint(waitpid(p->pid, &status, 0), ==, p->pid);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_host_program(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);
    HostProgram p = host_program(t);
    P9Rgetlock r;

    g_assert_cmpint(lock(m, 1, 10, RD, 5, 10), ==, HELD);
    g_assert_cmpint(lock_flags(m, 1, 10, WR, 0, 0, P9_LOCK_FLAGS_BLOCK), ==,
                    HELD);
    g_assert_cmpint(lock(m, 1, 10, WR, 6, 10), ==, OK);
    r = getlock(m, 1, 10, RD, 0, 0);
    g_assert_cmpuint(r.type, ==, WR);
    g_assert_cmpuint(r.start, ==, 2);
    g_assert_cmpuint(r.length, ==, 4);
    g_assert_cmpuint(r.proc_id, ==, p.pid);
    end_program(&p);
    g_assert_cmpuint(getlock(m, 1, 10, WR, 0, 0).type, ==, UN);
    g_assert_cmpint(lock(m, 1, 10, WR, 0, 0), ==, OK);
    mem_free(m);
}

/* The end of locks */

static void test_clunk(void)
{
    g_autoptr(Tree) t = tree_with_file();
    unsigned before = open_descriptors();
    MemSession *m = serve_file(t);

    g_assert_cmpint(lock(m, 1, 10, WR, 0, 4), ==, OK);
    g_assert_cmpint(lock(m, 2, 11, RD, 6, 0), ==, OK);
    g_assert_cmpint(lock(m, 2, 10, RD, 8, 1), ==, OK);
    expect_host(t, "wwww--rrrrrr");
    g_assert_cmpint(clunk(m, 1), ==, 0);
    expect_host(t, "------rrrrrr");
    g_assert_cmpint(walk_open(m, 1, "file", P9_DOTL_RDWR), ==, 0);
    g_assert_cmpint(lock(m, 1, 12, WR, 0, 6), ==, OK);
    expect_host(t, "wwwwwwrrrrrr");
    g_assert_cmpint(clunk(m, 2), ==, 0);
    expect_host(t, "wwwwww------");
    g_assert_cmpint(CALL(m, remove, 1), ==, 0);
    mem_free(m);
    g_assert_cmpuint(open_descriptors(), ==, before);
}

static void test_reset(void)
{
    g_autoptr(Tree) t = tree_with_file();
    unsigned before = open_descriptors();
    MemSession *m = serve_file(t);

    g_assert_cmpint(lock(m, 1, 10, WR, 0, 4), ==, OK);
    g_assert_cmpint(lock(m, 2, 11, RD, 6, 0), ==, OK);
    mem_attach(m, 8192);
    expect_host(t, FREE);
    g_assert_cmpint(walk_open(m, 1, "file", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(lock(m, 1, 10, WR, 0, 4), ==, OK);
    expect_host(t, "wwww--------");
    v9fs_reset(&m->s);
    expect_host(t, FREE);
    mem_free(m);
    g_assert_cmpuint(open_descriptors(), ==, before);
}

/* Requests that are under way at once, and a fid that goes meanwhile */
static void test_at_once(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);
    MemRequest *r[30];
    unsigned granted = 0;

    for (int i = 0; i < ARRAY_SIZE(r); i++) {
        g_autofree char *client = client_of(i);
        P9Tlock l = { 2, WR, 0, 0, 0, 100, client };

        r[i] = i == 20 ? mem_send(m, i, P9_TCLUNK, &(P9Tclunk) { 1 }, 100)
                       : mem_send(m, i, P9_TLOCK, &l, 100);
    }
    for (int i = 0; i < ARRAY_SIZE(r); i++) {
        P9Rlock res;

        mem_wait(r[i]);
        g_assert_cmpint(mem_result(r[i], i == 20 ? NULL : &res), ==, 0);
        granted += i != 20 && res.status == OK;
        mem_request_free(r[i]);
    }
    g_assert_cmpuint(granted, ==, 1);
    expect_host(t, "wwwwwwwwwwww");
    mem_free(m);
    expect_host(t, FREE);
}

/* flock() belongs to the open file: a shell's processes take and release it. */
static void test_flock(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);

    g_assert_cmpint(flock_fid(m, 1, 10, WR), ==, OK);
    g_assert_cmpint(flock_fid(m, 2, 11, WR), ==, HELD);
    g_assert_cmpint(flock_fid(m, 1, 12, UN), ==, OK);
    expect_host(t, FREE);
    g_assert_cmpint(flock_fid(m, 2, 13, RD), ==, OK);
    g_assert_cmpint(flock_fid(m, 1, 14, RD), ==, OK);
    g_assert_cmpint(flock_fid(m, 2, 15, WR), ==, HELD);
    g_assert_cmpint(flock_fid(m, 1, 16, UN), ==, OK);
    expect_host(t, "rrrrrrrrrrrr");
    g_assert_cmpint(flock_fid(m, 2, 15, WR), ==, OK);
    expect_host(t, "wwwwwwwwwwww");
    /* What a child does with what it inherits leaves fcntl's locks alone. */
    g_assert_cmpint(lock(m, 2, 17, UN, 0, 0), ==, OK);
    expect_host(t, "wwwwwwwwwwww");
    mem_free(m);
}

/* Files */

static void test_names(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);
    P9Tlink hard = { 0, 2, "hard" };

    g_assert_cmpint(mem_call(m, P9_TLINK, &hard, NULL), ==, 0);
    g_assert_cmpint(walk_open(m, 3, "hard", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(lock(m, 1, 10, WR, 0, 4), ==, OK);
    g_assert_cmpint(lock(m, 3, 11, RD, 0, 4), ==, HELD);
    /* A file that has no name any more, and another one that has its name */
    g_assert_cmpint(CALL(m, unlinkat, 0, "file", 0), ==, 0);
    g_assert_cmpint(CALL(m, unlinkat, 0, "hard", 0), ==, 0);
    tree_write(t, "file", "new");
    g_assert_cmpint(lock(m, 3, 11, RD, 0, 4), ==, HELD);
    expect_host(t, FREE);
    g_assert_cmpint(walk_open(m, 4, "file", P9_DOTL_RDWR), ==, 0);
    g_assert_cmpint(lock(m, 4, 11, WR, 0, 4), ==, OK);
    g_assert_cmpint(lock(m, 1, 10, UN, 0, 4), ==, OK);
    expect_host(t, "wwww--------");
    g_assert_cmpint(lock(m, 3, 11, RD, 0, 4), ==, OK);
    mem_free(m);
}

/* flock() may lock what is open to read alone, or to write alone. */
static void test_access(void)
{
    static const uint32_t flags[] = { P9_DOTL_RDONLY, P9_DOTL_WRONLY };

    for (int i = 0; i < ARRAY_SIZE(flags); i++) {
        g_autoptr(Tree) t = tree_with_file();
        MemSession *m = tree_serve(t);

        g_assert_cmpint(walk_open(m, 1, "file", flags[i]), ==, 0);
        g_assert_cmpint(lock(m, 1, 10, WR, 0, 0), ==, OK);
        expect_host(t, "wwwwwwwwwwww");
        g_assert_cmpint(lock(m, 1, 10, RD, 0, 0), ==, OK);
        expect_host(t, "rrrrrrrrrrrr");
        mem_free(m);
    }
}

/* A new file that nobody may open once more */
static void test_no_permissions(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);

    g_assert_cmpint(clone_fid(m, 0, 1), ==, 0);
    g_assert_cmpint(CALL(m, lcreate, 1, "new", P9_DOTL_RDWR, 0), ==, 0);
    g_assert_cmpint(lock(m, 1, 10, RD, 0, 4), ==, OK);
    g_assert_cmpint(lock(m, 1, 10, WR, 2, 4), ==, OK);
    g_assert_cmpint(lock(m, 1, 11, RD, 5, 4), ==, HELD);
    mem_free(m);
}

static MemSession *serve_readonly(Tree *t)
{
    MemSession *m = mem_new(&v9fs_local_ops, t->path, V9FS_MODEL_NONE);

    m->exp.readonly = true;
    mem_start(m);
    mem_attach(m, 8192);
    return m;
}

/* The host's file is not opened to write for a guest that may not. */
static void test_readonly(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_readonly(t);

    g_assert_cmpint(walk_open(m, 1, "file", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(lock(m, 1, 10, RD, 0, 4), ==, OK);
    expect_host(t, "rrrr--------");
    g_assert_cmpint(lock(m, 1, 10, WR, 0, 4), ==, -EBADF);
    expect_host(t, "rrrr--------");
    mem_free(m);
}

static void test_directory(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);

    tree_mkdir(t, "dir");
    g_assert_cmpint(walk_open(m, 1, "dir", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(lock(m, 1, 10, RD, 0, 0), ==, OK);
    g_assert_cmpint(lock(m, 1, 10, WR, 0, 0), ==, -EBADF);
    g_assert_cmpint(clunk(m, 1), ==, 0);
    mem_free(m);
}

/* What cannot be */

static void test_errors(void)
{
    static const struct {
        int type;
        uint64_t start, length;
        int result;
    } bad[] = {
        { 3, 0, 1, -EINVAL },
        { WR, 1ull << 63, 1, -EINVAL },
        { WR, UINT64_MAX, 0, -EINVAL },
        { WR, INT64_MAX, 2, -EOVERFLOW },
        { UN, 1, 1ull << 63, -EOVERFLOW },
        { RD, 5, UINT64_MAX, -EOVERFLOW },
        /* Just right: the last byte that there can be */
        { WR, INT64_MAX, 1, OK },
        { WR, INT64_MAX, 0, OK },
        { WR, 0, 1ull << 63, OK },
        { UN, 0, 0, OK },
    };
    g_autoptr(Tree) t = tree_with_file();
    g_autofree char *long_id = g_strnfill(256, 'x');
    MemSession *m = serve_file(t);
    P9Rgetlock g;

    for (int i = 0; i < ARRAY_SIZE(bad); i++) {
        g_assert_cmpint(lock(m, 1, 10, bad[i].type, bad[i].start,
                             bad[i].length), ==, bad[i].result);
        g_assert_cmpint(ASK(m, getlock, &g, 1, bad[i].type, bad[i].start,
                            bad[i].length, 10, "vm"), ==, bad[i].result);
    }
    g_assert_cmpint(CALL(m, lock, 1, WR, 0, 0, 0, 1, long_id), ==,
                    -ENAMETOOLONG);
    g_assert_cmpint(lock_flags(m, 1, 10, WR, 0, 0, 4), ==, -EINVAL);
    g_assert_cmpint(lock(m, 0, 10, WR, 0, 0), ==, -EBADF);
    g_assert_cmpint(lock(m, 99, 10, WR, 0, 0), ==, -EBADF);
    expect_host(t, FREE);
    mem_free(m);
}

/* A guest cannot make the server keep locks without end. */
static void test_many(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);
    unsigned n = 0;
    int ret;

    while ((ret = lock(m, 1, 10, WR, 2 * n, 1)) == OK) {
        n++;
        g_assert_cmpuint(n, <, 1 << 20);
    }
    g_assert_cmpint(ret, ==, -ENOLCK);
    g_assert_cmpuint(n, >=, 1000);
    /* Holes would be more of them. */
    g_assert_cmpint(lock(m, 2, 10, UN, 0, 0), ==, OK);
    expect_host(t, FREE);
    g_assert_cmpint(lock(m, 1, 10, WR, 0, 1), ==, OK);
    mem_free(m);
}

static void test_off(void)
{
    g_autoptr(Tree) t = tree_with_file();
    MemSession *m = serve_file(t);

    m->exp.locks = false;
    g_assert_cmpint(lock(m, 1, 10, WR, 0, 0), ==, OK);
    g_assert_cmpint(lock(m, 2, 11, WR, 0, 0), ==, OK);
    g_assert_cmpuint(getlock(m, 2, 12, WR, 0, 0).type, ==, UN);
    expect_host(t, FREE);
    g_assert_cmpint(lock(m, 1, 10, 3, 0, 0), ==, -EINVAL);
    mem_free(m);
}

/* A driver that has no host behind it: among the guest's processes */
static void test_synth(void)
{
    MemSession *m = mem_new(&v9fs_synth_ops, NULL, V9FS_MODEL_UNSET);

    mem_start(m);
    mem_attach(m, 8192);
    for (uint32_t fid = 1; fid <= 2; fid++) {
        g_assert_cmpint(walk_open(m, fid, QTEST_V9FS_SYNTH_WRITE_FILE,
                                  P9_DOTL_RDWR), ==, 0);
    }
    g_assert_cmpint(lock(m, 1, 10, WR, 0, 4), ==, OK);
    g_assert_cmpint(lock(m, 2, 11, WR, 0, 4), ==, HELD);
    g_assert_cmpuint(getlock(m, 2, 11, RD, 0, 0).proc_id, ==, 10);
    g_assert_cmpint(clunk(m, 1), ==, 0);
    g_assert_cmpint(lock(m, 2, 11, WR, 0, 4), ==, OK);
    mem_free(m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    g_test_add_func("/9p/locks/owners", test_owners);
    g_test_add_func("/9p/locks/clients", test_clients);
    g_test_add_func("/9p/locks/own", test_own);
    g_test_add_func("/9p/locks/getlock", test_getlock);
    g_test_add_func("/9p/locks/ranges", test_ranges);
    g_test_add_func("/9p/locks/random", test_random);
    g_test_add_func("/9p/locks/sessions", test_sessions);
    g_test_add_func("/9p/locks/host-program", test_host_program);
    g_test_add_func("/9p/locks/clunk", test_clunk);
    g_test_add_func("/9p/locks/reset", test_reset);
    g_test_add_func("/9p/locks/at-once", test_at_once);
    g_test_add_func("/9p/locks/flock", test_flock);
    g_test_add_func("/9p/locks/names", test_names);
    g_test_add_func("/9p/locks/access", test_access);
    g_test_add_func("/9p/locks/no-permissions", test_no_permissions);
    g_test_add_func("/9p/locks/readonly", test_readonly);
    g_test_add_func("/9p/locks/directory", test_directory);
    g_test_add_func("/9p/locks/errors", test_errors);
    g_test_add_func("/9p/locks/many", test_many);
    g_test_add_func("/9p/locks/off", test_off);
    g_test_add_func("/9p/locks/synth", test_synth);
    return g_test_run();
}
