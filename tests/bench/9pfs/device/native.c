/*
 * Benchmark: the same work by bare system calls, as the limit to compare with
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include "qemu/atomic.h"
#include "qemu/error-report.h"
#include "qemu/processor.h"
#include "device.h"

/* What looking at the clock costs, which is no part of the work */
static int64_t clock_cost = INT64_MAX;

/*
 * The least that a server that sleeps in poll() costs: an eventfd is written
 * here, and read by another thread, which answers in memory.
 */
static int echo_fd;
static unsigned echo_answers;

static void *echo_thread(void *unused)
{
    struct pollfd p = { .fd = echo_fd, .events = POLLIN };
    uint64_t value;

    for (;;) {
        if (poll(&p, 1, -1) > 0 && read(echo_fd, &value, 8) == 8) {
            qatomic_inc(&echo_answers);
        }
    }
    return NULL;
}

void native_init(void)
{
    pthread_t thread;

    for (int i = 0; i < 2000; i++) {
        int64_t start = get_clock();

        clock_cost = MIN(clock_cost, get_clock() - start);
    }
    echo_fd = eventfd(0, EFD_CLOEXEC);
    if (echo_fd < 0 || pthread_create(&thread, NULL, echo_thread, NULL)) {
        error_report("cannot start a thread");
        exit(1);
    }
    pthread_detach(thread);
}

int native_noop(Native *n)
{
    unsigned before = qatomic_read(&echo_answers);
    uint64_t one = 1;

    if (write(echo_fd, &one, 8) != 8) {
        return -1;
    }
    for (unsigned i = 0; qatomic_load_acquire(&echo_answers) == before; i++) {
        cpu_relax();
        if (i > 100000) {
            sched_yield();
        }
    }
    return 0;
}

static int look_at(int dir, const char *path)
{
    struct stat st;

    return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW);
}

int native_getattr(Native *n)
{
    return look_at(n->root, "file");
}

int native_getattr_deep(Native *n)
{
    return look_at(n->root, n->deep);
}

int native_walk_deep(Native *n)
{
    if (n->dir < 0) {
        g_autofree char *dir = g_path_get_dirname(n->deep);

        n->dir = openat(n->root, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    return look_at(n->dir, "leaf");
}

/* What a walk does: a look at each directory on the way */
int native_walk16(Native *n)
{
    g_autofree char *path = g_strdup(n->deep);
    char *end = path;

    for (int i = 0; i < P9_MAXWELEM; i++) {
        int failed;

        end = strchr(end, '/');
        *end = '\0';
        failed = look_at(n->root, path);
        *end++ = '/';
        if (failed) {
            return -1;
        }
    }
    return 0;
}

int native_open(Native *n)
{
    int fd = openat(n->root, "file", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    return fd < 0 ? -1 : close(fd);
}

int native_create(Native *n)
{
    int fd = openat(n->root, "work/native",
                    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (fd < 0 || pwrite(fd, n->buf, 100, 0) != 100 || close(fd)) {
        return -1;
    }
    return unlinkat(n->root, "work/native", 0);
}

static off_t next_offset(Native *n)
{
    return n->turn % (DATA_SIZE / n->w->arg) * n->w->arg;
}

int native_read(Native *n)
{
    if (n->fd < 0) {
        n->fd = openat(n->root, "rdata", O_RDONLY | O_CLOEXEC);
    }
    return pread(n->fd, n->buf, n->w->arg, next_offset(n)) == n->w->arg ? 0 :
           -1;
}

int native_write(Native *n)
{
    if (n->fd < 0) {
        n->fd = openat(n->root, "wdata.A", O_RDWR | O_CLOEXEC);
    }
    return pwrite(n->fd, n->buf, n->w->arg, next_offset(n)) == n->w->arg ? 0 :
           -1;
}

int native_readdir(Native *n)
{
    g_autofree char *name = g_strdup_printf("many%u", n->w->arg);
    int fd = openat(n->root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long got;

    if (fd < 0) {
        return -1;
    }
    do {
        got = syscall(SYS_getdents64, fd, n->buf, n->w->msize - 24);
    } while (got > 0);
    close(fd);
    return got;
}

int native_readlink(Native *n)
{
    return readlinkat(n->root, "hostlink", (char *)n->buf, 256) > 0 ? 0 : -1;
}

int native_statfs(Native *n)
{
    struct statfs st;

    return fstatfs(n->root, &st);
}

int native_xattr(Native *n)
{
    if (!n->path) {
        n->path = tree_path(n->w->export, "file");
    }
    return lgetxattr(n->path, "security.capability", n->buf, 64) < 0 ? 0 : -1;
}

int native_rename(Native *n)
{
    const char *names[] = { "work/native.a", "work/native.b" };
    int from = n->flipped;

    if (!n->turn && mknodat(n->root, names[from], S_IFREG | 0644, 0)) {
        return -1;
    }
    n->flipped = !n->flipped;
    return renameat(n->root, names[from], n->root, names[!from]);
}

int native_mkdir(Native *n)
{
    return mkdirat(n->root, "work/native", 0755) ?:
           unlinkat(n->root, "work/native", AT_REMOVEDIR);
}

static bool run_for(Native *n, int64_t budget_ns, GArray *ns)
{
    int64_t begin = get_clock(), start = begin, end;

    for (n->turn = 0; n->turn < 2 || start < begin + budget_ns; n->turn++) {
        start = get_clock();
        if (n->w->script->native(n)) {
            return false;
        }
        end = get_clock();
        /* The first time warms caches, and opens what is used */
        if (n->turn) {
            samples_add(ns, MAX(end - start - clock_cost, 0));
        }
        while (n->w->script == scripts &&
               get_clock() - end < opt.gap_us * SCALE_US) {
            cpu_relax();
        }
    }
    return true;
}

static void close_if_open(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

bool native_run(const Workload *w, int64_t budget_ns, GArray *ns)
{
    g_autofree char *root = tree_path(w->export, ".");
    g_autofree char *chain = g_strjoinv("/", (char **)chain_names);
    g_autofree uint8_t *buf = g_malloc0(MAX(opt.msize, MiB));
    Native n = {
        .w = w, .buf = buf, .fd = -1, .dir = -1,
        .root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
    };
    bool ok;

    n.deep = g_strconcat(chain, "/leaf", NULL);
    ok = run_for(&n, budget_ns, ns);
    if (!ok) {
        warn_report("%s on the host: %s", w->name, strerror(errno));
    }
    unlinkat(n.root, "work/native.a", 0);
    unlinkat(n.root, "work/native.b", 0);
    unlinkat(n.root, "work/native", 0);
    close_if_open(n.root);
    close_if_open(n.dir);
    close_if_open(n.fd);
    g_free(n.deep);
    g_free(n.path);
    return ok;
}
