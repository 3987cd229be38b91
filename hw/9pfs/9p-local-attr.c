/*
 * Local driver: attributes of objects and of file systems
 *
 * Reading and changing what an inode says about itself, extended attributes
 * apart.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "9p-local.h"

/* Bytes of a symbolic link's target that ext4 keeps in the inode, and more */
#define LOCAL_SHORT_LINK 60

int local_plain_stat_fix(const V9fsCtx *cx, const V9fsObject *obj,
                         const LocalAt *at, V9fsStat *st)
{
    return 0;
}

int local_stat(const V9fsCtx *cx, const V9fsObject *obj, V9fsStat *st)
{
    LocalFound found;
    int ret = local_find(cx, obj, LOCAL_NOWAIT_CACHED, &found);

    if (ret < 0) {
        return ret;
    }
    ret = local_os_stat(&found.at, LOCAL_STAT_ALL, st);
    if (ret == 0) {
        ret = local_of(cx)->model->stat_fix(cx, obj, &found.at, st);
    }
    local_lose(&found);
    return ret;
}

int local_statfs(const V9fsCtx *cx, const V9fsObject *obj, P9Rstatfs *st)
{
    LocalFound found;
    int fd;
    int ret = local_find(cx, obj, LOCAL_NOWAIT_CACHED, &found);

    if (ret < 0) {
        return ret;
    }
    if (!found.at.name) {
        ret = local_os_statfs(found.at.fd, st);
        local_lose(&found);
        return ret;
    }
    /* The name's own, which may be the root of another file system */
    fd = local_os_open_node(found.at.fd, found.at.name, false);
    if (fd == -EOPNOTSUPP) {
        return local_os_statfs(found.at.fd, st);    /* no file or directory */
    }
    if (fd < 0) {
        return fd;
    }
    ret = local_os_statfs(fd, st);
    close(fd);
    return ret;
}

ssize_t local_plain_readlink(const V9fsCtx *cx, const V9fsObject *obj,
                             const LocalAt *at, char *buf, size_t size)
{
    ssize_t ret = readlinkat(at->fd, at->name ?: "", buf, size);

    if (ret < 0) {
        /* Linux says ENOENT of a descriptor that is of something else. */
        return errno == ENOENT && !at->name ? -EINVAL : -errno;
    }
    if (ret >= size) {
        return -ENAMETOOLONG;
    }
    buf[ret] = '\0';
    return ret;
}

/* Whether the target is in the inode, with every file system */
static bool local_is_short_link(const LocalAt *at)
{
    V9fsStat st;

    return local_os_stat(at, LOCAL_STAT_ALL, &st) == 0 &&
           S_ISLNK(st.mode) && st.size < LOCAL_SHORT_LINK;
}

ssize_t local_readlink(const V9fsCtx *cx, const V9fsObject *obj,
                       char *buf, size_t size)
{
    /* The link may be a file that has to be read. */
    bool memory = local_of(cx)->model->hides_types;
    unsigned need = LOCAL_NOWAIT_CACHED | (memory ? LOCAL_NOWAIT_MEMORY : 0);
    LocalFound found;
    ssize_t ret = local_find(cx, obj, need, &found);

    if (ret < 0) {
        return ret;
    }
    if (cx->nowait && !memory && !local_is_short_link(&found.at)) {
        ret = -EAGAIN;
    } else {
        ret = local_of(cx)->model->readlink(cx, obj, &found.at, buf, size);
    }
    local_lose(&found);
    return ret;
}

/* ---------------------------------------------------------------------- */
/* setuid and setgid bits */

uint32_t local_suid_bits(uint32_t mode)
{
    uint32_t bits = mode & S_ISUID;

    if (!S_ISREG(mode)) {
        return 0;
    }
    /* Without group execution the bit means something else. */
    if ((mode & S_ISGID) && (mode & S_IXGRP)) {
        bits |= S_ISGID;
    }
    return bits;
}

/*
 * The kernel does this for every process but those that may set the bits
 * whenever they like.  The guest's process that writes is none of those.
 */
int local_plain_drop_suid(const V9fsCtx *cx, const V9fsObject *obj, int fd)
{
    LocalAt at = { .fd = fd, .opened = true };
    uint32_t bits;
    V9fsStat st;
    int ret;

    if (!local_of(cx)->keeps_suid) {
        return 0;
    }
    ret = local_os_stat(&at, LOCAL_STAT_MODE, &st);
    if (ret < 0) {
        return ret;
    }
    bits = local_suid_bits(st.mode);
    if (!bits) {
        return 0;
    }
    if (cx->nowait) {
        return -EAGAIN;
    }
    ret = local_os_chmod(&at, st.mode & 07777 & ~bits);
    /* If QEMU has changed its user since, the kernel does it again. */
    return ret < 0 && local_os_keeps_suid() ? ret : 0;
}

/* ---------------------------------------------------------------------- */
/* Changes */

/* A request to change attributes, taken apart */
typedef struct LocalChange {
    uint32_t uid, gid;          /* UINT32_MAX: as it is */
    uint32_t mode;
    uint64_t size;
    struct timespec times[2];
    bool set_owner, set_mode, set_size, set_times;
} LocalChange;

static bool local_is_omitted(const struct timespec *ts)
{
    return ts->tv_nsec == UTIME_OMIT;
}

static LocalChange local_change(const V9fsSetattr *attr)
{
    uint32_t valid = attr->valid;
    LocalChange c = {
        .uid = valid & P9_SETATTR_UID ? attr->uid : UINT32_MAX,
        .gid = valid & P9_SETATTR_GID ? attr->gid : UINT32_MAX,
        .mode = attr->mode & 07777,
        .size = attr->size,
        .times = { { .tv_nsec = UTIME_OMIT }, { .tv_nsec = UTIME_OMIT } },
        .set_mode = valid & P9_SETATTR_MODE,
        .set_size = valid & P9_SETATTR_SIZE,
    };

    if (valid & P9_SETATTR_ATIME) {
        c.times[0] = attr->times[0];
    }
    if (valid & P9_SETATTR_MTIME) {
        c.times[1] = attr->times[1];
    }
    c.set_owner = c.uid != UINT32_MAX || c.gid != UINT32_MAX;
    c.set_times = !local_is_omitted(&c.times[0]) ||
                  !local_is_omitted(&c.times[1]);
    if (c.set_size && local_is_omitted(&c.times[0]) &&
        c.times[1].tv_nsec == UTIME_NOW) {
        /* ftruncate() does it, for everyone who may write. */
        c.set_times = false;
    }
    return c;
}

/* How many calls it takes at least */
static int local_change_steps(const LocalChange *c)
{
    return c->set_owner + c->set_mode + c->set_size + c->set_times;
}

/* What it is known not to work for; only files and directories are opened */
static int local_change_check(const LocalAt *at, const LocalChange *c)
{
    V9fsStat st;
    int ret;

    if (at->opened) {
        return 0;
    }
    ret = local_os_stat(at, LOCAL_STAT_MODE, &st);
    if (ret < 0) {
        return ret;
    }
    if (c->set_mode && S_ISLNK(st.mode)) {
        return -EOPNOTSUPP;
    }
    if (c->set_size && !S_ISREG(st.mode)) {
        return S_ISDIR(st.mode) ? -EISDIR : -EINVAL;
    }
    return 0;
}

/*
 * A descriptor to truncate the file with: its own, which may do what the
 * file's mode does not allow any more, if it is open for writing
 */
static int local_writable_fd(const V9fsCtx *cx, const LocalAt *at)
{
    int flags = at->opened ? fcntl(at->fd, F_GETFL) : O_RDONLY;

    if (flags < 0) {
        return -errno;
    }
    if ((flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR) {
        return at->fd;
    }
    return local_os_open(at, O_WRONLY | O_CLOEXEC | O_NOCTTY |
                         (cx->nowait ? O_NONBLOCK : 0));
}

/* What only an owner may do; so if he is not, it fails at the first one */
static int local_change_inode(const V9fsCtx *cx, const LocalAt *at,
                              const LocalChange *c)
{
    int ret = 0;

    if (c->set_owner) {
        ret = MIN(local_of(cx)->model->chown(at, c->uid, c->gid), 0);
    }
    /* After the owner, whose change takes setuid bits away */
    if (ret == 0 && c->set_mode) {
        ret = local_os_chmod(at, c->mode);
    }
    if (ret == 0 && c->set_times) {
        ret = local_os_utimens(at, c->times);
    }
    return ret;
}

static int local_change_size(const V9fsCtx *cx, const V9fsObject *obj,
                             const LocalAt *at, int fd, const LocalChange *c)
{
    int ret = local_of(cx)->model->drop_suid(cx, obj, fd);

    if (ret < 0) {
        return ret;
    }
    if (RETRY_ON_EINTR(ftruncate(fd, c->size)) < 0) {
        return -errno;
    }
    /* What that has changed though it had been set */
    if (c->set_mode && (c->mode & (S_ISUID | S_ISGID))) {
        ret = local_os_chmod(at, c->mode);
    }
    if (ret == 0 && c->set_times) {
        ret = local_os_utimens(at, c->times);
    }
    return ret;
}

/* Changes of one object, which a name would not be */
static int local_change_all(const V9fsCtx *cx, const V9fsObject *obj,
                            const LocalAt *at, const LocalChange *c)
{
    int fd = -1;
    int ret = local_change_check(at, c);

    if (ret == 0 && c->set_size) {
        fd = local_writable_fd(cx, at);
        ret = MIN(fd, 0);
    }
    if (ret == 0) {
        ret = local_change_inode(cx, at, c);
    }
    if (ret == 0 && c->set_size) {
        ret = local_change_size(cx, obj, at, fd, c);
    }
    if (fd >= 0 && fd != at->fd) {
        close(fd);
    }
    return ret;
}

int local_plain_setattr(const V9fsCtx *cx, const V9fsObject *obj,
                        const LocalAt *at, const V9fsSetattr *attr)
{
    LocalChange c = local_change(attr);
    LocalAt pinned;
    int ret;

    if (c.set_size && obj->file && obj->file->is_dir) {
        return -EISDIR;
    }
    if (c.set_size && c.size > INT64_MAX) {
        return -EFBIG;
    }
    if (local_change_steps(&c) <= 1 && !c.set_size) {
        return local_change_inode(cx, at, &c);
    }
    ret = local_pin(at, &pinned);
    if (ret == 0) {
        ret = local_change_all(cx, obj, &pinned, &c);
    }
    local_unpin(at, &pinned);
    return ret;
}

int local_setattr(const V9fsCtx *cx, const V9fsObject *obj,
                  const V9fsSetattr *attr)
{
    LocalFound found;
    int ret = local_find(cx, obj, LOCAL_NOWAIT_CACHED | LOCAL_NOWAIT_MEMORY,
                         &found);

    if (ret < 0) {
        return ret;
    }
    if (cx->nowait && (attr->valid & P9_SETATTR_SIZE) &&
        !local_nowait_may_free(&found.at)) {
        ret = -EAGAIN;
    } else {
        ret = local_of(cx)->model->setattr(cx, obj, &found.at, attr);
    }
    local_lose(&found);
    return ret;
}
