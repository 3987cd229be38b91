/*
 * Handlers: names that come, go and move
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/sysmacros.h>
#include "hw/9pfs/coth.h"

static int coroutine_fn make(V9fsPDU *pdu, const V9fsNew *new, P9Qid *qid)
{
    V9fsStat st;

    return v9fs_co_make(pdu, pdu->fid[0], new, &st) ?:
           v9fs_qid(&pdu->s->qids, &st, qid);
}

int coroutine_fn v9fs_do_mkdir(V9fsPDU *pdu)
{
    const P9Tmkdir *req = &pdu->req.mkdir;
    V9fsNew new = {
        .name = req->name, .mode = S_IFDIR | (req->mode & 07777),
        .uid = pdu->fid[0]->uid, .gid = req->gid,
    };

    return make(pdu, &new, &pdu->res.mkdir.qid);
}

int coroutine_fn v9fs_do_symlink(V9fsPDU *pdu)
{
    const P9Tsymlink *req = &pdu->req.symlink;
    V9fsNew new = {
        .name = req->name, .mode = S_IFLNK | 0777, .target = req->target,
        .uid = pdu->fid[0]->uid, .gid = req->gid,
    };

    return make(pdu, &new, &pdu->res.symlink.qid);
}

int coroutine_fn v9fs_do_mknod(V9fsPDU *pdu)
{
    const P9Tmknod *req = &pdu->req.mknod;
    V9fsNew new = {
        .name = req->name, .mode = req->mode & (S_IFMT | 07777),
        .rdev = makedev(req->major, req->minor),
        .uid = pdu->fid[0]->uid, .gid = req->gid,
    };

    if (!(new.mode & S_IFMT)) {
        new.mode |= S_IFREG;
    }
    if (S_ISDIR(new.mode) || S_ISLNK(new.mode)) {
        return -EINVAL;
    }
    return make(pdu, &new, &pdu->res.mknod.qid);
}

int coroutine_fn v9fs_do_link(V9fsPDU *pdu)
{
    return v9fs_co_link(pdu, pdu->fid[1], pdu->fid[0], pdu->req.link.name);
}

int coroutine_fn v9fs_do_unlinkat(V9fsPDU *pdu)
{
    const P9Tunlinkat *req = &pdu->req.unlinkat;

    if (req->flags & ~P9_DOTL_AT_REMOVEDIR) {
        return -EINVAL;
    }
    return v9fs_co_unlink(pdu, pdu->fid[0], req->name, req->flags);
}

/*
 * The fid ends, whether the file can be removed or not, but not if the
 * request was flushed in time: then nothing has happened.
 */
int coroutine_fn v9fs_do_remove(V9fsPDU *pdu)
{
    V9fsFid *fid = pdu->fid[0];
    int err = -EROFS;

    if (!(fid->state & V9FS_FID_OBJECT)) {
        err = -EINVAL;
    } else if (!pdu->s->fs.exp->readonly) {
        err = v9fs_co_remove(pdu, fid);
    }
    if (err != -ECANCELED) {
        v9fs_end_fid(pdu, fid);
    }
    return err;
}

int coroutine_fn v9fs_do_rename(V9fsPDU *pdu)
{
    return v9fs_co_rename(pdu, pdu->fid[0], pdu->fid[1], pdu->req.rename.name);
}

int coroutine_fn v9fs_do_renameat(V9fsPDU *pdu)
{
    const P9Trenameat *req = &pdu->req.renameat;

    return v9fs_co_renameat(pdu, pdu->fid[0], req->oldname,
                            pdu->fid[1], req->newname);
}
