/*
 * Benchmark: running a workload's script for a time
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/processor.h"
#include "device.h"

/* One request at a time: a sample is the sum of its requests' times */
static bool run_alone(Device *d, const Workload *w, Batch *b, int64_t *ns,
                      Error **errp)
{
    Slot *s = &d->slot[0];
    Turn turn;

    *ns = 0;
    s->step = 0;
    while ((turn = w->script->next(d, w, s, errp)) > TURN_DONE) {
        int64_t start = get_clock(), end;

        queue_post(d, s);
        if (!queue_kick(d, errp) || !queue_reap(d, errp)) {
            return false;
        }
        end = get_clock();
        if (!slot_check(s, errp)) {
            return false;
        }
        /* A guest thinks before it asks again; let the device go to sleep */
        while (get_clock() - end < opt.gap_us * SCALE_US) {
            cpu_relax();
        }
        if (turn == TURN_TIMED) {
            *ns += end - start;
            b->trips++;
        }
    }
    s->turn++;
    b->ops++;
    return turn == TURN_DONE;
}

static bool run_one_by_one(Device *d, const Workload *w, int64_t budget,
                           unsigned warm, Batch *b, Error **errp)
{
    int64_t end = INT64_MAX, ns;

    for (unsigned i = 0; i <= warm || get_clock() < end; i++) {
        if (i == warm) {
            end = get_clock() + budget;
        }
        if (!run_alone(d, w, b, &ns, errp)) {
            return false;
        }
        if (i >= warm) {
            samples_add(b->ns, ns);
        }
    }
    return true;
}

/*
 * Several scripts at once.  A sample is the time in which a window of them
 * ended, divided by their number.
 */
typedef struct Deep {
    Device *d;
    const Workload *w;
    Batch *b;
    unsigned active, window, in_window, warm;
    int64_t start, until;
    bool stopping, posted;
} Deep;

static bool post_next(Deep *p, Slot *s, Turn turn)
{
    if (turn > TURN_DONE) {
        queue_post(p->d, s);
        p->posted = true;
        p->b->trips++;
    }
    return turn != TURN_ERROR;
}

static void count_script(Deep *p)
{
    int64_t now;

    p->b->ops++;
    if (p->warm) {
        p->warm--;
        p->start = get_clock();
        return;
    }
    if (++p->in_window < p->window || p->stopping) {
        return;
    }
    now = get_clock();
    samples_add(p->b->ns, (double)(now - p->start) / p->window);
    p->start = now;
    p->in_window = 0;
    p->stopping = now > p->until && p->b->ns->len >= 2;
}

static bool take_answer(Deep *p, Error **errp)
{
    Slot *s = queue_reap(p->d, errp);
    Turn turn;

    if (!s || !slot_check(s, errp)) {
        return false;
    }
    turn = p->w->script->next(p->d, p->w, s, errp);
    if (turn == TURN_DONE) {
        s->turn++;
        count_script(p);
        if (p->stopping) {
            p->active--;
            return true;
        }
        s->step = 0;
        turn = p->w->script->next(p->d, p->w, s, errp);
    }
    return post_next(p, s, turn);
}

static bool run_deep(Device *d, const Workload *w, int64_t budget,
                     unsigned warm, Batch *b, Error **errp)
{
    Deep p = {
        .d = d, .w = w, .b = b, .warm = warm, .active = w->depth,
        .window = 2 * w->depth,
        .start = get_clock(), .until = get_clock() + budget,
    };

    for (unsigned i = 0; i < w->depth; i++) {
        Slot *s = &d->slot[i];

        s->step = 0;
        if (!post_next(&p, s, w->script->next(d, w, s, errp))) {
            return false;
        }
    }
    while (p.active) {
        /* One kick for all that the answers seen so far have led to */
        if (p.posted && !queue_kick(d, errp)) {
            return false;
        }
        p.posted = false;
        do {
            if (!take_answer(&p, errp)) {
                return false;
            }
        } while (p.active && queue_has_answer(d));
    }
    return true;
}

bool workload_run(Device *d, const Workload *w, int64_t budget_ns,
                  unsigned warm, Batch *b, Error **errp)
{
    if (w->depth > 1) {
        return run_deep(d, w, budget_ns, warm, b, errp);
    }
    return run_one_by_one(d, w, budget_ns, warm, b, errp);
}
