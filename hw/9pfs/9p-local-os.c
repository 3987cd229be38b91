/*
 * Local driver: what hosts do differently
 *
 * See 9p-local-os.h.  System calls that not every kernel or C library has
 * are made here and nowhere else.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <linux/capability.h>
#ifdef HAVE_OPENAT2_H
#include <linux/openat2.h>
#endif
#include "qemu/atomic.h"
#include "9p-local-os.h"

/* Newer than the oldest C libraries; the same number on all of QEMU's hosts */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_getxattrat 464
#define SYS_listxattrat 465
#define SYS_removexattrat 466
#endif

/* Bit of the capability sets */
#ifndef CAP_FSETID
#define CAP_FSETID 4
#endif

/* A build can leave fast ways out, too: -DLOCAL_OS_DISABLED=... */
#ifndef LOCAL_OS_DISABLED
#define LOCAL_OS_DISABLED 0
#endif

static unsigned os_disabled = LOCAL_OS_DISABLED;
static unsigned os_missing = ~0u;
static unsigned os_users;
static int os_proc = -1;

bool local_os_has(unsigned what)
{
    return !(qatomic_read(&os_missing) & what);
}

void local_os_disable(unsigned what)
{
    os_disabled |= what;
    qatomic_or(&os_missing, what);
}

/* A handle of /proc/self/fd, or -1 */
static int os_proc_fd(void)
{
    return local_os_has(LOCAL_OS_PROC) ? os_proc : -1;
}

/* A descriptor as a name in /proc/self/fd */
typedef struct OsFdName {
    char text[16];
} OsFdName;

static OsFdName os_fd_name(int fd)
{
    OsFdName n;

    snprintf(n.text, sizeof(n.text), "%d", fd);
    return n;
}

static int os_result(int ret)
{
    return ret < 0 ? -errno : ret;
}

/* What @at is as the arguments of an *at() call */
static const char *os_name(const LocalAt *at)
{
    return at->name ?: "";
}

static int os_at_flags(const LocalAt *at)
{
    return at->name ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;
}

/* Whether the calls that take descriptors take @at's, too */
static bool os_is_opened(const LocalAt *at)
{
    return at->opened || (!at->name && !local_os_has(LOCAL_OS_NODE));
}

/* ---------------------------------------------------------------------- */
/* Which of the calls there are */

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20     /* Linux 5.12 */
#endif

static int os_openat2(int dirfd, const char *path, int flags, int resolve)
{
#if defined(HAVE_OPENAT2_H) && defined(SYS_openat2)
    struct open_how how = {
        .flags = flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                   RESOLVE_NO_MAGICLINKS | resolve,
    };

    return syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
#else
    errno = ENOSYS;
    return -1;
#endif
}

static int os_fchmodat2(int dirfd, const char *name, mode_t mode, int flags)
{
    return syscall(SYS_fchmodat2, dirfd, name, mode, flags);
}

/* The C libraries have no functions for these yet. */
typedef struct OsXattrArgs {
    uint64_t value;
    uint32_t size;
    uint32_t flags;
} OsXattrArgs;

static ssize_t os_getxattrat(int dirfd, const char *path, int at_flags,
                             const char *name, void *value, size_t size)
{
    OsXattrArgs args = { .value = (uintptr_t)value, .size = size };

    return syscall(SYS_getxattrat, dirfd, path, at_flags, name, &args,
                   sizeof(args));
}

#ifdef STATX_BASIC_STATS
static int os_statx(int dirfd, const char *name, int flags, unsigned mask,
                    struct statx *stx)
{
    return statx(dirfd, name, flags | AT_STATX_SYNC_AS_STAT, mask, stx);
}
#endif

/*
 * A call that exists finds the descriptor wrong.  Kernels without it say
 * ENOSYS, but a container's seccomp filter may say something else.
 */
static unsigned os_unless_ebadf(int ret, unsigned what)
{
    return ret < 0 && errno == EBADF ? 0 : what;
}

static unsigned os_probe(void)
{
    unsigned missing = 0;
    uint64_t word;
#ifdef STATX_BASIC_STATS
    struct statx stx;

    missing |= os_unless_ebadf(os_statx(-1, "x", 0, STATX_INO, &stx),
                               LOCAL_OS_STATX);
#else
    missing |= LOCAL_OS_STATX;
#endif
    missing |= os_unless_ebadf(os_openat2(-1, "x", O_RDONLY, 0),
                               LOCAL_OS_OPENAT2);
    missing |= os_unless_ebadf(os_fchmodat2(-1, "x", 0, 0),
                               LOCAL_OS_FCHMODAT2);
    missing |= os_unless_ebadf(syscall(SYS_getdents64, -1, &word,
                                       sizeof(word)), LOCAL_OS_GETDENTS);
    missing |= os_unless_ebadf(os_getxattrat(-1, "x", 0, "user.x", NULL, 0),
                               LOCAL_OS_XATTRAT);
#ifndef RWF_APPEND
    missing |= LOCAL_OS_APPEND;
#endif
    return missing;
}

void local_os_start(void)
{
    unsigned missing;

    if (os_users++) {
        return;
    }
    missing = os_probe();
    os_proc = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (os_proc < 0) {
        missing |= LOCAL_OS_PROC;
    }
    qatomic_set(&os_missing, missing | os_disabled);
}

void local_os_stop(void)
{
    assert(os_users > 0);
    if (--os_users == 0 && os_proc >= 0) {
        close(os_proc);
        os_proc = -1;
    }
}

bool local_os_keeps_suid(void)
{
    struct __user_cap_header_struct head = {
        .version = _LINUX_CAPABILITY_VERSION_3,
    };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

    if (syscall(SYS_capget, &head, data) < 0) {
        return geteuid() == 0;
    }
    return data[0].effective & (1u << CAP_FSETID);
}

/* ---------------------------------------------------------------------- */
/* Opening */

int local_os_flags(uint32_t flags)
{
    static const int access[] = { O_RDONLY, O_WRONLY, O_RDWR, O_ACCMODE };
    static const struct {
        uint32_t p9;
        int host;
    } map[] = {
        { P9_DOTL_TRUNC, O_TRUNC },
        { P9_DOTL_DSYNC, O_DSYNC },
        { P9_DOTL_SYNC, O_SYNC },
        { P9_DOTL_NOATIME, O_NOATIME },
    };
    int host = access[flags & P9_DOTL_NOACCESS] | O_CLOEXEC | O_NOCTTY;
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(map); i++) {
        if (flags & map[i].p9) {
            host |= map[i].host;
        }
    }
    return host;
}

/* Without O_PATH: look first, so that no device is opened but in a race */
static int os_open_readable(int dirfd, const char *name, int flags)
{
    struct stat st;

    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        return -errno;
    }
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        return flags & O_DIRECTORY ? -ENOTDIR : -EOPNOTSUPP;
    }
    return os_result(openat(dirfd, name, flags | O_RDONLY | O_NONBLOCK |
                            O_NOCTTY));
}

int local_os_open_node(int dirfd, const char *name, bool directory)
{
    int flags = O_NOFOLLOW | O_CLOEXEC | (directory ? O_DIRECTORY : 0);

    if (!local_os_has(LOCAL_OS_NODE)) {
        return os_open_readable(dirfd, name, flags);
    }
    return os_result(openat(dirfd, name, flags | O_PATH));
}

int local_os_open_beneath(int dirfd, const char *path, int flags)
{
    return os_result(os_openat2(dirfd, path, flags | O_NOFOLLOW | O_CLOEXEC,
                                0));
}

int local_os_open_near(int dirfd, const char *path, int flags, bool cached)
{
#ifdef RESOLVE_NO_XDEV
    return os_result(os_openat2(dirfd, path, flags | O_NOFOLLOW | O_CLOEXEC,
                                RESOLVE_NO_XDEV |
                                (cached ? RESOLVE_CACHED : 0)));
#else
    return -EAGAIN;
#endif
}

int local_os_open(const LocalAt *at, int flags)
{
    int proc = os_proc_fd();

    if (at->name) {
        return os_result(RETRY_ON_EINTR(openat(at->fd, at->name, flags |
                                               O_NOFOLLOW | O_NONBLOCK)));
    }
    if (proc >= 0) {
        return os_result(RETRY_ON_EINTR(openat(proc, os_fd_name(at->fd).text,
                                               flags)));
    }
    if (flags & O_DIRECTORY) {
        return os_result(RETRY_ON_EINTR(openat(at->fd, ".", flags)));
    }
    return -EOPNOTSUPP;
}

/* ---------------------------------------------------------------------- */
/* Attributes */

QEMU_BUILD_BUG_ON(sizeof(((struct statfs *)NULL)->f_fsid) != 8);

#ifdef STATX_BASIC_STATS
static struct timespec os_time(const struct statx_timestamp *ts)
{
    return (struct timespec) { .tv_sec = ts->tv_sec, .tv_nsec = ts->tv_nsec };
}

static void os_stat_from_statx(V9fsStat *st, const struct statx *stx)
{
    *st = (V9fsStat) {
        .dev = makedev(stx->stx_dev_major, stx->stx_dev_minor),
        .ino = stx->stx_ino,
        .mode = stx->stx_mode,
        .uid = stx->stx_uid,
        .gid = stx->stx_gid,
        .nlink = stx->stx_nlink,
        .rdev = makedev(stx->stx_rdev_major, stx->stx_rdev_minor),
        .size = stx->stx_size,
        .blocks = stx->stx_blocks,
        .blksize = stx->stx_blksize,
        .has_btime = stx->stx_mask & STATX_BTIME,
        .atime = os_time(&stx->stx_atime),
        .mtime = os_time(&stx->stx_mtime),
        .ctime = os_time(&stx->stx_ctime),
        .btime = os_time(&stx->stx_btime),
    };
}

static int os_stat_fast(const LocalAt *at, LocalOsStat what, V9fsStat *st)
{
    static const unsigned masks[] = {
        [LOCAL_STAT_ALL] = STATX_BASIC_STATS | STATX_BTIME,
        [LOCAL_STAT_ID] = STATX_INO,
        [LOCAL_STAT_MODE] = STATX_INO | STATX_TYPE | STATX_MODE,
        [LOCAL_STAT_NLINK] = STATX_INO | STATX_NLINK,
    };
    struct statx stx;

    if (os_statx(at->fd, os_name(at), os_at_flags(at), masks[what],
                 &stx) < 0) {
        return -errno;
    }
    os_stat_from_statx(st, &stx);
    return 0;
}
#else
static int os_stat_fast(const LocalAt *at, LocalOsStat what, V9fsStat *st)
{
    g_assert_not_reached();
}
#endif

static void os_stat_from_stat(V9fsStat *st, const struct stat *host)
{
    *st = (V9fsStat) {
        .dev = host->st_dev,
        .ino = host->st_ino,
        .mode = host->st_mode,
        .uid = host->st_uid,
        .gid = host->st_gid,
        .nlink = host->st_nlink,
        .rdev = host->st_rdev,
        .size = host->st_size,
        .blocks = host->st_blocks,
        .blksize = host->st_blksize,
        .atime = host->st_atim,
        .mtime = host->st_mtim,
        .ctime = host->st_ctim,
    };
}

int local_os_stat(const LocalAt *at, LocalOsStat what, V9fsStat *st)
{
    struct stat host;
    int ret;

    if (local_os_has(LOCAL_OS_STATX)) {
        return os_stat_fast(at, what, st);
    }
    if (at->name) {
        ret = fstatat(at->fd, at->name, &host, AT_SYMLINK_NOFOLLOW);
    } else {
        ret = fstat(at->fd, &host);
    }
    if (ret < 0) {
        return -errno;
    }
    os_stat_from_stat(st, &host);
    return 0;
}

int local_os_statfs(int fd, P9Rstatfs *st)
{
    struct statfs host;
    uint32_t id[2];

    if (RETRY_ON_EINTR(fstatfs(fd, &host)) < 0) {
        return -errno;
    }
    memcpy(id, &host.f_fsid, sizeof(id));
    *st = (P9Rstatfs) {
        .type = 0x01021997,             /* what Linux calls V9FS_MAGIC */
        /* The unit of the counts; 9P has no field for the other one */
        .bsize = host.f_frsize ?: host.f_bsize,
        .blocks = host.f_blocks,
        .bfree = host.f_bfree,
        .bavail = host.f_bavail,
        .files = host.f_files,
        .ffree = host.f_ffree,
        .fsid = id[0] | (uint64_t)id[1] << 32,
        .namelen = host.f_namelen,
    };
    return 0;
}

bool local_os_is_gone(int fd)
{
    LocalAt at = { .fd = fd };
    char name[PATH_MAX];
    V9fsStat st;
    ssize_t len;

    if (local_os_stat(&at, LOCAL_STAT_NLINK, &st) < 0 || st.nlink > 1) {
        return false;
    }
    if (st.nlink == 0 || os_proc_fd() < 0) {
        return st.nlink == 0;
    }
    /* Where directories have 1 link always, overlayfs leaves it at that. */
    len = readlinkat(os_proc_fd(), os_fd_name(fd).text, name,
                     sizeof(name) - 1);
    if (len < 0) {
        return false;
    }
    name[len] = '\0';
    return g_str_has_suffix(name, " (deleted)");
}

int local_os_chmod(const LocalAt *at, uint32_t mode)
{
    V9fsStat st;
    int ret;

    if (os_is_opened(at)) {
        return os_result(fchmod(at->fd, mode));
    }
    if (local_os_has(LOCAL_OS_FCHMODAT2)) {
        return os_result(os_fchmodat2(at->fd, os_name(at), mode,
                                      os_at_flags(at)));
    }
    if (at->name) {
        return os_result(fchmodat(at->fd, at->name, mode,
                                  AT_SYMLINK_NOFOLLOW));
    }
    /* Kernels before 6.6 change symbolic links on some file systems. */
    ret = local_os_stat(at, LOCAL_STAT_MODE, &st);
    if (ret < 0) {
        return ret;
    }
    if (S_ISLNK(st.mode) || os_proc_fd() < 0) {
        return -EOPNOTSUPP;
    }
    return os_result(fchmodat(os_proc_fd(), os_fd_name(at->fd).text, mode,
                              0));
}

int local_os_chown(const LocalAt *at, uint32_t uid, uint32_t gid)
{
    return os_result(fchownat(at->fd, os_name(at), uid, gid,
                              os_at_flags(at)));
}

int local_os_utimens(const LocalAt *at, const struct timespec times[2])
{
    if (os_is_opened(at)) {
        return os_result(futimens(at->fd, times));
    }
    if (at->name || os_proc_fd() < 0) {
        return os_result(utimensat(at->fd, os_name(at), times,
                                   os_at_flags(at)));
    }
    /* AT_EMPTY_PATH came only with Linux 5.8. */
    return os_result(utimensat(os_proc_fd(), os_fd_name(at->fd).text,
                               times, 0));
}

int local_os_link(const LocalAt *at, int dirfd, const char *name)
{
    if (at->name) {
        return os_result(linkat(at->fd, at->name, dirfd, name, 0));
    }
    if (os_proc_fd() < 0) {
        return os_result(linkat(at->fd, "", dirfd, name, AT_EMPTY_PATH));
    }
    /* The way for which no capability is needed */
    return os_result(linkat(os_proc_fd(), os_fd_name(at->fd).text,
                            dirfd, name, AT_SYMLINK_FOLLOW));
}

/* ---------------------------------------------------------------------- */
/* Directories and files */

static LocalOsDirent *os_put_dirent(const struct dirent *ent, off_t off,
                                    void *buf, size_t room)
{
    size_t namelen = strlen(ent->d_name);
    size_t reclen = ROUND_UP(offsetof(LocalOsDirent, name) + namelen + 1, 8);
    LocalOsDirent *out = buf;

    if (reclen > room) {
        return NULL;
    }
    *out = (LocalOsDirent) {
        .ino = ent->d_ino,
        .off = off,
        .reclen = reclen,
        .type = ent->d_type,
    };
    memcpy(out->name, ent->d_name, namelen + 1);
    return out;
}

/* The same by way of the C library, which reads ahead of what it gives */
static ssize_t os_getdents_slow(int fd, char *buf, size_t size)
{
    off_t pos = lseek(fd, 0, SEEK_CUR);
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *ent;
    LocalOsDirent *out;
    size_t used = 0;
    int ret = dir && pos >= 0 ? 0 : -errno;

    while (ret == 0) {
        errno = 0;
        ent = readdir(dir);
        if (!ent) {
            ret = -errno;
            break;
        }
        out = os_put_dirent(ent, telldir(dir), buf + used, size - used);
        if (!out) {
            break;
        }
        used += out->reclen;
        pos = out->off;
    }
    if (dir) {
        closedir(dir);
    } else if (copy >= 0) {
        close(copy);
    }
    if (used > 0) {
        ret = lseek(fd, pos, SEEK_SET) < 0 ? -errno : 0;
    }
    return ret < 0 ? ret : used;
}

ssize_t local_os_getdents(int fd, void *buf, size_t size)
{
    ssize_t ret;

    if (!local_os_has(LOCAL_OS_GETDENTS)) {
        return os_getdents_slow(fd, buf, size);
    }
    ret = syscall(SYS_getdents64, fd, buf, size);
    return ret < 0 ? -errno : ret;
}

/* The same through another descriptor, since this one may write elsewhere */
static ssize_t os_append_slow(int fd, const struct iovec *iov, int iovcnt)
{
    LocalAt at = { .fd = fd, .opened = true };
    int end = local_os_open(&at, O_WRONLY | O_APPEND | O_CLOEXEC);
    V9fsStat st;
    ssize_t ret;

    if (end >= 0) {
        ret = RETRY_ON_EINTR(writev(end, iov, iovcnt));
        ret = ret < 0 ? -errno : ret;
        close(end);
        return ret;
    }
    /* Refused; then others that append at the same time may be overwritten. */
    ret = local_os_stat(&at, LOCAL_STAT_ALL, &st);
    if (ret < 0) {
        return ret;
    }
    ret = RETRY_ON_EINTR(pwritev(fd, iov, iovcnt, st.size));
    return ret < 0 ? -errno : ret;
}

ssize_t local_os_append(int fd, const struct iovec *iov, int iovcnt)
{
#ifdef RWF_APPEND
    ssize_t ret;

    if (local_os_has(LOCAL_OS_APPEND)) {
        ret = RETRY_ON_EINTR(pwritev2(fd, iov, iovcnt, 0, RWF_APPEND));
        if (ret >= 0 || errno != EOPNOTSUPP) {
            return ret < 0 ? -errno : ret;
        }
        qatomic_or(&os_missing, LOCAL_OS_APPEND);
    }
#endif
    return os_append_slow(fd, iov, iovcnt);
}

ssize_t local_os_read_cached(int fd, const struct iovec *iov, int iovcnt,
                             uint64_t offset)
{
#ifdef RWF_NOWAIT
    ssize_t ret = preadv2(fd, iov, iovcnt, offset, RWF_NOWAIT);

    return ret < 0 ? -errno : ret;
#else
    return -EOPNOTSUPP;
#endif
}

ssize_t local_os_write_cached(int fd, const struct iovec *iov, int iovcnt,
                              uint64_t offset)
{
#ifdef RWF_NOWAIT
    ssize_t ret = pwritev2(fd, iov, iovcnt, offset, RWF_NOWAIT);

    return ret < 0 ? -errno : ret;
#else
    return -EOPNOTSUPP;
#endif
}

uint32_t local_os_fs_type(int fd)
{
    struct statfs host;

    return fstatfs(fd, &host) < 0 ? 0 : host.f_type;
}

void local_os_writeout(int fd, uint64_t offset, uint64_t size)
{
#ifdef CONFIG_SYNC_FILE_RANGE
    /* Only begun: errors come with the next fsync. */
    sync_file_range(fd, offset, size,
                    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
#else
    qemu_fdatasync(fd);
#endif
}

/* ---------------------------------------------------------------------- */
/* Extended attributes */

/* An object that is not open, as the path of a call of the l*xattr family */
typedef struct OsXattrPath {
    int dirfd;                  /* with XATTRAT: where @path begins */
    int at_flags;               /* with XATTRAT */
    bool follow;                /* else: @path is a link to the object */
    char path[sizeof("/proc/self/fd//") + 16 + NAME_MAX];
} OsXattrPath;

/*
 * The calls take no handles.  What a handle is of is behind its name in
 * /proc/self/fd, and following that leads to the object itself, be it a
 * symbolic link.
 */
static int os_xattr_path(const LocalAt *at, OsXattrPath *p)
{
    bool fast = local_os_has(LOCAL_OS_XATTRAT);
    int len;

    if (os_proc_fd() < 0 && !(at->name && fast)) {
        return -EOPNOTSUPP;
    }
    p->dirfd = at->name ? at->fd : os_proc_fd();
    p->follow = !at->name;
    p->at_flags = at->name ? AT_SYMLINK_NOFOLLOW : 0;
    if (!at->name) {
        len = snprintf(p->path, sizeof(p->path), "%s%d",
                       fast ? "" : "/proc/self/fd/", at->fd);
    } else if (fast) {
        len = snprintf(p->path, sizeof(p->path), "%s", at->name);
    } else {
        len = snprintf(p->path, sizeof(p->path), "/proc/self/fd/%d/%s",
                       at->fd, at->name);
    }
    return len < sizeof(p->path) ? 0 : -ENAMETOOLONG;
}

ssize_t local_os_getxattr(const LocalAt *at, const char *name,
                          void *value, size_t size)
{
    OsXattrPath p;
    ssize_t ret;

    if (os_is_opened(at)) {
        ret = fgetxattr(at->fd, name, value, size);
        return ret < 0 ? -errno : ret;
    }
    ret = os_xattr_path(at, &p);
    if (ret < 0) {
        return ret;
    }
    if (local_os_has(LOCAL_OS_XATTRAT)) {
        ret = os_getxattrat(p.dirfd, p.path, p.at_flags, name, value, size);
    } else {
        ret = (p.follow ? getxattr : lgetxattr)(p.path, name, value, size);
    }
    return ret < 0 ? -errno : ret;
}

ssize_t local_os_listxattr(const LocalAt *at, char *list, size_t size)
{
    OsXattrPath p;
    ssize_t ret;

    if (os_is_opened(at)) {
        ret = flistxattr(at->fd, list, size);
        return ret < 0 ? -errno : ret;
    }
    ret = os_xattr_path(at, &p);
    if (ret < 0) {
        return ret;
    }
    if (local_os_has(LOCAL_OS_XATTRAT)) {
        ret = syscall(SYS_listxattrat, p.dirfd, p.path, p.at_flags, list,
                      size);
    } else {
        ret = (p.follow ? listxattr : llistxattr)(p.path, list, size);
    }
    return ret < 0 ? -errno : ret;
}

int local_os_setxattr(const LocalAt *at, const char *name,
                      const void *value, size_t size, int flags)
{
    OsXattrArgs args = {
        .value = (uintptr_t)value, .size = size, .flags = flags,
    };
    OsXattrPath p;
    int ret;

    if (os_is_opened(at)) {
        return os_result(fsetxattr(at->fd, name, value, size, flags));
    }
    ret = os_xattr_path(at, &p);
    if (ret < 0) {
        return ret;
    }
    if (local_os_has(LOCAL_OS_XATTRAT)) {
        return os_result(syscall(SYS_setxattrat, p.dirfd, p.path, p.at_flags,
                                 name, &args, sizeof(args)));
    }
    return os_result((p.follow ? setxattr : lsetxattr)(p.path, name, value,
                                                       size, flags));
}

int local_os_removexattr(const LocalAt *at, const char *name)
{
    OsXattrPath p;
    int ret;

    if (os_is_opened(at)) {
        return os_result(fremovexattr(at->fd, name));
    }
    ret = os_xattr_path(at, &p);
    if (ret < 0) {
        return ret;
    }
    if (local_os_has(LOCAL_OS_XATTRAT)) {
        return os_result(syscall(SYS_removexattrat, p.dirfd, p.path,
                                 p.at_flags, name));
    }
    return os_result((p.follow ? removexattr : lremovexattr)(p.path, name));
}
