/*
 * System calls of a request: the same near the root and far from it
 *
 * A child serves itself, with requests done in place so that all its calls
 * are made by one thread; its parent counts them (ptrace) between two calls
 * of getppid(), which the server never makes.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "memory-transport.h"
#include "tree.h"

#define DEPTH       100
#define DIR_FID     1
#define EXIT_NO_TRACE 77
#define FILE_FID    2

static void mark(void)
{
    syscall(SYS_getppid);
}

#define CALL(m, name, number, ...) do { \
    P9T##name t_ = { __VA_ARGS__ }; \
    g_assert_cmpint(mem_call(m, number, &t_, NULL), ==, 0); \
} while (0)

static void go_down(MemSession *m, int depth)
{
    P9Twalk walk = { 0, DIR_FID };

    CALL(m, walk, P9_TWALK, 0, DIR_FID);
    for (int i = 0; i < depth; i++) {
        walk = (P9Twalk) { DIR_FID, DIR_FID, { 1, { "d" } } };
        g_assert_cmpint(mem_call(m, P9_TWALK, &walk, NULL), ==, 0);
    }
}

/* A request of each kind; each round is between two marks. */
static void requests(MemSession *m, bool count)
{
    static const char *const name = "file";

    for (int kind = 0; kind < 7; kind++) {
        if (count) {
            mark();
        }
        switch (kind) {
        case 0:
            CALL(m, walk, P9_TWALK, DIR_FID, FILE_FID, { 1, { name } });
            break;
        case 1:
            CALL(m, getattr, P9_TGETATTR, FILE_FID, P9_GETATTR_BASIC);
            break;
        case 2:
            CALL(m, statfs, P9_TSTATFS, FILE_FID);
            break;
        case 3:
            CALL(m, lopen, P9_TLOPEN, FILE_FID, P9_DOTL_RDONLY);
            break;
        case 4:
            CALL(m, read, P9_TREAD, FILE_FID, 0, 100);
            break;
        case 5:
            CALL(m, getattr, P9_TGETATTR, FILE_FID, P9_GETATTR_BASIC);
            break;
        case 6:
            CALL(m, clunk, P9_TCLUNK, FILE_FID);
            break;
        }
    }
    if (count) {
        mark();
    }
}

/* The traced child: all requests at depth 1, and again far down */
static void child(Tree *t)
{
    MemSession *m = tree_serve(t);

    m->s.try.mode = V9FS_TRY_ON;
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0) {
        _exit(EXIT_NO_TRACE);
    }
    raise(SIGSTOP);
    for (int depth = 1; depth <= DEPTH; depth += DEPTH - 1) {
        go_down(m, depth);
        requests(m, false);
        requests(m, true);
        CALL(m, clunk, P9_TCLUNK, DIR_FID);
    }
    _exit(0);
}

/* Whether a call has to do with files, not with memory and threads */
static bool is_of_interest(uint64_t nr)
{
    static const uint64_t others[] = {
        SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_futex,
        SYS_rt_sigprocmask, SYS_sigaltstack, SYS_gettid, SYS_getpid,
        SYS_sched_yield,
    };

    for (int i = 0; i < ARRAY_SIZE(others); i++) {
        if (nr == others[i]) {
            return false;
        }
    }
    return true;
}

/* Calls of the child in each gap between two marks; 0 if it has no tracer */
static unsigned count_gaps(pid_t pid, unsigned *gap, unsigned most)
{
    unsigned n = 0;
    int status;

    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_TRACE) {
        return 0;
    }
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD);
    for (;;) {
        struct __ptrace_syscall_info info;

        if (ptrace(PTRACE_SYSCALL, pid, 0, 0) < 0 ||
            waitpid(pid, &status, 0) != pid || WIFEXITED(status)) {
            break;
        }
        if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0 &&
            info.op == PTRACE_SYSCALL_INFO_ENTRY) {
            if (info.entry.nr == SYS_getppid && n < most) {
                gap[n++] = 0;
            } else if (n && is_of_interest(info.entry.nr)) {
                gap[n - 1]++;
            }
        }
    }
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return n;
}

static void make_tree(Tree *t)
{
    g_autoptr(GString) path = g_string_new("");

    for (int i = 0; i < DEPTH; i++) {
        g_autofree char *file = NULL;

        g_string_append(path, i ? "/d" : "d");
        tree_mkdir(t, path->str);
        file = g_strconcat(path->str, "/file", NULL);
        tree_write(t, file, "hello");
    }
}

static void test_depth(void)
{
    /* walk, getattr, statfs, lopen, read, getattr (open), clunk */
    static const unsigned most[] = { 3, 3, 3, 6, 2, 1, 3 };
    g_autoptr(Tree) t = tree_new();
    MemSession *probe = tree_serve(t);
    bool can_try = probe->s.fs.root.nowait;
    unsigned gap[16], n;
    pid_t pid;

    mem_free(probe);
    if (!can_try) {
        g_test_skip("nothing can be tried on TMPDIR's file system");
        return;
    }
    make_tree(t);
    pid = fork();
    if (!pid) {
        child(t);
    }
    n = count_gaps(pid, gap, ARRAY_SIZE(gap));
    if (!n) {
        g_test_skip("no process may be traced here");
        return;
    }
    g_assert_cmpuint(n, ==, ARRAY_SIZE(gap));
    for (int i = 0; i < ARRAY_SIZE(most); i++) {
        g_assert_cmpuint(gap[8 + i], ==, gap[i]);
        g_assert_cmpuint(gap[i], >, 0);
        g_assert_cmpuint(gap[i], <=, most[i]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    g_test_add_func("/9p/syscalls/depth", test_depth);
    return g_test_run();
}
