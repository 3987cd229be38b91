/*
 * Rings of the Xen transport of 9p
 *
 * A ring is two buffers of one size, a power of two, in memory shared with
 * the guest: requests come in "out", replies go in "in".  Messages lie there
 * one after the other and go on at the start where the end cuts them.  Each
 * side moves its own index and reads the other's, which may be anything: the
 * guest can write it at any time.
 *
 * This file knows no Xen, so that tests can do without.  One thread.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_XEN_9P_RING_H
#define QEMU_XEN_9P_RING_H

/* What is at the start of the shared page: Xen's io/9pfs.h and io/ring.h */
typedef struct Xen9pShared {
    uint32_t in_cons, in_prod;
    uint8_t pad1[56];
    uint32_t out_cons, out_prod;
    uint8_t pad2[56];
    uint32_t order;             /* pages of both buffers: 1 << order */
    uint32_t ref[];             /* their grants */
} Xen9pShared;

typedef struct Xen9pRing {
    Xen9pShared *shared;
    uint8_t *in, *out;
    uint32_t size;              /* bytes of each */
    /* Our own indices: what we have written may have been changed since */
    uint32_t in_prod, out_cons;
} Xen9pRing;

/**
 * xen_9p_ring_init: begin to use a ring
 * @data: the two buffers, "in" first, @size bytes each
 *
 * The guest has set the indices to what it likes to begin with.
 */
void xen_9p_ring_init(Xen9pRing *r, Xen9pShared *shared, void *data,
                      uint32_t size);

/**
 * xen_9p_ring_request: the size of the next request in bytes
 *
 * Returns 0 if it is not there as a whole; -EPROTO if index or size are
 * impossible, after which the ring is of no more use.
 */
int xen_9p_ring_request(const Xen9pRing *r);

/**
 * xen_9p_ring_take: copy the next request, and give its room back
 * @size: as xen_9p_ring_request() has told
 *
 * Its bytes may have been changed since, those that tell the size, too.
 */
void xen_9p_ring_take(Xen9pRing *r, void *buf, uint32_t size);

/**
 * xen_9p_ring_put: append a reply
 *
 * Returns 0; -EAGAIN if there is no room now, -EMSGSIZE if there never is;
 * -EPROTO if the guest's index is impossible.
 */
int xen_9p_ring_put(Xen9pRing *r, const void *buf, uint32_t size);

#endif
