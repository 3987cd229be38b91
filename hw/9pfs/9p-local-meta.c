/*
 * Local driver: the metadata files of security model mapped-file
 *
 * Finding, reading and writing them.  What happens to them when the names of
 * their objects change is in 9p-local-mapped-file.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "9p-local-meta.h"

/* Bytes of a file that are looked at: many times what is needed */
#define META_MAX        4096
/* How often to make a file that others make and remove meanwhile */
#define META_TRIES      8

static const struct {
    const char *key;
    uint64_t max;
} meta_fields[LOCAL_CREDS_N] = {
    [LOCAL_CREDS_UID] = { "virtfs.uid=", UINT32_MAX },
    [LOCAL_CREDS_GID] = { "virtfs.gid=", UINT32_MAX },
    [LOCAL_CREDS_MODE] = { "virtfs.mode=", UINT32_MAX },
    [LOCAL_CREDS_RDEV] = { "virtfs.rdev=", UINT64_MAX },
};

/*
 * Nobody reads a number of which half is written, and of two that change one
 * file at once none loses what the other has set.
 */
static GRWLock meta_lock;

static bool meta_is_root(const V9fsCtx *cx, const V9fsHandle *dir)
{
    return dir->ino == cx->fs->root.ino && dir->dev == cx->fs->root.dev;
}

/* Whether the name in @obj, where there is one, still is its open file's */
static int meta_is_same(const V9fsCtx *cx, const V9fsObject *obj)
{
    LocalAt at = { .fd = obj->dir->fd, .name = obj->name };
    V9fsStat st;
    int ret;

    if (cx->nowait) {
        at.fd = local_nowait_open(cx, obj->dir, obj->name, false);
        at.name = NULL;
    }
    ret = at.fd < 0 ? at.fd : local_os_stat(&at, LOCAL_STAT_ID, &st);
    if (at.fd != obj->dir->fd && at.fd >= 0) {
        close(at.fd);
    }
    if (ret < 0) {
        return ret == -ENOENT || ret == -ENOTDIR ? 0 : ret;
    }
    return local_kept_is(obj->file->kept, st.dev, st.ino);
}

/*
 * A handle that has no name here is one of a directory on the way to
 * something else, whose credentials do not matter, or was kept.
 */
int local_meta_find(const V9fsCtx *cx, const V9fsObject *obj,
                    LocalMetaPlace *p)
{
    const V9fsHandle *dir = obj->dir;
    int ret = 1;

    *p = (LocalMetaPlace) { 0 };
    if (dir && obj->name && obj->file) {
        ret = meta_is_same(cx, obj);
    }
    if (ret > 0 && dir && (obj->name || meta_is_root(cx, dir))) {
        *p = (LocalMetaPlace) { .dir = dir, .name = obj->name };
    } else {
        p->kept = obj->file ? obj->file->kept : dir->kept;
    }
    return MIN(ret, 0);
}

bool local_meta_hidden(const char *name, size_t len)
{
    return (len == strlen(LOCAL_META_DIR) &&
            !memcmp(name, LOCAL_META_DIR, len)) ||
           (len == strlen(LOCAL_META_ROOT) &&
            !memcmp(name, LOCAL_META_ROOT, len));
}

/* ---------------------------------------------------------------------- */
/* Text */

/* Earlier servers wrote large numbers as negative ones. */
static bool meta_number(const char *text, uint64_t max, uint64_t *value)
{
    int64_t negative;

    if (*text != '-') {
        return qemu_strtou64(text, NULL, 10, value) == 0 && *value <= max;
    }
    if (qemu_strtoi64(text, NULL, 10, &negative) < 0 ||
        negative < INT32_MIN) {
        return false;
    }
    *value = (uint32_t)negative;
    return true;
}

static void meta_parse_line(char *line, LocalCreds *creds)
{
    uint64_t value;

    g_strchomp(line);
    for (int n = 0; n < LOCAL_CREDS_N; n++) {
        if (g_str_has_prefix(line, meta_fields[n].key) &&
            meta_number(line + strlen(meta_fields[n].key),
                        meta_fields[n].max, &value)) {
            local_creds_put(creds, n, value);
        }
    }
}

/* @text has room for an end behind @size bytes; a line cut off is left out */
static void meta_parse(char *text, size_t size, LocalCreds *creds)
{
    char *end = text + size;
    char *newline;

    *end = '\0';
    for (char *line = text; line < end; line = newline + 1) {
        newline = memchr(line, '\n', end - line);
        if (!newline) {
            newline = end;
            if (size == META_MAX) {
                break;
            }
        }
        *newline = '\0';
        meta_parse_line(line, creds);
    }
}

static size_t meta_format(char *text, size_t room, const LocalCreds *creds)
{
    size_t len = 0;

    for (int n = 0; n < LOCAL_CREDS_N; n++) {
        if (local_creds_has(creds, n)) {
            len += snprintf(text + len, room - len, "%s%" PRIu64 "\n",
                            meta_fields[n].key, creds->value[n]);
        }
    }
    return len;
}

/* ---------------------------------------------------------------------- */
/* Opening */

/* Errors that say: there is something, but no metadata */
static int meta_no_file(int ret)
{
    return ret == -ELOOP || ret == -ENOTDIR || ret == -EISDIR ||
           ret == -ENXIO ? -ENOENT : ret;
}

int local_meta_dir(const V9fsHandle *dir, bool make)
{
    int fd = local_os_open_node(dir->fd, LOCAL_META_DIR, true);

    if (fd == -ENOENT && make) {
        if (mkdirat(dir->fd, LOCAL_META_DIR, 0700) < 0 && errno != EEXIST) {
            return -errno;
        }
        fd = local_os_open_node(dir->fd, LOCAL_META_DIR, true);
    }
    /* Something of this name stands in the way. */
    if (make && (fd == -ENOTDIR || fd == -ELOOP)) {
        return -EIO;
    }
    return meta_no_file(fd);
}

int local_meta_has_dir(const V9fsCtx *cx, const V9fsObject *obj,
                       const LocalAt *at)
{
    V9fsHandle dir = {
        .fd = at->fd,
        .nowait = obj->file ? obj->file->nowait : obj->dir->nowait,
    };
    int fd;

    if (at->name) {
        dir.fd = local_os_open_node(at->fd, at->name, true);
    }
    if (dir.fd < 0) {
        return dir.fd;
    }
    fd = cx->nowait ? local_nowait_open(cx, &dir, LOCAL_META_DIR, true)
                    : local_os_open_node(dir.fd, LOCAL_META_DIR, true);
    if (at->name) {
        close(dir.fd);
    }
    if (fd >= 0) {
        close(fd);
        return 1;
    }
    return fd == -EACCES || meta_no_file(fd) == -ENOENT ? 0 : fd;
}

void local_meta_remove_dir(const V9fsHandle *dir)
{
    unlinkat(dir->fd, LOCAL_META_DIR, AT_REMOVEDIR);
}

/* Without openat2() */
static int meta_open_slow(const V9fsHandle *dir, const char *name, int flags)
{
    int mdir = name ? local_meta_dir(dir, false) : dir->fd;
    int ret;

    if (mdir < 0) {
        return mdir;
    }
    ret = openat(mdir, name ?: LOCAL_META_ROOT, flags | O_NOFOLLOW |
                 O_CLOEXEC);
    ret = ret < 0 ? -errno : ret;
    if (mdir != dir->fd) {
        close(mdir);
    }
    return ret;
}

/* -ENOENT if there is no such file; what else there is is not waited for */
static int meta_open(const V9fsCtx *cx, const V9fsHandle *dir,
                     const char *name, int flags)
{
    char path[sizeof(LOCAL_META_DIR "/") + NAME_MAX] = LOCAL_META_ROOT;
    int ret;

    if (name && snprintf(path, sizeof(path), LOCAL_META_DIR "/%s", name) >=
        sizeof(path)) {
        return -ENAMETOOLONG;
    }
    flags |= O_NONBLOCK | O_NOCTTY;
    if (cx->nowait) {
        ret = local_nowait_open_file(cx, dir, path, flags);
    } else if (local_os_has(LOCAL_OS_OPENAT2)) {
        ret = local_os_open_beneath(dir->fd, path, flags);
    } else {
        ret = meta_open_slow(dir, name, flags);
    }
    return meta_no_file(ret);
}

/* ---------------------------------------------------------------------- */
/* Reading */

static bool meta_lock_to_read(const V9fsCtx *cx)
{
    if (cx->nowait) {
        return g_rw_lock_reader_trylock(&meta_lock);
    }
    g_rw_lock_reader_lock(&meta_lock);
    return true;
}

/* @nowait: LOCAL_NOWAIT_* of the file system */
static int meta_read(const V9fsCtx *cx, int fd, unsigned nowait,
                     LocalCreds *creds)
{
    char text[META_MAX + 1];
    struct iovec iov = { .iov_base = text, .iov_len = META_MAX };
    V9fsFile file = { .fd = fd, .nowait = nowait };
    ssize_t ret;

    if (!meta_lock_to_read(cx)) {
        return -EAGAIN;
    }
    if (cx->nowait) {
        ret = local_nowait_read(&file, &iov, 1, 0);
    } else {
        ret = pread(fd, text, META_MAX, 0);
        ret = ret < 0 ? -errno : ret;
    }
    g_rw_lock_reader_unlock(&meta_lock);
    if (ret < 0) {
        return ret == -EISDIR || ret == -ESPIPE || ret == -EINVAL ? 0 : ret;
    }
    meta_parse(text, ret, creds);
    return 0;
}

static int meta_get_kept(const V9fsCtx *cx, const V9fsObject *obj,
                         LocalKept *kept, LocalCreds *creds)
{
    int fd = local_kept_fd(kept);

    if (fd >= 0) {
        return meta_read(cx, fd, obj->file ? obj->file->nowait
                                           : obj->dir->nowait, creds);
    }
    local_kept_read(kept, creds);
    return 0;
}

int local_meta_get(const V9fsCtx *cx, const V9fsObject *obj,
                   LocalCreds *creds)
{
    LocalMetaPlace p;
    int fd;
    int ret = local_meta_find(cx, obj, &p);

    if (ret < 0) {
        return ret;
    }
    if (!p.dir) {
        return p.kept ? meta_get_kept(cx, obj, p.kept, creds) : 0;
    }
    fd = meta_open(cx, p.dir, p.name, O_RDONLY);
    if (fd < 0) {
        return fd == -ENOENT ? 0 : fd;
    }
    ret = meta_read(cx, fd, p.dir->nowait, creds);
    close(fd);
    return ret;
}

/* ---------------------------------------------------------------------- */
/* Writing */

/*
 * In one call.  What is left of an older, longer text becomes empty lines: to
 * cut it off is another call, before which the file would say both.
 */
static int meta_write(int fd, const char *old, size_t old_size,
                      const LocalCreds *creds)
{
    char text[META_MAX];
    size_t size;
    ssize_t ret;

    memset(text, '\n', sizeof(text));
    size = meta_format(text, sizeof(text), creds);
    text[size] = '\n';
    size = MAX(size, old_size);
    ret = RETRY_ON_EINTR(pwrite(fd, text, size, 0));
    if (ret == size) {
        return 0;
    }
    ret = ret < 0 ? -errno : -ENOSPC;
    if (pwrite(fd, old, old_size, 0) < 0 || ftruncate(fd, old_size) < 0) {
        return -EIO;
    }
    return ret;
}

/* With meta_lock held.  -ENOENT: that is no metadata file */
static int meta_change(int fd, const LocalCreds *more)
{
    LocalAt at = { .fd = fd, .opened = true };
    char old[META_MAX], text[META_MAX + 1];
    LocalCreds creds = { 0 };
    V9fsStat st;
    ssize_t size;
    int ret = local_os_stat(&at, LOCAL_STAT_MODE, &st);

    if (ret < 0) {
        return ret;
    }
    if (!S_ISREG(st.mode)) {
        return -ENOENT;
    }
    size = RETRY_ON_EINTR(pread(fd, old, sizeof(old), 0));
    if (size < 0) {
        return -errno;
    }
    memcpy(text, old, size);
    meta_parse(text, size, &creds);
    local_creds_merge(&creds, more);
    return meta_write(fd, old, size, &creds);
}

static int meta_make_in(int mdir, const char *name, const LocalCreds *creds,
                        bool replace)
{
    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(mdir, name, flags, 0600);
    int ret;

    if (fd < 0 && errno == EEXIST && replace) {
        if (unlinkat(mdir, name, 0) < 0 && errno != ENOENT) {
            return -errno;
        }
        fd = openat(mdir, name, flags, 0600);
    }
    if (fd < 0) {
        return -errno;
    }
    ret = meta_write(fd, "", 0, creds);
    if (ret < 0) {
        unlinkat(mdir, name, 0);
    }
    close(fd);
    return ret;
}

static int meta_make_once(const V9fsHandle *dir, const char *name,
                          const LocalCreds *creds, bool replace)
{
    int mdir, ret;

    if (!name) {
        return meta_make_in(dir->fd, LOCAL_META_ROOT, creds, replace);
    }
    mdir = local_meta_dir(dir, true);
    if (mdir < 0) {
        return mdir;
    }
    ret = meta_make_in(mdir, name, creds, replace);
    close(mdir);
    if (ret < 0) {
        local_meta_remove_dir(dir);
    }
    return ret;
}

int local_meta_make(const V9fsHandle *dir, const char *name,
                    const LocalCreds *creds, bool replace)
{
    int ret = -EIO;

    /* A removal of @dir that cannot succeed takes the directory away first. */
    for (int i = 0; i < META_TRIES; i++) {
        ret = meta_make_once(dir, name, creds, replace);
        if (ret != -ENOENT && (ret != -EEXIST || !replace)) {
            break;
        }
    }
    return ret;
}

static int meta_set_named(const V9fsCtx *cx, const LocalMetaPlace *p,
                          const LocalCreds *creds)
{
    int fd = meta_open(cx, p->dir, p->name, O_RDWR);
    int ret = fd;

    if (fd >= 0) {
        ret = meta_change(fd, creds);
        close(fd);
    }
    return ret == -ENOENT ? local_meta_make(p->dir, p->name, creds, true)
                          : ret;
}

static int meta_set_at(const V9fsCtx *cx, const LocalMetaPlace *p,
                       const LocalCreds *creds)
{
    if (p->dir) {
        return meta_set_named(cx, p, creds);
    }
    if (!p->kept) {
        return -ENOENT;
    }
    return local_kept_fd(p->kept) >= 0 ?
           meta_change(local_kept_fd(p->kept), creds) : 0;
}

int local_meta_set(const V9fsCtx *cx, const V9fsObject *obj,
                   const LocalCreds *creds)
{
    LocalMetaPlace p;
    int ret = local_meta_find(cx, obj, &p);

    if (ret < 0) {
        return ret;
    }
    if (!cx->nowait) {
        g_rw_lock_writer_lock(&meta_lock);
    } else if (!g_rw_lock_writer_trylock(&meta_lock)) {
        return -EAGAIN;
    }
    ret = meta_set_at(cx, &p, creds);
    g_rw_lock_writer_unlock(&meta_lock);
    if (ret == 0 && p.kept) {
        local_kept_merge(p.kept, creds);
    }
    return ret;
}

/* ---------------------------------------------------------------------- */
/* Keeping what may lose its name */

void local_meta_keep_file(V9fsFile *file, const V9fsStat *st)
{
    LocalCreds creds = { 0 };

    local_creds_put(&creds, LOCAL_CREDS_UID, st->uid);
    local_creds_put(&creds, LOCAL_CREDS_GID, st->gid);
    local_creds_put(&creds, LOCAL_CREDS_MODE, st->mode);
    file->kept = local_kept_get(st->dev, st->ino);
    local_kept_merge(file->kept, &creds);
}

int local_meta_keep(const V9fsCtx *cx, const V9fsHandle *dir,
                    const char *name, V9fsHandle *h)
{
    LocalCreds creds = { 0 };
    int fd = meta_open(cx, dir, name, O_RDWR);
    bool writable = fd >= 0;
    int ret = 0;

    if (fd == -EACCES || fd == -EPERM || fd == -EROFS) {
        fd = meta_open(cx, dir, name, O_RDONLY);
    }
    if (fd < 0 && fd != -ENOENT) {
        return fd;
    }
    if (fd >= 0) {
        ret = meta_read(cx, fd, dir->nowait, &creds);
    }
    if (ret == 0) {
        h->kept = local_kept_get(h->dev, h->ino);
        local_kept_merge(h->kept, &creds);
    }
    if (ret == 0 && writable) {
        local_kept_take_fd(h->kept, fd);
    } else if (fd >= 0) {
        close(fd);
    }
    return ret;
}

void local_meta_unkeep(void *kept)
{
    local_kept_put(kept);
}
