/*
 * Rings of the Xen transport of 9p
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/host-utils.h"
#include "hw/9pfs/9p-wire.h"
#include "hw/9pfs/xen-9p-ring.h"

void xen_9p_ring_init(Xen9pRing *r, Xen9pShared *shared, void *data,
                      uint32_t size)
{
    assert(is_power_of_2(size));
    *r = (Xen9pRing) {
        .shared = shared, .in = data, .out = (uint8_t *)data + size,
        .size = size,
        .in_prod = qatomic_read(&shared->in_prod),
        .out_cons = qatomic_read(&shared->out_cons),
    };
}

/* Copies from a ring, from index @at on */
static void copy_out(const Xen9pRing *r, uint32_t at, void *buf, uint32_t n)
{
    uint32_t first = at & (r->size - 1);
    uint32_t part = MIN(n, r->size - first);

    memcpy(buf, r->out + first, part);
    memcpy((uint8_t *)buf + part, r->out, n - part);
}

static void copy_in(Xen9pRing *r, uint32_t at, const void *buf, uint32_t n)
{
    uint32_t first = at & (r->size - 1);
    uint32_t part = MIN(n, r->size - first);

    memcpy(r->in + first, buf, part);
    memcpy(r->in, (const uint8_t *)buf + part, n - part);
}

int xen_9p_ring_request(const Xen9pRing *r)
{
    /* What is read from the buffer is read after this. */
    uint32_t queued = qatomic_load_acquire(&r->shared->out_prod) - r->out_cons;
    uint8_t bytes[P9_HDRSZ];
    P9Header header;

    if (queued > r->size) {
        return -EPROTO;
    }
    if (queued < sizeof(bytes)) {
        return 0;
    }
    copy_out(r, r->out_cons, bytes, sizeof(bytes));
    header = p9_header(bytes);
    if (header.size < sizeof(bytes) || header.size > r->size) {
        return -EPROTO;
    }
    return header.size <= queued ? header.size : 0;
}

void xen_9p_ring_take(Xen9pRing *r, void *buf, uint32_t size)
{
    copy_out(r, r->out_cons, buf, size);
    r->out_cons += size;
    /* From now on the guest writes there. */
    qatomic_store_release(&r->shared->out_cons, r->out_cons);
}

int xen_9p_ring_put(Xen9pRing *r, const void *buf, uint32_t size)
{
    uint32_t queued = r->in_prod - qatomic_load_acquire(&r->shared->in_cons);

    if (queued > r->size) {
        return -EPROTO;
    }
    if (size > r->size) {
        return -EMSGSIZE;
    }
    if (size > r->size - queued) {
        return -EAGAIN;
    }
    copy_in(r, r->in_prod, buf, size);
    r->in_prod += size;
    qatomic_store_release(&r->shared->in_prod, r->in_prod);
    return 0;
}
