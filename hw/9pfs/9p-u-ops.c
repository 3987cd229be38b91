/*
 * Handlers: messages of 9P2000.u alone
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "hw/9pfs/coth.h"
#include "hw/9pfs/9p-u.h"

/* Removing on clunk (P9_ORCLOSE) is left to the client. */
static int open_flags(uint8_t mode, uint32_t *flags)
{
    static const uint32_t access[] = {
        [P9_OREAD] = P9_DOTL_RDONLY, [P9_OWRITE] = P9_DOTL_WRONLY,
        [P9_ORDWR] = P9_DOTL_RDWR, [P9_OEXEC] = P9_DOTL_RDONLY,
    };

    if (mode & ~(3 | P9_OTRUNC | P9_OCEXEC | P9_OAPPEND)) {
        return -EOPNOTSUPP;
    }
    *flags = access[mode & 3];
    *flags |= mode & P9_OTRUNC ? P9_DOTL_TRUNC : 0;
    *flags |= mode & P9_OAPPEND ? P9_DOTL_APPEND : 0;
    return 0;
}

int coroutine_fn v9fs_do_open(V9fsPDU *pdu)
{
    uint32_t flags;

    return open_flags(pdu->req.open.mode, &flags) ?:
           v9fs_open_fid(pdu, flags, &pdu->res.open.qid);
}

/* What the extension says of an object to be made */
static int read_extension(V9fsPDU *pdu, V9fsNew *new, V9fsUCreate *c)
{
    const P9Tcreate *req = &pdu->req.create;
    unsigned number;
    int err = 0;

    if (req->perm & P9_DMLINK) {
        /* Linux ends the number of the fid with a newline. */
        if (sscanf(req->extension, "%u", &number) != 1) {
            return -EINVAL;
        }
        pdu->fid[1] = v9fs_fid_get(pdu->s, number, V9FS_FID_OBJECT, &err);
        c->link_to = pdu->fid[1];
    } else if (S_ISLNK(new->mode)) {
        new->target = req->extension;
    } else if (S_ISCHR(new->mode) || S_ISBLK(new->mode)) {
        err = v9fs_u_rdev(req->extension, &new->rdev);
    }
    return err;
}

/*
 * A file that is there already is an error, as the protocol says: Linux looks
 * it up before, and has no way to say that it must not be there.
 */
static int plan_create(V9fsPDU *pdu, V9fsNew *new, V9fsUCreate *c)
{
    const P9Tcreate *req = &pdu->req.create;
    int err = open_flags(req->mode, &c->flags) ?:
              v9fs_u_unix_mode(req->perm, req->extension, &new->mode);

    c->flags |= P9_DOTL_CREATE | P9_DOTL_EXCL;
    return err ?: read_extension(pdu, new, c);
}

/* The fid stands for the new object, and is open if that could be opened. */
int coroutine_fn v9fs_do_create(V9fsPDU *pdu)
{
    V9fsFid *fid = pdu->fid[0];
    V9fsNew new = { .name = pdu->req.create.name, .uid = fid->uid };
    V9fsUCreate c = { 0 };
    int err = plan_create(pdu, &new, &c);

    if (err) {
        return err;
    }
    v9fs_make_room(pdu);
    err = v9fs_co_u_create(pdu, fid, &new, &c);
    v9fs_room_used(pdu->s);
    if (err) {
        return err;
    }
    if (c.opened) {
        err = v9fs_take_file(pdu, fid, &c.file, c.flags, &c.st);
    } else if (fid->state != V9FS_FID_WALKED) {
        err = -EINVAL;
    }
    if (err == 0) {
        v9fs_fid_move(pdu->s, fid, c.node);
        err = v9fs_qid(&pdu->s->qids, &c.st, &pdu->res.create.qid);
    }
    v9fs_node_unref(pdu->s, c.node);
    return err;
}

int coroutine_fn v9fs_do_stat(V9fsPDU *pdu)
{
    V9fsUText *text = (V9fsUText *)pdu->inline_buf;
    V9fsFid *fid = pdu->fid[0];
    const char *name;
    V9fsStat st;
    int err;

    QEMU_BUILD_BUG_ON(sizeof(*text) > sizeof(pdu->inline_buf));
    err = v9fs_co_stat_link(pdu, fid, &st, text->extension,
                            sizeof(text->extension));
    if (err) {
        return err;
    }
    name = fid->node == pdu->s->root ? "/" : fid->node->name;
    g_strlcpy(text->name, name, sizeof(text->name));
    return v9fs_u_stat(&pdu->s->qids, &st, text, &pdu->res.stat.stat);
}

/* Twstat: what is all ones, or an empty string, is to stay */

static bool is_set32(uint32_t value)
{
    return value != UINT32_MAX;
}

/* An owner by number, or by a name, which can only be the number as text */
static int read_owner(uint32_t number, const char *name, uint32_t *owner)
{
    *owner = number;
    if (is_set32(number) || !*name) {
        return 0;
    }
    return qemu_strtoui(name, NULL, 10, owner) ? -EINVAL : 0;
}

static int read_mode(const P9Stat *stat, const V9fsFid *fid, uint32_t *mode)
{
    bool dir = fid->node->qid_type == P9_QTDIR;

    if (!(stat->mode & P9_DMDIR) == dir) {
        return -EINVAL;
    }
    return v9fs_u_unix_mode(stat->mode, stat->extension, mode);
}

static int read_changes(const P9Stat *stat, const V9fsFid *fid,
                        V9fsSetattr *attr)
{
    int err = read_owner(stat->n_uid, stat->uid, &attr->uid) ?:
              read_owner(stat->n_gid, stat->gid, &attr->gid);

    if (err == 0 && is_set32(stat->mode)) {
        err = read_mode(stat, fid, &attr->mode);
    }
    attr->mode &= 07777;
    attr->size = stat->length;
    attr->times[0] = (struct timespec) { .tv_sec = stat->atime };
    attr->times[1] = (struct timespec) { .tv_sec = stat->mtime };
    attr->valid =
        (is_set32(stat->mode) ? P9_SETATTR_MODE : 0) |
        (is_set32(attr->uid) ? P9_SETATTR_UID : 0) |
        (is_set32(attr->gid) ? P9_SETATTR_GID : 0) |
        (stat->length != UINT64_MAX ? P9_SETATTR_SIZE : 0) |
        (is_set32(stat->atime) ? P9_SETATTR_ATIME | P9_SETATTR_ATIME_SET : 0) |
        (is_set32(stat->mtime) ? P9_SETATTR_MTIME | P9_SETATTR_MTIME_SET : 0);
    if (err == 0 && (attr->valid & P9_SETATTR_SIZE) && attr->size > INT64_MAX) {
        err = -EFBIG;
    }
    return err;
}

/* Nothing to change: that asks for what there is to be on the disk. */
static int coroutine_fn sync_fid(V9fsPDU *pdu, V9fsFid *fid)
{
    return fid->state & V9FS_FID_OPEN ? v9fs_co_fsync(pdu, fid, false)
                                      : -EBADF;
}

/*
 * A new name and other changes at once, which Linux never asks for, take two
 * crossings; the name is the last to be changed, since it can fail most.
 */
int coroutine_fn v9fs_do_wstat(V9fsPDU *pdu)
{
    const P9Stat *stat = &pdu->req.wstat.stat;
    V9fsFid *fid = pdu->fid[0];
    V9fsSetattr attr = { 0 };
    int err = read_changes(stat, fid, &attr);

    if (err) {
        return err;
    }
    if (!attr.valid && !*stat->name) {
        return sync_fid(pdu, fid);
    }
    if (pdu->s->fs.exp->readonly) {
        return -EROFS;
    }
    if (attr.valid) {
        attr.times[0].tv_nsec = is_set32(stat->atime) ? 0 : UTIME_OMIT;
        attr.times[1].tv_nsec = is_set32(stat->mtime) ? 0 : UTIME_OMIT;
        err = v9fs_co_setattr(pdu, fid, &attr);
    }
    return err || !*stat->name ? err
                               : v9fs_co_rename_here(pdu, fid, stat->name);
}

/*
 * Linux goes on reading until its buffer is full.  Where the next record did
 * not fit it asks for what is left of the buffer: nothing comes there.  If it
 * asks for so little again, it means that.
 */
static bool is_leftover(V9fsFid *fid, uint64_t offset, uint32_t count)
{
    bool leftover = offset && count <= fid->read_left;

    fid->read_left = 0;
    return leftover;
}

/*
 * Tread of a directory: whole stat records, from the start or from where the
 * last one ended
 */
static int coroutine_fn read_stats(V9fsPDU *pdu, V9fsFid *fid, uint32_t count)
{
    uint64_t offset = pdu->req.read.offset;
    g_auto(V9fsPayload) payload = { 0 };
    int ret;

    if (offset == 0) {
        fid->read_end = fid->read_pos = 0;
    } else if (offset != fid->read_end) {
        return -EINVAL;
    }
    if (is_leftover(fid, offset, count)) {
        return 0;
    }
    v9fs_payload(&payload, pdu->in_sg, pdu->in_num, P9_READ_HDRSZ, count);
    ret = v9fs_co_read_stats(pdu, fid, &fid->read_pos, payload.iov, payload.n,
                             count);
    if (ret > 0) {
        fid->read_end += ret;
        fid->read_left = count - ret;
    }
    return ret;
}

int coroutine_fn v9fs_read_dir(V9fsPDU *pdu, V9fsFid *fid)
{
    uint32_t count = v9fs_room(pdu, pdu->req.read.count);
    int ret;

    if (pdu->s->dialect != P9_DIALECT_U) {
        return -EISDIR;
    }
    qemu_co_mutex_lock(&fid->dir_lock);
    ret = read_stats(pdu, fid, count);
    qemu_co_mutex_unlock(&fid->dir_lock);
    pdu->res.read.data.count = MAX(ret, 0);
    return MIN(ret, 0);
}
