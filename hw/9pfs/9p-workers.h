/*
 * Workers: threads that run work items for a session
 *
 * QEMU's thread pool, which is also that of the guest's disks, is given a few
 * drainers that take items from the session's own queue.  So items that come
 * together wake few threads, what is done together wakes the server's thread
 * once, and a file system that does not answer keeps no more than a part of
 * the pool.  Nothing here knows requests, nodes or drivers.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_9P_WORKERS_H
#define QEMU_9P_WORKERS_H

#include "block/aio.h"
#include "qemu/coroutine.h"
#include "qemu/queue.h"
#include "qemu/thread.h"

typedef struct V9fsJob V9fsJob;
typedef struct V9fsWorkers V9fsWorkers;

/* To be embedded in what it works on; the first two are the caller's. */
struct V9fsJob {
    int (*run)(V9fsJob *job);           /* worker */
    bool must_run;                      /* v9fs_job_cancel() does nothing */
    bool queued;                        /* no worker has it; under the lock */
    int ret;
    Coroutine *co;
    QTAILQ_ENTRY(V9fsJob) next;
};

typedef QTAILQ_HEAD(, V9fsJob) V9fsJobs;

struct V9fsWorkers {
    QemuMutex lock;
    V9fsJobs todo, done;                /* under the lock, as is */
    unsigned ntodo;                     /* how many */
    unsigned drainers, busy;            /* how many; those that have a job */
    unsigned active;                    /* not yet reported; server's thread */
    QEMUBH *bh;                         /* hands back what is done */
    QEMUTimer *again;                   /* whether all that is queued is taken */
};

/**
 * v9fs_workers_init: make them, v9fs_workers_destroy: free them
 *
 * Server's thread.  No drainer must be active when they are freed.
 */
void v9fs_workers_init(V9fsWorkers *ws);
void v9fs_workers_destroy(V9fsWorkers *ws);

/**
 * v9fs_workers_run: have a worker run a job, and wait for it
 *
 * Server's thread.  Returns what @job->run did, or -ECANCELED if
 * v9fs_job_cancel() came before a worker.
 */
int coroutine_fn v9fs_workers_run(V9fsWorkers *ws, V9fsJob *job);

/**
 * v9fs_job_cancel: end a job that no worker has begun
 *
 * Server's thread; @job is waited for by v9fs_workers_run().
 */
void v9fs_job_cancel(V9fsWorkers *ws, V9fsJob *job);

#endif
