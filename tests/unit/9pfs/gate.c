/*
 * Gates: when workers run what is queued for them, for tests to say
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "block/aio.h"
#include "block/thread-pool.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "qemu/thread.h"
#include "gate.h"

struct Gate {
    QemuEvent open;
    bool passed;
};

static unsigned ngates;

static int wait_at_gate(void *opaque)
{
    Gate *gate = opaque;

    qemu_event_wait(&gate->open);
    return 0;
}

static void gate_passed(void *opaque, int ret)
{
    Gate *gate = opaque;

    gate->passed = true;
}

static void set_workers(int max)
{
    aio_context_set_thread_pool_params(qemu_get_aio_context(), 0, max,
                                       &error_abort);
}

Gate *gate_new(void)
{
    Gate *gate = g_new0(Gate, 1);

    if (!ngates++) {
        set_workers(1);
    }
    qemu_event_init(&gate->open, false);
    thread_pool_submit_aio(wait_at_gate, gate, gate_passed, gate);
    return gate;
}

void gate_open(Gate *gate)
{
    qemu_event_set(&gate->open);
    while (!gate->passed) {
        aio_poll(qemu_get_aio_context(), true);
    }
    qemu_event_destroy(&gate->open);
    g_free(gate);
    if (!--ngates) {
        set_workers(THREAD_POOL_MAX_THREADS_DEFAULT);
    }
}
