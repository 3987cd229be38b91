/*
 * Benchmark: a QEMU without a guest, and what it spends
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "qemu/host-utils.h"
#include "qemu/sockets.h"
#include "device.h"

/* Below are the tables of the machine's own */
#define FIRST_GPA   (16 * MiB)
#define FIRST_SLOT  4

static const char *const models[] = { "none", "mapped-xattr" };

/* Guest memory: a file that both map */
static bool make_memory(Machine *vm, unsigned ndevices, Error **errp)
{
    g_autofree char *path = g_build_filename(vm->space, "ram", NULL);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    vm->buffer_size = ROUND_UP(opt.msize + 3 * GUEST_PAGE, 64 * KiB);
    vm->ram_size = ROUND_UP(FIRST_GPA + ndevices *
                           device_memory(vm->buffer_size), 64 * MiB);
    vm->ram = NULL;
    if (fd >= 0 && !ftruncate(fd, vm->ram_size)) {
        vm->ram = mmap(NULL, vm->ram_size, PROT_READ | PROT_WRITE, MAP_SHARED,
                      fd, 0);
    }
    if (!vm->ram || vm->ram == MAP_FAILED) {
        error_setg_errno(errp, errno, "%s", path);
        vm->ram = NULL;
    }
    if (fd >= 0) {
        close(fd);
    }
    return vm->ram;
}

static void add(GPtrArray *argv, const char *name, char *value)
{
    g_ptr_array_add(argv, g_strdup(name));
    g_ptr_array_add(argv, value);
}

static void add_export(GPtrArray *argv, Export e, const char *tree)
{
    if (e == EXPORT_SYNTH) {
        add(argv, "-fsdev", g_strdup_printf("synth,id=fs%d", e));
    } else {
        add(argv, "-fsdev",
            g_strdup_printf("local,id=fs%d,path=%s/%s,security_model=%s%s%s",
                            e, tree, export_names[e], models[e],
                            opt.fsdev ? "," : "", opt.fsdev ?: ""));
    }
    add(argv, "-device",
        g_strdup_printf("virtio-9p-pci,fsdev=fs%d,mount_tag=t%d,addr=0x%x,"
                        "disable-legacy=on%s%s", e, e, FIRST_SLOT + e,
                        opt.device ? "," : "", opt.device ?: ""));
}

static char **command_line(Machine *vm, unsigned exports, const char *tree)
{
    GPtrArray *argv = g_ptr_array_new();
    g_auto(GStrv) more = g_strsplit(vm->args ?: "", " ", -1);

    g_ptr_array_add(argv, g_strdup(vm->binary));
    g_ptr_array_add(argv, g_strdup("-nodefaults"));
    g_ptr_array_add(argv, g_strdup("-no-user-config"));
    add(argv, "-display", g_strdup("none"));
    add(argv, "-accel", g_strdup("qtest"));
    /* An empty firmware image: no code of it ever runs */
    add(argv, "-bios", g_build_filename(vm->space, "bios", NULL));
    add(argv, "-qtest", g_strdup_printf("unix:%s/qtest", vm->space));
    add(argv, "-qtest-log", g_strdup("/dev/null"));
    add(argv, "-m", g_strdup_printf("%zu", (size_t)(vm->ram_size / MiB)));
    add(argv, "-object",
        g_strdup_printf("memory-backend-file,id=ram,share=on,size=%zu,"
                        "mem-path=%s/ram", vm->ram_size, vm->space));
    add(argv, "-machine", g_strdup("pc,memory-backend=ram"));
    for (Export e = 0; e < EXPORT__MAX; e++) {
        if (exports & 1u << e) {
            add_export(argv, e, tree);
        }
    }
    for (int i = 0; more[i]; i++) {
        if (*more[i]) {
            g_ptr_array_add(argv, g_strdup(more[i]));
        }
    }
    g_ptr_array_add(argv, NULL);
    return (char **)g_ptr_array_free(argv, false);
}

/* QEMU has all CPUs but the last, which the benchmark keeps to itself */
static void leave_last_cpu(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = 0; i < MAX(n - 1, 1); i++) {
        CPU_SET(i, &set);
    }
    sched_setaffinity(0, sizeof(set), &set);
}

static void run_child(Machine *vm, char **argv)
{
    g_autofree char *log = g_build_filename(vm->space, "log", NULL);
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int in = open("/dev/null", O_RDONLY);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /*
     * A session of its own: ^C is for the benchmark to handle, and the
     * kernel's autogroups do not take its spinning from QEMU's share.
     */
    setsid();
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (!opt.no_pin) {
        leave_last_cpu();
    }
    execvp(argv[0], argv);
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static int listen_for_qtest(Machine *vm, Error **errp)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = qemu_socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s/qtest",
             vm->space);
    unlink(address.sun_path);
    if (fd < 0 || bind(fd, (void *)&address, sizeof(address)) ||
        listen(fd, 1)) {
        error_setg_errno(errp, errno, "%s", address.sun_path);
        return -1;
    }
    return fd;
}

static bool accept_qtest(Machine *vm, int listener, Error **errp)
{
    struct pollfd p[] = {
        { .fd = listener, .events = POLLIN },
        { .fd = vm->pid_fd, .events = POLLIN },
    };
    g_autofree char *log = g_build_filename(vm->space, "log", NULL);
    g_autofree char *said = NULL;

    if (poll(p, 2, opt.timeout * 1000) > 0 && p[0].revents) {
        vm->socket = qemu_accept(listener, NULL, NULL);
        return true;
    }
    g_file_get_contents(log, &said, NULL, NULL);
    error_setg(errp, "'%s' does not start; it says: %s", vm->binary,
               said && *said ? g_strstrip(said) : "nothing");
    return false;
}

static bool start_process(Machine *vm, unsigned exports, const char *tree,
                          Error **errp)
{
    g_autofree char *bios = g_build_filename(vm->space, "bios", NULL);
    g_auto(GStrv) argv = command_line(vm, exports, tree);
    int listener, fd = open(bios, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool ok;

    if (fd < 0 || ftruncate(fd, 64 * KiB)) {
        error_setg_errno(errp, errno, "%s", bios);
        return false;
    }
    close(fd);
    listener = listen_for_qtest(vm, errp);
    if (listener < 0) {
        return false;
    }
    vm->pid = fork();
    if (vm->pid == 0) {
        run_child(vm, argv);
    }
    vm->pid_fd = syscall(SYS_pidfd_open, vm->pid, 0);
    if (vm->pid < 0 || vm->pid_fd < 0) {
        error_setg_errno(errp, errno, "cannot start a process");
        close(listener);
        return false;
    }
    clock_getcpuclockid(vm->pid, &vm->clock);
    ok = accept_qtest(vm, listener, errp);
    close(listener);
    return ok;
}

static bool start_devices(Machine *vm, unsigned exports, Error **errp)
{
    uint64_t region = FIRST_GPA;

    vm->ndevices = 0;
    for (Export e = 0; e < EXPORT__MAX; e++) {
        Device *d = &vm->device[vm->ndevices];

        if (!(exports & 1u << e)) {
            continue;
        }
        memset(d, 0, sizeof(*d));
        d->machine = vm;
        d->export = e;
        d->kick_fd = -1;
        vm->ndevices++;
        if (!pci_start(d, FIRST_SLOT + e, region, errp) ||
            !device_session(d, opt.msize, errp)) {
            return false;
        }
        region += device_memory(vm->buffer_size);
    }
    return true;
}

bool machine_start(Machine *vm, unsigned exports, const char *tree,
                   Error **errp)
{
    vm->starts++;
    vm->socket = vm->pid_fd = -1;
    vm->owed = 0;
    vm->input = g_string_new(NULL);
    vm->threads = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    vm->spent = (Spent) {};
    if (make_memory(vm, ctpop32(exports), errp) &&
        start_process(vm, exports, tree, errp) &&
        start_devices(vm, exports, errp)) {
        return true;
    }
    machine_stop(vm);
    return false;
}

static void end_process(Machine *vm)
{
    struct pollfd p = { .fd = vm->pid_fd, .events = POLLIN };

    kill(vm->pid, SIGTERM);
    if (poll(&p, 1, 3000) <= 0) {
        kill(vm->pid, SIGKILL);
    }
    waitpid(vm->pid, NULL, 0);
    close(vm->pid_fd);
    vm->pid = 0;
}

void machine_stop(Machine *vm)
{
    if (vm->pid > 0) {
        end_process(vm);
    }
    if (vm->socket >= 0) {
        close(vm->socket);
    }
    for (unsigned i = 0; i < vm->ndevices; i++) {
        if (vm->device[i].kick_fd >= 0) {
            close(vm->device[i].kick_fd);
        }
    }
    vm->ndevices = 0;
    if (vm->ram) {
        munmap(vm->ram, vm->ram_size);
        vm->ram = NULL;
    }
    g_clear_pointer(&vm->threads, g_hash_table_destroy);
    if (vm->input) {
        g_string_free(g_steal_pointer(&vm->input), true);
    }
}

/* A number out of a "status" file of /proc */
static uint64_t status_field(const char *status, const char *key)
{
    const char *p = strstr(status, key);

    return p ? g_ascii_strtoull(p + strlen(key), NULL, 10) : 0;
}

/* Add what a thread has spent since it was seen last; one that ended keeps */
static void add_thread(Machine *vm, int id, const char *status)
{
    Spent now = {
        .switches = status_field(status, "\nvoluntary_ctxt_switches:"),
        .preemptions = status_field(status, "\nnonvoluntary_ctxt_switches:"),
    };
    Spent *last = g_hash_table_lookup(vm->threads, GINT_TO_POINTER(id));

    if (!last) {
        last = g_new0(Spent, 1);
        g_hash_table_insert(vm->threads, GINT_TO_POINTER(id), last);
    }
    vm->spent.switches += now.switches - last->switches;
    vm->spent.preemptions += now.preemptions - last->preemptions;
    *last = now;
}

Spent machine_spent(Machine *vm)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/task", vm->pid);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    struct timespec t = {};
    const char *name;
    unsigned n = 0;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *file = g_build_filename(path, name, "status", NULL);
        g_autofree char *status = NULL;

        if (g_file_get_contents(file, &status, NULL, NULL)) {
            add_thread(vm, atoi(name), status);
            n++;
        }
    }
    vm->max_threads = MAX(vm->max_threads, n);
    clock_gettime(vm->clock, &t);
    vm->spent.cpu_ns = t.tv_sec * NANOSECONDS_PER_SECOND + t.tv_nsec;
    return vm->spent;
}

void machine_memory(Machine *vm, long *peak, long *anonymous)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/status", vm->pid);
    g_autofree char *status = NULL;

    *peak = *anonymous = 0;
    if (vm->pid && g_file_get_contents(path, &status, NULL, NULL)) {
        *peak = status_field(status, "\nVmHWM:");
        *anonymous = status_field(status, "\nRssAnon:");
    }
}
