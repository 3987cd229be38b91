/*
 * Counters of a session, by message type
 *
 * Server's thread.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_9P_STATS_H
#define QEMU_9P_STATS_H

#include "qom/object.h"

typedef struct V9fsCounters {
    uint64_t requests;
    uint64_t errors;            /* answered with Rlerror */
    uint64_t crossings;         /* work items that went to a worker */
    uint64_t bytes_in, bytes_out;       /* of requests, of replies */
} V9fsCounters;

typedef struct V9fsStats {
    V9fsCounters type[128];     /* by number of the request */
} V9fsStats;

/**
 * v9fs_stats_add_property: make them readable as a device's property "stats"
 * @stats: must live as long as @obj
 */
void v9fs_stats_add_property(Object *obj, V9fsStats *stats);

#endif
