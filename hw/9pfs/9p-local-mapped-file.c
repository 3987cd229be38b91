/*
 * Local driver: security model mapped-file
 *
 * The guest's owner, mode and device number of an object are kept in a file
 * beside it (9p-local-meta.h).  When names change these files go along, in
 * such an order that a change that fails is undone and one that is cut off by
 * a crash leaves an object without its metadata, never with another one's.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "9p-local-meta.h"

/* How often to empty a directory that others put names in */
#define FILE_PURGE_TRIES 8

/* ---------------------------------------------------------------------- */
/* Credentials */

static int file_get_creds(const V9fsCtx *cx, const V9fsObject *obj,
                          const LocalAt *at, const V9fsStat *host,
                          LocalCreds *creds)
{
    return local_meta_get(cx, obj, creds);
}

/* A directory's number of links tells how many directories are in it. */
static int file_stat_fix(const V9fsCtx *cx, const V9fsObject *obj,
                         const LocalAt *at, V9fsStat *st)
{
    int ret = local_mapped_stat_fix(cx, obj, at, st);

    if (ret == 0 && S_ISDIR(st->mode) && st->nlink > 2) {
        ret = local_meta_has_dir(cx, obj, at);
        st->nlink -= MAX(ret, 0);
    }
    return MIN(ret, 0);
}

/* Open files must be looked at again before they are written to. */
static void file_set_done(const V9fsCtx *cx, const LocalCreds *creds)
{
    if (local_creds_gives_suid(creds)) {
        qatomic_inc(&cx->fs->suid_changes);
    }
}

/*
 * Those who have the object otherwise learn of it; and its status has changed,
 * so the time of that should: set what is set, where that has no other effect
 * and is allowed.
 */
static void file_tell(const LocalAt *at, const LocalCreds *creds)
{
    V9fsStat st;

    if (local_os_stat(at, LOCAL_STAT_MODE, &st) < 0) {
        return;
    }
    local_kept_changed(st.dev, st.ino, creds);
    if (!S_ISLNK(st.mode) && !(st.mode & (S_ISUID | S_ISGID))) {
        local_os_chmod(at, st.mode & 07777);
    }
}

static int file_set_creds(const V9fsCtx *cx, const V9fsObject *obj,
                          const LocalAt *at, const LocalCreds *creds)
{
    int ret = local_meta_set(cx, obj, creds);

    if (ret == 0) {
        file_tell(at, creds);
        file_set_done(cx, creds);
    }
    return ret;
}

static int file_init_creds(const V9fsCtx *cx, const V9fsObject *obj,
                           const LocalAt *at, const LocalCreds *creds)
{
    int ret = local_meta_make(obj->dir, obj->name, creds, true);

    if (ret == 0) {
        file_set_done(cx, creds);
    }
    return ret;
}

static int file_drop_suid(const V9fsCtx *cx, const V9fsObject *obj, int fd)
{
    unsigned changes = qatomic_read(&cx->fs->suid_changes);
    LocalCreds creds = { 0 };
    int ret;

    if (obj->file && qatomic_read(&obj->file->suid_seen) == changes) {
        return 0;
    }
    ret = local_meta_get(cx, obj, &creds);
    if (ret == 0) {
        ret = local_creds_drop_suid(cx, obj, fd, &creds);
    }
    if (ret == 0 && obj->file) {
        qatomic_set(&obj->file->suid_seen, changes);
    }
    return ret;
}

/* ---------------------------------------------------------------------- */
/* Metadata files on their way */

/* One that has been given another name, in the directory where it may stay */
typedef struct FileMove {
    const V9fsHandle *newdir;
    int from, to;               /* directories of metadata; -1: there is none */
    const char *name;           /* in @from */
    char temp[48];              /* in @to; "": it is not there */
} FileMove;

/* A name of a file that no object has, but by a chance of 1 to 2^64 */
static void file_temp_name(FileMove *move)
{
    snprintf(move->temp, sizeof(move->temp), LOCAL_META_DIR ".%08x%08x",
             g_random_int(), g_random_int());
}

static void file_move_close(FileMove *move)
{
    if (move->to >= 0 && move->to != move->from) {
        close(move->to);
    }
    if (move->from >= 0) {
        close(move->from);
    }
}

static void file_move_undo(FileMove *move)
{
    if (*move->temp) {
        renameat(move->to, move->temp, move->from, move->name);
        local_meta_remove_dir(move->newdir);
    }
    file_move_close(move);
}

/* Takes the file of a name, if there is one, to another directory */
static int file_move_begin(FileMove *move, const V9fsHandle *olddir,
                           const char *name, const V9fsHandle *newdir)
{
    bool same = olddir == newdir;
    LocalAt at = { .name = name };
    V9fsStat st;
    int ret;

    *move = (FileMove) { .newdir = newdir, .name = name, .to = -1 };
    move->from = local_meta_dir(olddir, false);
    if (move->from < 0) {
        return move->from == -ENOENT ? 0 : move->from;
    }
    at.fd = move->from;
    ret = local_os_stat(&at, LOCAL_STAT_ID, &st);
    if (ret == 0) {
        move->to = same ? move->from : local_meta_dir(newdir, true);
        ret = MIN(move->to, 0);
        if (ret == 0) {
            file_temp_name(move);
            ret = renameat(move->from, name, move->to, move->temp);
            ret = ret < 0 ? -errno : 0;
        }
    } else if (ret == -ENOENT) {
        ret = 0;
    }
    if (ret < 0) {
        file_move_undo(move);
    }
    return ret;
}

/* Lets it have the name that its object has now */
static int file_move_settle(FileMove *move, const char *name)
{
    if (!*move->temp) {
        return 0;
    }
    if (renameat(move->to, move->temp, move->to, name) < 0) {
        return -errno;
    }
    *move->temp = '\0';
    return 0;
}

/* Removes it unless it has settled */
static void file_move_drop(FileMove *move)
{
    if (*move->temp) {
        unlinkat(move->to, move->temp, 0);
    }
    file_move_close(move);
}

/* ---------------------------------------------------------------------- */
/* Directories that are empty but for their metadata */

/* Called for each name but "." and ".."; 0 to go on */
typedef int FileEach(int dirfd, const char *name);

static int file_each_of(int fd, const char *buf, size_t size, FileEach *each)
{
    int ret = 0;

    for (size_t at = 0; ret == 0 && at < size;) {
        const LocalOsDirent *ent = (const void *)(buf + at);

        at += ent->reclen;
        if (!g_str_equal(ent->name, ".") && !g_str_equal(ent->name, "..")) {
            ret = each(fd, ent->name);
        }
    }
    return ret;
}

static int file_each(int fd, FileEach *each)
{
    char buf[4 * KiB] QEMU_ALIGNED(8);
    ssize_t n;
    int ret;

    do {
        n = local_os_getdents(fd, buf, sizeof(buf));
        ret = n > 0 ? file_each_of(fd, buf, n, each) : n;
    } while (n > 0 && ret == 0);
    return ret;
}

static int file_check_hidden(int fd, const char *name)
{
    return local_meta_hidden(name, strlen(name)) ? 0 : -ENOTEMPTY;
}

static int file_remove(int fd, const char *name)
{
    if (unlinkat(fd, name, 0) == 0 || errno == ENOENT) {
        return 0;
    }
    return errno == EISDIR ? -ENOTEMPTY : -errno;
}

/* Removes all that is in a directory of metadata, and itself */
static int file_remove_meta_dir(int dirfd)
{
    LocalAt at = { .fd = dirfd, .name = LOCAL_META_DIR };
    int fd = local_os_open(&at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int ret = -ENOTEMPTY;

    if (fd == -ENOTDIR || fd == -ELOOP) {
        return file_remove(dirfd, LOCAL_META_DIR);
    }
    if (fd < 0) {
        return fd == -ENOENT ? 0 : fd;
    }
    /* Some file systems skip names while others are removed, too. */
    for (int i = 0; ret == -ENOTEMPTY && i < FILE_PURGE_TRIES; i++) {
        lseek(fd, 0, SEEK_SET);
        ret = file_each(fd, file_remove);
        if (ret == 0 && unlinkat(dirfd, LOCAL_META_DIR, AT_REMOVEDIR) < 0) {
            ret = -errno;
        }
    }
    close(fd);
    return ret;
}

/*
 * Makes a directory empty that only has metadata in it: those of objects that
 * the host has removed
 */
static int file_purge(const V9fsCtx *cx, const V9fsHandle *dir,
                      const char *name)
{
    LocalAt at = { .fd = dir->fd, .name = name };
    int fd, ret;

    if (cx->nowait) {
        return -EAGAIN;
    }
    fd = local_os_open(&at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return fd;
    }
    ret = file_each(fd, file_check_hidden) ?:
          file_remove_meta_dir(fd) ?:
          file_remove(fd, LOCAL_META_ROOT);
    close(fd);
    return ret;
}

static bool file_not_empty(int ret)
{
    return ret == -ENOTEMPTY || ret == -EEXIST;
}

/* ---------------------------------------------------------------------- */
/* Names */

static int file_unlink_object(const V9fsCtx *cx, const V9fsHandle *dir,
                              const char *name, bool rmdir)
{
    int ret = local_plain_unlink(cx, dir, name, rmdir);

    if (rmdir && file_not_empty(ret)) {
        ret = file_purge(cx, dir, name) ?:
              local_plain_unlink(cx, dir, name, rmdir);
    }
    return ret;
}

static int file_unlink(const V9fsCtx *cx, const V9fsHandle *dir,
                       const char *name, bool rmdir)
{
    FileMove move;
    int ret = file_move_begin(&move, dir, name, dir);

    if (ret < 0) {
        return ret;
    }
    ret = file_unlink_object(cx, dir, name, rmdir);
    if (ret < 0) {
        file_move_undo(&move);
    } else {
        file_move_drop(&move);
    }
    return ret;
}

static int file_rename_object(const V9fsCtx *cx, const V9fsHandle *olddir,
                              const char *oldname, const V9fsHandle *newdir,
                              const char *newname)
{
    int ret = local_plain_rename(cx, olddir, oldname, newdir, newname);

    if (file_not_empty(ret)) {
        ret = file_purge(cx, newdir, newname) ?:
              local_plain_rename(cx, olddir, oldname, newdir, newname);
    }
    return ret;
}

/*
 * Two names of one object stay two names.  1: they are; 0: they are not;
 * @taken: whether there is something to be replaced
 */
static int file_same_object(const V9fsHandle *olddir, const char *oldname,
                            const V9fsHandle *newdir, const char *newname,
                            bool *taken)
{
    LocalAt old = { .fd = olddir->fd, .name = oldname };
    LocalAt new = { .fd = newdir->fd, .name = newname };
    V9fsStat a, b;
    int ret = local_os_stat(&old, LOCAL_STAT_ID, &a);

    if (ret < 0) {
        return ret;
    }
    ret = local_os_stat(&new, LOCAL_STAT_ID, &b);
    *taken = ret == 0;
    if (ret < 0) {
        return ret == -ENOENT ? 0 : ret;
    }
    return a.dev == b.dev && a.ino == b.ino;
}

/*
 * The object and then its metadata, which are on their way already: true if
 * the object has its new name
 */
static bool file_rename_moved(const V9fsCtx *cx, const V9fsHandle *olddir,
                              const char *oldname, const V9fsHandle *newdir,
                              const char *newname, FileMove *move,
                              bool taken, int *ret)
{
    *ret = file_rename_object(cx, olddir, oldname, newdir, newname);
    if (*ret < 0) {
        return false;
    }
    *ret = file_move_settle(move, newname);
    /* What has been replaced cannot be brought back. */
    return *ret == 0 || taken ||
           local_plain_rename(cx, newdir, newname, olddir, oldname) < 0;
}

static int file_rename(const V9fsCtx *cx, const V9fsHandle *olddir,
                       const char *oldname, const V9fsHandle *newdir,
                       const char *newname)
{
    FileMove move, replaced;
    bool taken;
    int ret = file_same_object(olddir, oldname, newdir, newname, &taken);

    if (ret != 0) {
        return MIN(ret, 0);
    }
    ret = file_move_begin(&move, olddir, oldname, newdir);
    if (ret < 0) {
        return ret;
    }
    ret = file_move_begin(&replaced, newdir, newname, newdir);
    if (ret < 0) {
        file_move_undo(&move);
        return ret;
    }
    if (file_rename_moved(cx, olddir, oldname, newdir, newname, &move, taken,
                          &ret)) {
        file_move_drop(&move);
        file_move_drop(&replaced);
    } else {
        file_move_undo(&move);
        file_move_undo(&replaced);
    }
    return ret;
}

/* ---------------------------------------------------------------------- */
/* Links: all names of an object share one metadata file */

/* Gives @name in @mdir the metadata file that is at a place */
static int file_link_meta(const LocalMetaPlace *p, int mdir, const char *name)
{
    LocalAt from = { .fd = -1, .name = p->name, .opened = p->kept };
    int ret;

    if (p->name) {
        from.fd = local_meta_dir(p->dir, false);
    } else if (p->kept) {
        from.fd = local_kept_fd(p->kept);
    }
    if (from.fd < 0) {
        return -ENOENT;
    }
    ret = local_os_link(&from, mdir, name);
    if (ret == -EEXIST) {
        unlinkat(mdir, name, 0);
        ret = local_os_link(&from, mdir, name);
    }
    if (p->name) {
        close(from.fd);
    }
    return ret;
}

/* The same, with a file of its own where they cannot share one */
static int file_link_creds(const V9fsCtx *cx, const V9fsObject *obj,
                           const LocalMetaPlace *p, const V9fsHandle *dir,
                           const char *name)
{
    LocalCreds creds = { 0 };
    int mdir = local_meta_dir(dir, true);
    int ret;

    if (mdir < 0) {
        return mdir;
    }
    ret = file_link_meta(p, mdir, name);
    close(mdir);
    if (ret == 0) {
        return 0;
    }
    return local_meta_get(cx, obj, &creds) ?:
           local_meta_make(dir, name, &creds, true);
}

static int file_link(const V9fsCtx *cx, const V9fsObject *obj,
                     const V9fsHandle *dir, const char *name)
{
    static const LocalCreds none;
    LocalAt at = { .fd = dir->fd, .name = name };
    LocalMetaPlace p;
    V9fsStat st;
    int ret = local_meta_find(cx, obj, &p) ?:
              local_plain_link(cx, obj, dir, name) ?:
              local_os_stat(&at, LOCAL_STAT_ID, &st);

    if (ret < 0) {
        return ret;
    }
    /* What has no metadata yet may get some later, and shares them then. */
    if (p.name) {
        ret = local_meta_make(p.dir, p.name, &none, false);
    }
    if (ret == 0 || ret == -EEXIST) {
        ret = file_link_creds(cx, obj, &p, dir, name);
    }
    if (ret < 0) {
        local_undo(dir, name, &st);
    }
    return ret;
}

const LocalModel local_mapped_file_model = {
    LOCAL_MAPPED_MODEL,
    .stat_fix = file_stat_fix,
    .hidden = local_meta_hidden,
    .files_by_name = true,
    .drop_suid = file_drop_suid,
    .link = file_link,
    .unlink = file_unlink,
    .rename = file_rename,
    .keep_file = local_meta_keep_file,
    .keep = local_meta_keep,
    .unkeep = local_meta_unkeep,
    .get_creds = file_get_creds,
    .set_creds = file_set_creds,
    .init_creds = file_init_creds,
};
