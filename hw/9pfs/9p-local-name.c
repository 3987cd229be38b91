/*
 * Local driver: names
 *
 * Making objects other than open files, and linking, removing and renaming.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "9p-local.h"

bool local_plain_hidden(const char *name, size_t len)
{
    return false;
}

/* ---------------------------------------------------------------------- */
/* New objects */

void local_undo(const V9fsHandle *dir, const char *name, const V9fsStat *st)
{
    LocalAt at = { .fd = dir->fd, .name = name };
    V9fsStat now;

    if (local_os_stat(&at, LOCAL_STAT_MODE, &now) == 0 &&
        now.dev == st->dev && now.ino == st->ino) {
        unlinkat(dir->fd, name, S_ISDIR(now.mode) ? AT_REMOVEDIR : 0);
    }
}

/* Nobody shall be able to use setuid bits before the owner is right. */
uint32_t local_plain_new_mode(const V9fsCtx *cx, const V9fsNew *new)
{
    return new->mode & 0777;
}

int local_plain_make(const V9fsCtx *cx, const V9fsHandle *dir,
                     const V9fsNew *new)
{
    uint32_t mode = local_of(cx)->model->new_mode(cx, new);
    int ret;

    switch (new->mode & S_IFMT) {
    case S_IFDIR:
        ret = mkdirat(dir->fd, new->name, mode);
        break;
    case S_IFLNK:
        ret = symlinkat(new->target, dir->fd, new->name);
        break;
    case S_IFREG:
    case S_IFIFO:
    case S_IFSOCK:
    case S_IFCHR:
    case S_IFBLK:
        ret = mknodat(dir->fd, new->name, (new->mode & S_IFMT) | mode,
                      new->rdev);
        break;
    default:
        return -EINVAL;
    }
    return ret < 0 ? -errno : 0;
}

/* What is to be changed of a new object; UINT32_MAX: nothing */
typedef struct LocalNewAttr {
    uint32_t uid, gid, mode;
} LocalNewAttr;

static bool local_has_default_acl(const V9fsHandle *dir)
{
    LocalAt at = { .fd = dir->fd };

    return local_os_getxattr(&at, "system.posix_acl_default", NULL, 0) > 0;
}

static LocalNewAttr local_new_attr(const V9fsHandle *dir, const V9fsNew *new,
                                   const V9fsStat *st)
{
    uint32_t mode = new->mode & 07777;
    LocalNewAttr want = {
        .uid = new->uid == st->uid ? UINT32_MAX : new->uid,
        .gid = new->gid == st->gid ? UINT32_MAX : new->gid,
    };

    if (S_ISDIR(st->mode)) {
        /* The host hands it on from the parent directory. */
        mode |= st->mode & S_ISGID;
    }
    if ((mode & ~st->mode & 0777) && local_has_default_acl(dir)) {
        /* No umask counts then: the directory's rule has taken these away. */
        mode = (mode & ~0777) | (st->mode & 0777);
    }
    want.mode = S_ISLNK(st->mode) || mode == (st->mode & 07777) ?
                UINT32_MAX : mode;
    return want;
}

static bool local_new_is_right(const LocalNewAttr *want)
{
    return want->uid == UINT32_MAX && want->gid == UINT32_MAX &&
           want->mode == UINT32_MAX;
}

static int local_set_new_attr(const V9fsCtx *cx, const LocalAt *at,
                              const LocalNewAttr *want, V9fsStat *st)
{
    int ret;

    if (want->uid != UINT32_MAX || want->gid != UINT32_MAX) {
        ret = local_of(cx)->model->chown(at, want->uid, want->gid);
        if (ret < 0) {
            return ret;
        }
        if (ret == 0) {
            st->uid = want->uid == UINT32_MAX ? st->uid : want->uid;
            st->gid = want->gid == UINT32_MAX ? st->gid : want->gid;
        }
    }
    if (want->mode == UINT32_MAX) {
        return 0;
    }
    ret = local_os_chmod(at, want->mode);
    if (ret == 0) {
        st->mode = (st->mode & S_IFMT) | want->mode;
    }
    /* A file system that has no such modes gives what it has, as locally. */
    return ret == -EPERM || ret == -EOPNOTSUPP ? 0 : ret;
}

/*
 * A handle of what was made, unless somebody has put something else in its
 * place, whose owner would be changed then.  (Of other names than the one
 * made here a hard link is the way to do that.)
 */
static int local_pin_new(const LocalAt *at, LocalAt *pinned,
                         const V9fsStat *st)
{
    V9fsStat now;
    int ret = local_pin(at, pinned);

    if (ret == 0 && at->name) {
        ret = local_os_stat(pinned, LOCAL_STAT_ALL, &now);
        if (ret == 0 && (now.dev != st->dev || now.ino != st->ino ||
                         (!S_ISDIR(now.mode) && now.nlink != 1))) {
            ret = -ESTALE;
        }
    }
    return ret;
}

int local_plain_made(const V9fsCtx *cx, const V9fsHandle *dir,
                     const LocalAt *at, const V9fsNew *new, V9fsStat *st)
{
    LocalNewAttr want = local_new_attr(dir, new, st);
    LocalAt pinned;
    int ret;

    if (local_new_is_right(&want)) {
        return 0;
    }
    ret = local_pin_new(at, &pinned, st);
    if (ret == 0) {
        ret = local_set_new_attr(cx, &pinned, &want, st);
    }
    local_unpin(at, &pinned);
    return ret;
}

int local_make(const V9fsCtx *cx, const V9fsHandle *dir, const V9fsNew *new,
               V9fsStat *st)
{
    const LocalModel *model = local_of(cx)->model;
    LocalAt at = { .fd = dir->fd, .name = new->name };
    int ret;

    if (cx->nowait && !(dir->nowait & LOCAL_NOWAIT_MEMORY)) {
        return -EAGAIN;
    }
    ret = local_check_new_name(cx, new->name);
    if (ret == 0) {
        ret = model->make(cx, dir, new);
    }
    if (ret < 0) {
        return ret;
    }
    ret = local_os_stat(&at, LOCAL_STAT_ALL, st);
    if (ret < 0) {
        return ret;
    }
    ret = model->made(cx, dir, &at, new, st);
    if (ret < 0) {
        local_undo(dir, new->name, st);
    }
    return ret;
}

/* ---------------------------------------------------------------------- */
/* Names of objects that exist */

int local_plain_link(const V9fsCtx *cx, const V9fsObject *obj,
                     const V9fsHandle *dir, const char *name)
{
    LocalAt at;
    int ret = local_at(cx, obj, &at);

    return ret < 0 ? ret : local_os_link(&at, dir->fd, name);
}

int local_link(const V9fsCtx *cx, const V9fsObject *obj,
               const V9fsHandle *dir, const char *name)
{
    int ret;

    if (local_may_not_wait(cx)) {
        return -EAGAIN;
    }
    ret = local_check_new_name(cx, name);
    return ret < 0 ? ret : local_of(cx)->model->link(cx, obj, dir, name);
}

int local_plain_unlink(const V9fsCtx *cx, const V9fsHandle *dir,
                       const char *name, bool rmdir)
{
    return unlinkat(dir->fd, name, rmdir ? AT_REMOVEDIR : 0) < 0 ? -errno : 0;
}

/*
 * Whether what has a name may lose it without waiting: in memory, if there
 * is not much to be freed.  0, or -EAGAIN, or that there is nothing
 */
static int local_nowait_gone(const V9fsCtx *cx, const V9fsHandle *dir,
                             const char *name)
{
    LocalAt at = { 0 };
    int ret = 0;

    if (!(dir->nowait & LOCAL_NOWAIT_MEMORY)) {
        return -EAGAIN;
    }
    at.fd = local_nowait_open(cx, dir, name, false);
    if (at.fd < 0) {
        return at.fd;
    }
    if (!local_nowait_may_free(&at)) {
        ret = -EAGAIN;
    }
    close(at.fd);
    return ret;
}

int local_unlink(const V9fsCtx *cx, const V9fsHandle *dir, const char *name,
                 bool rmdir)
{
    int ret;

    if (local_check_new_name(cx, name) < 0) {
        return -ENOENT;
    }
    ret = cx->nowait ? local_nowait_gone(cx, dir, name) : 0;
    if (ret < 0) {
        return ret;
    }
    return local_of(cx)->model->unlink(cx, dir, name, rmdir);
}

int local_plain_rename(const V9fsCtx *cx, const V9fsHandle *olddir,
                       const char *oldname, const V9fsHandle *newdir,
                       const char *newname)
{
    return renameat(olddir->fd, oldname, newdir->fd, newname) < 0 ?
           -errno : 0;
}

int local_rename(const V9fsCtx *cx, const V9fsHandle *olddir,
                 const char *oldname, const V9fsHandle *newdir,
                 const char *newname)
{
    int ret;

    if (cx->nowait && !(olddir->nowait & LOCAL_NOWAIT_MEMORY)) {
        return -EAGAIN;
    }
    if (local_check_new_name(cx, oldname) < 0) {
        return -ENOENT;
    }
    ret = local_check_new_name(cx, newname);
    if (ret == 0 && cx->nowait) {
        ret = local_nowait_gone(cx, newdir, newname);
        ret = ret == -ENOENT ? 0 : ret;
    }
    if (ret < 0) {
        return ret;
    }
    return local_of(cx)->model->rename(cx, olddir, oldname, newdir, newname);
}
