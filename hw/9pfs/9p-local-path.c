/*
 * Local driver: handles, and where objects are
 *
 * Nothing outside the exported directory can be reached because names are
 * only ever looked up in a handle, one at a time or by a call that follows no
 * symbolic link and goes nowhere but down.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "9p-local.h"

static bool local_is_hidden(const V9fsCtx *cx, const char *name)
{
    return local_of(cx)->model->hidden(name, strlen(name));
}

int local_at(const V9fsCtx *cx, const V9fsObject *obj, LocalAt *at)
{
    if (obj->file) {
        *at = (LocalAt) { .fd = obj->file->fd, .opened = true };
        return 0;
    }
    *at = (LocalAt) { .fd = obj->dir->fd, .name = obj->name };
    return obj->name && local_is_hidden(cx, obj->name) ? -ENOENT : 0;
}

int local_check_new_name(const V9fsCtx *cx, const char *name)
{
    return local_is_hidden(cx, name) ? -EINVAL : 0;
}

int local_pin(const LocalAt *at, LocalAt *pinned)
{
    *pinned = *at;
    if (at->name && local_os_has(LOCAL_OS_NODE | LOCAL_OS_PROC)) {
        pinned->fd = local_os_open_node(at->fd, at->name, false);
        pinned->name = NULL;
    }
    return MIN(pinned->fd, 0);
}

void local_unpin(const LocalAt *at, const LocalAt *pinned)
{
    if (pinned->fd != at->fd && pinned->fd >= 0) {
        close(pinned->fd);
    }
}

/* One name, or as many as one call takes; @dirfd is not closed */
static int local_open_piece(const V9fsCtx *cx, int dirfd, const char *piece,
                            bool directory)
{
    int ret;

    if (strchr(piece, '/')) {
        ret = local_os_open_beneath(dirfd, piece, O_PATH |
                                    (directory ? O_DIRECTORY : 0));
    } else {
        ret = local_os_open_node(dirfd, piece, directory);
    }
    return ret == -ELOOP ? -ENOTDIR : ret;
}

/* Bytes of @path to open at once: whole names */
static size_t local_piece_len(const char *path)
{
    size_t len = strlen(path);
    const char *slash;

    if (!local_os_has(LOCAL_OS_OPENAT2)) {
        return strcspn(path, "/");
    }
    if (len < PATH_MAX) {
        return len;
    }
    slash = memrchr(path, '/', PATH_MAX);
    return slash ? slash - path : len;
}

static bool local_path_hidden(const V9fsCtx *cx, const char *path)
{
    const LocalModel *model = local_of(cx)->model;
    size_t len;

    for (; *path; path += len + (path[len] == '/')) {
        len = strcspn(path, "/");
        if (model->hidden(path, len)) {
            return true;
        }
    }
    return false;
}

static int local_open_path(const V9fsCtx *cx, int dirfd, const char *path,
                           bool directory)
{
    char piece[PATH_MAX];
    int at = dirfd;
    int fd = -ENOENT;
    size_t len;

    while (*path) {
        len = local_piece_len(path);
        if (len >= sizeof(piece)) {
            fd = -ENAMETOOLONG;
        } else {
            pstrcpy(piece, len + 1, path);
            path += len + (path[len] == '/');
            fd = local_open_piece(cx, at, piece, directory || *path);
        }
        if (at != dirfd) {
            close(at);
        }
        if (fd < 0) {
            break;
        }
        at = fd;
    }
    return fd;
}

int local_open_handle(const V9fsCtx *cx, const V9fsHandle *dir,
                      const char *path, bool directory, V9fsHandle *out)
{
    LocalAt at = { 0 };
    V9fsStat st;
    int ret;

    out->kept = NULL;
    if (local_path_hidden(cx, path)) {
        return -ENOENT;
    }
    at.fd = cx->nowait ? local_nowait_open(cx, dir, path, directory)
                       : local_open_path(cx, dir->fd, path, directory);
    if (at.fd < 0) {
        return at.fd;
    }
    ret = local_os_stat(&at, LOCAL_STAT_ID, &st);
    if (ret < 0) {
        close(at.fd);
        return ret;
    }
    out->fd = at.fd;
    out->dev = st.dev;
    out->ino = st.ino;
    out->nowait = st.dev == dir->dev ? dir->nowait : local_nowait_of(at.fd);
    ret = out->pinned ? local_of(cx)->model->keep(cx, dir, path, out) : 0;
    if (ret < 0) {
        close(at.fd);
    }
    return ret;
}

void local_close_handle(V9fsFs *fs, V9fsHandle *h)
{
    const Local *local = fs->opaque;

    if (h->kept) {
        local->model->unkeep(h->kept);
        h->kept = NULL;
    }
    close(h->fd);
    h->fd = -1;
}

void local_plain_keep_file(V9fsFile *file, const V9fsStat *st)
{
}

int local_plain_keep(const V9fsCtx *cx, const V9fsHandle *dir,
                     const char *name, V9fsHandle *h)
{
    return 0;
}

bool local_is_gone(const V9fsCtx *cx, const V9fsHandle *h)
{
    return local_os_is_gone(h->fd);
}
