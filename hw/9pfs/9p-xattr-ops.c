/*
 * Handlers: extended attributes
 *
 * Reading makes a fid that holds the value; writing turns a fid into one that
 * collects it, and Tclunk sets it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"

#define MAX_VALUE   65536       /* XATTR_SIZE_MAX of Linux */

/* Counts a new xattr fid, so that parallel requests cannot pass the limit */
static int reserve(V9fsState *s)
{
    uint32_t max = s->fs.exp->max_xattr;

    if (max && s->fs.xattr_fids >= max) {
        return -ENOSPC;
    }
    qatomic_set(&s->fs.xattr_fids, s->fs.xattr_fids + 1);
    return 0;
}

int coroutine_fn v9fs_do_xattrwalk(V9fsPDU *pdu)
{
    const P9Txattrwalk *req = &pdu->req.xattrwalk;
    V9fsState *s = pdu->s;
    V9fsXattr *xattr;
    int err = reserve(s);

    if (err) {
        return err;
    }
    xattr = g_new0(V9fsXattr, 1);
    err = v9fs_co_getxattr(pdu, pdu->fid[0], req->name, &xattr->value,
                           &xattr->size) ?:
          v9fs_fid_new(s, req->newfid, pdu->fid[0]->node, pdu->fid[0]->uid,
                       &pdu->fid[1]);
    if (err) {
        v9fs_xattr_free(s, xattr);
        return err;
    }
    pdu->fid[1]->state = V9FS_FID_XATTR;
    pdu->fid[1]->xattr = xattr;
    pdu->res.xattrwalk.size = xattr->size;
    return 0;
}

int coroutine_fn v9fs_do_xattrcreate(V9fsPDU *pdu)
{
    const P9Txattrcreate *req = &pdu->req.xattrcreate;
    V9fsFid *fid = pdu->fid[0];
    int err;

    if (req->flags & ~(P9_XATTR_CREATE | P9_XATTR_REPLACE)) {
        return -EINVAL;
    }
    if (req->size > MAX_VALUE) {
        return -E2BIG;
    }
    err = reserve(pdu->s);
    if (err) {
        return err;
    }
    fid->xattr = g_new0(V9fsXattr, 1);
    fid->xattr->name = g_strdup(req->name);
    fid->xattr->value = g_malloc(req->size + 1);
    fid->xattr->size = req->size;
    fid->xattr->flags = req->flags;
    fid->state = V9FS_FID_NEW_XATTR;
    return 0;
}

int v9fs_read_xattr(V9fsPDU *pdu, V9fsFid *fid)
{
    const P9Tread *req = &pdu->req.read;
    uint64_t left = fid->xattr->size - MIN(req->offset, fid->xattr->size);
    uint32_t count = MIN(left, v9fs_room(pdu, req->count));

    if (left && req->count && !count) {
        return -EMSGSIZE;
    }
    iov_from_buf(pdu->in_sg, pdu->in_num, P9_READ_HDRSZ,
                 fid->xattr->value + (fid->xattr->size - left), count);
    pdu->res.read.data.count = count;
    return 0;
}

int v9fs_write_xattr(V9fsPDU *pdu, V9fsFid *fid)
{
    const P9Twrite *req = &pdu->req.write;
    V9fsXattr *xattr = fid->xattr;
    uint32_t count = req->data.count;

    if (req->offset > xattr->filled) {
        return -EINVAL;
    }
    if (count > xattr->size - req->offset) {
        return -ENOSPC;
    }
    iov_to_buf(pdu->out_sg, pdu->out_num, req->data.at,
               xattr->value + req->offset, count);
    xattr->filled = MAX(xattr->filled, req->offset + count);
    pdu->res.write.count = count;
    return 0;
}

/*
 * An empty value is a value; Linux asks for an attribute to be removed by
 * replacing it with nothing.
 */
int coroutine_fn v9fs_set_new_xattr(V9fsPDU *pdu, V9fsFid *fid)
{
    V9fsXattr *xattr = fid->xattr;
    bool remove = !xattr->size && (xattr->flags & P9_XATTR_REPLACE);

    if (xattr->filled != xattr->size) {
        return -EINVAL;
    }
    return v9fs_co_setxattr(pdu, fid, xattr->name,
                            remove ? NULL : xattr->value, xattr->size,
                            xattr->flags);
}
