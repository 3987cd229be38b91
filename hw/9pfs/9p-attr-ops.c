/*
 * Handlers: attributes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "hw/9pfs/coth.h"

/*
 * The generation is left out: Linux then compares zero with zero, and inode
 * numbers that are used again are told apart by the qid's version.
 */
int coroutine_fn v9fs_do_getattr(V9fsPDU *pdu)
{
    P9Rgetattr *res = &pdu->res.getattr;
    V9fsStat st;
    int err = v9fs_co_stat(pdu, pdu->fid[0], &st) ?:
              v9fs_qid(&pdu->s->qids, &st, &res->qid);

    if (err) {
        return err;
    }
    res->valid = P9_GETATTR_BASIC;
    res->mode = st.mode;
    res->uid = st.uid;
    res->gid = st.gid;
    res->nlink = st.nlink;
    res->rdev = st.rdev;
    res->size = st.size;
    res->blksize = st.blksize;
    res->blocks = st.blocks;
    res->atime_sec = st.atime.tv_sec;
    res->atime_nsec = st.atime.tv_nsec;
    res->mtime_sec = st.mtime.tv_sec;
    res->mtime_nsec = st.mtime.tv_nsec;
    res->ctime_sec = st.ctime.tv_sec;
    res->ctime_nsec = st.ctime.tv_nsec;
    if (st.has_btime) {
        res->valid |= P9_GETATTR_BTIME;
        res->btime_sec = st.btime.tv_sec;
        res->btime_nsec = st.btime.tv_nsec;
    }
    return 0;
}

static struct timespec time_to_set(uint32_t valid, uint32_t change,
                                   uint32_t set, uint64_t sec, uint64_t nsec)
{
    if (!(valid & change)) {
        return (struct timespec) { .tv_nsec = UTIME_OMIT };
    }
    if (!(valid & set)) {
        return (struct timespec) { .tv_nsec = UTIME_NOW };
    }
    return (struct timespec) { .tv_sec = sec, .tv_nsec = nsec };
}

/* UTIME_NOW and UTIME_OMIT are the host's words, not the client's. */
static bool times_valid(const P9Tsetattr *req)
{
    return (!(req->valid & P9_SETATTR_ATIME_SET) ||
            req->atime_nsec < NANOSECONDS_PER_SECOND) &&
           (!(req->valid & P9_SETATTR_MTIME_SET) ||
            req->mtime_nsec < NANOSECONDS_PER_SECOND);
}

int coroutine_fn v9fs_do_setattr(V9fsPDU *pdu)
{
    const P9Tsetattr *req = &pdu->req.setattr;
    V9fsFid *fid = pdu->fid[0];
    V9fsSetattr attr = {
        .valid = req->valid, .mode = req->mode & 07777,
        .uid = req->uid, .gid = req->gid, .size = req->size,
        .times = {
            time_to_set(req->valid, P9_SETATTR_ATIME, P9_SETATTR_ATIME_SET,
                        req->atime_sec, req->atime_nsec),
            time_to_set(req->valid, P9_SETATTR_MTIME, P9_SETATTR_MTIME_SET,
                        req->mtime_sec, req->mtime_nsec),
        },
    };

    if (!times_valid(req)) {
        return -EINVAL;
    }
    if ((req->valid & P9_SETATTR_SIZE) && req->size > INT64_MAX) {
        return -EFBIG;
    }
    return v9fs_co_setattr(pdu, fid, &attr);
}

int coroutine_fn v9fs_do_statfs(V9fsPDU *pdu)
{
    return v9fs_co_statfs(pdu, pdu->fid[0], &pdu->res.statfs);
}

int coroutine_fn v9fs_do_readlink(V9fsPDU *pdu)
{
    int len = v9fs_co_readlink(pdu, pdu->fid[0], (char *)pdu->inline_buf,
                               sizeof(pdu->inline_buf));

    if (len < 0) {
        return len;
    }
    pdu->res.readlink.target = (char *)pdu->inline_buf;
    return 0;
}
