/*
 * A 9p transport made of memory
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "block/aio-wait.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "hw/9pfs/9p-local-os.h"
#include "memory-transport.h"

static MemSession *session_of(V9fsState *s)
{
    return container_of(s, MemSession, s);
}

static uint32_t mem_max_msize(V9fsState *s)
{
    return session_of(s)->max_msize;
}

static void mem_reply(V9fsPDU *pdu, size_t size)
{
    MemRequest *r = container_of(pdu, MemRequest, pdu);

    g_assert_false(r->done);
    g_assert_cmpuint(size, <=, r->in_size);
    r->reply = size;
    r->done = true;
}

static void mem_broken(V9fsPDU *pdu, const char *why)
{
    MemRequest *r = container_of(pdu, MemRequest, pdu);

    g_assert_false(r->done);
    r->broken = true;
    r->done = true;
    r->m->broken++;
}

static int mem_mounted(V9fsState *s, bool mounted)
{
    MemSession *m = session_of(s);

    if (mounted && m->refuse_mount) {
        return -m->refuse_mount;
    }
    g_assert_cmpint(m->mounted, !=, mounted);
    m->mounted = mounted;
    return 0;
}

static const V9fsTransport mem_transport = {
    .max_msize = mem_max_msize,
    .reply = mem_reply,
    .broken = mem_broken,
    .mounted = mem_mounted,
};

/* V9FS_TEST_LACKS: what the local driver shall do without */
static void lack_features(void)
{
    static const struct {
        const char *name;
        unsigned what;
    } features[] = {
        { "node", LOCAL_OS_NODE },
        { "proc", LOCAL_OS_PROC },
        { "openat2", LOCAL_OS_OPENAT2 },
        { "statx", LOCAL_OS_STATX },
        { "getdents", LOCAL_OS_GETDENTS },
        { "fchmodat2", LOCAL_OS_FCHMODAT2 },
        { "xattrat", LOCAL_OS_XATTRAT },
        { "append", LOCAL_OS_APPEND },
    };
    const char *lacks = getenv("V9FS_TEST_LACKS") ?: "";
    g_auto(GStrv) names = g_strsplit(lacks, ",", -1);

    for (int i = 0; i < ARRAY_SIZE(features); i++) {
        if (g_strv_contains((const char *const *)names, features[i].name)) {
            local_os_disable(features[i].what);
        }
    }
}

void mem_init(void)
{
    lack_features();
    module_call_init(MODULE_INIT_TRACE);
    qemu_init_main_loop(&error_abort);
}

MemSession *mem_new(const V9fsFsOps *ops, const char *path, V9fsModel model)
{
    MemSession *m = g_new0(MemSession, 1);

    m->max_msize = MEM_MSIZE;
    m->exp = (V9fsExport) {
        .id = (char *)"test", .ops = ops, .path = g_strdup(path),
        .model = model, .fmode = 0600, .dmode = 0700,
        .max_xattr = 1024, .max_fids = 1048576, .locks = true,
    };
    return m;
}

void mem_start(MemSession *m)
{
    const char *mode = getenv("V9FS_TEST_TRY") ?: "on";

    v9fs_state_init(&m->s, &m->exp, &mem_transport, &error_abort);
    m->s.try.mode = g_str_equal(mode, "off") ? V9FS_TRY_OFF :
                    g_str_equal(mode, "random") ? V9FS_TRY_RANDOM :
                    V9FS_TRY_ON;
}

void mem_free(MemSession *m)
{
    v9fs_reset(&m->s);
    v9fs_state_cleanup(&m->s);
    g_assert_false(m->mounted);
    if (m->last) {
        mem_request_free(m->last);
    }
    g_free(m->exp.path);
    g_free(m);
}

static struct iovec *cut(uint8_t *buf, size_t size, size_t piece, unsigned *n)
{
    struct iovec *iov;

    piece = piece ?: MAX(size, 1);
    *n = DIV_ROUND_UP(size, piece);
    iov = g_new0(struct iovec, MAX(*n, 1));
    for (unsigned i = 0; i < *n; i++) {
        iov[i].iov_base = buf + i * piece;
        iov[i].iov_len = MIN(piece, size - i * piece);
    }
    return iov;
}

MemRequest *mem_send_bytes(MemSession *m, const void *bytes, size_t size,
                           size_t room, size_t piece)
{
    MemRequest *r = g_new0(MemRequest, 1);

    r->m = m;
    r->out = g_memdup2(bytes, size);
    r->out_size = size;
    r->in = g_malloc(room);
    r->in_size = room;
    r->pdu.s = &m->s;
    r->pdu.out_sg = cut(r->out, size, piece, &r->pdu.out_num);
    r->pdu.in_sg = cut(r->in, room, piece, &r->pdu.in_num);
    v9fs_submit(&r->pdu);
    return r;
}

MemRequest *mem_send(MemSession *m, uint16_t tag, uint8_t type,
                     const void *rec, size_t room)
{
    /* Allocating as much each time would take longer than all the rest. */
    static uint8_t buf[MEM_MSIZE + 4096];
    ssize_t size = p9_encode(type, tag, rec, buf, sizeof(buf));

    g_assert_cmpint(size, >, 0);
    return mem_send_bytes(m, buf, size, room, 0);
}

void mem_wait(MemRequest *r)
{
    while (!r->done) {
        aio_poll(qemu_get_aio_context(), true);
    }
}

static void check_header(MemRequest *r, P9Header reply)
{
    P9Header sent = p9_header(r->out);

    g_assert_cmpuint(reply.size, ==, r->reply);
    g_assert_cmpuint(reply.tag, ==, sent.tag);
    if (reply.type != P9_RLERROR && reply.type != P9_RERROR) {
        g_assert_cmpuint(reply.type, ==, sent.type + 1);
    }
}

static int errno_of(MemRequest *r, uint8_t type)
{
    P9Reply e;
    uint32_t ecode;

    g_assert_cmpint(p9_decode(p9_message(type), r->in, r->reply, &e), ==, 0);
    ecode = type == P9_RERROR ? e.error.ecode : e.lerror.ecode;
    g_assert_cmpint(ecode, >, 0);
    return -ecode;
}

int mem_result(MemRequest *r, void *res)
{
    P9Reply any;
    P9Header header;

    g_assert_true(r->done);
    g_assert_false(r->broken);
    g_assert_cmpuint(r->reply, >=, P9_HDRSZ);
    header = p9_header(r->in);
    check_header(r, header);
    if (header.type == P9_RLERROR || header.type == P9_RERROR) {
        return errno_of(r, header.type);
    }
    g_assert_cmpint(p9_decode(p9_message(header.type), r->in, r->reply,
                              res ?: &any), ==, 0);
    return 0;
}

void mem_request_free(MemRequest *r)
{
    g_assert_true(r->done);
    g_free(r->pdu.out_sg);
    g_free(r->pdu.in_sg);
    g_free(r->out);
    g_free(r->in);
    g_free(r);
}

int mem_call(MemSession *m, uint8_t type, const void *rec, void *res)
{
    size_t room = m->s.msize ?: 8192;

    if (m->last) {
        mem_request_free(m->last);
    }
    m->last = mem_send(m, 1, type, rec, room);
    mem_wait(m->last);
    return mem_result(m->last, res);
}

static void attach_as(MemSession *m, uint32_t msize, const char *version)
{
    P9Tversion v = { .msize = msize, .version = version };
    P9Tattach a = { .fid = 0, .afid = P9_NOFID, .uname = "", .aname = "" };

    g_assert_cmpint(mem_call(m, P9_TVERSION, &v, NULL), ==, 0);
    g_assert_cmpint(mem_call(m, P9_TATTACH, &a, NULL), ==, 0);
}

void mem_attach(MemSession *m, uint32_t msize)
{
    attach_as(m, msize, "9P2000.L");
}

void mem_attach_u(MemSession *m, uint32_t msize)
{
    attach_as(m, msize, "9P2000.u");
}

uint64_t mem_crossings(MemSession *m, uint8_t type)
{
    return m->s.stats.type[type].crossings;
}
