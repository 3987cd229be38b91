/*
 * Benchmark: listing a directory through the 9p server
 *
 *   bench-9p-readdir [--dir DIR]... [--max ENTRIES] [--ms MILLISECONDS] [--once]
 *
 * Lists directories of 100 entries and more through the whole server, on a
 * transport made of memory: the synthetic driver, and the local one in each
 * DIR.  Next to it stands what the host's own getdents64 loop takes for the
 * same directory.  Prints a row of tab-separated values for each, of the
 * fastest of many listings.
 *
 * With --once each directory is listed once, between two calls of getppid():
 * strace then shows what system calls a listing makes (scripts/bench).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <dirent.h>
#include <malloc.h>
#include <sys/syscall.h>
#include "qemu/timer.h"
#include "qemu/units.h"
#include "hw/9pfs/9p-synth.h"
#include "memory-transport.h"

#define DIR_FID     1

static gint64 max_entries = 100000;
static gint64 budget_ms = 200;
static gboolean once;
static gchar **dirs;

static const GOptionEntry options[] = {
    { "dir", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &dirs,
      "make test directories here", "DIR" },
    { "max", 0, 0, G_OPTION_ARG_INT64, &max_entries,
      "entries of the largest directory", "N" },
    { "ms", 0, 0, G_OPTION_ARG_INT64, &budget_ms,
      "time for each measurement", "MS" },
    { "once", 0, 0, G_OPTION_ARG_NONE, &once,
      "one listing of each, between two calls of getppid", NULL },
    { NULL }
};

/* Allocations of this process, all threads */
static unsigned long allocations;

void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
    qatomic_inc(&allocations);
    return __libc_malloc(size);
}

/* What one listing takes */
typedef struct Cost {
    int64_t ns;
    uint64_t crossings, requests;
    unsigned long allocations;
    unsigned entries;
} Cost;

static unsigned count_entries(const uint8_t *data, uint32_t size,
                              uint64_t *offset)
{
    unsigned n;
    P9Dirent ent;

    for (n = 0; size; n++) {
        size_t len = p9_get_dirent(data, size, &ent);

        data += len;
        size -= len;
        *offset = ent.offset;
    }
    return n;
}

static Cost list_once(MemSession *m, uint32_t msize)
{
    V9fsCounters *c = &m->s.stats.type[P9_TREADDIR];
    Cost cost = {
        .crossings = -c->crossings, .requests = -c->requests,
        .allocations = -allocations,
    };
    P9Treaddir t = { DIR_FID, 0, msize - P9_READ_HDRSZ };
    P9Rreaddir got;
    int64_t start = get_clock();

    do {
        if (once) {
            /* A tracer makes tries in place slow, which must not end them */
            m->s.try.wasted = m->s.try.skip = 0;
        }
        g_assert_cmpint(mem_call(m, P9_TREADDIR, &t, &got), ==, 0);
        cost.entries += count_entries(m->last->in + got.data.at,
                                      got.data.count, &t.offset);
    } while (got.data.count);
    cost.ns = get_clock() - start;
    cost.crossings += c->crossings;
    cost.requests += c->requests;
    cost.allocations += allocations;
    return cost;
}

static Cost list_best(MemSession *m, uint32_t msize)
{
    int64_t end = get_clock() + budget_ms * SCALE_MS;
    Cost best = list_once(m, msize);

    do {
        Cost cost = list_once(m, msize);

        if (cost.ns < best.ns) {
            best = cost;
        }
    } while (get_clock() < end);
    return best;
}

static Cost list_marked(MemSession *m, uint32_t msize)
{
    Cost cost;

    /* Threads are started, and caches filled, by another one */
    list_once(m, msize);
    getppid();
    cost = list_once(m, msize);
    getppid();
    return cost;
}

static int64_t host_once(const char *path)
{
    char buf[32 * KiB] QEMU_ALIGNED(8);
    int64_t start = get_clock();
    int fd = open(path, O_RDONLY | O_DIRECTORY);

    g_assert_cmpint(fd, >=, 0);
    while (syscall(SYS_getdents64, fd, buf, sizeof(buf)) > 0) {
        /* Only what the kernel takes */
    }
    close(fd);
    return get_clock() - start;
}

static int64_t host_best(const char *path)
{
    int64_t end = get_clock() + budget_ms * SCALE_MS;
    int64_t best = INT64_MAX;

    while (get_clock() < end) {
        best = MIN(best, host_once(path));
    }
    return best;
}

static void print_row(const char *driver, const char *where, unsigned entries,
                      uint32_t msize, const Cost *c, int64_t host_ns)
{
    printf("%s\t%s\t%u\t%u\t%" PRId64 "\t%.1f\t%" PRIu64 "\t%" PRIu64
           "\t%lu\t%.3f\t", driver, where, entries, msize, c->ns,
           (double)c->ns / c->entries, c->requests, c->crossings,
           c->allocations, (double)c->allocations / c->requests);
    if (host_ns) {
        printf("%" PRId64 "\t%.2f\n", host_ns, (double)c->ns / host_ns);
    } else {
        printf("-\t-\n");
    }
    fflush(stdout);
}

static void open_dir(MemSession *m, uint32_t msize, const char *name)
{
    P9Twalk walk = { 0, DIR_FID, { 1, { name } } };
    P9Tlopen open = { DIR_FID, P9_DOTL_RDONLY | P9_DOTL_DIRECTORY };

    mem_attach(m, msize);
    g_assert_cmpint(mem_call(m, P9_TWALK, &walk, NULL), ==, 0);
    g_assert_cmpint(mem_call(m, P9_TLOPEN, &open, NULL), ==, 0);
}

static void bench(MemSession *m, const char *driver, const char *where,
                  const char *name, unsigned entries, int64_t host_ns)
{
    static const uint32_t msizes[] = { 8192, 131072, 512000 };

    for (int i = 0; i < ARRAY_SIZE(msizes); i++) {
        Cost cost;

        open_dir(m, msizes[i], name);
        cost = once ? list_marked(m, msizes[i]) : list_best(m, msizes[i]);
        g_assert_cmpuint(cost.entries, ==, entries + 2);
        print_row(driver, where, entries, msizes[i], &cost, host_ns);
    }
}

static void bench_synth(unsigned entries)
{
    MemSession *m = mem_new(&v9fs_synth_ops, NULL, V9FS_MODEL_UNSET);
    V9fsSynthNode *dir;

    mem_start(m);
    g_assert_cmpint(v9fs_synth_mkdir(&m->s.fs, NULL, "bench", 0755, &dir), ==,
                    0);
    for (unsigned i = 0; i < entries; i++) {
        g_autofree char *name = g_strdup_printf("file%06u", i);

        v9fs_synth_add_file(&m->s.fs, dir, name, 0644, NULL, NULL);
    }
    bench(m, "synth", "-", "bench", entries, 0);
    mem_free(m);
}

static void bench_local(const char *where, unsigned entries)
{
    g_autofree char *top = g_build_filename(where, "9p-bench.XXXXXX", NULL);
    g_autofree char *dir = NULL;
    MemSession *m;

    g_assert_nonnull(g_mkdtemp(top));
    dir = g_build_filename(top, "bench", NULL);
    g_assert_cmpint(mkdir(dir, 0755), ==, 0);
    for (unsigned i = 0; i < entries; i++) {
        g_autofree char *path = g_strdup_printf("%s/file%06u", dir, i);

        close(open(path, O_CREAT | O_WRONLY, 0644));
    }
    m = mem_new(&v9fs_local_ops, top, V9FS_MODEL_NONE);
    mem_start(m);
    bench(m, "local", where, "bench", entries, once ? 0 : host_best(dir));
    mem_free(m);
    for (unsigned i = 0; i < entries; i++) {
        g_autofree char *path = g_strdup_printf("%s/file%06u", dir, i);

        unlink(path);
    }
    rmdir(dir);
    rmdir(top);
}

int main(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;

    g_option_context_add_main_entries(context, options, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        g_printerr("bench-9p-readdir: %s\n", error->message);
        return 2;
    }
    mem_init();
    printf("driver\twhere\tentries\tmsize\tns\tns_per_entry\trequests\t"
           "crossings\tallocations\tallocations_per_request\thost_ns\t"
           "over_host\n");
    for (unsigned n = 100; n <= max_entries; n *= 10) {
        bench_synth(n);
        for (int i = 0; dirs && dirs[i]; i++) {
            bench_local(dirs[i], n);
        }
    }
    return 0;
}
