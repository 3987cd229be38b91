/*
 * Benchmark: measuring a workload, round by round
 *
 * In a round two QEMUs take turns in blocks of a millisecond (four, if there
 * are several requests in flight), so that whatever else the machine does
 * falls on both alike.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "device.h"

/* A QEMU in one round */
typedef struct Side {
    Machine *vm;
    Device *d;
    Measured *m;
    Batch batch;
    Spent before;
    int64_t used_ns;
} Side;

static void side_fail(Side *s, const Workload *w, Error *err)
{
    error_reportf_err(error_copy(err), "%s on %s: ", w->name, s->vm->label);
    s->m->failed = err;
    s->d = NULL;
    machine_stop(s->vm);
}

/* The no-op next to it, at the same depth */
static bool measure_noop(Side *s, const Workload *w, Error **errp)
{
    Workload noop = *w;
    Batch b = { .ns = s->m->noop };

    noop.script = &scripts[0];
    return workload_run(s->d, &noop, w->depth > 1 ? 2 * SCALE_MS : SCALE_MS,
                        2 * w->depth, &b, errp);
}

static bool prepare(Side *s, const Workload *w, unsigned exports, Error **errp)
{
    if (!s->vm->pid && !machine_start(s->vm, exports, tree_top, errp)) {
        return false;
    }
    for (unsigned i = 0; i < s->vm->ndevices; i++) {
        if (s->vm->device[i].export == w->export) {
            s->d = &s->vm->device[i];
        }
    }
    return device_session(s->d, w->msize, errp) &&
           (!w->script->prepare || w->script->prepare(s->d, w, errp)) &&
           measure_noop(s, w, errp);
}

static void side_begin(Side *s, const Workload *w, unsigned exports)
{
    Error *err = NULL;

    if (s->m->failed) {
        return;
    }
    s->batch.ns = samples_new();
    if (!prepare(s, w, exports, &err)) {
        side_fail(s, w, err);
        return;
    }
    s->before = machine_spent(s->vm);
}

/* Returns whether there is time left for more */
static bool side_block(Side *s, const Workload *w, int64_t block)
{
    int64_t start = get_clock();
    Error *err = NULL;

    if (!s->d || s->used_ns >= opt.ms * SCALE_MS) {
        return false;
    }
    if (!workload_run(s->d, w, block, 2 * w->depth, &s->batch, &err)) {
        side_fail(s, w, err);
        return false;
    }
    s->used_ns += get_clock() - start;
    return true;
}

static void side_end(Side *s, const Workload *w)
{
    Error *err = NULL;
    Spent now;

    if (!s->d) {
        return;
    }
    now = machine_spent(s->vm);
    if (w->script->finish && !w->script->finish(s->d, w, &err)) {
        side_fail(s, w, err);
        return;
    }
    s->m->ops += s->batch.ops;
    s->m->trips += s->batch.trips;
    s->m->spent.switches += now.switches - s->before.switches;
    s->m->spent.preemptions += now.preemptions - s->before.preemptions;
    s->m->spent.cpu_ns += now.cpu_ns - s->before.cpu_ns;
    g_array_append_vals(s->m->ns, s->batch.ns->data, s->batch.ns->len);
}

/* Who is first changes with every turn */
static void take_turns(Side *side, unsigned n, const Workload *w,
                       unsigned round)
{
    int64_t block = MIN((w->depth > 1 ? 4 : 1) * SCALE_MS,
                        opt.ms * SCALE_MS);
    bool more = true;

    for (unsigned turn = round; more; turn++) {
        more = false;
        for (unsigned k = 0; k < n; k++) {
            more |= side_block(&side[(k + turn) % n], w, block);
        }
    }
}

static void one_round(Row *row, Machine *vm, unsigned n, unsigned exports,
                      unsigned round)
{
    const Workload *w = row->w;
    Side side[2] = {};

    for (unsigned k = 0; k < n; k++) {
        unsigned who = (k + round) % n;

        side[who].vm = &vm[who];
        side[who].m = &row->m[who];
        side_begin(&side[who], w, exports);
    }
    take_turns(side, n, w, round);
    for (unsigned k = 0; k < n; k++) {
        side_end(&side[k], w);
    }
    if (n == 2 && side[0].d && side[1].d) {
        samples_add(row->ratio, samples_quantile(side[0].batch.ns, 0.5) /
                                samples_quantile(side[1].batch.ns, 0.5));
    }
    for (unsigned k = 0; k < n; k++) {
        g_clear_pointer(&side[k].batch.ns, g_array_unref);
    }
}

/* Nobody has all day for listings that take long */
static unsigned rounds_for(Row *row)
{
    double ns = samples_quantile(row->m[0].ns, 0.5);

    return ns > 200 * SCALE_MS ? MIN(opt.rounds, 7) :
           ns > 20 * SCALE_MS ? MIN(opt.rounds, 15) : opt.rounds;
}

static bool has_native(const Workload *w)
{
    return w->script == &scripts[0] ? w->depth == 1 :
           w->export != EXPORT_SYNTH;
}

Row *measure(const Workload *w, Machine *vm, unsigned n, unsigned exports)
{
    Row *row = g_new0(Row, 1);
    bool native = has_native(w);

    row->w = w;
    row->native = samples_new();
    row->ratio = samples_new();
    for (unsigned k = 0; k < n; k++) {
        row->m[k].ns = samples_new();
        row->m[k].noop = samples_new();
    }
    for (unsigned round = 0; round == 0 || round < rounds_for(row); round++) {
        one_round(row, vm, n, exports, round);
        if (row->m[0].failed && (n == 1 || row->m[1].failed)) {
            break;
        }
        native = native && native_run(w, opt.ms * SCALE_MS / 4, row->native);
    }
    return row;
}

void row_free(Row *row)
{
    for (unsigned k = 0; k < 2 && row->m[k].ns; k++) {
        g_array_unref(row->m[k].ns);
        g_array_unref(row->m[k].noop);
        error_free(row->m[k].failed);
    }
    g_array_unref(row->native);
    g_array_unref(row->ratio);
    g_free(row);
}
