/*
 * System calls and crossings of a request, near the root and far from it
 *
 * A child serves itself; its parent counts (ptrace) what all threads of it
 * call between two calls of getppid(), which the server never makes.  Each
 * request is done once in place and once by a worker.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "qemu/main-loop.h"
#include "client.h"
#include "tree.h"

#define FAR         100
#define ROUNDS      5       /* the best counts: the host may be disturbed */
#define EXIT_NO_TRACE 77

enum { DIR_FID = 1, FILE_FID, LINK_FID, OPEN_FID, LIST_FID, NEW_FID, AUX_FID };

/* The requests in order; each finds what those before it have left. */

static void do_walk(MemSession *m)
{
    g_assert_cmpint(walk(m, DIR_FID, FILE_FID, "file"), ==, 0);
}

static void do_walk_link(MemSession *m)
{
    g_assert_cmpint(walk(m, DIR_FID, LINK_FID, "link"), ==, 0);
}

static void do_clone(MemSession *m)
{
    g_assert_cmpint(clone_fid(m, FILE_FID, OPEN_FID), ==, 0);
}

static void do_getattr(MemSession *m)
{
    g_assert_cmpint(CALL(m, getattr, FILE_FID, P9_GETATTR_BASIC), ==, 0);
}

static void do_statfs(MemSession *m)
{
    g_assert_cmpint(CALL(m, statfs, FILE_FID), ==, 0);
}

static void do_readlink(MemSession *m)
{
    g_assert_cmpint(CALL(m, readlink, LINK_FID), ==, 0);
}

static void do_no_xattr(MemSession *m)
{
    g_assert_cmpint(CALL(m, xattrwalk, FILE_FID, NEW_FID, "user.none"), <, 0);
}

static void do_setattr(MemSession *m)
{
    g_assert_cmpint(CALL(m, setattr, FILE_FID, P9_SETATTR_MODE, 0644), ==, 0);
}

static void do_lopen(MemSession *m)
{
    g_assert_cmpint(lopen(m, OPEN_FID, P9_DOTL_RDONLY), ==, 0);
}

static void do_lopen_rdwr(MemSession *m)
{
    g_assert_cmpint(lopen(m, OPEN_FID, P9_DOTL_RDWR), ==, 0);
}

static void do_read(MemSession *m)
{
    g_assert_cmpint(CALL(m, read, OPEN_FID, 0, 100), ==, 0);
}

static void do_write(MemSession *m)
{
    g_assert_cmpint(write_at(m, OPEN_FID, 0, "hello"), ==, 5);
}

static void do_getattr_open(MemSession *m)
{
    g_assert_cmpint(CALL(m, getattr, OPEN_FID, P9_GETATTR_BASIC), ==, 0);
}

static void do_fsync(MemSession *m)
{
    g_assert_cmpint(CALL(m, fsync, OPEN_FID, 0), ==, 0);
}

static void do_clunk_open(MemSession *m)
{
    g_assert_cmpint(clunk(m, OPEN_FID), ==, 0);
}

static void do_clunk(MemSession *m)
{
    g_assert_cmpint(clunk(m, FILE_FID), ==, 0);
}

static void do_clone_dir(MemSession *m)
{
    g_assert_cmpint(clone_fid(m, DIR_FID, LIST_FID), ==, 0);
}

static void do_lopen_dir(MemSession *m)
{
    g_assert_cmpint(lopen(m, LIST_FID, P9_DOTL_RDONLY), ==, 0);
}

static void do_readdir(MemSession *m)
{
    g_assert_cmpint(CALL(m, readdir, LIST_FID, 0, 4096), ==, 0);
}

static void do_clunk_dir(MemSession *m)
{
    g_assert_cmpint(clunk(m, LIST_FID), ==, 0);
}

static void do_clone_new(MemSession *m)
{
    g_assert_cmpint(clone_fid(m, DIR_FID, NEW_FID), ==, 0);
}

static void do_lcreate(MemSession *m)
{
    g_assert_cmpint(CALL(m, lcreate, NEW_FID, "new", P9_DOTL_RDWR, 0600),
                    ==, 0);
}

static void do_clunk_new(MemSession *m)
{
    g_assert_cmpint(clunk(m, NEW_FID), ==, 0);
}

static void do_rename(MemSession *m)
{
    g_assert_cmpint(CALL(m, renameat, DIR_FID, "new", DIR_FID, "old"), ==, 0);
}

static void do_unlink(MemSession *m)
{
    g_assert_cmpint(CALL(m, unlinkat, DIR_FID, "old"), ==, 0);
}

static void do_mkdir(MemSession *m)
{
    g_assert_cmpint(CALL(m, mkdir, DIR_FID, "sub", 0755), ==, 0);
}

static void do_rmdir(MemSession *m)
{
    g_assert_cmpint(CALL(m, unlinkat, DIR_FID, "sub", P9_DOTL_AT_REMOVEDIR),
                    ==, 0);
}

static void do_symlink(MemSession *m)
{
    g_assert_cmpint(CALL(m, symlink, DIR_FID, "s", "target"), ==, 0);
}

static void do_remove(MemSession *m)
{
    g_assert_cmpint(CALL(m, remove, AUX_FID), ==, 0);
}

static void do_mknod(MemSession *m)
{
    g_assert_cmpint(CALL(m, mknod, DIR_FID, "p", S_IFIFO | 0600), ==, 0);
}

static void do_unlink_fifo(MemSession *m)
{
    g_assert_cmpint(CALL(m, unlinkat, DIR_FID, "p"), ==, 0);
}

static void do_walk_symlink(MemSession *m)
{
    g_assert_cmpint(walk(m, DIR_FID, AUX_FID, "s"), ==, 0);
}

static void do_link(MemSession *m)
{
    g_assert_cmpint(CALL(m, link, DIR_FID, LINK_FID, "hard"), ==, 0);
}

static void do_unlink_hard(MemSession *m)
{
    g_assert_cmpint(CALL(m, unlinkat, DIR_FID, "hard"), ==, 0);
}

static void do_clunk_link(MemSession *m)
{
    g_assert_cmpint(clunk(m, LINK_FID), ==, 0);
}

/*
 * The most system calls that each may take, in place and by a worker.  What
 * can be done in place crosses to no worker.
 */
static const struct Step {
    const char *what;
    void (*ask)(MemSession *m);
    unsigned in_place, in_worker;
    unsigned crossings;                 /* in place; at most 1 by a worker */
} steps[] = {
    { "walk, one name", do_walk, 3, 1, 0 },
    { "walk, no name", do_clone, 0, 0, 0 },
    { NULL, do_walk_link, 3, 1, 0 },
    { "getattr", do_getattr, 3, 1, 0 },
    { "statfs", do_statfs, 3, 3, 0 },
    { "readlink", do_readlink, 4, 1, 0 },
    { "xattrwalk, absent", do_no_xattr, 3, 1, 0 },
    { "setattr, mode", do_setattr, 3, 1, 1 },
    { "lopen, file", do_lopen, 4, 4, 0 },
    { "read", do_read, 1, 1, 0 },
    { "getattr, open", do_getattr_open, 1, 1, 0 },
    { "clunk, open file", do_clunk_open, 2, 1, 0 },
    { NULL, do_clone, 0, 0, 0 },
    { "lopen, to write", do_lopen_rdwr, 4, 4, 1 },
    { "write", do_write, 2, 2, 1 },
    { "fsync", do_fsync, 1, 1, 1 },
    { "clunk, written file", do_clunk_open, 2, 1, 1 },
    { "clunk, not open", do_clunk, 0, 0, 0 },
    { NULL, do_clone_dir, 0, 0, 0 },
    { "lopen, directory", do_lopen_dir, 4, 4, 0 },
    { "readdir", do_readdir, 3, 3, 1 },
    { "clunk, directory", do_clunk_dir, 2, 1, 0 },
    { NULL, do_clone_new, 0, 0, 0 },
    { "lcreate", do_lcreate, 2, 2, 1 },
    { NULL, do_clunk_new, 2, 1, 1 },
    { "renameat", do_rename, 2, 1, 1 },
    { "unlinkat, file", do_unlink, 4, 1, 1 },
    { "mkdir", do_mkdir, 2, 2, 1 },
    { "unlinkat, directory", do_rmdir, 4, 1, 1 },
    { "symlink", do_symlink, 2, 2, 1 },
    { NULL, do_walk_symlink, 3, 1, 0 },
    { "remove", do_remove, 7, 4, 1 },
    { "mknod", do_mknod, 2, 2, 1 },
    { NULL, do_unlink_fifo, 4, 1, 1 },
    { "link", do_link, 1, 1, 1 },
    { NULL, do_unlink_hard, 4, 1, 1 },
    { NULL, do_clunk_link, 0, 0, 0 },
};

#define NSTEPS ARRAY_SIZE(steps)

/* What one depth in one mode cost; crossings are told by the child. */
typedef struct Cost {
    unsigned calls[NSTEPS];
    uint64_t crossings[NSTEPS];
} Cost;

static void mark(void)
{
    syscall(SYS_getppid);
}

static void go_down(MemSession *m, int depth)
{
    g_assert_cmpint(clone_fid(m, 0, DIR_FID), ==, 0);
    for (int i = 0; i < depth; i++) {
        g_assert_cmpint(walk(m, DIR_FID, DIR_FID, "d"), ==, 0);
    }
}

static void ask_all(MemSession *m, Cost *cost)
{
    for (int i = 0; i < NSTEPS; i++) {
        uint64_t before = all_crossings(m);

        /* A traced call takes long: that says nothing of the host. */
        m->s.try.wasted = m->s.try.skip = 0;
        mark();
        steps[i].ask(m);
        while (m->s.closing) {
            aio_poll(qemu_get_aio_context(), true);
        }
        mark();
        cost->crossings[i] = all_crossings(m) - before;
    }
}

/* The traced child; the first round is not for counting but fills caches */
static void child(Tree *t, int mode, int depth, Cost *cost)
{
    MemSession *m;

    if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0) {
        _exit(EXIT_NO_TRACE);
    }
    raise(SIGSTOP);
    m = tree_serve(t);
    m->s.try.mode = mode;
    go_down(m, depth);
    for (int i = 0; i <= ROUNDS; i++) {
        ask_all(m, cost);
    }
    _exit(0);
}

/* Whether a call has to do with files, not with memory, threads and events */
static bool is_of_interest(uint64_t nr)
{
    static const uint64_t others[] = {
        SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_futex,
        SYS_rt_sigprocmask, SYS_sigaltstack, SYS_gettid, SYS_getpid,
        SYS_sched_yield, SYS_sched_getaffinity, SYS_prctl, SYS_clone3,
        SYS_clone, SYS_set_robust_list, SYS_rseq, SYS_exit, SYS_tgkill,
        /* The event loop and its eventfd; files have offsets of their own. */
        SYS_ppoll, SYS_read, SYS_write,
    };

    for (int i = 0; i < ARRAY_SIZE(others); i++) {
        if (nr == others[i]) {
            return false;
        }
    }
    return true;
}

typedef struct Counter {
    unsigned marks;
    Cost *cost;
} Counter;

static void count_call(Counter *c, uint64_t nr)
{
    unsigned step = c->marks / 2 % NSTEPS;

    if (nr == SYS_getppid) {
        c->marks++;
    } else if (c->marks % 2 && is_of_interest(nr)) {
        c->cost[c->marks / 2 / NSTEPS].calls[step]++;
    }
}

/* Lets a thread go on to its next call; what stopped it may be a signal */
static void resume(pid_t tid, int status)
{
    int sig = WSTOPSIG(status);

    if (sig == SIGSTOP || (sig & 0x7f) == SIGTRAP) {
        sig = 0;
    }
    ptrace(PTRACE_SYSCALL, tid, 0, sig);
}

/* Counts the calls of all threads of the child; false if it has no tracer */
static bool count_calls(pid_t pid, Cost *cost)
{
    Counter c = { .cost = cost };
    int status;

    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_TRACE) {
        return false;
    }
    ptrace(PTRACE_SETOPTIONS, pid, 0,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    resume(pid, status);
    for (;;) {
        struct __ptrace_syscall_info info;
        pid_t tid = waitpid(-1, &status, __WALL);

        g_assert_cmpint(tid, >, 0);
        if (WIFSTOPPED(status)) {
            if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
                ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) > 0
                && info.op == PTRACE_SYSCALL_INFO_ENTRY) {
                count_call(&c, info.entry.nr);
            }
            resume(tid, status);
        } else if (tid == pid) {
            break;
        }
    }
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 0);
    g_assert_cmpuint(c.marks, ==, 2 * NSTEPS * (ROUNDS + 1));
    return true;
}

/* The least that each step took in any round but the first */
static Cost least(const Cost *cost)
{
    Cost best = cost[1];

    for (int i = 2; i <= ROUNDS; i++) {
        for (int j = 0; j < NSTEPS; j++) {
            best.calls[j] = MIN(best.calls[j], cost[i].calls[j]);
        }
    }
    return best;
}

/* false: nothing can be counted here */
static bool measure(Tree *t, int mode, int depth, Cost *best)
{
    g_autofree Cost *cost = g_new0(Cost, ROUNDS + 1);
    Cost *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid;
    bool ok;

    g_assert_true(told != MAP_FAILED);
    pid = fork();
    if (!pid) {
        child(t, mode, depth, told);
    }
    ok = count_calls(pid, cost);
    *best = least(cost);
    memcpy(best->crossings, told->crossings, sizeof(told->crossings));
    munmap(told, sizeof(*told));
    return ok;
}

static Tree *make_tree(void)
{
    Tree *t = tree_new();
    g_autoptr(GString) path = g_string_new("");

    for (int i = 0; i < FAR; i++) {
        g_autofree char *file = NULL;
        g_autofree char *link = NULL;

        g_string_append(path, i ? "/d" : "d");
        tree_mkdir(t, path->str);
        file = g_strconcat(path->str, "/file", NULL);
        tree_write(t, file, "hello");
        link = g_strdup_printf("%s/%s/link", t->path, path->str);
        g_assert_cmpint(symlink("target", link), ==, 0);
    }
    return t;
}

/* Whether the file system under the tree has calls that do not wait */
static bool can_try(Tree *t)
{
    int fds[2];
    char yes = 0;
    pid_t pid;

    /* In a child: one that has had threads must not fork. */
    g_assert_cmpint(pipe(fds), ==, 0);
    pid = fork();
    if (!pid) {
        yes = tree_serve(t)->s.fs.root.nowait != 0;
        _exit(write(fds[1], &yes, 1) != 1);
    }
    g_assert_cmpint(read(fds[0], &yes, 1), ==, 1);
    g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
    close(fds[0]);
    close(fds[1]);
    return yes;
}

static void check_costs(bool in_place, const Cost *near, const Cost *far)
{
    for (int i = 0; i < NSTEPS; i++) {
        const struct Step *s = &steps[i];
        unsigned most = in_place ? s->in_place : s->in_worker;

        if (s->what) {
            g_test_message("cost\t%s\t%s\t%u\t%u",
                           in_place ? "place" : "worker", s->what,
                           (unsigned)near->crossings[i], near->calls[i]);
        }
        g_assert_cmpuint(far->calls[i], ==, near->calls[i]);
        g_assert_cmpuint(near->calls[i], <=, most);
        g_assert_cmpuint(near->crossings[i], <=, in_place ? s->crossings : 1);
        g_assert_cmpuint(far->crossings[i], ==, near->crossings[i]);
    }
}

static void test_costs(const void *opaque)
{
    int mode = GPOINTER_TO_INT(opaque);
    g_autoptr(Tree) t = make_tree();
    Cost near, far;

    if (mode == V9FS_TRY_ON && !can_try(t)) {
        g_test_skip("nothing can be tried on TMPDIR's file system");
        return;
    }
    if (!measure(t, mode, 1, &near) || !measure(t, mode, FAR, &far)) {
        g_test_skip("no process may be traced here");
        return;
    }
    check_costs(mode == V9FS_TRY_ON, &near, &far);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    g_test_add_data_func("/9p/syscalls/in-place",
                         GINT_TO_POINTER(V9FS_TRY_ON), test_costs);
    g_test_add_data_func("/9p/syscalls/in-worker",
                         GINT_TO_POINTER(V9FS_TRY_OFF), test_costs);
    return g_test_run();
}
