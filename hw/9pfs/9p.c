/*
 * The dispatcher: a request from the transport to its handler and back
 *
 * What all messages have in common is here, once: decoding, fids and their
 * states, read-only exports, room for the reply, tags, counting and tracing,
 * flush and reset.  What a single message does is in 9p-*-ops.c; file-system
 * calls are made by drivers alone.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/resource.h>
#include "block/aio-wait.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "hw/9pfs/9p-node.h"
#include "9p-lock.h"
#include "trace.h"

/* Bytes of the largest reply without its payload: a path's, and some */
#define MAX_REPLY       (PATH_MAX + 512)
#define MAX_TRACE       512
/* Directories to keep handles of */
#define MIN_HANDLES     8
#define MAX_HANDLES     4096
/* Files to have open at least */
#define MIN_FILES       8

/* A request's row in the table of messages */
typedef struct V9fsOp {
    int coroutine_fn (*handle)(V9fsPDU *pdu);
    bool changes;               /* the file system: not on read-only exports */
    bool by_name;               /* what a fid has open does not matter */
    unsigned nfids;
    struct {
        size_t offset;          /* of its number in the request */
        unsigned states;        /* what it may be */
    } fid[2];
} V9fsOp;

#define FID(message, member, s) { offsetof(P9T##message, member), s }
#define ONE_FID(message, s) \
    .handle = v9fs_do_##message, .nfids = 1, .fid = { FID(message, fid, s) }
#define TWO_FIDS(message, member, s, other, t) \
    .handle = v9fs_do_##message, .nfids = 2, \
    .fid = { FID(message, member, s), FID(message, other, t) }
#define NO_FID(message) .handle = v9fs_do_##message

/*
 * Tversion to Tauth name no fid that exists.  Tclunk and Tremove must end
 * their fid whatever else is wrong, so they do not leave it to the table to
 * refuse them.
 */
static const V9fsOp ops[] = {
    [P9_TVERSION] = { NO_FID(version) },
    [P9_TAUTH] = { NO_FID(auth) },
    [P9_TATTACH] = { NO_FID(attach) },
    [P9_TFLUSH] = { NO_FID(flush) },
    [P9_TCLUNK] = { ONE_FID(clunk, V9FS_FID_ANY), .by_name = true },
    [P9_TREMOVE] = { ONE_FID(remove, V9FS_FID_ANY), .by_name = true },
    [P9_TWALK] = { ONE_FID(walk, V9FS_FID_OBJECT), .by_name = true },
    [P9_TSTATFS] = { ONE_FID(statfs, V9FS_FID_OBJECT) },
    [P9_TGETATTR] = { ONE_FID(getattr, V9FS_FID_OBJECT) },
    [P9_TSETATTR] = { ONE_FID(setattr, V9FS_FID_OBJECT), .changes = true },
    [P9_TREADLINK] = { ONE_FID(readlink, V9FS_FID_OBJECT) },
    [P9_TXATTRWALK] = { ONE_FID(xattrwalk, V9FS_FID_OBJECT) },
    [P9_TXATTRCREATE] = { ONE_FID(xattrcreate, V9FS_FID_WALKED),
                          .changes = true },
    [P9_TLOPEN] = { ONE_FID(lopen, V9FS_FID_WALKED) },
    [P9_TLCREATE] = { ONE_FID(lcreate, V9FS_FID_WALKED), .changes = true },
    [P9_TREAD] = { ONE_FID(read, V9FS_FID_OPEN | V9FS_FID_XATTR) },
    [P9_TWRITE] = { ONE_FID(write, V9FS_FID_FILE | V9FS_FID_NEW_XATTR),
                    .changes = true },
    [P9_TREADDIR] = { ONE_FID(readdir, V9FS_FID_DIR) },
    [P9_TFSYNC] = { ONE_FID(fsync, V9FS_FID_OPEN) },
    [P9_TLOCK] = { ONE_FID(lock, V9FS_FID_OPEN) },
    [P9_TGETLOCK] = { ONE_FID(getlock, V9FS_FID_OPEN) },
    [P9_TMKDIR] = { ONE_FID(mkdir, V9FS_FID_OBJECT), .changes = true },
    [P9_TSYMLINK] = { ONE_FID(symlink, V9FS_FID_OBJECT), .changes = true },
    [P9_TMKNOD] = { ONE_FID(mknod, V9FS_FID_OBJECT), .changes = true },
    [P9_TUNLINKAT] = { ONE_FID(unlinkat, V9FS_FID_OBJECT), .changes = true },
    [P9_TLINK] = { TWO_FIDS(link, dfid, V9FS_FID_OBJECT,
                            fid, V9FS_FID_OBJECT), .changes = true },
    [P9_TRENAME] = { TWO_FIDS(rename, fid, V9FS_FID_OBJECT,
                              dfid, V9FS_FID_OBJECT), .changes = true },
    [P9_TOPEN] = { ONE_FID(open, V9FS_FID_WALKED) },
    [P9_TCREATE] = { ONE_FID(create, V9FS_FID_WALKED), .changes = true },
    [P9_TSTAT] = { ONE_FID(stat, V9FS_FID_OBJECT) },
    [P9_TWSTAT] = { ONE_FID(wstat, V9FS_FID_OBJECT) },
    [P9_TRENAMEAT] = { TWO_FIDS(renameat, fid, V9FS_FID_OBJECT,
                                newfid, V9FS_FID_OBJECT), .changes = true },
};

static const V9fsOp *find_op(uint8_t type)
{
    return type < ARRAY_SIZE(ops) && ops[type].handle ? &ops[type] : NULL;
}

/* Tags */

V9fsPDU *v9fs_pdu_find(V9fsState *s, uint16_t tag)
{
    V9fsPDU *pdu;

    QLIST_FOREACH(pdu, &s->tags[tag % V9FS_TAG_BUCKETS], by_tag) {
        if (pdu->header.tag == tag) {
            return pdu;
        }
    }
    return NULL;
}

static void enter_tag(V9fsPDU *pdu)
{
    V9fsState *s = pdu->s;

    s->in_flight++;
    QLIST_INSERT_HEAD(&s->tags[pdu->header.tag % V9FS_TAG_BUCKETS], pdu,
                      by_tag);
}

static void coroutine_fn leave_tag(V9fsPDU *pdu)
{
    V9fsState *s = pdu->s;

    QLIST_REMOVE(pdu, by_tag);
    s->in_flight--;
    qemu_co_queue_restart_all(&pdu->done);
    v9fs_let_one_go_on(s);
    if (s->draining) {
        qemu_co_queue_restart_all(&s->drained);
    }
}

/* From bytes to a handler's arguments */

static int decode(V9fsPDU *pdu)
{
    const P9Message *m = p9_message(pdu->header.type);
    uint32_t size = pdu->header.size;
    uint32_t limit = pdu->s->msize ?: V9FS_INLINE_BUF;
    uint32_t prefix;

    if (size < P9_HDRSZ || size > pdu->out_size) {
        return -EPROTO;
    }
    if (size > limit) {
        return -EMSGSIZE;
    }
    prefix = p9_prefix(m, size);
    if (prefix > sizeof(pdu->inline_buf)) {
        pdu->buf = g_malloc(prefix);
    }
    iov_to_buf(pdu->out_sg, pdu->out_num, 0, pdu->buf, prefix);
    return p9_decode(m, pdu->buf, size, &pdu->req);
}

static void trace_message(V9fsPDU *pdu, uint8_t type, const void *rec)
{
    char text[MAX_TRACE];

    p9_format(type, rec, text, sizeof(text));
    if (type & 1) {
        trace_v9fs_reply(pdu->header.tag, type, p9_message(type)->name, text);
    } else {
        trace_v9fs_request(pdu->header.tag, type, p9_message(type)->name, text);
    }
}

static int get_fids(V9fsPDU *pdu, const V9fsOp *op)
{
    for (int i = 0; i < op->nfids; i++) {
        uint32_t number;
        int err;

        memcpy(&number, (char *)&pdu->req + op->fid[i].offset, sizeof(number));
        pdu->fid[i] = v9fs_fid_get(pdu->s, number, op->fid[i].states, &err);
        if (!pdu->fid[i]) {
            return err;
        }
    }
    return 0;
}

static void put_fids(V9fsPDU *pdu)
{
    for (int i = 0; i < ARRAY_SIZE(pdu->fid); i++) {
        if (pdu->fid[i]) {
            v9fs_fid_put(pdu->s, pdu->fid[i]);
            pdu->fid[i] = NULL;
        }
    }
}

static int coroutine_fn wake_fids(V9fsPDU *pdu)
{
    int err = 0;

    for (int i = 0; i < ARRAY_SIZE(pdu->fid) && pdu->fid[i] && !err; i++) {
        err = v9fs_fid_wake(pdu, pdu->fid[i]);
    }
    return err;
}

/* What can be known before a handler does anything */
static int coroutine_fn check(V9fsPDU *pdu, const V9fsOp *op)
{
    V9fsState *s = pdu->s;
    int err = get_fids(pdu, op);

    if (err) {
        return err;
    }
    if (op->changes && s->fs.exp->readonly) {
        return -EROFS;
    }
    if (p9_message(pdu->header.type + 1)->min_size > pdu->in_size) {
        return -EMSGSIZE;
    }
    return op->by_name ? 0 : wake_fids(pdu);
}

static int coroutine_fn dispatch(V9fsPDU *pdu)
{
    const V9fsOp *op = find_op(pdu->header.type);
    V9fsState *s = pdu->s;
    int err;

    if (!op) {
        return -EOPNOTSUPP;
    }
    if (!s->msize && pdu->header.type != P9_TVERSION) {
        return -EPROTO;
    }
    if (!(p9_message(pdu->header.type)->dialects & s->dialect)) {
        return -EOPNOTSUPP;
    }
    err = decode(pdu);
    if (err) {
        return err;
    }
    if (trace_event_get_state_backends(TRACE_V9FS_REQUEST)) {
        trace_message(pdu, pdu->header.type, &pdu->req);
    }
    err = check(pdu, op) ?: op->handle(pdu);
    put_fids(pdu);
    return err;
}

/* From a handler's result to bytes */

static size_t encode(V9fsPDU *pdu, uint8_t type, const void *rec)
{
    uint8_t buf[MAX_REPLY];
    ssize_t size = p9_encode(type, pdu->header.tag, rec, buf, sizeof(buf));

    if (size < 0 || size > pdu->in_size) {
        return 0;
    }
    if (trace_event_get_state_backends(TRACE_V9FS_REPLY)) {
        trace_message(pdu, type, rec);
    }
    iov_from_buf(pdu->in_sg, pdu->in_num, 0, buf,
                 p9_prefix(p9_message(type), size));
    return size;
}

/* The text, which nobody reads, is cut where the buffer ends. */
static size_t encode_error(V9fsPDU *pdu, int err)
{
    P9Rlerror e = { .ecode = -err };
    char text[64] = "";

    if (pdu->s->dialect == P9_DIALECT_L) {
        return encode(pdu, P9_RLERROR, &e);
    }
    if (pdu->in_size > P9_ERROR_SIZE) {
        g_strlcpy(text, strerror(-err),
                  MIN(sizeof(text), pdu->in_size - P9_ERROR_SIZE + 1));
    }
    return encode(pdu, P9_RERROR, &(P9Rerror) { text, -err });
}

static size_t smallest_error(const V9fsState *s)
{
    return s->dialect == P9_DIALECT_L ? P9_LERROR_SIZE : P9_ERROR_SIZE;
}

static size_t encode_result(V9fsPDU *pdu, int err)
{
    size_t size = 0;

    if (err == 0) {
        size = encode(pdu, pdu->header.type + 1, &pdu->res);
        err = size ? 0 : -EMSGSIZE;
    }
    return size ?: encode_error(pdu, err);
}

static void count(V9fsPDU *pdu, int err, size_t size)
{
    V9fsCounters *c;

    if (pdu->header.type >= ARRAY_SIZE(pdu->s->stats.type)) {
        return;
    }
    c = &pdu->s->stats.type[pdu->header.type];
    c->requests++;
    c->errors += err < 0;
    c->crossings += pdu->crossings;
    c->bytes_in += MIN(pdu->header.size, pdu->out_size);
    c->bytes_out += size;
}

static void release(V9fsPDU *pdu)
{
    if (pdu->buf != pdu->inline_buf) {
        g_free(pdu->buf);
    }
    pdu->buf = NULL;
}

static void finish(V9fsPDU *pdu, int err)
{
    bool flushed = pdu->cancelled && (err == -ECANCELED || err == -EINTR);
    size_t size = flushed ? 0 : encode_result(pdu, err);

    count(pdu, err, size);
    if (flushed) {
        trace_v9fs_flushed(pdu->header.tag, pdu->header.type);
    }
    release(pdu);
    pdu->s->transport->reply(pdu, size);
}

/* Payloads */

uint32_t v9fs_room(V9fsPDU *pdu, uint32_t count)
{
    size_t room = MIN(pdu->in_size, pdu->s->msize) - P9_READ_HDRSZ;

    return MIN(room, count);
}

void v9fs_payload(V9fsPayload *p, const struct iovec *sg, unsigned num,
                  size_t at, size_t count)
{
    unsigned first = 0;

    while (first < num && at >= sg[first].iov_len) {
        at -= sg[first++].iov_len;
    }
    p->iov = p->few;
    if (num - first > ARRAY_SIZE(p->few)) {
        p->iov = g_new(struct iovec, num - first);
    }
    p->n = iov_copy(p->iov, num - first, sg + first, num - first, at, count);
}

void v9fs_payload_free(V9fsPayload *p)
{
    if (p->iov != p->few) {
        g_free(p->iov);
    }
}

/* The session */

static void start_backlog(V9fsState *s);

static void coroutine_fn serve(void *opaque)
{
    V9fsPDU *pdu = opaque;
    V9fsState *s = pdu->s;
    int err = dispatch(pdu);

    leave_tag(pdu);
    finish(pdu, err);
    if (s->drainer == pdu) {
        start_backlog(s);
    }
}

static void start(V9fsPDU *pdu)
{
    Coroutine *co;

    if (v9fs_pdu_find(pdu->s, pdu->header.tag)) {
        finish(pdu, -EINVAL);
        return;
    }
    enter_tag(pdu);
    co = qemu_coroutine_create(serve, pdu);
    qemu_coroutine_enter(co);
}

void v9fs_submit(V9fsPDU *pdu)
{
    V9fsState *s = pdu->s;
    uint8_t header[P9_HDRSZ];

    pdu->out_size = iov_size(pdu->out_sg, pdu->out_num);
    pdu->in_size = iov_size(pdu->in_sg, pdu->in_num);
    if (pdu->out_size < P9_HDRSZ || pdu->in_size < smallest_error(s)) {
        s->transport->broken(pdu, "too small for a 9p message");
        return;
    }
    iov_to_buf(pdu->out_sg, pdu->out_num, 0, header, sizeof(header));
    pdu->header = p9_header(header);
    pdu->buf = pdu->inline_buf;
    pdu->fid[0] = pdu->fid[1] = NULL;
    pdu->cancelled = false;
    pdu->job = NULL;
    pdu->crossings = 0;
    memset(&pdu->res, 0, sizeof(pdu->res));
    qemu_co_queue_init(&pdu->done);
    if (s->draining) {
        QSIMPLEQ_INSERT_TAIL(&s->backlog, pdu, waiting);
    } else {
        start(pdu);
    }
}

int v9fs_set_mounted(V9fsState *s, bool mounted)
{
    int err = 0;

    if (s->mounted != mounted) {
        err = s->transport->mounted(s, mounted);
        if (err == 0) {
            s->mounted = mounted;
        }
    }
    return err;
}

void v9fs_pdu_cancel(V9fsPDU *pdu)
{
    pdu->cancelled = true;
    if (pdu->job) {
        v9fs_job_cancel(&pdu->s->workers, pdu->job);
    }
}

static void cancel_all(V9fsState *s, V9fsPDU *except)
{
    V9fsPDU *pdu;

    for (int i = 0; i < V9FS_TAG_BUCKETS; i++) {
        QLIST_FOREACH(pdu, &s->tags[i], by_tag) {
            if (pdu != except) {
                v9fs_pdu_cancel(pdu);
            }
        }
    }
}

void coroutine_fn v9fs_drain(V9fsState *s, V9fsPDU *self)
{
    s->draining = true;
    s->drainer = self;
    cancel_all(s, self);
    v9fs_throttle_release(&s->throttle);
    while (s->in_flight > 1 || s->aheads) {
        qemu_co_queue_wait(&s->drained, NULL);
    }
}

static void start_backlog(V9fsState *s)
{
    V9fsPDU *pdu;

    s->draining = false;
    s->drainer = NULL;
    while (!s->draining && (pdu = QSIMPLEQ_FIRST(&s->backlog))) {
        QSIMPLEQ_REMOVE_HEAD(&s->backlog, waiting);
        start(pdu);
    }
}

static void drop_backlog(V9fsState *s)
{
    V9fsPDU *pdu;

    while ((pdu = QSIMPLEQ_FIRST(&s->backlog))) {
        QSIMPLEQ_REMOVE_HEAD(&s->backlog, waiting);
        pdu->cancelled = true;
        finish(pdu, -ECANCELED);
    }
}

void v9fs_reset(V9fsState *s)
{
    s->draining = true;
    s->drainer = NULL;
    cancel_all(s, NULL);
    v9fs_throttle_release(&s->throttle);
    AIO_WAIT_WHILE_UNLOCKED(NULL, s->in_flight || s->closing || s->aheads);
    drop_backlog(s);
    v9fs_fids_drop(s);
    v9fs_handles_shrink(s, 0);
    AIO_WAIT_WHILE_UNLOCKED(NULL, s->closing || s->workers.active);
    s->msize = 0;
    s->dialect = P9_DIALECT_L;
    s->draining = false;
}

/*
 * A fourth of the descriptors are for handles and a third for open files; the
 * driver has raised their limit.  The rest is for all else that QEMU does.
 */
static void share_descriptors(V9fsState *s)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
        limit.rlim_cur = 0;
    }
    s->max_handles = MIN(MAX(limit.rlim_cur / 4, MIN_HANDLES), MAX_HANDLES);
    s->max_files = MIN(MAX(limit.rlim_cur / 3, MIN_FILES), INT_MAX);
}

bool v9fs_state_init(V9fsState *s, const V9fsExport *exp,
                     const V9fsTransport *transport, Error **errp)
{
    s->fs = (V9fsFs) { .ops = exp->ops, .exp = exp };
    if (!exp->ops->start(&s->fs, errp)) {
        return false;
    }
    s->transport = transport;
    share_descriptors(s);
    v9fs_reclaim_init(s);
    v9fs_workers_init(&s->workers);
    s->fids = g_hash_table_new(NULL, NULL);
    s->msize = 0;
    s->in_flight = s->closing = s->aheads = 0;
    s->ahead_bytes = 0;
    s->dialect = P9_DIALECT_L;
    s->draining = s->mounted = false;
    s->try.wasted = s->try.skip = s->try.pause = 0;
    for (int i = 0; i < V9FS_TAG_BUCKETS; i++) {
        QLIST_INIT(&s->tags[i]);
    }
    qemu_co_queue_init(&s->drained);
    QSIMPLEQ_INIT(&s->backlog);
    v9fs_nodes_init(s);
    v9fs_locks_init(s);
    v9fs_throttle_start(&s->throttle, &exp->throttle);
    v9fs_qidmap_init(&s->qids, exp->multidevs, s->fs.root.dev);
    return true;
}

void v9fs_state_cleanup(V9fsState *s)
{
    v9fs_throttle_stop(&s->throttle);
    v9fs_workers_destroy(&s->workers);
    v9fs_reclaim_destroy(s);
    v9fs_nodes_destroy(s);
    v9fs_locks_destroy(s);
    v9fs_qidmap_destroy(&s->qids);
    g_hash_table_unref(s->fids);
    s->fs.ops->stop(&s->fs);
}
