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

/* How often something took how long: [i] counts below 2^i nanoseconds */
#define V9FS_HISTOGRAM_BINS 40

typedef struct V9fsHistogram {
    uint64_t count[V9FS_HISTOGRAM_BINS];
} V9fsHistogram;

typedef struct V9fsStats {
    V9fsCounters type[128];     /* by number of the request */
    V9fsHistogram readdir;      /* Treaddir, from decoding to encoding */
} V9fsStats;

void v9fs_histogram_add(V9fsHistogram *h, uint64_t ns);

/**
 * v9fs_stats_add_properties: make them readable as properties of a device
 * @stats: must live as long as @obj
 *
 * "stats" are the counters, "readdir-latency" is the histogram.
 */
void v9fs_stats_add_properties(Object *obj, V9fsStats *stats);

#endif
