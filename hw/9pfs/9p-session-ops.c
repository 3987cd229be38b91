/*
 * Handlers: the session and its fids
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/units.h"
#include "hw/9pfs/coth.h"

/*
 * What Linux asks for unless told otherwise, and what it can use at most: its
 * virtio transport sends no more than 125 pages (net/9p/trans_virtio.c).
 */
#define LINUX_DEFAULT_MSIZE (128 * KiB + 24)
#define LINUX_MAX_MSIZE     512000

/* Each request costs the same however little it moves. */
static void warn_small_msize(V9fsState *s)
{
    if (!s->tag || s->warned_msize || s->msize >= LINUX_DEFAULT_MSIZE) {
        return;
    }
    s->warned_msize = true;
    warn_report("9p: the guest mounts '%s' with msize=%u, which makes large "
                "reads and writes slow; mount it with msize=%u (why: "
                "docs/9pfs-user.rst)", s->tag, s->msize,
                MIN(LINUX_MAX_MSIZE, s->transport->max_msize(s)));
}

int coroutine_fn v9fs_do_version(V9fsPDU *pdu)
{
    const P9Tversion *req = &pdu->req.version;
    P9Rversion *res = &pdu->res.version;
    V9fsState *s = pdu->s;
    bool is_u = g_str_equal(req->version, "9P2000.u");

    v9fs_drain(s, pdu);
    v9fs_fids_drop(s);
    s->msize = 0;
    s->dialect = is_u ? P9_DIALECT_U : P9_DIALECT_L;
    if (req->msize < P9_MIN_MSIZE) {
        return -EMSGSIZE;
    }
    res->msize = MIN(req->msize, s->transport->max_msize(s));
    if (is_u || g_str_equal(req->version, "9P2000.L")) {
        res->version = req->version;
        s->msize = res->msize;
        warn_small_msize(s);
    } else {
        res->version = "unknown";
    }
    return 0;
}

/* There is nobody to authenticate: the client is the guest's kernel. */
int coroutine_fn v9fs_do_auth(V9fsPDU *pdu)
{
    return -EOPNOTSUPP;
}

int coroutine_fn v9fs_do_attach(V9fsPDU *pdu)
{
    const P9Tattach *req = &pdu->req.attach;
    V9fsState *s = pdu->s;
    V9fsStat st;
    int err;

    if (req->afid != P9_NOFID) {
        return -EBADF;
    }
    err = v9fs_set_mounted(s, true);
    if (err) {
        return err;
    }
    err = v9fs_fid_new(s, req->fid, s->root, req->n_uname, &pdu->fid[0]);
    if (err) {
        v9fs_set_mounted(s, g_hash_table_size(s->fids));
        return err;
    }
    err = v9fs_co_stat(pdu, pdu->fid[0], &st) ?:
          v9fs_qid(&s->qids, &st, &pdu->res.attach.qid);
    if (err) {
        /* Another request may have opened it. */
        v9fs_end_fid(pdu, pdu->fid[0]);
    }
    return err;
}

int coroutine_fn v9fs_do_flush(V9fsPDU *pdu)
{
    V9fsPDU *old = v9fs_pdu_find(pdu->s, pdu->req.flush.oldtag);

    if (old && old != pdu) {
        v9fs_pdu_cancel(old);
        qemu_co_queue_wait(&old->done, NULL);
    }
    return 0;
}

/* The end of a successful walk: the new fid, or the old one moved */
static int arrive(V9fsPDU *pdu, V9fsNode *node)
{
    uint32_t newfid = pdu->req.walk.newfid;
    V9fsFid *fid = pdu->fid[0];

    if (newfid != fid->fid) {
        return v9fs_fid_new(pdu->s, newfid, node, fid->uid, &pdu->fid[1]);
    }
    if (fid->state != V9FS_FID_WALKED) {
        return -EINVAL;
    }
    v9fs_fid_move(pdu->s, fid, node);
    return 0;
}

static int coroutine_fn walk_names(V9fsPDU *pdu, const P9Names *names)
{
    P9Qids *qids = &pdu->res.walk.qids;
    V9fsStat st[P9_MAXWELEM];
    V9fsNode *node = NULL;
    int found = v9fs_co_walk(pdu, pdu->fid[0], names, st, &node);
    int err = MIN(found, 0);

    while (!err && qids->n < found) {
        err = v9fs_qid(&pdu->s->qids, &st[qids->n], &qids->qid[qids->n]);
        qids->n += !err;
    }
    if (qids->n == names->n) {
        err = arrive(pdu, node);
    } else if (qids->n) {
        err = 0;        /* as far as it went, and no new fid */
    }
    if (node) {
        v9fs_node_unref(pdu->s, node);
    }
    return err;
}

int coroutine_fn v9fs_do_walk(V9fsPDU *pdu)
{
    const P9Names *names = &pdu->req.walk.names;

    if (P9_HDRSZ + 2 + names->n * P9_QIDSZ > pdu->in_size) {
        return -EMSGSIZE;
    }
    return names->n ? walk_names(pdu, names) : arrive(pdu, pdu->fid[0]->node);
}

int coroutine_fn v9fs_end_fid(V9fsPDU *pdu, V9fsFid *fid)
{
    bool has_file;

    if (!v9fs_fid_remove(pdu->s, fid)) {
        /* Two that waited for each other would wait for ever. */
        return 0;
    }
    while (fid->refs > 1) {
        qemu_co_queue_wait(&fid->idle, NULL);
    }
    has_file = v9fs_fid_drop_file(pdu->s, fid);
    if (has_file || fid->locks) {
        return v9fs_close_fid(pdu, fid, has_file);
    }
    if (fid->state == V9FS_FID_NEW_XATTR) {
        return v9fs_set_new_xattr(pdu, fid);
    }
    return 0;
}

int coroutine_fn v9fs_do_clunk(V9fsPDU *pdu)
{
    return v9fs_end_fid(pdu, pdu->fid[0]);
}
