/*
 * Benchmark: the 9p server, timed through its virtio device
 *
 *   bench-9p-device --qemu BINARY [--vs BINARY] [OPTION...]
 *
 * Runs workloads on one QEMU, or on two in turns, and prints a row of
 * tab-separated values for each; report.c says what they are.  `--list` lists
 * the workloads, `--help` the options.  scripts/bench-device makes tables,
 * JSON and plots of it.
 *
 * Exit status: 0; 1 if a workload failed or QEMU did not start; 2 for wrong
 * options.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sched.h>
#include <sys/prctl.h>
#include "qemu/error-report.h"
#include "device.h"

Options opt = {
    .max_entries = 100000, .msize = 512000, .segment = GUEST_PAGE,
    .gap_us = 10, .timeout = 20,
};

static const GOptionEntry options[] = {
    { "qemu", 0, 0, G_OPTION_ARG_FILENAME, &opt.binary[0],
      "the QEMU to measure (A)", "BINARY" },
    { "vs", 0, 0, G_OPTION_ARG_FILENAME, &opt.binary[1],
      "another one (B), in turns with A", "BINARY" },
    { "args-a", 0, 0, G_OPTION_ARG_STRING, &opt.args[0],
      "more arguments for A", "ARGS" },
    { "args-b", 0, 0, G_OPTION_ARG_STRING, &opt.args[1],
      "more arguments for B", "ARGS" },
    { "list", 0, 0, G_OPTION_ARG_NONE, &opt.list,
      "print the names of the workloads", NULL },
    { "only", 0, 0, G_OPTION_ARG_STRING, &opt.only,
      "workloads whose name matches", "REGEX" },
    { "skip", 0, 0, G_OPTION_ARG_STRING, &opt.skip,
      "but not these", "REGEX" },
    { "exports", 0, 0, G_OPTION_ARG_STRING, &opt.exports,
      "out of none,mapped,synth [none,synth]", "LIST" },
    { "dir", 0, 0, G_OPTION_ARG_FILENAME, &opt.dir,
      "where the exported trees are made [/dev/shm]", "DIR" },
    { "fsdev", 0, 0, G_OPTION_ARG_STRING, &opt.fsdev,
      "appended to -fsdev local", "OPTS" },
    { "device", 0, 0, G_OPTION_ARG_STRING, &opt.device,
      "appended to -device", "OPTS" },
    { "quick", 0, 0, G_OPTION_ARG_NONE, &opt.quick,
      "7 rounds of 10 ms, listings of up to 10000", NULL },
    { "rounds", 0, 0, G_OPTION_ARG_INT, &opt.rounds,
      "rounds per workload [30]", "N" },
    { "ms", 0, 0, G_OPTION_ARG_INT, &opt.ms,
      "milliseconds per round and QEMU [15]", "N" },
    { "max", 0, 0, G_OPTION_ARG_INT, &opt.max_entries,
      "entries of the largest directory [100000]", "N" },
    { "msize", 0, 0, G_OPTION_ARG_INT, &opt.msize,
      "largest message [512000]", "N" },
    { "segment", 0, 0, G_OPTION_ARG_INT, &opt.segment,
      "bytes per descriptor of a payload [4096]; 0: all", "N" },
    { "gap", 0, 0, G_OPTION_ARG_INT, &opt.gap_us,
      "microseconds between single requests [10]", "N" },
    { "timeout", 0, 0, G_OPTION_ARG_INT, &opt.timeout,
      "seconds for any one answer [20]", "N" },
    { "no-pin", 0, 0, G_OPTION_ARG_NONE, &opt.no_pin,
      "do not keep to the last CPU, and QEMU to the others", NULL },
    { NULL }
};

static Machine machines[2];
static char *space;             /* sockets, memory and logs */

static void clean_up(void)
{
    for (int i = 0; i < ARRAY_SIZE(machines); i++) {
        if (machines[i].pid > 0) {
            kill(machines[i].pid, SIGKILL);
        }
    }
    if (tree_top) {
        tree_remove(tree_top);
    }
    if (space) {
        tree_remove(space);
    }
}

static void on_signal(int sig)
{
    clean_up();
    _exit(1);
}

static void G_NORETURN misuse(const char *why)
{
    error_report("%s (see --help)", why);
    exit(2);
}

static void parse(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;

    g_option_context_add_main_entries(context, options, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        misuse(error->message);
    }
    opt.rounds = opt.rounds ?: opt.quick ? 7 : 30;
    opt.ms = opt.ms ?: opt.quick ? 10 : 15;
    opt.max_entries = MIN(opt.max_entries, opt.quick ? 10000 : INT_MAX);
    opt.exports = opt.exports ?: g_strdup("none,synth");
    opt.dir = opt.dir ?: g_strdup("/dev/shm");
    opt.segment = ROUND_DOWN(opt.segment, GUEST_PAGE);
    if (argc > 1) {
        misuse("too many arguments");
    }
    if (!opt.binary[0] && !opt.list) {
        misuse("--qemu is missing");
    }
    if (opt.msize < 8192 || opt.msize > 4 * MiB || opt.rounds < 1 ||
        opt.ms < 1 || opt.timeout < 1 || opt.segment < 0 || opt.gap_us < 0) {
        misuse("a number is out of range");
    }
}

static GRegex *regex(const char *pattern)
{
    g_autoptr(GError) error = NULL;
    GRegex *re = pattern ? g_regex_new(pattern, 0, 0, &error) : NULL;

    if (error) {
        misuse(error->message);
    }
    return re;
}

static GPtrArray *chosen(void)
{
    g_autoptr(GRegex) only = regex(opt.only);
    g_autoptr(GRegex) skip = regex(opt.skip);
    GPtrArray *all = workload_list();

    for (int i = all->len - 1; i >= 0; i--) {
        const Workload *w = all->pdata[i];

        if ((only && !g_regex_match(only, w->name, 0, NULL)) ||
            (skip && g_regex_match(skip, w->name, 0, NULL))) {
            g_ptr_array_remove_index(all, i);
        }
    }
    if (!all->len) {
        misuse("no workload matches");
    }
    return all;
}

static char *make_dir(const char *where)
{
    char *path = g_build_filename(where, "9p-bench.XXXXXX", NULL);

    if (!g_mkdtemp(path)) {
        error_report("%s: %s", where, strerror(errno));
        exit(1);
    }
    return path;
}

/* Files for the workloads; returns the exports that they use */
static unsigned make_trees(GPtrArray *list)
{
    unsigned exports = 0, entries = 0;

    for (unsigned i = 0; i < list->len; i++) {
        const Workload *w = list->pdata[i];

        exports |= 1u << w->export;
        if (w->script->reads_directory) {
            entries = MAX(entries, w->arg);
        }
    }
    tree_top = make_dir(opt.dir);
    for (Export e = 0; e < EXPORT_SYNTH; e++) {
        if (exports & 1u << e) {
            tree_make(e, entries);
        }
    }
    return exports;
}

static void keep_last_cpu(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static unsigned init_machines(void)
{
    static const char *const labels[] = { "A", "B" };
    unsigned n;

    space = make_dir(g_get_tmp_dir());
    for (n = 0; n < ARRAY_SIZE(machines) && opt.binary[n]; n++) {
        Machine *vm = &machines[n];

        vm->label = labels[n];
        vm->binary = opt.binary[n];
        vm->args = opt.args[n];
        vm->space = g_build_filename(space, vm->label, NULL);
        vm->socket = -1;
        mkdir(vm->space, 0700);
    }
    return n;
}

static void report_machine(Machine *vm)
{
    long peak, anonymous;

    machine_memory(vm, &peak, &anonymous);
    printf("#%s\t%s\tpeak_kib\t%ld\tanonymous_kib\t%ld\tthreads\t%u\t"
           "starts\t%u\n", vm->label, vm->binary, peak, anonymous,
           vm->max_threads, vm->starts);
}

int main(int argc, char **argv)
{
    g_autoptr(GPtrArray) list = NULL;
    struct sigaction sa = { .sa_handler = on_signal };
    unsigned n, exports, failed = 0;

    error_init(argv[0]);
    parse(argc, argv);
    list = chosen();
    if (opt.list) {
        for (unsigned i = 0; i < list->len; i++) {
            puts(((Workload *)list->pdata[i])->name);
        }
        return 0;
    }
    prctl(PR_SET_TIMERSLACK, 1000);
    atexit(clean_up);
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
    n = init_machines();
    exports = make_trees(list);
    if (!opt.no_pin) {
        keep_last_cpu();
    }
    native_init();
    report_header();
    for (unsigned i = 0; i < list->len; i++) {
        Row *row = measure(list->pdata[i], machines, n, exports);

        report_row(row, n);
        failed += row->m[0].failed || row->m[1].failed;
        row_free(row);
    }
    for (unsigned k = 0; k < n; k++) {
        report_machine(&machines[k]);
        machine_stop(&machines[k]);
    }
    return failed ? 1 : 0;
}
