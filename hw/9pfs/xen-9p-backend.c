/*
 * The Xen transport of 9p: requests from rings, and replies to them
 *
 * A request is copied out of its ring, which gives its room back at once, so
 * that requests may end in any order.  A reply is made in a buffer and copied
 * to the ring when that has room for it.  Who connects the rings is in
 * xen-9p-connect.c, how they work in xen-9p-ring.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/9p-migration.h"
#include "hw/9pfs/xen-9p-backend.h"
#include "qemu/defer-call.h"
#include "qemu/main-loop.h"

/* Requests of one device at once: more stay in the ring */
#define MAX_REQUESTS        128
/* Requests of one ring before the rest of QEMU has its turn */
#define REQUESTS_AT_ONCE    64

typedef struct Xen9pRequest {
    V9fsPDU pdu;
    Xen9pChannel *ch;
    struct iovec out, in;       /* our own copies */
    size_t in_room;             /* bytes that @in has */
    size_t reply;               /* bytes of it that are a reply */
    QSIMPLEQ_ENTRY(Xen9pRequest) next;
} Xen9pRequest;

static Xen9pDevice *device_of(V9fsState *s)
{
    return container_of(s, Xen9pDevice, state);
}

/* From here the connection cannot be closed: somebody may be using it. */
static void set_broken(Xen9pDevice *dev, const char *why)
{
    if (!dev->broken) {
        dev->broken = true;
        xen_pv_printf(&dev->xendev, 0, "9pfs: %s\n", why);
        qemu_bh_schedule(dev->close_bh);
    }
}

static void notify(void *opaque)
{
    Xen9pChannel *ch = opaque;

    if (ch->port >= 0) {
        qemu_xen_evtchn_notify(ch->evtchn, ch->port);
    }
}

/* Requests are used again: as many are kept as were in flight at once. */
static Xen9pRequest *new_request(Xen9pChannel *ch, size_t size)
{
    Xen9pRequest *r = QSIMPLEQ_FIRST(&ch->dev->spare);
    size_t room = ch->ring.size;

    if (r) {
        QSIMPLEQ_REMOVE_HEAD(&ch->dev->spare, next);
    } else {
        r = g_new0(Xen9pRequest, 1);
    }
    if (r->in_room < room) {
        g_free(r->in.iov_base);
        r->in.iov_base = g_malloc(room);
        r->in_room = room;
    }
    r->ch = ch;
    r->in.iov_len = room;
    r->out = (struct iovec) { g_malloc(size), size };
    r->pdu.s = &ch->dev->state;
    r->pdu.out_sg = &r->out;
    r->pdu.in_sg = &r->in;
    r->pdu.out_num = r->pdu.in_num = 1;
    ch->dev->requests++;
    return r;
}

static void free_request(Xen9pRequest *r)
{
    Xen9pDevice *dev = r->ch->dev;

    g_clear_pointer(&r->out.iov_base, g_free);
    dev->requests--;
    QSIMPLEQ_INSERT_HEAD(&dev->spare, r, next);
}

void xen_9p_free_spare(Xen9pDevice *dev)
{
    Xen9pRequest *r;

    while ((r = QSIMPLEQ_FIRST(&dev->spare))) {
        QSIMPLEQ_REMOVE_HEAD(&dev->spare, next);
        g_free(r->in.iov_base);
        g_free(r);
    }
}

/* Replies */

/* False if there is no room for it now */
static bool put_reply(Xen9pRequest *r)
{
    int err = xen_9p_ring_put(&r->ch->ring, r->in.iov_base, r->reply);

    if (err == -EAGAIN) {
        return false;
    }
    if (err) {
        set_broken(r->ch->dev, "impossible index of a ring of replies");
    }
    defer_call(notify, r->ch);
    free_request(r);
    return true;
}

static void put_replies(Xen9pChannel *ch)
{
    Xen9pRequest *r;

    while ((r = QSIMPLEQ_FIRST(&ch->replies))) {
        QSIMPLEQ_REMOVE_HEAD(&ch->replies, next);
        if (!put_reply(r)) {
            QSIMPLEQ_INSERT_HEAD(&ch->replies, r, next);
            return;
        }
    }
}

void xen_9p_drop_replies(Xen9pChannel *ch)
{
    Xen9pRequest *r;

    while ((r = QSIMPLEQ_FIRST(&ch->replies))) {
        QSIMPLEQ_REMOVE_HEAD(&ch->replies, next);
        free_request(r);
    }
}

/* Rings may have been left alone because there were too many requests. */
static void look_again(Xen9pDevice *dev)
{
    if (dev->requests == MAX_REQUESTS - 1 && !dev->broken) {
        for (int i = 0; i < dev->nchannels; i++) {
            qemu_bh_schedule(dev->channel[i].bh);
        }
    }
}

static void xen_9p_reply(V9fsPDU *pdu, size_t size)
{
    Xen9pRequest *r = container_of(pdu, Xen9pRequest, pdu);
    Xen9pDevice *dev = r->ch->dev;

    r->reply = size;
    if (!size || dev->broken) {
        free_request(r);
    } else if (!QSIMPLEQ_EMPTY(&r->ch->replies) || !put_reply(r)) {
        QSIMPLEQ_INSERT_TAIL(&r->ch->replies, r, next);
    }
    look_again(dev);
}

static void xen_9p_broken(V9fsPDU *pdu, const char *why)
{
    Xen9pRequest *r = container_of(pdu, Xen9pRequest, pdu);

    set_broken(r->ch->dev, why);
    free_request(r);
}

/* A reply must fit the smallest ring, as a whole. */
static uint32_t xen_9p_max_msize(V9fsState *s)
{
    Xen9pDevice *dev = device_of(s);
    uint32_t size = UINT32_MAX;

    for (int i = 0; i < dev->nchannels; i++) {
        size = MIN(size, dev->channel[i].ring.size);
    }
    return size;
}

static int xen_9p_mounted(V9fsState *s, bool mounted)
{
    Xen9pDevice *dev = device_of(s);

    return v9fs_block_migration(&dev->migration_blocker, dev->tag, mounted);
}

const V9fsTransport xen_9p_transport = {
    .max_msize = xen_9p_max_msize,
    .reply = xen_9p_reply,
    .broken = xen_9p_broken,
    .mounted = xen_9p_mounted,
};

/* Requests */

/* Takes the next one; false if there is none, or none may be taken now */
static bool take_request(Xen9pChannel *ch)
{
    Xen9pRequest *r;
    int size;

    if (ch->dev->broken || ch->dev->requests >= MAX_REQUESTS) {
        return false;
    }
    size = xen_9p_ring_request(&ch->ring);
    if (size < 0) {
        set_broken(ch->dev, "impossible index or size in a ring of requests");
    }
    if (size <= 0) {
        return false;
    }
    r = new_request(ch, size);
    xen_9p_ring_take(&ch->ring, r->out.iov_base, size);
    defer_call(notify, ch);
    v9fs_submit(&r->pdu);
    return true;
}

void xen_9p_serve(Xen9pChannel *ch)
{
    int left = REQUESTS_AT_ONCE;

    if (ch->dev->broken) {
        return;
    }
    defer_call_begin();
    put_replies(ch);
    while (left && take_request(ch)) {
        left--;
    }
    if (!left) {
        qemu_bh_schedule(ch->bh);
    }
    defer_call_end();
}
