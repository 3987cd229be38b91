/*
 * Benchmark: bringing up a virtio-9p-pci device, as a driver would
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <dirent.h>
#include <sys/syscall.h>
#include "qemu/error-report.h"
#include "standard-headers/linux/pci_regs.h"
#include "standard-headers/linux/virtio_9p.h"
#include "standard-headers/linux/virtio_config.h"
#include "standard-headers/linux/virtio_ids.h"
#include "standard-headers/linux/virtio_pci.h"
#include "device.h"

/* Where things are in a device's part of the memory */
#define AVAIL_AT    GUEST_PAGE
#define USED_AT     (2 * GUEST_PAGE)
#define TABLES_AT   (16 * GUEST_PAGE)
#define BUFFERS_AT  (1 * MiB)

#define CONFIG_ADDRESS  0xcf8
#define CONFIG_DATA     0xcfc

size_t device_memory(size_t buffer_size)
{
    return BUFFERS_AT + 2 * MAX_DEPTH * buffer_size;
}

static uint16_t config_port(Device *d, int addr, int reg, Error **errp)
{
    qtest_out(d->machine, 4, CONFIG_ADDRESS,
              0x80000000u | addr << 11 | (reg & ~3), errp);
    return CONFIG_DATA + (reg & 3);
}

static uint32_t config_read(Device *d, int addr, int reg, int size,
                            Error **errp)
{
    uint16_t port = config_port(d, addr, reg, errp);

    return qtest_in(d->machine, size, port, errp);
}

static void config_write(Device *d, int addr, int reg, int size,
                         uint32_t value, Error **errp)
{
    uint16_t port = config_port(d, addr, reg, errp);

    qtest_out(d->machine, size, port, value, errp);
}

/* Give a BAR an address, once */
static uint64_t map_bar(Device *d, int addr, int bar, Error **errp)
{
    uint64_t where = 0xe0000000u + addr * 16 * MiB + bar * MiB;
    int reg = PCI_BASE_ADDRESS_0 + 4 * bar;
    uint32_t flags = config_read(d, addr, reg, 4, errp);

    config_write(d, addr, reg, 4, where, errp);
    if ((flags & PCI_BASE_ADDRESS_MEM_TYPE_MASK) ==
        PCI_BASE_ADDRESS_MEM_TYPE_64) {
        config_write(d, addr, reg + 4, 4, 0, errp);
    }
    return where;
}

/* Returns what the notify capability says to multiply with */
static uint32_t take_capability(Device *d, int addr, int cap, Error **errp)
{
    int type = config_read(d, addr, cap + VIRTIO_PCI_CAP_CFG_TYPE, 1, errp);
    int bar = config_read(d, addr, cap + VIRTIO_PCI_CAP_BAR, 1, errp);
    uint32_t offset = config_read(d, addr, cap + VIRTIO_PCI_CAP_OFFSET, 4,
                                  errp);

    if (type == VIRTIO_PCI_CAP_COMMON_CFG) {
        d->common = map_bar(d, addr, bar, errp) + offset;
    } else if (type == VIRTIO_PCI_CAP_NOTIFY_CFG) {
        d->notify = map_bar(d, addr, bar, errp) + offset;
        return config_read(d, addr, cap + VIRTIO_PCI_NOTIFY_CAP_MULT, 4, errp);
    }
    return 0;
}

static uint32_t find_registers(Device *d, int addr, Error **errp)
{
    uint32_t id = config_read(d, addr, PCI_VENDOR_ID, 4, errp), multiplier = 0;
    int cap;

    if (!*errp && id != (0x1af4 | (0x1040 + VIRTIO_ID_9P) << 16)) {
        error_setg(errp, "no virtio-9p in PCI slot %d (id 0x%x)", addr, id);
    }
    d->common = d->notify = 0;
    cap = config_read(d, addr, PCI_CAPABILITY_LIST, 1, errp);
    while (cap && !*errp) {
        if (config_read(d, addr, cap, 1, errp) == PCI_CAP_ID_VNDR) {
            multiplier |= take_capability(d, addr, cap, errp);
        }
        cap = config_read(d, addr, cap + PCI_CAP_LIST_NEXT, 1, errp);
    }
    if (!*errp && (!d->common || !d->notify)) {
        error_setg(errp, "the device lacks virtio capabilities");
    }
    config_write(d, addr, PCI_COMMAND, 2,
                 PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, errp);
    return multiplier;
}

static void common_write(Device *d, int size, int reg, uint64_t value,
                         Error **errp)
{
    qtest_write(d->machine, size, d->common + reg, value, errp);
}

static uint64_t common_read(Device *d, int size, int reg, Error **errp)
{
    return qtest_read(d->machine, size, d->common + reg, errp);
}

static void negotiate(Device *d, Error **errp)
{
    const uint8_t begun = VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER;
    const uint32_t want[] = {
        1u << VIRTIO_9P_MOUNT_TAG | 1u << VIRTIO_RING_F_INDIRECT_DESC,
        1u << (VIRTIO_F_VERSION_1 - 32),
    };

    common_write(d, 1, VIRTIO_PCI_COMMON_STATUS, 0, errp);
    common_write(d, 1, VIRTIO_PCI_COMMON_STATUS, begun, errp);
    for (int i = 0; i < ARRAY_SIZE(want); i++) {
        common_write(d, 4, VIRTIO_PCI_COMMON_GFSELECT, i, errp);
        common_write(d, 4, VIRTIO_PCI_COMMON_GF, want[i], errp);
    }
    common_write(d, 1, VIRTIO_PCI_COMMON_STATUS,
                 begun | VIRTIO_CONFIG_S_FEATURES_OK, errp);
    if (!(common_read(d, 1, VIRTIO_PCI_COMMON_STATUS, errp) &
          VIRTIO_CONFIG_S_FEATURES_OK) && !*errp) {
        error_setg(errp, "the device refuses indirect descriptors or "
                   "virtio 1.0");
    }
}

static void place_queue(Device *d, uint64_t region, Error **errp)
{
    const uint64_t at[] = { region, region + AVAIL_AT, region + USED_AT };

    common_write(d, 2, VIRTIO_PCI_COMMON_Q_SELECT, 0, errp);
    if (common_read(d, 2, VIRTIO_PCI_COMMON_Q_SIZE, errp) < RING_SIZE &&
        !*errp) {
        error_setg(errp, "the queue has fewer than %d descriptors", RING_SIZE);
    }
    common_write(d, 2, VIRTIO_PCI_COMMON_Q_SIZE, RING_SIZE, errp);
    for (int i = 0; i < ARRAY_SIZE(at); i++) {
        common_write(d, 4, VIRTIO_PCI_COMMON_Q_DESCLO + 8 * i, at[i], errp);
        common_write(d, 4, VIRTIO_PCI_COMMON_Q_DESCHI + 8 * i, 0, errp);
    }
    common_write(d, 2, VIRTIO_PCI_COMMON_Q_ENABLE, 1, errp);
}

static void place_buffers(Device *d, uint64_t region)
{
    Machine *vm = d->machine;

    d->desc = (void *)(vm->ram + region);
    d->avail = (void *)(vm->ram + region + AVAIL_AT);
    d->used = (void *)(vm->ram + region + USED_AT);
    d->avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
    d->avail_idx = d->used_idx = 0;
    memset(d->slot, 0, sizeof(d->slot));
    for (unsigned i = 0; i < MAX_DEPTH; i++) {
        Slot *s = &d->slot[i];

        s->index = i;
        s->table_gpa = region + TABLES_AT + i * GUEST_PAGE;
        s->out_gpa = region + BUFFERS_AT + 2 * i * vm->buffer_size;
        s->in_gpa = s->out_gpa + vm->buffer_size;
        s->table = (void *)(vm->ram + s->table_gpa);
        s->out = vm->ram + s->out_gpa;
        s->in = vm->ram + s->in_gpa;
        d->desc[i].addr = s->table_gpa;
        d->desc[i].flags = VRING_DESC_F_INDIRECT;
    }
}

/* The eventfds that a process has open, as a set of numbers */
static GHashTable *eventfds(pid_t pid)
{
    GHashTable *set = g_hash_table_new(NULL, NULL);
    g_autofree char *path = g_strdup_printf("/proc/%d/fd", pid);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        g_autofree char *target = g_file_read_link(file, NULL);

        if (target && strstr(target, "[eventfd]")) {
            g_hash_table_add(set, GINT_TO_POINTER(atoi(name)));
        }
    }
    return set;
}

/*
 * The device gets an ioeventfd when the driver is ready: a new one of its
 * process, which is duplicated.  A write to it is what a guest's kick does.
 */
static int take_ioeventfd(Machine *vm, GHashTable *before)
{
    g_autoptr(GHashTable) after = eventfds(vm->pid);
    GHashTableIter iter;
    gpointer fd;
    int fresh = -1, n = 0;

    g_hash_table_iter_init(&iter, after);
    while (g_hash_table_iter_next(&iter, &fd, NULL)) {
        if (!g_hash_table_contains(before, fd)) {
            fresh = GPOINTER_TO_INT(fd);
            n++;
        }
    }
    return n == 1 ? syscall(SYS_pidfd_getfd, vm->pid_fd, fresh, 0) : -1;
}

bool pci_start(Device *d, int addr, uint64_t region, Error **errp)
{
    ERRP_GUARD();
    g_autoptr(GHashTable) before = NULL;
    uint32_t multiplier = find_registers(d, addr, errp);

    if (*errp) {
        return false;
    }
    negotiate(d, errp);
    place_queue(d, region, errp);
    d->notify += multiplier * common_read(d, 2, VIRTIO_PCI_COMMON_Q_NOFF,
                                          errp);
    place_buffers(d, region);
    before = eventfds(d->machine->pid);
    common_write(d, 1, VIRTIO_PCI_COMMON_STATUS,
                 VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER |
                 VIRTIO_CONFIG_S_FEATURES_OK | VIRTIO_CONFIG_S_DRIVER_OK,
                 errp);
    if (*errp) {
        return false;
    }
    d->kick_fd = take_ioeventfd(d->machine, before);
    if (d->kick_fd < 0) {
        warn_report("%s: no ioeventfd to be had: requests are notified "
                    "through the qtest socket, which is slower",
                    d->machine->label);
    }
    return true;
}
