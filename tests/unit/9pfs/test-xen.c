/*
 * Tests of the Xen transport without Xen: a frontend made of memory
 *
 * Event channels only count, and rings are set up by hand; the rest is the
 * transport as it is, on the driver "synth".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/9p-migration.h"
#include "hw/9pfs/9p-synth.h"
#include "hw/9pfs/xen-9p-backend.h"
#include "memory-transport.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"

/* What the transport wants of Xen */

static unsigned notified;

static int count_notify(xenevtchn_handle *xc, evtchn_port_t port)
{
    notified++;
    return 0;
}

static struct evtchn_backend_ops evtchn_ops = { .notify = count_notify };
struct evtchn_backend_ops *xen_evtchn_ops = &evtchn_ops;

void xen_pv_printf(XenLegacyDevice *xendev, int level, const char *fmt, ...)
{
}

int v9fs_block_migration(Error **blocker, const char *tag, bool mounted)
{
    return 0;
}

/* A device and its guest */

typedef struct Guest {
    Xen9pDevice dev;
    V9fsExport exp;
    uint32_t out_prod[2], in_cons[2];
    bool closed;
    uint8_t *last;              /* reply */
} Guest;

static void note_closed(void *opaque)
{
    ((Guest *)opaque)->closed = true;
}

static void serve(void *opaque)
{
    xen_9p_serve(opaque);
}

static void add_channel(Guest *g, uint32_t size)
{
    Xen9pChannel *ch = &g->dev.channel[g->dev.nchannels++];

    ch->dev = &g->dev;
    ch->port = 1;
    ch->bh = qemu_bh_new(serve, ch);
    QSIMPLEQ_INIT(&ch->replies);
    ch->shared = g_new0(Xen9pShared, 1);
    ch->data = g_malloc0(2 * size);
    xen_9p_ring_init(&ch->ring, ch->shared, ch->data, size);
}

static Guest *guest_new(uint32_t size, uint32_t second)
{
    Guest *g = g_new0(Guest, 1);

    g->exp = (V9fsExport) { .id = (char *)"x", .ops = &v9fs_synth_ops };
    g->dev.tag = (char *)"tag";
    QSIMPLEQ_INIT(&g->dev.spare);
    g->dev.close_bh = qemu_bh_new(note_closed, g);
    add_channel(g, size);
    if (second) {
        add_channel(g, second);
    }
    v9fs_state_init(&g->dev.state, &g->exp, &xen_9p_transport, &error_abort);
    notified = 0;
    return g;
}

/* As xen-9p-connect.c does it */
static void guest_free(Guest *g)
{
    for (int i = 0; i < g->dev.nchannels; i++) {
        qemu_bh_cancel(g->dev.channel[i].bh);
    }
    v9fs_reset(&g->dev.state);
    v9fs_state_cleanup(&g->dev.state);
    for (int i = 0; i < g->dev.nchannels; i++) {
        Xen9pChannel *ch = &g->dev.channel[i];

        xen_9p_drop_replies(ch);
        qemu_bh_delete(ch->bh);
        g_free(ch->shared);
        g_free(ch->data);
    }
    g_assert_cmpuint(g->dev.requests, ==, 0);
    xen_9p_free_spare(&g->dev);
    qemu_bh_delete(g->dev.close_bh);
    g_free(g->last);
    g_free(g);
}

static void send_message(Guest *g, int i, uint16_t tag, uint8_t type,
                         const void *rec)
{
    Xen9pChannel *ch = &g->dev.channel[i];
    uint8_t buf[512];
    ssize_t size = p9_encode(type, tag, rec, buf, sizeof(buf));
    uint32_t used = g->out_prod[i] - ch->shared->out_cons;

    g_assert_cmpint(size, >, 0);
    g_assert_cmpuint(size, <=, ch->ring.size - used);
    for (int at = 0; at < size; at++) {
        ch->ring.out[g->out_prod[i]++ % ch->ring.size] = buf[at];
    }
    ch->shared->out_prod = g->out_prod[i];
}

/* The next reply, or NULL if there is none now; good until the next one */
static uint8_t *get_reply(Guest *g, int i)
{
    Xen9pChannel *ch = &g->dev.channel[i];
    uint32_t queued = ch->shared->in_prod - g->in_cons[i];
    uint32_t size;

    if (!queued) {
        return NULL;
    }
    g_assert_cmpuint(queued, >=, P9_HDRSZ);
    g_free(g->last);
    g->last = g_malloc(queued);
    for (int at = 0; at < queued; at++) {
        g->last[at] = ch->ring.in[(g->in_cons[i] + at) % ch->ring.size];
    }
    size = p9_header(g->last).size;
    g_assert_cmpuint(size, <=, queued);
    g->in_cons[i] += size;
    ch->shared->in_cons = g->in_cons[i];
    return g->last;
}

/* Sends it, waits, and decodes the reply */
static int call(Guest *g, int i, uint8_t type, const void *rec, void *res)
{
    unsigned before = notified;
    P9Reply any;
    P9Header h;

    send_message(g, i, 1, type, rec);
    xen_9p_serve(&g->dev.channel[i]);
    while (!get_reply(g, i)) {
        aio_poll(qemu_get_aio_context(), true);
    }
    g_assert_cmpuint(notified, >, before);
    h = p9_header(g->last);
    g_assert_cmpuint(h.tag, ==, 1);
    g_assert_cmpint(p9_decode(p9_message(h.type), g->last, h.size,
                              res ?: &any), ==, 0);
    return h.type == P9_RLERROR ? -1 : 0;
}

static uint32_t attach(Guest *g)
{
    P9Tversion v = { UINT32_MAX, "9P2000.L" };
    P9Tattach a = { 0, P9_NOFID, "", "", 0 };
    P9Rversion r;
    uint32_t msize;

    g_assert_cmpint(call(g, 0, P9_TVERSION, &v, &r), ==, 0);
    msize = r.msize;
    g_assert_cmpint(call(g, 0, P9_TATTACH, &a, NULL), ==, 0);
    return msize;
}

/* Thousands of messages: every place of the rings' ends is met. */
static void test_session(void)
{
    Guest *g = guest_new(4096, 0);
    P9Twalk w = { 0, 1, { 1, { QTEST_V9FS_SYNTH_READDIR_DIR } } };
    P9Tlopen o = { 1, P9_DOTL_RDONLY };
    P9Treaddir d = { 1, 0, 3000 };
    P9Rreaddir r;

    g_assert_cmpuint(attach(g), ==, 4096);
    for (int i = 0; i < 300; i++) {
        g_assert_cmpint(call(g, 0, P9_TWALK, &w, NULL), ==, 0);
        g_assert_cmpint(call(g, 0, P9_TLOPEN, &o, NULL), ==, 0);
        g_assert_cmpint(call(g, 0, P9_TREADDIR, &d, &r), ==, 0);
        g_assert_cmpuint(r.data.count, >, 2900);
        g_assert_cmpint(call(g, 0, P9_TCLUNK, &(P9Tclunk) { 1 }, NULL), ==, 0);
    }
    g_assert_false(g->closed);
    guest_free(g);
}

/* No reply is larger than the smallest ring. */
static void test_msize(void)
{
    Guest *g = guest_new(65536, 8192);
    P9Tgetattr a = { 0, P9_GETATTR_BASIC };

    g_assert_cmpuint(attach(g), ==, 8192);
    g_assert_cmpint(call(g, 1, P9_TGETATTR, &a, NULL), ==, 0);
    guest_free(g);
}

/* Sends @n requests, as room comes, and reads no reply */
static void send_many(Guest *g, int n)
{
    P9Tgetattr a = { 0, P9_GETATTR_BASIC };

    for (int i = 0; i < n; i++) {
        send_message(g, 0, 100 + i, P9_TGETATTR, &a);
        if (i % 50 == 0 || i == n - 1) {
            xen_9p_serve(&g->dev.channel[0]);
        }
    }
}

/* Takes what is in the ring, each tag once, until there are @n replies */
static void expect_many(Guest *g, int n)
{
    g_autofree bool *seen = g_new0(bool, n);

    for (int got = 0; got < n;) {
        uint8_t *reply = get_reply(g, 0);

        if (reply) {
            int tag = p9_header(reply).tag - 100;

            g_assert_cmpuint(p9_header(reply).type, ==, P9_RGETATTR);
            g_assert_true(tag >= 0 && tag < n && !seen[tag]);
            seen[tag] = true;
            got++;
        } else {
            /* The guest has made room: an event says so. */
            xen_9p_serve(&g->dev.channel[0]);
            aio_poll(qemu_get_aio_context(), false);
        }
    }
    g_assert_null(get_reply(g, 0));
}

/* Replies wait until there is room for them. */
static void test_full_ring(void)
{
    Guest *g = guest_new(4096, 0);

    attach(g);
    for (int i = 0; i < 20; i++) {
        send_many(g, 100);
        expect_many(g, 100);
    }
    guest_free(g);
}

/* More than are served at once: they stay in the ring of requests. */
static void test_many_requests(void)
{
    Guest *g = guest_new(8192, 0);

    attach(g);
    send_many(g, 400);
    for (int i = 0; i < 10; i++) {
        aio_poll(qemu_get_aio_context(), false);
    }
    g_assert_cmpuint(g->dev.requests, <=, 128);
    expect_many(g, 400);
    g_assert_cmpuint(g->dev.requests, ==, 0);
    guest_free(g);
}

/* The device ends while replies wait. */
static void test_end_when_full(void)
{
    Guest *g = guest_new(4096, 0);

    attach(g);
    send_many(g, 100);
    g_assert_cmpuint(g->dev.requests, >, 0);
    guest_free(g);
}

static void expect_closed(Guest *g)
{
    P9Tgetattr a = { 0, P9_GETATTR_BASIC };

    for (int i = 0; i < 10; i++) {
        aio_poll(qemu_get_aio_context(), false);
    }
    g_assert_true(g->closed);
    g->dev.channel[0].shared->out_prod = g->out_prod[0];
    send_message(g, 0, 5, P9_TGETATTR, &a);
    xen_9p_serve(&g->dev.channel[0]);
    g_assert_null(get_reply(g, 0));
    guest_free(g);
}

static void test_hostile_requests(void)
{
    Guest *g = guest_new(4096, 0);

    attach(g);
    g->dev.channel[0].shared->out_prod += 4097;
    xen_9p_serve(&g->dev.channel[0]);
    expect_closed(g);
}

static void test_hostile_replies(void)
{
    Guest *g = guest_new(4096, 0);
    P9Tgetattr a = { 0, P9_GETATTR_BASIC };

    attach(g);
    g->dev.channel[0].shared->in_cons += 1;
    send_message(g, 0, 5, P9_TGETATTR, &a);
    xen_9p_serve(&g->dev.channel[0]);
    g->in_cons[0] = g->dev.channel[0].shared->in_prod;
    expect_closed(g);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    g_test_add_func("/9pfs/xen/session", test_session);
    g_test_add_func("/9pfs/xen/msize", test_msize);
    g_test_add_func("/9pfs/xen/full-ring", test_full_ring);
    g_test_add_func("/9pfs/xen/many-requests", test_many_requests);
    g_test_add_func("/9pfs/xen/end-when-full", test_end_when_full);
    g_test_add_func("/9pfs/xen/hostile-requests", test_hostile_requests);
    g_test_add_func("/9pfs/xen/hostile-replies", test_hostile_replies);
    return g_test_run();
}
