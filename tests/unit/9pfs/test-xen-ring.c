/*
 * Tests of the Xen transport's rings, with a frontend that plays by the rules
 * and one that does not
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/9p-wire.h"
#include "hw/9pfs/xen-9p-ring.h"

/* Both sides of a ring.  Buffers have exactly their size: ASan looks on. */
typedef struct Pair {
    Xen9pRing r;
    Xen9pShared *shared;
    uint8_t *data;
    uint32_t out_prod, in_cons;         /* the frontend's own */
} Pair;

static Pair *pair_new(uint32_t size, uint32_t start)
{
    Pair *p = g_new0(Pair, 1);

    p->shared = g_new0(Xen9pShared, 1);
    p->data = g_malloc0(2 * size);
    p->shared->out_prod = p->shared->out_cons = p->out_prod = start;
    p->shared->in_prod = p->shared->in_cons = p->in_cons = start;
    xen_9p_ring_init(&p->r, p->shared, p->data, size);
    return p;
}

static void pair_free(Pair *p)
{
    g_free(p->shared);
    g_free(p->data);
    g_free(p);
}

/* The frontend writes bytes, one by one so that nothing is shared with us */
static void send_bytes(Pair *p, const uint8_t *bytes, uint32_t n)
{
    uint8_t *out = p->data + p->r.size;

    for (uint32_t i = 0; i < n; i++) {
        out[(p->out_prod + i) % p->r.size] = bytes[i];
    }
    p->out_prod += n;
    p->shared->out_prod = p->out_prod;
}

static uint8_t *message(uint32_t size, uint8_t seed)
{
    uint8_t *bytes = g_malloc(size);

    for (uint32_t i = 0; i < size; i++) {
        bytes[i] = seed + i * 7;
    }
    p9_put_header(bytes, (P9Header) { size, P9_TCLUNK, seed });
    return bytes;
}

static void send_message(Pair *p, uint32_t size, uint8_t seed)
{
    g_autofree uint8_t *bytes = message(size, seed);

    send_bytes(p, bytes, size);
}

static void expect_request(Pair *p, uint32_t size, uint8_t seed)
{
    g_autofree uint8_t *want = message(size, seed);
    g_autofree uint8_t *got = g_malloc(size);

    g_assert_cmpint(xen_9p_ring_request(&p->r), ==, size);
    xen_9p_ring_take(&p->r, got, size);
    g_assert_cmpmem(got, size, want, size);
}

/* The frontend reads a reply, and gives its room back */
static void expect_reply(Pair *p, uint32_t size, uint8_t seed)
{
    g_autofree uint8_t *want = message(size, seed);

    g_assert_cmpuint(p->shared->in_prod - p->in_cons, >=, size);
    for (uint32_t i = 0; i < size; i++) {
        g_assert_cmpuint(p->data[(p->in_cons + i) % p->r.size], ==, want[i]);
    }
    p->in_cons += size;
    p->shared->in_cons = p->in_cons;
}

static int reply(Pair *p, uint32_t size, uint8_t seed)
{
    g_autofree uint8_t *bytes = message(size, seed);

    return xen_9p_ring_put(&p->r, bytes, size);
}

static void test_empty(void)
{
    Pair *p = pair_new(4096, 0);

    g_assert_cmpint(xen_9p_ring_request(&p->r), ==, 0);
    send_message(p, P9_HDRSZ, 1);
    expect_request(p, P9_HDRSZ, 1);
    g_assert_cmpint(xen_9p_ring_request(&p->r), ==, 0);
    g_assert_cmpuint(p->shared->out_cons, ==, P9_HDRSZ);
    pair_free(p);
}

/*
 * Messages of all sizes, cut by the ring's end everywhere, headers too, and
 * indices that pass 2^32
 */
static void test_wrap_around(void)
{
    Pair *p = pair_new(128, UINT32_MAX - 1000);

    for (int i = 0; i < 5000; i++) {
        uint32_t size = g_test_rand_int_range(P9_HDRSZ, 129);

        send_message(p, size, i);
        expect_request(p, size, i);
        g_assert_cmpuint(p->shared->out_cons, ==, p->out_prod);
        g_assert_cmpint(reply(p, size, i), ==, 0);
        expect_reply(p, size, i);
    }
    pair_free(p);
}

/* Many at once, in order, and as many as there is room for */
static void test_several(void)
{
    Pair *p = pair_new(64, 60);

    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 4; i++) {
            send_message(p, 16, i);
        }
        for (int i = 0; i < 4; i++) {
            expect_request(p, 16, i);
            g_assert_cmpint(reply(p, 16, i), ==, 0);
        }
        g_assert_cmpint(reply(p, 16, 9), ==, -EAGAIN);
        for (int i = 0; i < 4; i++) {
            expect_reply(p, 16, i);
        }
    }
    pair_free(p);
}

/* Nothing is taken before all of it is there. */
static void test_in_pieces(void)
{
    Pair *p = pair_new(64, 50);
    g_autofree uint8_t *bytes = message(40, 3);

    for (int i = 0; i < 40; i++) {
        g_assert_cmpint(xen_9p_ring_request(&p->r), ==, 0);
        send_bytes(p, bytes + i, 1);
    }
    expect_request(p, 40, 3);
    pair_free(p);
}

static void test_largest(void)
{
    Pair *p = pair_new(4096, 4000);

    send_message(p, 4096, 1);
    expect_request(p, 4096, 1);
    g_assert_cmpint(reply(p, 4096, 2), ==, 0);
    g_assert_cmpint(reply(p, P9_HDRSZ, 2), ==, -EAGAIN);
    expect_reply(p, 4096, 2);
    g_assert_cmpint(reply(p, 4097, 2), ==, -EMSGSIZE);
    g_assert_cmpuint(p->shared->in_prod, ==, p->in_cons);
    pair_free(p);
}

/* A ring that no message fits: nothing is read or written beyond it. */
static void test_short_rings(void)
{
    for (uint32_t size = 1; size < P9_HDRSZ; size *= 2) {
        Pair *p = pair_new(size, 0);

        g_assert_cmpint(reply(p, P9_HDRSZ, 1), ==, -EMSGSIZE);
        p->shared->out_prod = size;
        g_assert_cmpint(xen_9p_ring_request(&p->r), ==, 0);
        p->shared->out_prod = P9_HDRSZ;
        g_assert_cmpint(xen_9p_ring_request(&p->r), ==, -EPROTO);
        pair_free(p);
    }
}

static void test_hostile_sizes(void)
{
    static const uint32_t sizes[] = {
        0, 1, P9_HDRSZ - 1, 65, 1000, INT32_MAX, INT32_MAX + 1u, UINT32_MAX,
    };

    for (int i = 0; i < ARRAY_SIZE(sizes); i++) {
        Pair *p = pair_new(64, 0);
        uint8_t bytes[P9_HDRSZ];

        p9_put_header(bytes, (P9Header) { sizes[i], P9_TCLUNK, 1 });
        send_bytes(p, bytes, sizeof(bytes));
        g_assert_cmpint(xen_9p_ring_request(&p->r), ==, -EPROTO);
        pair_free(p);
    }
}

static void test_hostile_indices(void)
{
    static const uint32_t jumps[] = {
        65, 1000, INT32_MAX, INT32_MAX + 1u, UINT32_MAX - 63, UINT32_MAX,
    };

    for (int i = 0; i < ARRAY_SIZE(jumps); i++) {
        Pair *p = pair_new(64, 0);

        p->shared->out_prod = jumps[i];
        g_assert_cmpint(xen_9p_ring_request(&p->r), ==, -EPROTO);
        /* It has read more than was written, or less than nothing. */
        p->shared->in_cons = jumps[i];
        g_assert_cmpint(reply(p, 16, 1), ==, jumps[i] >= UINT32_MAX - 63 ?
                        (jumps[i] == UINT32_MAX ? 0 : -EAGAIN) : -EPROTO);
        pair_free(p);
    }
}

/* Our own indices and a message under way may be overwritten at any time. */
static void test_overwritten(void)
{
    Pair *p = pair_new(64, 0);
    uint8_t got[20];

    send_message(p, 20, 1);
    g_assert_cmpint(xen_9p_ring_request(&p->r), ==, 20);
    p->shared->out_cons = 12345;
    p->shared->in_prod = 54321;
    p9_put_header(p->data + 64, (P9Header) { UINT32_MAX, P9_TCLUNK, 1 });
    xen_9p_ring_take(&p->r, got, 20);
    g_assert_cmpuint(p9_header(got).size, ==, UINT32_MAX);
    g_assert_cmpuint(p->shared->out_cons, ==, 20);
    send_message(p, 30, 2);
    expect_request(p, 30, 2);
    g_assert_cmpint(reply(p, 16, 3), ==, 0);
    g_assert_cmpuint(p->shared->in_prod, ==, 16);
    expect_reply(p, 16, 3);
    pair_free(p);
}

/* Whatever the guest writes wherever it can, this stays within the buffers. */
static void test_noise(void)
{
    uint8_t buf[256];

    for (int i = 0; i < 20000; i++) {
        Pair *p = pair_new(256, g_test_rand_int());

        for (int step = 0; step < 5; step++) {
            int size;

            p->shared->out_prod += g_test_rand_int_range(-20, 280);
            p->shared->in_cons += g_test_rand_int_range(-20, 280);
            p->data[256 + g_test_rand_int_range(0, 256)] = g_test_rand_int();
            size = xen_9p_ring_request(&p->r);
            g_assert_cmpint(size, <=, 256);
            if (size > 0) {
                xen_9p_ring_take(&p->r, buf, size);
            }
            xen_9p_ring_put(&p->r, buf, g_test_rand_int_range(7, 257));
        }
        pair_free(p);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/9pfs/xen-ring/empty", test_empty);
    g_test_add_func("/9pfs/xen-ring/wrap-around", test_wrap_around);
    g_test_add_func("/9pfs/xen-ring/several", test_several);
    g_test_add_func("/9pfs/xen-ring/in-pieces", test_in_pieces);
    g_test_add_func("/9pfs/xen-ring/largest", test_largest);
    g_test_add_func("/9pfs/xen-ring/short-rings", test_short_rings);
    g_test_add_func("/9pfs/xen-ring/hostile-sizes", test_hostile_sizes);
    g_test_add_func("/9pfs/xen-ring/hostile-indices", test_hostile_indices);
    g_test_add_func("/9pfs/xen-ring/overwritten", test_overwritten);
    g_test_add_func("/9pfs/xen-ring/noise", test_noise);
    return g_test_run();
}
