/*
 * Limits on how much a guest reads and writes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "block/aio.h"
#include "qemu/main-loop.h"
#include "hw/9pfs/9p-throttle.h"

static void next_reader(void *opaque)
{
    qemu_co_enter_next(&((V9fsThrottle *)opaque)->waiting[THROTTLE_READ], NULL);
}

static void next_writer(void *opaque)
{
    qemu_co_enter_next(&((V9fsThrottle *)opaque)->waiting[THROTTLE_WRITE],
                       NULL);
}

void v9fs_throttle_start(V9fsThrottle *t, const ThrottleConfig *config)
{
    ThrottleConfig cfg = *config;

    t->limited = throttle_enabled(&cfg);
    if (!t->limited) {
        return;
    }
    for (int i = 0; i < THROTTLE_MAX; i++) {
        qemu_co_queue_init(&t->waiting[i]);
    }
    throttle_init(&t->state);
    throttle_timers_init(&t->timers, qemu_get_aio_context(),
                         QEMU_CLOCK_REALTIME, next_reader, next_writer, t);
    throttle_config(&t->state, QEMU_CLOCK_REALTIME, &cfg);
}

void v9fs_throttle_stop(V9fsThrottle *t)
{
    if (t->limited) {
        throttle_timers_destroy(&t->timers);
        t->limited = false;
    }
}

void coroutine_fn v9fs_throttle(V9fsThrottle *t, ThrottleDirection direction,
                                uint64_t bytes)
{
    CoQueue *queue = &t->waiting[direction];
    bool first;

    if (!t->limited) {
        return;
    }
    /* The timer wakes the first of the queue; the others wait for him. */
    first = qemu_co_queue_empty(queue);
    if (!first || throttle_schedule_timer(&t->state, &t->timers, direction)) {
        qemu_co_queue_wait(queue, NULL);
    }
    throttle_account(&t->state, direction, bytes);
    if (qemu_co_queue_empty(queue)) {
        return;
    }
    if (!throttle_schedule_timer(&t->state, &t->timers, direction)) {
        qemu_co_queue_next(queue);
    }
}

void v9fs_throttle_release(V9fsThrottle *t)
{
    for (int i = 0; t->limited && i < THROTTLE_MAX; i++) {
        qemu_co_enter_all(&t->waiting[i], NULL);
    }
}
