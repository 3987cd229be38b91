/*
 * Workers: threads that run work items for a session
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "block/thread-pool.h"
#include "qemu/defer-call.h"
#include "qemu/lockable.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "hw/9pfs/9p-workers.h"

/* Jobs at once: half of the pool's threads, which others need, too */
#define MAX_BUSY        32
/*
 * Drainers to begin with.  Most jobs take less time than to wake a thread:
 * only if some are left after a while they wait for something, and are better
 * done at once.
 */
#define FEW_DRAINERS    2
#define MORE_AFTER      50000       /* ns */
/*
 * The pool makes no thread as long as it has an idle one, though that may have
 * been woken for somebody else's work already.  So it is seen to it that
 * drainers do begin.
 */
#define CHECK_AFTER     1000000     /* ns */

static V9fsJob *take_job(V9fsWorkers *ws)
{
    V9fsJob *job = ws->busy < MAX_BUSY ? QTAILQ_FIRST(&ws->todo) : NULL;

    if (job) {
        QTAILQ_REMOVE(&ws->todo, job, next);
        ws->ntodo--;
        ws->busy++;
        job->queued = false;
    }
    return job;
}

/* Worker.  The last job is handed back by the drainer's own end. */
static int drain(void *opaque)
{
    V9fsWorkers *ws = opaque;
    V9fsJob *job;

    qemu_mutex_lock(&ws->lock);
    while ((job = take_job(ws))) {
        qemu_mutex_unlock(&ws->lock);
        job->ret = job->run(job);
        qemu_mutex_lock(&ws->lock);
        ws->busy--;
        QTAILQ_INSERT_TAIL(&ws->done, job, next);
        if (ws->ntodo) {
            qemu_bh_schedule(ws->bh);
        }
    }
    ws->drainers--;
    qemu_mutex_unlock(&ws->lock);
    return 0;
}

static void hand_back(void *opaque)
{
    V9fsWorkers *ws = opaque;
    V9fsJobs done = QTAILQ_HEAD_INITIALIZER(done);
    V9fsJob *job;

    WITH_QEMU_LOCK_GUARD(&ws->lock) {
        while ((job = QTAILQ_FIRST(&ws->done))) {
            QTAILQ_REMOVE(&ws->done, job, next);
            QTAILQ_INSERT_TAIL(&done, job, next);
        }
    }
    defer_call_begin();
    while ((job = QTAILQ_FIRST(&done))) {
        QTAILQ_REMOVE(&done, job, next);
        aio_co_wake(job->co);
    }
    defer_call_end();
}

static void drained(void *opaque, int ret)
{
    V9fsWorkers *ws = opaque;

    ws->active--;
    hand_back(ws);
}

/*
 * Sees to it that what is queued is taken, by @most drainers; by another one
 * if those there are do not @begin.  Returns how much is left if they do.
 */
static unsigned start_drainers(V9fsWorkers *ws, unsigned most, bool begin)
{
    unsigned wanted, missing, left;

    WITH_QEMU_LOCK_GUARD(&ws->lock) {
        wanted = MIN(ws->busy + MIN(ws->ntodo, most), MAX_BUSY);
        missing = wanted - MIN(ws->drainers, wanted);
        if (begin && !missing && ws->busy < wanted) {
            missing = 1;
        }
        ws->drainers += missing;
        left = ws->busy == MAX_BUSY ? 0 : ws->ntodo;
    }
    ws->active += missing;
    for (unsigned i = 0; i < missing; i++) {
        thread_pool_submit_aio(drain, ws, drained, ws);
    }
    return left;
}

static void look_again(V9fsWorkers *ws, int64_t after)
{
    timer_mod_anticipate_ns(ws->again,
                            qemu_clock_get_ns(QEMU_CLOCK_REALTIME) + after);
}

static void start_few(void *opaque)
{
    V9fsWorkers *ws = opaque;
    unsigned left = start_drainers(ws, FEW_DRAINERS, false);

    if (left > FEW_DRAINERS) {
        look_again(ws, MORE_AFTER);
    } else if (!timer_pending(ws->again)) {
        look_again(ws, CHECK_AFTER);
    }
}

static void start_more(void *opaque)
{
    if (start_drainers(opaque, MAX_BUSY, true)) {
        look_again(opaque, CHECK_AFTER);
    }
}

int coroutine_fn v9fs_workers_run(V9fsWorkers *ws, V9fsJob *job)
{
    job->co = qemu_coroutine_self();
    job->queued = true;
    WITH_QEMU_LOCK_GUARD(&ws->lock) {
        QTAILQ_INSERT_TAIL(&ws->todo, job, next);
        ws->ntodo++;
    }
    defer_call(start_few, ws);
    qemu_coroutine_yield();
    return job->ret;
}

void v9fs_job_cancel(V9fsWorkers *ws, V9fsJob *job)
{
    QEMU_LOCK_GUARD(&ws->lock);

    if (job->queued && !job->must_run) {
        QTAILQ_REMOVE(&ws->todo, job, next);
        ws->ntodo--;
        job->queued = false;
        job->ret = -ECANCELED;
        QTAILQ_INSERT_TAIL(&ws->done, job, next);
        qemu_bh_schedule(ws->bh);
    }
}

void v9fs_workers_init(V9fsWorkers *ws)
{
    AioContext *ctx = qemu_get_current_aio_context();

    qemu_mutex_init(&ws->lock);
    QTAILQ_INIT(&ws->todo);
    QTAILQ_INIT(&ws->done);
    ws->ntodo = ws->drainers = ws->busy = ws->active = 0;
    ws->bh = aio_bh_new(ctx, hand_back, ws);
    ws->again = aio_timer_new(ctx, QEMU_CLOCK_REALTIME, SCALE_NS, start_more,
                              ws);
}

void v9fs_workers_destroy(V9fsWorkers *ws)
{
    assert(!ws->active && QTAILQ_EMPTY(&ws->todo));
    timer_free(ws->again);
    qemu_bh_delete(ws->bh);
    qemu_mutex_destroy(&ws->lock);
}
