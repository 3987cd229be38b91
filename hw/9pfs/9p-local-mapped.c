/*
 * Local driver: security model mapped-xattr
 *
 * The guest's owner, mode and device number of a file are kept in extended
 * attributes of the host's file, all little-endian: user.virtfs.uid, .gid and
 * .mode (32 bits), user.virtfs.rdev (64 bits).  Symbolic links that the guest
 * makes are regular files that hold the target; device nodes, FIFOs and
 * sockets are empty ones.  What the host has made has no such attributes and
 * is shown as it is; its symbolic links are real ones.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "9p-local.h"

#define MAPPED_PREFIX   "user.virtfs."
#define MAPPED_ACL      "system.posix_acl_"

/* ---------------------------------------------------------------------- */
/* The attributes */

/* 1: there is one and it is in *@value; 0: there is none */
static int mapped_get(const LocalAt *at, const char *name, size_t size,
                      uint64_t *value)
{
    uint8_t buf[8];
    ssize_t ret = local_os_getxattr(at, name, buf, size);

    if (ret == size) {
        *value = ldn_le_p(buf, size);
        return 1;
    }
    /* A file system without any has none; one of another size is no one's. */
    return ret >= 0 || ret == -ENODATA || ret == -EOPNOTSUPP ||
           ret == -ERANGE || ret == -EPERM ? 0 : ret;
}

static int mapped_get32(const LocalAt *at, const char *name, uint32_t *value)
{
    uint64_t got;
    int ret = mapped_get(at, name, 4, &got);

    if (ret > 0) {
        *value = got;
    }
    return MIN(ret, 0);
}

static int mapped_set(const LocalAt *at, const char *name, size_t size,
                      uint64_t value)
{
    uint8_t buf[8];

    stn_le_p(buf, size, value);
    return local_os_setxattr(at, name, buf, size, 0);
}

/* ---------------------------------------------------------------------- */
/* What the guest sees */

static int mapped_stat_at(const LocalAt *at, V9fsStat *st)
{
    int ret;

    if (S_ISLNK(st->mode)) {
        return 0;       /* the host's: it can have no such attributes */
    }
    ret = mapped_get32(at, MAPPED_PREFIX "mode", &st->mode) ?:
          mapped_get32(at, MAPPED_PREFIX "uid", &st->uid) ?:
          mapped_get32(at, MAPPED_PREFIX "gid", &st->gid);
    if (ret == 0 && (S_ISCHR(st->mode) || S_ISBLK(st->mode))) {
        ret = MIN(mapped_get(at, MAPPED_PREFIX "rdev", 8, &st->rdev), 0);
    }
    return ret;
}

static int mapped_stat_fix(const V9fsCtx *cx, const V9fsObject *obj,
                           V9fsStat *st)
{
    LocalAt at;
    int ret = local_at(cx, obj, &at);

    return ret < 0 ? ret : mapped_stat_at(&at, st);
}

/* Host's attributes, and what the guest has of them */
static int mapped_stat(const LocalAt *at, V9fsStat *st)
{
    return local_os_stat(at, LOCAL_STAT_ALL, st) ?: mapped_stat_at(at, st);
}

static ssize_t mapped_read_link(const LocalAt *at, char *buf, size_t size)
{
    int fd = local_os_open(at, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    size_t done = 0;
    ssize_t n;

    if (fd < 0) {
        return fd;
    }
    do {
        n = RETRY_ON_EINTR(pread(fd, buf + done, size - done, done));
        done += MAX(n, 0);
    } while (n > 0 && done < size);
    n = n < 0 ? -errno : n;
    close(fd);
    if (n < 0) {
        return n;
    }
    if (done >= size) {
        return -ENAMETOOLONG;
    }
    buf[done] = '\0';
    return strlen(buf);
}

static ssize_t mapped_readlink(const V9fsCtx *cx, const V9fsObject *obj,
                               char *buf, size_t size)
{
    LocalAt at, pinned;
    V9fsStat st;
    ssize_t ret = local_at(cx, obj, &at);

    if (ret < 0) {
        return ret;
    }
    ret = local_pin(&at, &pinned) ?:
          local_os_stat(&pinned, LOCAL_STAT_ALL, &st);
    if (ret == 0 && S_ISLNK(st.mode)) {
        ret = local_plain_readlink(cx, obj, buf, size);
    } else if (ret == 0) {
        ret = mapped_stat_at(&pinned, &st);
        if (ret == 0) {
            ret = S_ISLNK(st.mode) ? mapped_read_link(&pinned, buf, size)
                                   : -EINVAL;
        }
    }
    local_unpin(&at, &pinned);
    return ret;
}

/* ---------------------------------------------------------------------- */
/* Changes */

static int mapped_set_owner(const LocalAt *at, uint32_t uid, uint32_t gid)
{
    int ret = 0;

    if (uid != UINT32_MAX) {
        ret = mapped_set(at, MAPPED_PREFIX "uid", 4, uid);
    }
    if (ret == 0 && gid != UINT32_MAX) {
        ret = mapped_set(at, MAPPED_PREFIX "gid", 4, gid);
    }
    return ret;
}

/* Setting an owner takes setuid bits away, as it does on the host. */
static int mapped_chown(const LocalAt *at, uint32_t uid, uint32_t gid)
{
    V9fsStat st;
    int ret = mapped_stat(at, &st);

    if (ret < 0) {
        return ret;
    }
    ret = mapped_set_owner(at, uid, gid);
    if (ret == 0 && local_suid_bits(st.mode)) {
        ret = mapped_set(at, MAPPED_PREFIX "mode", 4,
                         st.mode & ~local_suid_bits(st.mode));
    }
    return ret;
}

static int mapped_chmod(const LocalAt *at, uint32_t mode)
{
    V9fsStat st;
    int ret = mapped_stat(at, &st);

    if (ret < 0) {
        return ret;
    }
    if (S_ISLNK(st.mode)) {
        return -EOPNOTSUPP;
    }
    return mapped_set(at, MAPPED_PREFIX "mode", 4,
                      (st.mode & S_IFMT) | (mode & 07777));
}

/* What only looks like a file to the host keeps what it holds. */
static int mapped_check_size(const LocalAt *at)
{
    V9fsStat st;
    int ret = mapped_stat(at, &st);

    if (ret < 0 || S_ISREG(st.mode)) {
        return ret;
    }
    return S_ISDIR(st.mode) ? -EISDIR : -EINVAL;
}

static int mapped_setattr(const V9fsCtx *cx, const V9fsObject *obj,
                          const V9fsSetattr *attr)
{
    const uint32_t mapped = P9_SETATTR_MODE | P9_SETATTR_UID | P9_SETATTR_GID;
    V9fsSetattr rest = *attr;
    LocalAt at, pinned;
    V9fsObject pinned_obj;
    V9fsHandle handle;
    int ret = local_at(cx, obj, &at);

    if (ret < 0) {
        return ret;
    }
    rest.valid &= ~mapped;
    ret = local_pin(&at, &pinned);
    handle = (V9fsHandle) { .fd = pinned.fd };
    pinned_obj = pinned.name || pinned.opened ? *obj :
                 (V9fsObject) { .dir = &handle };
    if (ret == 0 && (attr->valid & P9_SETATTR_SIZE)) {
        ret = mapped_check_size(&pinned);
    }
    /* What the host may refuse comes first. */
    if (ret == 0 && rest.valid) {
        ret = local_plain_setattr(cx, &pinned_obj, &rest);
    }
    if (ret == 0 && (attr->valid & (P9_SETATTR_UID | P9_SETATTR_GID))) {
        ret = mapped_chown(&pinned,
                           attr->valid & P9_SETATTR_UID ? attr->uid : -1,
                           attr->valid & P9_SETATTR_GID ? attr->gid : -1);
    }
    if (ret == 0 && (attr->valid & P9_SETATTR_MODE)) {
        ret = mapped_chmod(&pinned, attr->mode);
    }
    local_unpin(&at, &pinned);
    return ret;
}

/* The host's file has no such bits, so its kernel does not know of them. */
static int mapped_drop_suid(const V9fsCtx *cx, int fd)
{
    LocalAt at = { .fd = fd, .opened = true };
    uint32_t mode = 0;
    int ret = mapped_get32(&at, MAPPED_PREFIX "mode", &mode);

    if (ret < 0 || !local_suid_bits(mode)) {
        return ret;
    }
    if (cx->nowait) {
        return -EAGAIN;
    }
    return mapped_set(&at, MAPPED_PREFIX "mode", 4,
                      mode & ~local_suid_bits(mode));
}

/* ---------------------------------------------------------------------- */
/* New objects */

static uint32_t mapped_new_mode(const V9fsCtx *cx, const V9fsNew *new)
{
    return S_ISDIR(new->mode) ? cx->fs->exp->dmode : cx->fs->exp->fmode;
}

static int mapped_make_link(const V9fsCtx *cx, const V9fsHandle *dir,
                            const V9fsNew *new)
{
    size_t len = strlen(new->target);
    ssize_t n;
    int fd = RETRY_ON_EINTR(openat(dir->fd, new->name, O_WRONLY | O_CREAT |
                                   O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                   mapped_new_mode(cx, new)));

    if (fd < 0) {
        return -errno;
    }
    n = qemu_write_full(fd, new->target, len);
    if (n != len) {
        n = -errno;
        close(fd);
        unlinkat(dir->fd, new->name, 0);
        return n;
    }
    return close(fd) < 0 && errno != EINTR ? -errno : 0;
}

static int mapped_make(const V9fsCtx *cx, const V9fsHandle *dir,
                       const V9fsNew *new)
{
    uint32_t mode = mapped_new_mode(cx, new);
    int ret;

    if (S_ISLNK(new->mode)) {
        if (!*new->target) {
            return -ENOENT;
        }
        return strlen(new->target) < PATH_MAX ?
               mapped_make_link(cx, dir, new) : -ENAMETOOLONG;
    }
    if (S_ISDIR(new->mode)) {
        ret = mkdirat(dir->fd, new->name, mode);
    } else {
        ret = mknodat(dir->fd, new->name, S_IFREG | mode, 0);
    }
    return ret < 0 ? -errno : 0;
}

static int mapped_made(const V9fsCtx *cx, const V9fsHandle *dir,
                       const LocalAt *at, const V9fsNew *new, V9fsStat *st)
{
    uint32_t host_mode = mapped_new_mode(cx, new);
    int ret = 0;

    /* The umask of QEMU has no say. */
    if ((st->mode & 0777) != host_mode) {
        ret = local_os_chmod(at, host_mode | (st->mode & S_ISGID));
    }
    ret = ret ?: mapped_set_owner(at, new->uid, new->gid) ?:
          mapped_set(at, MAPPED_PREFIX "mode", 4, new->mode);
    if (ret == 0 && (S_ISCHR(new->mode) || S_ISBLK(new->mode))) {
        ret = mapped_set(at, MAPPED_PREFIX "rdev", 8, new->rdev);
        st->rdev = new->rdev;
    }
    st->mode = new->mode;
    st->uid = new->uid == UINT32_MAX ? st->uid : new->uid;
    st->gid = new->gid == UINT32_MAX ? st->gid : new->gid;
    return ret;
}

/* ---------------------------------------------------------------------- */
/* Names of extended attributes */

static const char *mapped_xattr_host(const char *name,
                                     char buf[LOCAL_XATTR_NAME_SIZE])
{
    if (g_str_equal(name, MAPPED_ACL "access") ||
        g_str_equal(name, MAPPED_ACL "default")) {
        snprintf(buf, LOCAL_XATTR_NAME_SIZE, MAPPED_PREFIX "%s", name);
        return buf;
    }
    return g_str_has_prefix(name, "user.") &&
           !g_str_has_prefix(name, MAPPED_PREFIX) ? name : NULL;
}

static const char *mapped_xattr_guest(const char *name)
{
    if (g_str_equal(name, MAPPED_PREFIX MAPPED_ACL "access") ||
        g_str_equal(name, MAPPED_PREFIX MAPPED_ACL "default")) {
        return name + strlen(MAPPED_PREFIX);
    }
    return g_str_has_prefix(name, "user.") &&
           !g_str_has_prefix(name, MAPPED_PREFIX) ? name : NULL;
}

const LocalModel local_mapped_xattr_model = {
    .hidden = local_plain_hidden,
    .hides_types = true,
    .stat_fix = mapped_stat_fix,
    .setattr = mapped_setattr,
    .chown = mapped_chown,
    .drop_suid = mapped_drop_suid,
    .readlink = mapped_readlink,
    .new_mode = mapped_new_mode,
    .make = mapped_make,
    .made = mapped_made,
    .link = local_plain_link,
    .unlink = local_plain_unlink,
    .rename = local_plain_rename,
    .xattr_host = mapped_xattr_host,
    .xattr_guest = mapped_xattr_guest,
};
