/*
 * Limits on how much a guest reads and writes
 *
 * Server's thread.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_9P_THROTTLE_H
#define QEMU_9P_THROTTLE_H

#include "qemu/coroutine.h"
#include "qemu/throttle.h"

typedef struct V9fsThrottle {
    bool limited;               /* the rest is only set up if this is set */
    ThrottleState state;
    ThrottleTimers timers;
    CoQueue waiting[THROTTLE_MAX];
} V9fsThrottle;

/**
 * v9fs_throttle_start: begin to enforce @config, if it has any limit
 */
void v9fs_throttle_start(V9fsThrottle *t, const ThrottleConfig *config);

/**
 * v9fs_throttle_stop: end it; nobody waits
 */
void v9fs_throttle_stop(V9fsThrottle *t);

/**
 * v9fs_throttle: wait until so much may be moved, and count it
 * @bytes: that a request is about to move
 */
void coroutine_fn v9fs_throttle(V9fsThrottle *t, ThrottleDirection direction,
                                uint64_t bytes);

/**
 * v9fs_throttle_release: let all that wait go on at once
 *
 * For requests that have been cancelled, and will do nothing.
 */
void v9fs_throttle_release(V9fsThrottle *t);

#endif
