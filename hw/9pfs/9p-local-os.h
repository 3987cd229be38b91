/*
 * What the local driver asks of the host, and what hosts do differently
 *
 * Everything that only some kernels have is behind a function here, with
 * what is done instead where it is missing.  The rest of the driver calls
 * these and POSIX; nothing here knows security models or exports.
 *
 * Functions return 0 (or a count, or a descriptor) or a negative errno, and
 * may be called in any thread unless their comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_9PFS_9P_LOCAL_OS_H
#define HW_9PFS_9P_LOCAL_OS_H

#include "hw/9pfs/9p-fs.h"

/* What a host may lack */
enum {
    LOCAL_OS_NODE = 1 << 0,         /* O_PATH */
    LOCAL_OS_PROC = 1 << 1,         /* /proc/self/fd */
    LOCAL_OS_OPENAT2 = 1 << 2,
    LOCAL_OS_STATX = 1 << 3,
    LOCAL_OS_GETDENTS = 1 << 4,     /* getdents64 */
    LOCAL_OS_FCHMODAT2 = 1 << 5,
    LOCAL_OS_XATTRAT = 1 << 6,      /* getxattrat and its family */
    LOCAL_OS_APPEND = 1 << 7,       /* pwritev2 with RWF_APPEND */
};

/*
 * Where an object is.  @name NULL: it is what @fd was opened on, and @opened
 * tells whether that is a descriptor for reading or writing, or only a
 * handle.  Else @name in the directory @fd, not followed if it is a symbolic
 * link.
 */
typedef struct LocalAt {
    int fd;
    const char *name;
    bool opened;
} LocalAt;

/* Which attributes local_os_stat() must get; others may be left at 0. */
typedef enum LocalOsStat {
    LOCAL_STAT_ALL,
    LOCAL_STAT_ID,              /* dev, ino */
    LOCAL_STAT_MODE,            /* and those of ID */
    LOCAL_STAT_NLINK,           /* and those of ID */
} LocalOsStat;

/* As getdents64 gives it; @name is terminated and @reclen a multiple of 8 */
typedef struct LocalOsDirent {
    uint64_t ino;
    int64_t off;
    uint16_t reclen;
    uint8_t type;
    char name[];
} LocalOsDirent;

/**
 * local_os_start: find out what the host has
 *
 * Counts its calls; each needs a local_os_stop().  Main thread.
 */
void local_os_start(void);
void local_os_stop(void);

/**
 * local_os_disable: behave as if the host lacked something
 * @what: LOCAL_OS_* of what it shall lack from now on, besides what it does
 *
 * For tests; main thread, while no operation runs.  Holds for what
 * local_os_start() finds later, too.
 */
void local_os_disable(unsigned what);

/**
 * local_os_has: whether the host has all of @what (LOCAL_OS_*)
 */
bool local_os_has(unsigned what);

/**
 * local_os_keeps_suid: whether writing to a file leaves setuid and setgid
 * bits as they are because this process may do so
 */
bool local_os_keeps_suid(void);

/**
 * local_os_flags: host's open flags for those of a Tlopen or Tlcreate
 * @flags: P9_DOTL_*
 *
 * Those that make files, and those that mean something to the guest's kernel
 * only, are left out.
 */
int local_os_flags(uint32_t flags);

/**
 * local_os_open_node: a handle of a name, whatever it is; links not followed
 * @directory: -ENOTDIR if it is something else
 *
 * Without LOCAL_OS_NODE only of directories and regular files that may be
 * read; -EOPNOTSUPP for others.
 */
int local_os_open_node(int dirfd, const char *name, bool directory);

/**
 * local_os_open_beneath: open a path of several names
 * @path: less than PATH_MAX long
 * @flags: host's; with O_PATH it is the same as local_os_open_node()
 *
 * -ELOOP if a name is a symbolic link, except the last with O_PATH.  Needs
 * LOCAL_OS_OPENAT2.
 */
int local_os_open_beneath(int dirfd, const char *path, int flags);

/**
 * local_os_open_near: the same on one file system
 * @cached: only if the kernel has all of it in its caches
 *
 * -EAGAIN if it has not, -EXDEV if something else is mounted on the way.
 * Needs LOCAL_OS_OPENAT2.
 */
int local_os_open_near(int dirfd, const char *path, int flags, bool cached);

/**
 * local_os_open: open an object
 * @flags: host's; O_DIRECTORY must be among them if it is a directory
 *
 * Has the caller seen to it that it is a file or directory, a name may have
 * become another object's since.  What has no name here needs LOCAL_OS_PROC,
 * or to be a directory that may be searched; else -EOPNOTSUPP.
 */
int local_os_open(const LocalAt *at, int flags);

int local_os_stat(const LocalAt *at, LocalOsStat what, V9fsStat *st);
int local_os_statfs(int fd, P9Rstatfs *st);

/**
 * local_os_is_gone: whether a directory that a handle is of has been removed
 *
 * Hardly ever true of one that has not.
 */
bool local_os_is_gone(int fd);

/* @mode: permissions.  -EOPNOTSUPP for a symbolic link */
int local_os_chmod(const LocalAt *at, uint32_t mode);
/* UINT32_MAX leaves uid or gid. */
int local_os_chown(const LocalAt *at, uint32_t uid, uint32_t gid);
int local_os_utimens(const LocalAt *at, const struct timespec times[2]);

/**
 * local_os_link: give an object a name in a directory
 */
int local_os_link(const LocalAt *at, int dirfd, const char *name);

/**
 * local_os_getdents: read entries from where an open directory stands
 * @buf: for LocalOsDirents, aligned for them
 * @size: bytes there; at least 512
 *
 * Returns the bytes used, 0 at the end.
 */
ssize_t local_os_getdents(int fd, void *buf, size_t size);

/**
 * local_os_append: write at the end of a file, wherever that is
 *
 * Without LOCAL_OS_APPEND the file must allow to be opened for writing once
 * more, or data that others append at the same time may be lost.
 */
ssize_t local_os_append(int fd, const struct iovec *iov, int iovcnt);

/**
 * local_os_read_cached: read what the page cache has
 * local_os_write_cached: write what needs no waiting
 *
 * Both may do less than asked for.  -EAGAIN if they can do nothing;
 * -EOPNOTSUPP if the file system does not offer this.
 */
ssize_t local_os_read_cached(int fd, const struct iovec *iov, int iovcnt,
                             uint64_t offset);
ssize_t local_os_write_cached(int fd, const struct iovec *iov, int iovcnt,
                              uint64_t offset);

/**
 * local_os_lock: lock or unlock bytes, without waiting
 *
 * The lock is the open file description's, whose access must allow it
 * (-EBADF).  -EAGAIN if another one has it.  Hosts without such locks grant
 * everything.  9p-local-os-lock.c
 */
int local_os_lock(int fd, const V9fsLock *lock);

/**
 * local_os_getlock: find a lock of another description that is in the way
 * @lock: replaced by that, or its type by P9_LOCK_TYPE_UNLCK
 * @pid: its process, 0 if it has none
 */
int local_os_getlock(int fd, V9fsLock *lock, uint32_t *pid);

/**
 * local_os_fs_type: the number of the kind of file system (f_type), or 0
 */
uint32_t local_os_fs_type(int fd);

/**
 * local_os_writeout: begin to write a range of a file's cached data to disk
 * @size: bytes; 0: to the end
 */
void local_os_writeout(int fd, uint64_t offset, uint64_t size);

/* Extended attributes, with the host's own names and sizes */
ssize_t local_os_getxattr(const LocalAt *at, const char *name,
                          void *value, size_t size);
ssize_t local_os_listxattr(const LocalAt *at, char *list, size_t size);
int local_os_setxattr(const LocalAt *at, const char *name,
                      const void *value, size_t size, int flags);
int local_os_removexattr(const LocalAt *at, const char *name);

#endif
