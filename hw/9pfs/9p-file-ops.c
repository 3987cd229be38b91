/*
 * Handlers: open files and directories
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "hw/9pfs/coth.h"
#include "trace.h"

/*
 * iounit is answered with 0: the client then moves as much as its msize
 * allows, which is never worse than any other number.
 */

int coroutine_fn v9fs_take_file(V9fsPDU *pdu, V9fsFid *fid, V9fsFile *file,
                                uint32_t flags, const V9fsStat *st)
{
    if (fid->state != V9FS_FID_WALKED) {
        v9fs_co_close(pdu, file);
        return -EINVAL;
    }
    v9fs_fid_set_file(pdu->s, fid, file, flags, st);
    return 0;
}

static bool changes_file(uint32_t flags)
{
    return (flags & P9_DOTL_NOACCESS) != P9_DOTL_RDONLY ||
           (flags & P9_DOTL_TRUNC);
}

int coroutine_fn v9fs_open_fid(V9fsPDU *pdu, uint32_t flags, P9Qid *qid)
{
    V9fsFid *fid = pdu->fid[0];
    V9fsFile file = { 0 };
    V9fsStat st;
    int err;

    if (changes_file(flags) && pdu->s->fs.exp->readonly) {
        return -EROFS;
    }
    v9fs_make_room(pdu);
    err = v9fs_co_open(pdu, fid, flags, &file, &st);
    v9fs_room_used(pdu->s);
    if (err) {
        return err;
    }
    return v9fs_take_file(pdu, fid, &file, flags, &st) ?:
           v9fs_qid(&pdu->s->qids, &st, qid);
}

int coroutine_fn v9fs_do_lopen(V9fsPDU *pdu)
{
    return v9fs_open_fid(pdu, pdu->req.lopen.flags, &pdu->res.lopen.qid);
}

int coroutine_fn v9fs_do_lcreate(V9fsPDU *pdu)
{
    const P9Tlcreate *req = &pdu->req.lcreate;
    V9fsFid *fid = pdu->fid[0];
    V9fsNew new = {
        .name = req->name, .mode = S_IFREG | (req->mode & 07777),
        .uid = fid->uid, .gid = req->gid,
    };
    V9fsFile file = { 0 };
    V9fsNode *node = NULL;
    V9fsStat st;
    int err;

    v9fs_make_room(pdu);
    err = v9fs_co_create(pdu, fid, &new, req->flags, &file, &st, &node);
    v9fs_room_used(pdu->s);
    if (err) {
        return err;
    }
    err = v9fs_take_file(pdu, fid, &file, req->flags, &st);
    if (err == 0) {
        v9fs_fid_move(pdu->s, fid, node);
        err = v9fs_qid(&pdu->s->qids, &st, &pdu->res.lcreate.qid);
    }
    v9fs_node_unref(pdu->s, node);
    return err;
}

int coroutine_fn v9fs_do_read(V9fsPDU *pdu)
{
    const P9Tread *req = &pdu->req.read;
    uint32_t count = v9fs_room(pdu, req->count);
    g_auto(V9fsPayload) payload = { 0 };
    int ret;

    if (pdu->fid[0]->state == V9FS_FID_XATTR) {
        return v9fs_read_xattr(pdu, pdu->fid[0]);
    }
    if (pdu->fid[0]->state == V9FS_FID_DIR) {
        return v9fs_read_dir(pdu, pdu->fid[0]);
    }
    if (req->count && !count) {
        return -EMSGSIZE;
    }
    if (req->offset > INT64_MAX - count) {
        return -EINVAL;
    }
    v9fs_payload(&payload, pdu->in_sg, pdu->in_num, P9_READ_HDRSZ, count);
    v9fs_throttle(&pdu->s->throttle, THROTTLE_READ, count);
    ret = v9fs_co_preadv(pdu, pdu->fid[0], payload.iov, payload.n, req->offset);
    pdu->res.read.data.count = MAX(ret, 0);
    return MIN(ret, 0);
}

/*
 * What was opened to append is appended, whatever the offset: that is the
 * client's idea of the end, and others may have written meanwhile.  A client
 * that writes pages of its cache back does not open to append.
 */
int coroutine_fn v9fs_do_write(V9fsPDU *pdu)
{
    const P9Twrite *req = &pdu->req.write;
    uint32_t count = req->data.count;
    V9fsFid *fid = pdu->fid[0];
    g_auto(V9fsPayload) payload = { 0 };
    int ret;

    if (fid->state == V9FS_FID_NEW_XATTR) {
        return v9fs_write_xattr(pdu, fid);
    }
    if (req->offset > INT64_MAX - count) {
        return -EFBIG;
    }
    if (!count) {
        return 0;
    }
    v9fs_payload(&payload, pdu->out_sg, pdu->out_num, req->data.at, count);
    v9fs_throttle(&pdu->s->throttle, THROTTLE_WRITE, count);
    do {
        ret = v9fs_co_pwritev(pdu, fid, payload.iov, payload.n, req->offset,
                              fid->flags & P9_DOTL_APPEND);
    } while (ret == -EINTR && !pdu->cancelled);
    if (ret < 0) {
        return ret;
    }
    pdu->res.write.count = ret;
    return 0;
}

int coroutine_fn v9fs_do_readdir(V9fsPDU *pdu)
{
    const P9Treaddir *req = &pdu->req.readdir;
    uint32_t count = v9fs_room(pdu, req->count);
    V9fsFid *fid = pdu->fid[0];
    g_auto(V9fsPayload) payload = { 0 };
    int64_t ns = get_clock();
    unsigned entries;
    int ret;

    v9fs_payload(&payload, pdu->in_sg, pdu->in_num, P9_READ_HDRSZ, count);
    qemu_co_mutex_lock(&fid->dir_lock);
    ret = v9fs_co_readdir(pdu, fid, req->offset, payload.iov, payload.n,
                          count, &entries);
    qemu_co_mutex_unlock(&fid->dir_lock);
    ns = get_clock() - ns;
    v9fs_histogram_add(&pdu->s->stats.readdir, ns);
    trace_v9fs_readdir_done(pdu->header.tag, entries, ret, ns);
    pdu->res.readdir.data.count = MAX(ret, 0);
    return MIN(ret, 0);
}

int coroutine_fn v9fs_do_fsync(V9fsPDU *pdu)
{
    return v9fs_co_fsync(pdu, pdu->fid[0], pdu->req.fsync.datasync);
}
