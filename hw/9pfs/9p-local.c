/*
 * Local driver: a directory of the host
 *
 * The table of operations, the start and end of an export, and the choice of
 * its security model.  Operations themselves live in 9p-local-*.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <sys/resource.h>
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "9p-local.h"

/* What sets an owner where that is the host's: with errors, and without */

static int passthrough_chown(const LocalAt *at, uint32_t uid, uint32_t gid)
{
    return local_os_chown(at, uid, gid);
}

/*
 * The guest is told that it worked, so what a change of owner would have done
 * to the setuid bits is done here.
 */
static int none_chown(const LocalAt *at, uint32_t uid, uint32_t gid)
{
    int ret = local_os_chown(at, uid, gid);
    V9fsStat st;

    if (ret != -EPERM && ret != -EINVAL && ret != -EOPNOTSUPP) {
        return ret;
    }
    ret = local_os_stat(at, LOCAL_STAT_MODE, &st);
    if (ret == 0 && local_suid_bits(st.mode)) {
        ret = local_os_chmod(at, st.mode & 07777 & ~local_suid_bits(st.mode));
    }
    return ret < 0 ? ret : 1;
}

#define LOCAL_PLAIN_MODEL \
    .hidden = local_plain_hidden, \
    .stat_fix = local_plain_stat_fix, \
    .setattr = local_plain_setattr, \
    .drop_suid = local_plain_drop_suid, \
    .readlink = local_plain_readlink, \
    .new_mode = local_plain_new_mode, \
    .make = local_plain_make, \
    .made = local_plain_made, \
    .link = local_plain_link, \
    .unlink = local_plain_unlink, \
    .rename = local_plain_rename, \
    .keep_file = local_plain_keep_file, \
    .keep = local_plain_keep

#define LOCAL_PLAIN_XATTRS \
    .xattr_host = local_plain_xattr_host, \
    .xattr_guest = local_plain_xattr_guest

static const LocalModel passthrough_model = {
    LOCAL_PLAIN_MODEL,
    LOCAL_PLAIN_XATTRS,
    .chown = passthrough_chown,
};

/* For a file system that a guest runs from */
static const LocalModel passthrough_all_model = {
    LOCAL_PLAIN_MODEL,
    .xattr_host = local_all_xattr_host,
    .xattr_guest = local_all_xattr_guest,
    .chown = passthrough_chown,
};

static const LocalModel none_model = {
    LOCAL_PLAIN_MODEL,
    LOCAL_PLAIN_XATTRS,
    .chown = none_chown,
};

static const LocalModel *const local_models[] = {
    [V9FS_MODEL_PASSTHROUGH] = &passthrough_model,
    [V9FS_MODEL_NONE] = &none_model,
    [V9FS_MODEL_MAPPED_XATTR] = &local_mapped_xattr_model,
    [V9FS_MODEL_MAPPED_FILE] = &local_mapped_file_model,
};

static const LocalModel *local_model(const V9fsExport *exp)
{
    return exp->all_xattrs ? &passthrough_all_model : local_models[exp->model];
}

static bool local_check(const V9fsExport *exp, Error **errp)
{
    ERRP_GUARD();

    if (!exp->path) {
        error_setg(errp, "fsdev '%s': path is missing", exp->id);
        error_append_hint(errp, "Set path= to the directory to share.\n");
        return false;
    }
    if (exp->model == V9FS_MODEL_UNSET) {
        error_setg(errp, "fsdev '%s': security_model is missing", exp->id);
        error_append_hint(errp, "Set security_model= to none, passthrough, "
                          "mapped-xattr or mapped-file.\n");
        return false;
    }
    return true;
}

/* Guests hold many files open, and 1024 descriptors are a usual limit. */
static void local_raise_nofile(void)
{
    static bool done;
    struct rlimit lim;

    if (done) {
        return;
    }
    done = true;
    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
        lim.rlim_cur = lim.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &lim) < 0) {
            warn_report("9pfs: cannot raise the limit of open files: %s",
                        strerror(errno));
        }
    }
}

static int local_open_root(const char *path, V9fsHandle *root)
{
    LocalAt at = { 0 };
    V9fsStat st;
    int flags = O_DIRECTORY | O_CLOEXEC;
    int ret;

    flags |= local_os_has(LOCAL_OS_NODE) ? O_PATH : O_RDONLY;
    at.fd = RETRY_ON_EINTR(open(path, flags));
    if (at.fd < 0) {
        return -errno;
    }
    ret = local_os_stat(&at, LOCAL_STAT_ID, &st);
    if (ret < 0) {
        close(at.fd);
        return ret;
    }
    root->fd = at.fd;
    root->dev = st.dev;
    root->ino = st.ino;
    root->nowait = local_nowait_of(at.fd);
    return 0;
}

static bool local_start(V9fsFs *fs, Error **errp)
{
    Local *local;
    int ret;

    local_os_start();
    ret = local_open_root(fs->exp->path, &fs->root);
    if (ret < 0) {
        error_setg_errno(errp, -ret, "fsdev '%s': cannot share directory '%s'",
                         fs->exp->id, fs->exp->path);
        local_os_stop();
        return false;
    }
    local_raise_nofile();
    local = g_new0(Local, 1);
    local->model = local_model(fs->exp);
    local->keeps_suid = local_os_keeps_suid();
    local->mounts = local_mounts_new(fs->exp->path, fs->root.fd);
    fs->opaque = local;
    fs->files_by_name = local->model->files_by_name;
    fs->suid_changes = 1;       /* not what a file begins with */
    fs->reopens = local_os_has(LOCAL_OS_NODE | LOCAL_OS_PROC);
    return true;
}

static void local_stop(V9fsFs *fs)
{
    Local *local = fs->opaque;

    close(fs->root.fd);
    fs->root.fd = -1;
    local_mounts_free(local->mounts);
    g_free(local);
    fs->opaque = NULL;
    local_os_stop();
}

const V9fsFsOps v9fs_local_ops = {
    .name = "local",
    .needs_path = true,
    .check = local_check,
    .start = local_start,
    .stop = local_stop,
    .open_handle = local_open_handle,
    .close_handle = local_close_handle,
    .is_gone = local_is_gone,
    .stat = local_stat,
    .setattr = local_setattr,
    .statfs = local_statfs,
    .readlink = local_readlink,
    .open = local_open,
    .create = local_create,
    .close = local_close,
    .preadv = local_preadv,
    .pwritev = local_pwritev,
    .fsync = local_fsync,
    .open_holder = local_open_holder,
    .lock = local_lock,
    .getlock = local_getlock,
    .readdir = local_readdir,
    .make = local_make,
    .link = local_link,
    .unlink = local_unlink,
    .rename = local_rename,
    .getxattr = local_getxattr,
    .listxattr = local_listxattr,
    .setxattr = local_setxattr,
    .removexattr = local_removexattr,
};
