/*
 * Benchmark: QEMU's qtest socket
 *
 * One line out, one line back.  Only the device's start and, where its
 * ioeventfd cannot be had, its notification go this way.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <poll.h>
#include "device.h"

static bool send_line(Machine *vm, const char *line, Error **errp)
{
    if (qemu_write_full(vm->socket, line, strlen(line)) != strlen(line)) {
        error_setg_errno(errp, errno, "qtest socket of %s", vm->label);
        return false;
    }
    vm->owed++;
    return true;
}

static bool read_more(Machine *vm, Error **errp)
{
    struct pollfd p = { .fd = vm->socket, .events = POLLIN };
    char buf[4096];
    ssize_t n;

    if (poll(&p, 1, opt.timeout * 1000) <= 0) {
        error_setg(errp, "%s: no answer from the qtest socket", vm->label);
        return false;
    }
    n = recv(vm->socket, buf, sizeof(buf), 0);
    if (n <= 0) {
        error_setg(errp, "%s: the qtest socket was closed", vm->label);
        return false;
    }
    g_string_append_len(vm->input, buf, n);
    return true;
}

/* The next answer; news of interrupts are none */
static char *receive_line(Machine *vm, Error **errp)
{
    for (;;) {
        char *end = strchr(vm->input->str, '\n');

        if (end) {
            size_t n = end - vm->input->str;
            g_autofree char *line = g_strndup(vm->input->str, n);

            g_string_erase(vm->input, 0, n + 1);
            if (!g_str_has_prefix(line, "IRQ ")) {
                vm->owed--;
                return g_steal_pointer(&line);
            }
        } else if (!read_more(vm, errp)) {
            return NULL;
        }
    }
}

static uint64_t G_GNUC_PRINTF(3, 4) command(Machine *vm, Error **errp,
                                            const char *format, ...)
{
    g_autofree char *line = NULL;
    va_list ap;

    if (*errp) {
        return 0;
    }
    va_start(ap, format);
    line = g_strdup_vprintf(format, ap);
    va_end(ap);
    if (!send_line(vm, line, errp)) {
        return 0;
    }
    /* Answers to qtest_post() come first */
    while (vm->owed > 1) {
        g_free(receive_line(vm, errp));
        if (*errp) {
            return 0;
        }
    }
    g_free(line);
    line = receive_line(vm, errp);
    if (line && !g_str_has_prefix(line, "OK")) {
        error_setg(errp, "%s: qtest said '%s'", vm->label, line);
    }
    return !*errp && line[2] ? g_ascii_strtoull(line + 3, NULL, 0) : 0;
}

static char memory_letter(int size)
{
    return size == 1 ? 'b' : size == 2 ? 'w' : 'l';
}

void qtest_write(Machine *vm, int size, uint64_t address, uint64_t value,
                 Error **errp)
{
    command(vm, errp, "write%c 0x%" PRIx64 " 0x%" PRIx64 "\n",
            memory_letter(size), address, value);
}

uint64_t qtest_read(Machine *vm, int size, uint64_t address, Error **errp)
{
    return command(vm, errp, "read%c 0x%" PRIx64 "\n", memory_letter(size),
                   address);
}

void qtest_out(Machine *vm, int size, uint16_t port, uint32_t value,
               Error **errp)
{
    command(vm, errp, "out%c 0x%x 0x%x\n", memory_letter(size), port, value);
}

uint32_t qtest_in(Machine *vm, int size, uint16_t port, Error **errp)
{
    return command(vm, errp, "in%c 0x%x\n", memory_letter(size), port);
}

bool qtest_post(Machine *vm, uint64_t address, uint16_t value, Error **errp)
{
    g_autofree char *line =
        g_strdup_printf("writew 0x%" PRIx64 " 0x%x\n", address, value);

    /* The socket's buffers must not fill up */
    while (vm->owed > 32) {
        g_autofree char *answer = receive_line(vm, errp);

        if (!answer) {
            return false;
        }
    }
    return send_line(vm, line, errp);
}
