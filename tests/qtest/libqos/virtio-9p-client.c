/*
 * A 9p client for tests
 *
 * Requests onto the ring, replies from it, and the checks every reply must
 * pass.  What a reply should say is for the tests to know.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "../libqtest.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "standard-headers/linux/virtio_config.h"
#include "standard-headers/linux/virtio_ring.h"
#include "virtio-9p-client.h"

/*
 * The server's own encoder and decoder.  They are pure functions, and
 * including them spares QEMU's build a second list of this library's files.
 */
#include "hw/9pfs/9p-wire.c"

#define TIMEOUT_US      (60 * G_USEC_PER_SEC)
/* Buffers begin at an odd address, with bytes around that must stay. */
#define GUARD_SIZE      13
#define GUARD_BYTE      0xa5

typedef struct V9fsSegment {
    uint64_t base;              /* as allocated */
    uint32_t size;              /* without the guards */
} V9fsSegment;

struct V9fsPending {
    P9Header header;            /* of the request */
    uint32_t head;              /* its first descriptor */
    V9fsSegment out[V9FS_MAX_SEGMENTS + 1], in[V9FS_MAX_SEGMENTS];
    unsigned nout, nin;
    bool done;
    uint64_t place;             /* among all replies */
    uint32_t used;              /* bytes the device says it wrote */
    QTAILQ_ENTRY(V9fsPending) next;
};

V9fsClient *v9fs_client_new(QVirtio9P *dev, QTestState *qts)
{
    V9fsClient *c = g_new0(V9fsClient, 1);

    c->dev = dev;
    c->qts = qts;
    c->msize = P9_MIN_MSIZE;
    QTAILQ_INIT(&c->pending);
    return c;
}

static void free_segments(V9fsClient *c, V9fsSegment *seg, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        guest_free(c->dev->alloc, seg[i].base);
    }
}

static void free_pending(V9fsClient *c, V9fsPending *p)
{
    QTAILQ_REMOVE(&c->pending, p, next);
    free_segments(c, p->out, p->nout);
    free_segments(c, p->in, p->nin);
    g_free(p);
}

void v9fs_client_free(V9fsClient *c)
{
    g_assert_true(QTAILQ_EMPTY(&c->pending));
    g_free(c->reply);
    g_free(c);
}

void v9fs_forget(V9fsClient *c)
{
    V9fsPending *p, *next;

    QTAILQ_FOREACH_SAFE(p, &c->pending, next, next) {
        free_pending(c, p);
    }
}

void v9fs_restart(V9fsClient *c)
{
    qvirtio_9p_restart(c->dev);
    v9fs_forget(c);
}

/* Sending */

static V9fsSegment new_segment(V9fsClient *c, uint32_t size)
{
    size_t whole = size + 2 * GUARD_SIZE;
    V9fsSegment seg = {
        .base = guest_alloc(c->dev->alloc, whole), .size = size,
    };

    qtest_memset(c->qts, seg.base, GUARD_BYTE, whole);
    return seg;
}

static void add_out(V9fsClient *c, V9fsPending *p, const void *bytes,
                    uint32_t size)
{
    V9fsSegment seg = new_segment(c, size);

    qtest_memwrite(c->qts, seg.base + GUARD_SIZE, bytes, size);
    p->out[p->nout++] = seg;
}

static void lay_out(V9fsClient *c, V9fsPending *p, const uint8_t *bytes,
                    size_t size, const V9fsLayout *layout)
{
    for (int i = 0; i < V9FS_MAX_SEGMENTS && size > layout->out[i]; i++) {
        if (layout->out[i]) {
            add_out(c, p, bytes, layout->out[i]);
            bytes += layout->out[i];
            size -= layout->out[i];
        }
    }
    add_out(c, p, bytes, size);

    for (int i = 0; i < V9FS_MAX_SEGMENTS && layout->in[i]; i++) {
        p->in[p->nin++] = new_segment(c, layout->in[i]);
    }
    if (p->nin == 0 && !layout->no_in) {
        p->in[p->nin++] = new_segment(c, c->msize);
    }
}

static uint32_t add_descriptor(V9fsClient *c, const V9fsSegment *seg,
                               bool write, bool next)
{
    return qvirtqueue_add(c->qts, c->dev->vq, seg->base + GUARD_SIZE,
                          seg->size, write, next);
}

V9fsPending *v9fs_post_bytes(V9fsClient *c, const void *bytes, size_t size,
                             const V9fsLayout *layout)
{
    V9fsPending *p = g_new0(V9fsPending, 1);
    QVirtQueue *vq = c->dev->vq;

    if (QTAILQ_EMPTY(&c->pending)) {
        qvirtqueue_reset_pool(vq);
    }
    QTAILQ_INSERT_TAIL(&c->pending, p, next);
    p->header = size >= P9_HDRSZ ? p9_header(bytes) : (P9Header) { 0 };
    lay_out(c, p, bytes, size, layout ?: &(V9fsLayout) { 0 });
    g_assert_cmpuint(p->nout + p->nin, <=, vq->num_free);

    p->head = vq->free_head;
    for (unsigned i = 0; i < p->nout; i++) {
        add_descriptor(c, &p->out[i], false, p->nin || i + 1 < p->nout);
    }
    for (unsigned i = 0; i < p->nin; i++) {
        add_descriptor(c, &p->in[i], true, i + 1 < p->nin);
    }
    qvirtqueue_kick(c->qts, c->dev->vdev, vq, p->head);
    return p;
}

uint8_t *v9fs_bytes(uint8_t type, uint16_t tag, const void *request,
                    size_t *size)
{
    g_autofree uint8_t *bytes = NULL;
    ssize_t n = -EMSGSIZE;

    for (size_t room = 4 * KiB; n < 0; room *= 4) {
        g_assert_cmpuint(room, <=, 64 * MiB);
        bytes = g_realloc(bytes, room);
        n = p9_encode(type, tag, request, bytes, room);
    }
    *size = n;
    return g_steal_pointer(&bytes);
}

static bool tag_is_used(V9fsClient *c, uint16_t tag)
{
    V9fsPending *p;

    QTAILQ_FOREACH(p, &c->pending, next) {
        if (p->header.tag == tag) {
            return true;
        }
    }
    return false;
}

static uint16_t choose_tag(V9fsClient *c, uint8_t type)
{
    if (type == P9_TVERSION) {
        return P9_NOTAG;
    }
    do {
        c->tag = c->tag % (P9_NOTAG - 1) + 1;
    } while (tag_is_used(c, c->tag));
    return c->tag;
}

V9fsPending *v9fs_post(V9fsClient *c, uint8_t type, const void *request,
                       const V9fsLayout *layout)
{
    uint16_t tag = layout && layout->tag ? layout->tag : choose_tag(c, type);
    size_t size;
    g_autofree uint8_t *bytes = v9fs_bytes(type, tag, request, &size);

    return v9fs_post_bytes(c, bytes, size, layout);
}

/* Receiving */

/* The whole length: qvirtqueue_get_buf() gives its lower half. */
static uint32_t used_length(V9fsClient *c, uint16_t index)
{
    QVirtQueue *vq = c->dev->vq;
    uint64_t addr = vq->used + offsetof(struct vring_used, ring) +
                    index % vq->size * sizeof(struct vring_used_elem) +
                    offsetof(struct vring_used_elem, len);
    uint32_t len = qtest_readl(c->qts, addr);
    bool modern = vq->vdev->features & (1ull << VIRTIO_F_VERSION_1);

    return modern && qtest_big_endian(c->qts) ? bswap32(len) : len;
}

/* Like a driver, this looks at the ring only after an interrupt. */
static void collect(V9fsClient *c)
{
    QVirtioDevice *vdev = c->dev->vdev;
    QVirtQueue *vq = c->dev->vq;
    uint32_t head;
    uint16_t index;
    V9fsPending *p;

    if (!vdev->bus->get_queue_isr_status(vdev, vq)) {
        return;
    }
    for (;;) {
        index = vq->last_used_idx;
        if (!qvirtqueue_get_buf(c->qts, vq, &head, NULL)) {
            return;
        }
        QTAILQ_FOREACH(p, &c->pending, next) {
            if (p->head == head) {
                break;
            }
        }
        g_assert_nonnull(p);
        g_assert_false(p->done);
        p->done = true;
        p->place = c->replies++;
        p->used = used_length(c, index);
    }
}

bool v9fs_is_done(V9fsClient *c, V9fsPending *pending)
{
    if (!pending->done) {
        collect(c);
    }
    return pending->done;
}

static void check_guard(V9fsClient *c, uint64_t addr)
{
    uint8_t guard[GUARD_SIZE];

    qtest_memread(c->qts, addr, guard, sizeof(guard));
    for (int i = 0; i < sizeof(guard); i++) {
        g_assert_cmphex(guard[i], ==, GUARD_BYTE);
    }
}

/* The reply's bytes out of guest memory, p->used of them */
static uint8_t *fetch(V9fsClient *c, V9fsPending *p)
{
    uint8_t *reply = g_malloc(MAX(p->used, P9_HDRSZ));
    uint32_t got = 0;

    for (unsigned i = 0; i < p->nin; i++) {
        V9fsSegment *seg = &p->in[i];
        uint32_t n = MIN(seg->size, p->used - got);

        if (n) {
            qtest_memread(c->qts, seg->base + GUARD_SIZE, reply + got, n);
        }
        got += n;
        check_guard(c, seg->base);
        check_guard(c, seg->base + GUARD_SIZE + seg->size);
    }
    g_assert_cmpuint(got, ==, p->used);
    return reply;
}

static void decode(V9fsClient *c, uint8_t type, void *rec)
{
    P9Header header = p9_header(c->reply);
    const P9Message *m = p9_message(type);

    g_assert_cmpint(p9_decode(m, c->reply, header.size, rec), ==, 0);
    for (unsigned i = 0; i < m->nfields; i++) {
        if (m->fields[i].kind == P9_KIND_DATA) {
            P9Data *data = (P9Data *)((char *)rec + m->fields[i].offset);

            data->bytes = c->reply + data->at;
        }
    }
}

static int check_reply(V9fsClient *c, P9Header request, uint32_t used,
                       void *reply)
{
    P9Header header = p9_header(c->reply);
    P9Reply unwanted;
    P9Rlerror error;

    g_assert_cmpuint(used, >=, P9_HDRSZ);
    g_assert_cmpuint(header.size, ==, used);
    g_assert_cmpuint(header.tag, ==, request.tag);
    if (header.type == P9_RLERROR) {
        decode(c, header.type, &error);
        g_assert_cmpuint(error.ecode, >, 0);
        g_assert_cmpuint(error.ecode, <, 4096);
        return error.ecode;
    }
    g_assert_cmpuint(header.type, ==, request.type + 1);
    g_assert_nonnull(p9_message(header.type));
    decode(c, header.type, reply ?: &unwanted);
    return 0;
}

uint64_t v9fs_place(V9fsClient *c, V9fsPending *pending)
{
    gint64 deadline = g_get_monotonic_time() + TIMEOUT_US;

    while (!v9fs_is_done(c, pending)) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
    }
    return pending->place;
}

int v9fs_wait(V9fsClient *c, V9fsPending *pending, void *reply)
{
    P9Header request = pending->header;
    uint32_t used;

    v9fs_place(c, pending);
    used = pending->used;
    g_free(c->reply);
    c->reply = fetch(c, pending);
    free_pending(c, pending);
    return used ? check_reply(c, request, used, reply) : V9FS_CANCELLED;
}

int v9fs_call_as(V9fsClient *c, const V9fsLayout *layout, uint8_t type,
                 const void *request, void *reply)
{
    return v9fs_wait(c, v9fs_post(c, type, request, layout), reply);
}

int v9fs_call(V9fsClient *c, uint8_t type, const void *request, void *reply)
{
    return v9fs_call_as(c, NULL, type, request, reply);
}

int v9fs_call_bytes(V9fsClient *c, const void *bytes, size_t size)
{
    return v9fs_wait(c, v9fs_post_bytes(c, bytes, size, NULL), NULL);
}

/* Sessions and paths */

void v9fs_mount(V9fsClient *c, uint32_t msize)
{
    P9Rversion version;
    P9Rattach attach;

    g_assert_cmpint(v9fs_version(c, (P9Tversion) {
        .msize = msize, .version = V9FS_VERSION,
    }, &version), ==, 0);
    g_assert_cmpstr(version.version, ==, V9FS_VERSION);
    g_assert_cmpuint(version.msize, <=, msize);
    c->msize = version.msize;

    g_assert_cmpint(v9fs_attach(c, (P9Tattach) {
        .fid = 0, .afid = P9_NOFID, .uname = "", .aname = "",
        .n_uname = getuid(),
    }, &attach), ==, 0);
    g_assert_cmphex(attach.qid.type, ==, P9_QTDIR);
}

int v9fs_walk_path(V9fsClient *c, uint32_t fid, uint32_t newfid,
                   const char *path)
{
    g_auto(GStrv) names = g_strsplit(path, "/", -1);
    unsigned n = g_strv_length(names), i = 0;
    P9Rwalk walked;
    int err;

    do {
        P9Twalk walk = { .fid = i ? newfid : fid, .newfid = newfid };

        for (; i < n && walk.names.n < P9_MAXWELEM; i++) {
            walk.names.name[walk.names.n++] = names[i];
        }
        err = v9fs_walk(c, walk, &walked);
        if (!err && walked.qids.n < walk.names.n) {
            err = ENOENT;
        }
    } while (!err && i < n);
    return err;
}
