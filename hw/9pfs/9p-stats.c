/*
 * Counters of a session as a QOM property
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/host-utils.h"
#include "hw/9pfs/9p-stats.h"
#include "hw/9pfs/9p-wire.h"

static bool visit_counters(Visitor *v, int type, V9fsCounters *c, Error **errp)
{
    g_autofree char *name = g_strdup(p9_message(type)->name);
    bool ok;

    if (!visit_start_struct(v, NULL, NULL, 0, errp)) {
        return false;
    }
    ok = visit_type_str(v, "type", &name, errp) &&
         visit_type_uint64(v, "requests", &c->requests, errp) &&
         visit_type_uint64(v, "errors", &c->errors, errp) &&
         visit_type_uint64(v, "crossings", &c->crossings, errp) &&
         visit_type_uint64(v, "bytes-in", &c->bytes_in, errp) &&
         visit_type_uint64(v, "bytes-out", &c->bytes_out, errp) &&
         visit_check_struct(v, errp);
    visit_end_struct(v, NULL);
    return ok;
}

static void get_stats(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    V9fsStats *stats = opaque;
    bool ok = true;

    if (!visit_start_list(v, name, NULL, 0, errp)) {
        return;
    }
    for (int i = 0; ok && i < ARRAY_SIZE(stats->type); i++) {
        if (p9_message(i) && stats->type[i].requests) {
            ok = visit_counters(v, i, &stats->type[i], errp);
        }
    }
    visit_end_list(v, NULL);
}

static bool visit_bin(Visitor *v, uint64_t below_ns, uint64_t *count,
                      Error **errp)
{
    bool ok;

    if (!visit_start_struct(v, NULL, NULL, 0, errp)) {
        return false;
    }
    ok = visit_type_uint64(v, "below-ns", &below_ns, errp) &&
         visit_type_uint64(v, "requests", count, errp) &&
         visit_check_struct(v, errp);
    visit_end_struct(v, NULL);
    return ok;
}

static void get_histogram(Object *obj, Visitor *v, const char *name,
                          void *opaque, Error **errp)
{
    V9fsHistogram *h = opaque;
    bool ok = true;

    if (!visit_start_list(v, name, NULL, 0, errp)) {
        return;
    }
    for (int i = 0; ok && i < V9FS_HISTOGRAM_BINS; i++) {
        if (h->count[i]) {
            ok = visit_bin(v, 1ull << i, &h->count[i], errp);
        }
    }
    visit_end_list(v, NULL);
}

void v9fs_histogram_add(V9fsHistogram *h, uint64_t ns)
{
    int bin = 64 - clz64(ns);

    h->count[MIN(bin, V9FS_HISTOGRAM_BINS - 1)]++;
}

void v9fs_stats_add_properties(Object *obj, V9fsStats *stats)
{
    object_property_add(obj, "stats", "list", get_stats, NULL, NULL, stats);
    object_property_add(obj, "readdir-latency", "list", get_histogram,
                        NULL, NULL, &stats->readdir);
}
