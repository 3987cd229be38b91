/*
 * Local driver: what the mapped security models share
 *
 * Symbolic links that the guest makes are regular files that hold the target;
 * device nodes, FIFOs and sockets are empty ones.  What the host has made has
 * no credentials and is shown as it is; its symbolic links are real ones.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "9p-local-mapped.h"

#define MAPPED_PREFIX   "user.virtfs."
#define MAPPED_ACL      "system.posix_acl_"

/* ---------------------------------------------------------------------- */
/* What the guest sees */

/* Only what is a regular file for the host can be something else. */
static uint32_t mapped_type(uint32_t host, uint32_t mode)
{
    if (!S_ISREG(host)) {
        return host & S_IFMT;
    }
    switch (mode & S_IFMT) {
    case S_IFLNK:
    case S_IFIFO:
    case S_IFSOCK:
    case S_IFCHR:
    case S_IFBLK:
        return mode & S_IFMT;
    default:
        return S_IFREG;
    }
}

static void mapped_apply(const LocalCreds *c, V9fsStat *st)
{
    if (local_creds_has(c, LOCAL_CREDS_UID)) {
        st->uid = c->value[LOCAL_CREDS_UID];
    }
    if (local_creds_has(c, LOCAL_CREDS_GID)) {
        st->gid = c->value[LOCAL_CREDS_GID];
    }
    if (local_creds_has(c, LOCAL_CREDS_MODE) && !S_ISLNK(st->mode)) {
        uint32_t mode = c->value[LOCAL_CREDS_MODE];

        st->mode = mapped_type(st->mode, mode) | (mode & 07777);
    }
    if (local_creds_has(c, LOCAL_CREDS_RDEV) &&
        (S_ISCHR(st->mode) || S_ISBLK(st->mode))) {
        st->rdev = c->value[LOCAL_CREDS_RDEV];
    }
}

int local_mapped_stat_fix(const V9fsCtx *cx, const V9fsObject *obj,
                          const LocalAt *at, V9fsStat *st)
{
    LocalCreds creds = { 0 };
    int ret = local_of(cx)->model->get_creds(cx, obj, at, st, &creds);

    if (ret == 0) {
        mapped_apply(&creds, st);
    }
    return ret;
}

/* Host's attributes, and what the guest has of them */
static int mapped_stat(const V9fsCtx *cx, const V9fsObject *obj,
                       const LocalAt *at, V9fsStat *st)
{
    return local_os_stat(at, LOCAL_STAT_ALL, st) ?:
           local_mapped_stat_fix(cx, obj, at, st);
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

static ssize_t mapped_readlink_pinned(const V9fsCtx *cx,
                                      const V9fsObject *obj,
                                      const LocalAt *at,
                                      char *buf, size_t size)
{
    V9fsStat st;
    int ret = local_os_stat(at, LOCAL_STAT_ALL, &st);

    if (ret == 0 && S_ISLNK(st.mode)) {
        return local_plain_readlink(cx, obj, at, buf, size);
    }
    ret = ret ?: local_mapped_stat_fix(cx, obj, at, &st);
    if (ret < 0) {
        return ret;
    }
    return S_ISLNK(st.mode) ? mapped_read_link(at, buf, size) : -EINVAL;
}

ssize_t local_mapped_readlink(const V9fsCtx *cx, const V9fsObject *obj,
                              const LocalAt *at, char *buf, size_t size)
{
    LocalAt pinned;
    ssize_t ret = local_pin(at, &pinned);

    if (ret == 0) {
        ret = mapped_readlink_pinned(cx, obj, &pinned, buf, size);
    }
    local_unpin(at, &pinned);
    return ret;
}

/* ---------------------------------------------------------------------- */
/* Changes */

#define MAPPED_ATTRS (P9_SETATTR_MODE | P9_SETATTR_UID | P9_SETATTR_GID)

void local_creds_merge(LocalCreds *creds, const LocalCreds *more)
{
    for (unsigned n = 0; n < LOCAL_CREDS_N; n++) {
        if (local_creds_has(more, n)) {
            local_creds_put(creds, n, more->value[n]);
        }
    }
}

bool local_creds_gives_suid(const LocalCreds *c)
{
    return local_creds_has(c, LOCAL_CREDS_MODE) &&
           local_suid_bits(c->value[LOCAL_CREDS_MODE]);
}

/* The host's file has no such bits, so its kernel does not know of them. */
int local_creds_drop_suid(const V9fsCtx *cx, const V9fsObject *obj, int fd,
                          const LocalCreds *creds)
{
    LocalAt at = { .fd = fd, .opened = true };
    LocalCreds less = { 0 };
    uint32_t mode = creds->value[LOCAL_CREDS_MODE];

    if (!local_creds_has(creds, LOCAL_CREDS_MODE)) {
        return local_plain_drop_suid(cx, obj, fd);
    }
    if (!local_suid_bits(mode)) {
        return 0;
    }
    if (cx->nowait) {
        return -EAGAIN;
    }
    local_creds_put(&less, LOCAL_CREDS_MODE, mode & ~local_suid_bits(mode));
    return local_of(cx)->model->set_creds(cx, obj, &at, &less);
}

/* What only looks like a file to the host keeps what it holds. */
static int mapped_check_change(const V9fsSetattr *attr, const V9fsStat *st)
{
    if ((attr->valid & P9_SETATTR_MODE) && S_ISLNK(st->mode)) {
        return -EOPNOTSUPP;
    }
    if ((attr->valid & P9_SETATTR_SIZE) && !S_ISREG(st->mode)) {
        return S_ISDIR(st->mode) ? -EISDIR : -EINVAL;
    }
    return 0;
}

/* Setting an owner takes setuid bits away, as it does on the host. */
static LocalCreds mapped_change(const V9fsSetattr *attr, const V9fsStat *st)
{
    LocalCreds c = { 0 };
    uint32_t suid = local_suid_bits(st->mode);

    if ((attr->valid & P9_SETATTR_UID) && attr->uid != UINT32_MAX) {
        local_creds_put(&c, LOCAL_CREDS_UID, attr->uid);
    }
    if ((attr->valid & P9_SETATTR_GID) && attr->gid != UINT32_MAX) {
        local_creds_put(&c, LOCAL_CREDS_GID, attr->gid);
    }
    if (attr->valid & P9_SETATTR_MODE) {
        local_creds_put(&c, LOCAL_CREDS_MODE,
                        (st->mode & S_IFMT) | (attr->mode & 07777));
    } else if (suid && (attr->valid & (P9_SETATTR_UID | P9_SETATTR_GID))) {
        local_creds_put(&c, LOCAL_CREDS_MODE, st->mode & ~suid);
    }
    return c;
}

static int mapped_setattr_pinned(const V9fsCtx *cx, const V9fsObject *obj,
                                 const LocalAt *at, const V9fsSetattr *attr)
{
    V9fsSetattr rest = *attr;
    LocalCreds creds = { 0 };
    V9fsStat st = { 0 };
    int ret = 0;

    rest.valid &= ~MAPPED_ATTRS;
    if (cx->nowait && rest.valid && rest.valid != attr->valid) {
        return -EAGAIN;         /* the second change might have to wait */
    }
    if (attr->valid & (MAPPED_ATTRS | P9_SETATTR_SIZE)) {
        ret = mapped_stat(cx, obj, at, &st) ?: mapped_check_change(attr, &st);
        creds = mapped_change(attr, &st);
    }
    /* What the host may refuse comes first. */
    if (ret == 0 && rest.valid) {
        ret = local_plain_setattr(cx, obj, at, &rest);
    }
    if (ret == 0 && creds.has) {
        ret = local_of(cx)->model->set_creds(cx, obj, at, &creds);
    }
    return ret;
}

int local_mapped_setattr(const V9fsCtx *cx, const V9fsObject *obj,
                         const LocalAt *at, const V9fsSetattr *attr)
{
    LocalAt pinned;
    int ret = local_pin(at, &pinned);

    if (ret == 0) {
        ret = mapped_setattr_pinned(cx, obj, &pinned, attr);
    }
    local_unpin(at, &pinned);
    return ret;
}

/* ---------------------------------------------------------------------- */
/* New objects */

uint32_t local_mapped_new_mode(const V9fsCtx *cx, const V9fsNew *new)
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
                                   local_mapped_new_mode(cx, new)));

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

int local_mapped_make(const V9fsCtx *cx, const V9fsHandle *dir,
                      const V9fsNew *new)
{
    uint32_t mode = local_mapped_new_mode(cx, new);
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

static LocalCreds mapped_new_creds(const V9fsNew *new)
{
    LocalCreds c = { 0 };

    if (new->uid != UINT32_MAX) {
        local_creds_put(&c, LOCAL_CREDS_UID, new->uid);
    }
    if (new->gid != UINT32_MAX) {
        local_creds_put(&c, LOCAL_CREDS_GID, new->gid);
    }
    local_creds_put(&c, LOCAL_CREDS_MODE, new->mode);
    if (S_ISCHR(new->mode) || S_ISBLK(new->mode)) {
        local_creds_put(&c, LOCAL_CREDS_RDEV, new->rdev);
    }
    return c;
}

int local_mapped_made(const V9fsCtx *cx, const V9fsHandle *dir,
                      const LocalAt *at, const V9fsNew *new, V9fsStat *st)
{
    uint32_t host_mode = local_mapped_new_mode(cx, new);
    V9fsObject obj = { .dir = dir, .name = new->name };
    LocalCreds creds = mapped_new_creds(new);
    int ret = 0;

    /* The umask of QEMU has no say. */
    if ((st->mode & 0777) != host_mode) {
        ret = local_os_chmod(at, host_mode | (st->mode & S_ISGID));
    }
    ret = ret ?: local_of(cx)->model->init_creds(cx, &obj, at, &creds);
    mapped_apply(&creds, st);
    return ret;
}

/* ---------------------------------------------------------------------- */
/* Names of extended attributes */

const char *local_mapped_xattr_host(const char *name,
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

const char *local_mapped_xattr_guest(const char *name)
{
    if (g_str_equal(name, MAPPED_PREFIX MAPPED_ACL "access") ||
        g_str_equal(name, MAPPED_PREFIX MAPPED_ACL "default")) {
        return name + strlen(MAPPED_PREFIX);
    }
    return g_str_has_prefix(name, "user.") &&
           !g_str_has_prefix(name, MAPPED_PREFIX) ? name : NULL;
}
