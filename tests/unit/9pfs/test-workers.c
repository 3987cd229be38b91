/*
 * Tests of a file system that does not answer
 *
 * It must stop no one but those who ask it something: not the event loop, not
 * another share, not what shares the thread pool.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "block/aio-wait.h"
#include "block/thread-pool.h"
#include "qemu/defer-call.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "client.h"
#include "tree.h"

#define MANY        100
#define POOL        64          /* threads of QEMU's pool */

/* A driver whose attributes take as long as it is told to stall */
static bool stalled;
static int waiting;
static QemuEvent go_on;

static int stall_stat(const V9fsCtx *cx, const V9fsObject *obj, V9fsStat *st)
{
    if (cx->nowait) {
        return -EAGAIN;
    }
    qatomic_inc(&waiting);
    while (qatomic_read(&stalled)) {
        qemu_event_wait(&go_on);
    }
    qatomic_dec(&waiting);
    return v9fs_local_ops.stat(cx, obj, st);
}

static void stall(void)
{
    qemu_event_reset(&go_on);
    qatomic_set(&stalled, true);
}

static void release(void *opaque)
{
    qatomic_set(&stalled, false);
    qemu_event_set(&go_on);
}

static V9fsFsOps stall_ops;

static MemSession *serve_stalling(Tree *t)
{
    MemSession *m;

    stall_ops = v9fs_local_ops;
    stall_ops.stat = stall_stat;
    m = mem_new(&stall_ops, t->path, V9FS_MODEL_NONE);
    mem_start(m);
    mem_attach(m, 8192);
    return m;
}

static MemRequest *ask(MemSession *m, uint16_t tag)
{
    P9Tgetattr t = { .fid = 0, .request_mask = P9_GETATTR_BASIC };

    return mem_send(m, tag, P9_TGETATTR, &t, 4096);
}

static void ask_many(MemSession *m, MemRequest *r[MANY])
{
    for (int i = 0; i < MANY; i++) {
        r[i] = ask(m, i);
    }
}

/* Runs the event loop until as many workers as may be are at it */
static int settle(void)
{
    int before;

    do {
        before = qatomic_read(&waiting);
        for (int i = 0; i < 20; i++) {
            aio_poll(qemu_get_aio_context(), false);
            g_usleep(1000);
        }
    } while (qatomic_read(&waiting) != before || !before);
    return before;
}

static void finish_many(MemRequest *r[MANY])
{
    for (int i = 0; i < MANY; i++) {
        mem_wait(r[i]);
        g_assert_cmpint(mem_result(r[i], NULL), ==, 0);
        mem_request_free(r[i]);
    }
}

static int add_one(void *opaque)
{
    qatomic_inc((int *)opaque);
    return 0;
}

/* Others get on: another share, and whoever else has work for the pool. */
static void test_others(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *slow = serve_stalling(t);
    MemSession *other = tree_serve(t);
    MemRequest *r[MANY];
    int done = 0;

    stall();
    ask_many(slow, r);
    g_assert_cmpint(settle(), <=, POOL / 2);
    g_assert_cmpint(CALL(other, mkdir, 0, "dir", 0755), ==, 0);
    g_assert_cmpint(walk_open(other, 1, "dir", P9_DOTL_RDONLY), ==, 0);
    g_assert_cmpint(CALL(other, readdir, 1, 0, 4096), ==, 0);
    thread_pool_submit_aio(add_one, &done, NULL, NULL);
    AIO_WAIT_WHILE_UNLOCKED(NULL, !qatomic_read(&done));
    for (int i = 0; i < MANY; i++) {
        g_assert_false(r[i]->done);
    }
    release(NULL);
    finish_many(r);
    mem_free(other);
    mem_free(slow);
}

/* What waits for something is done at once, not one after the other. */
static void test_at_once(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve_stalling(t);
    MemRequest *r[MANY];

    stall();
    defer_call_begin();
    ask_many(m, r);
    g_assert_cmpint(m->s.workers.active, ==, 0);
    defer_call_end();
    g_assert_cmpint(m->s.workers.active, <=, 2);
    g_assert_cmpint(settle(), >=, 16);
    release(NULL);
    finish_many(r);
    mem_free(m);
}

/* A request that no worker has begun is flushed at once, a running one not. */
static void test_flush(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve_stalling(t);
    MemRequest *r[MANY], *flush[2];
    P9Tflush last = { MANY - 1 }, first = { 0 };

    stall();
    ask_many(m, r);
    settle();
    flush[0] = mem_send(m, 1000, P9_TFLUSH, &last, 100);
    flush[1] = mem_send(m, 1001, P9_TFLUSH, &first, 100);
    mem_wait(flush[0]);
    g_assert_true(r[MANY - 1]->done);
    g_assert_cmpuint(r[MANY - 1]->reply, ==, 0);
    settle();
    g_assert_false(r[0]->done);
    g_assert_false(flush[1]->done);
    release(NULL);
    mem_wait(flush[1]);
    g_assert_true(r[0]->done);
    for (int i = 0; i < MANY; i++) {
        mem_wait(r[i]);
        mem_request_free(r[i]);
    }
    mem_request_free(flush[0]);
    mem_request_free(flush[1]);
    mem_free(m);
}

/* A reset waits for what runs, and for nothing else. */
static void test_reset(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = serve_stalling(t);
    QEMUTimer *timer = aio_timer_new(qemu_get_aio_context(),
                                     QEMU_CLOCK_REALTIME, SCALE_MS, release,
                                     NULL);
    MemRequest *r[MANY];
    unsigned begun, ended = 0;

    stall();
    ask_many(m, r);
    begun = settle();
    timer_mod(timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + 50);
    v9fs_reset(&m->s);
    for (int i = 0; i < MANY; i++) {
        g_assert_true(r[i]->done);
        ended += r[i]->reply > 0;
        mem_request_free(r[i]);
    }
    g_assert_cmpuint(ended, <=, begun);
    g_assert_cmpuint(m->s.workers.active, ==, 0);
    timer_free(timer);
    mem_free(m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    qemu_event_init(&go_on, true);
    g_test_add_func("/9p/workers/others", test_others);
    g_test_add_func("/9p/workers/at-once", test_at_once);
    g_test_add_func("/9p/workers/flush", test_flush);
    g_test_add_func("/9p/workers/reset", test_reset);
    return g_test_run();
}
