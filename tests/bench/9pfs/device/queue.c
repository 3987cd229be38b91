/*
 * Benchmark: requests in the device's queue
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <poll.h>
#include "qemu/atomic.h"
#include "qemu/processor.h"
#include "device.h"

#define SPIN_NS     50000       /* before giving the CPU to others */
#define NAP_NS      400000      /* before sleeping */
#define CHAIN_MAX   124         /* descriptors of a payload */

/* Replies without payload get one page */
static uint32_t reply_room(Slot *s, uint8_t type, const void *rec)
{
    switch (type) {
    case P9_TREAD:
        return ((const P9Tread *)rec)->count;
    case P9_TREADDIR:
        return ((const P9Treaddir *)rec)->count;
    default:
        return 0;
    }
}

void slot_fill(Slot *s, uint8_t type, const void *rec)
{
    uint16_t tag = type == P9_TVERSION ? P9_NOTAG : s->index;
    uint32_t room = reply_room(s, type, rec);

    s->type = type;
    s->refused = false;
    s->out_head = type == P9_TWRITE ? P9_WRITE_HDRSZ : 0;
    s->out_at = s->out_head ? GUEST_PAGE - s->out_head : 0;
    s->out_size = p9_encode(type, tag, rec, s->out + s->out_at, GUEST_PAGE);
    s->in_head = room ? P9_READ_HDRSZ : 0;
    s->in_at = room ? GUEST_PAGE - s->in_head : 0;
    s->in_size = room ? room + s->in_head : GUEST_PAGE;
}

bool slot_check(Slot *s, Error **errp)
{
    uint8_t *in = s->in + s->in_at;
    P9Header h = p9_header(in);
    const P9Message *m = p9_message(h.type);
    const char *request = p9_message(s->type)->name;
    uint16_t tag = s->type == P9_TVERSION ? P9_NOTAG : s->index;

    if (h.size < P9_HDRSZ || h.size > s->in_size || s->used < h.size ||
        h.tag != tag || !m) {
        error_setg(errp, "reply to %s: size %u, type %u, tag %u; used length "
                   "%u, room %u", request, h.size, h.type, h.tag, s->used,
                   s->in_size);
        return false;
    }
    if (p9_decode(m, in, h.size, &s->reply)) {
        error_setg(errp, "reply to %s is no %s", request, m->name);
        return false;
    }
    if (h.type == P9_RLERROR && !s->refused) {
        error_setg(errp, "%s: %s", request, strerror(s->reply.lerror.ecode));
        return false;
    }
    if (h.type != (s->refused ? P9_RLERROR : s->type + 1)) {
        error_setg(errp, "%s was answered by %s", request, m->name);
        return false;
    }
    return true;
}

/* Descriptors of one buffer: its head, then its payload in segments */
static unsigned describe(struct vring_desc *table, unsigned n, uint64_t gpa,
                         uint32_t size, uint32_t head, uint16_t flags)
{
    uint32_t payload = head && opt.segment ? size - head : 0;
    uint32_t piece = MAX(opt.segment, ROUND_UP(payload / CHAIN_MAX,
                                               GUEST_PAGE));
    uint32_t len = size - payload;

    for (; size; n++) {
        table[n].addr = gpa;
        table[n].len = len;
        table[n].flags = VRING_DESC_F_NEXT | flags;
        table[n].next = n + 1;
        gpa += len;
        size -= len;
        len = MIN(size, piece);
    }
    return n;
}

static void make_table(Device *d, Slot *s)
{
    const uint32_t shape[] = {
        s->out_at, s->out_size, s->out_head, s->in_at, s->in_size, s->in_head,
    };
    unsigned n;

    QEMU_BUILD_BUG_ON(sizeof(shape) != sizeof(s->shape));
    if (!memcmp(shape, s->shape, sizeof(shape))) {
        return;
    }
    memcpy(s->shape, shape, sizeof(shape));
    n = describe(s->table, 0, s->out_gpa + s->out_at, s->out_size,
                 s->out_head, 0);
    n = describe(s->table, n, s->in_gpa + s->in_at, s->in_size, s->in_head,
                 VRING_DESC_F_WRITE);
    s->table[n - 1].flags = VRING_DESC_F_WRITE;
    d->desc[s->index].len = n * sizeof(s->table[0]);
}

void queue_post(Device *d, Slot *s)
{
    make_table(d, s);
    memset(s->in + s->in_at, 0, P9_HDRSZ);
    s->busy = true;
    d->avail->ring[d->avail_idx++ % RING_SIZE] = s->index;
    qatomic_store_release(&d->avail->idx, d->avail_idx);
}

bool queue_kick(Device *d, Error **errp)
{
    static const uint64_t one = 1;

    /* The device looks for more after it has allowed kicks again */
    smp_mb();
    if (qatomic_read(&d->used->flags) & VRING_USED_F_NO_NOTIFY) {
        return true;
    }
    if (d->kick_fd < 0) {
        return qtest_post(d->machine, d->notify, 0, errp);
    }
    if (write(d->kick_fd, &one, sizeof(one)) != sizeof(one)) {
        error_setg_errno(errp, errno, "ioeventfd");
        return false;
    }
    return true;
}

bool queue_has_answer(Device *d)
{
    return qatomic_load_acquire(&d->used->idx) != d->used_idx;
}

static bool is_hopeless(Device *d, int64_t waited, Error **errp)
{
    struct pollfd p = { .fd = d->machine->pid_fd, .events = POLLIN };

    if (poll(&p, 1, 0) > 0) {
        error_setg(errp, "QEMU ended");
        return true;
    }
    if (waited > opt.timeout * NANOSECONDS_PER_SECOND) {
        error_setg(errp, "no answer within %d s", opt.timeout);
        return true;
    }
    return false;
}

/*
 * Spin, then yield, and on long answers sleep for a small part of the time
 * waited so far: who spins takes from QEMU's share of the CPU.
 */
static bool wait_for_answer(Device *d, Error **errp)
{
    int64_t start = 0, look = 0;

    for (unsigned i = 0; !queue_has_answer(d); i++) {
        int64_t now, waited;

        cpu_relax();
        if (i % 32 && !look) {
            continue;
        }
        now = get_clock();
        start = start ?: now;
        waited = now - start;
        if (waited > NAP_NS) {
            struct timespec nap = { .tv_nsec = MIN(waited / 64, SCALE_MS) };

            nanosleep(&nap, NULL);
            if (now > look) {
                look = now + 100 * SCALE_MS;
                if (is_hopeless(d, waited, errp)) {
                    return false;
                }
            }
        } else if (waited > SPIN_NS) {
            sched_yield();
        }
    }
    return true;
}

Slot *queue_reap(Device *d, Error **errp)
{
    struct vring_used_elem *e;
    Slot *s;

    if (!wait_for_answer(d, errp)) {
        return NULL;
    }
    e = &d->used->ring[d->used_idx++ % RING_SIZE];
    s = e->id < MAX_DEPTH ? &d->slot[e->id] : NULL;
    if (!s || !s->busy) {
        error_setg(errp, "the device returned buffer %u, which it had not",
                   e->id);
        return NULL;
    }
    s->busy = false;
    s->used = e->len;
    return s;
}

bool device_call(Device *d, uint8_t type, const void *rec, Error **errp)
{
    Slot *s = &d->slot[0];

    slot_fill(s, type, rec);
    queue_post(d, s);
    return queue_kick(d, errp) && queue_reap(d, errp) && slot_check(s, errp);
}

bool device_session(Device *d, uint32_t msize, Error **errp)
{
    P9Tversion v = { .msize = msize, .version = "9P2000.L" };
    P9Tattach a = {
        .fid = 1, .afid = P9_NOFID, .uname = "root", .aname = "",
    };
    const P9Rversion *got = &d->slot[0].reply.version;

    if (d->msize == msize) {
        return true;
    }
    if (!device_call(d, P9_TVERSION, &v, errp)) {
        return false;
    }
    if (got->msize != msize || !g_str_equal(got->version, v.version)) {
        error_setg(errp, "asked for %s and msize %u, got %s and %u",
                   v.version, msize, got->version, got->msize);
        return false;
    }
    d->msize = msize;
    return device_call(d, P9_TATTACH, &a, errp);
}
