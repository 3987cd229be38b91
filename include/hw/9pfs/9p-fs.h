/*
 * The file-system interface of the 9p server: what a driver is
 *
 * The server (hw/9pfs/9p*.c) stands on one side, the drivers (9p-local*.c,
 * 9p-synth.c) on the other.  A driver knows handles, names and open files; it
 * knows nothing of fids, nodes, messages or the guest.
 *
 * Unless its comment says otherwise an operation runs in a worker thread, may
 * block, is called for several objects at once, and returns 0 (or a count) or
 * a negative errno.  It keeps nothing of its arguments.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_9PFS_9P_FS_H
#define HW_9PFS_9P_FS_H

#include "qemu/queue.h"
#include "qemu/throttle-options.h"
#include "qemu/throttle.h"
#include "hw/9pfs/9p-wire.h"

typedef struct V9fsFs V9fsFs;
typedef struct V9fsFsOps V9fsFsOps;

typedef enum V9fsModel {
    V9FS_MODEL_UNSET,
    V9FS_MODEL_NONE,
    V9FS_MODEL_PASSTHROUGH,
    V9FS_MODEL_MAPPED_XATTR,
    V9FS_MODEL_MAPPED_FILE,
} V9fsModel;

typedef enum V9fsMultidevs {
    V9FS_MULTIDEVS_REMAP,       /* give files of all devices unique numbers */
    V9FS_MULTIDEVS_FORBID,      /* show only those of the root's device */
    V9FS_MULTIDEVS_WARN,        /* show all as they are, and warn once */
} V9fsMultidevs;

/* What the user asked for with -fsdev; owned by fsdev/qemu-fsdev.c */
typedef struct V9fsExport {
    char *id;
    const V9fsFsOps *ops;
    char *path;                 /* NULL where the driver has none */
    V9fsModel model;
    V9fsMultidevs multidevs;
    bool readonly;
    bool all_xattrs;            /* security.* and trusted.* as well */
    bool writeout_immediate;
    bool locks;                 /* keep the guest's on the host's files, too */
    uint32_t fmode, dmode;      /* host permissions in the mapped models */
    uint32_t max_xattr;         /* xattr fids at once; 0: no limit */
    uint32_t max_fids;          /* fids at once; 0: no limit */
    ThrottleConfig throttle;
    QTAILQ_ENTRY(V9fsExport) next;
} V9fsExport;

/*
 * A directory that names can be looked up in, or any object that must stay
 * reachable though its name is gone.  The server counts references in its own
 * thread; @fd and @opaque are the driver's.
 */
typedef struct V9fsHandle {
    union {
        int fd;
        void *opaque;
    };
    uint64_t dev, ino;          /* set by open_handle */
    unsigned nowait;            /* the driver's: what can be tried here */
    bool pinned;                /* of an object that may lose its name */
    void *kept;                 /* the driver's: what it keeps of that, then */
    /* The rest belongs to the server's thread. */
    unsigned refs;
    void *owner;                /* node that caches it */
    QTAILQ_ENTRY(V9fsHandle) lru;
} V9fsHandle;

/* An open file or directory.  The driver sets all of it in open and create. */
typedef struct V9fsFile {
    union {
        int fd;
        void *opaque;
    };
    bool is_dir;
    unsigned nowait;            /* the driver's: what can be tried with it */
    uint64_t dev, ino;          /* before any remapping; its entries', too, */
                                /* but for mount points */
    uint64_t pos;               /* directory: where the next read goes on */
    unsigned suid_seen;         /* the driver's: see V9fsFs.suid_changes */
    void *kept;                 /* the driver's */
} V9fsFile;

/**
 * v9fs_dir_handle: an open directory as a handle
 *
 * Drivers keep the same in both.  Good as long as the directory is open.
 */
static inline V9fsHandle v9fs_dir_handle(const V9fsFile *dir)
{
    return (V9fsHandle) {
        .opaque = dir->opaque, .dev = dir->dev, .nowait = dir->nowait,
    };
}

/*
 * An object to work on: the open file if @file is set; else @name in @dir,
 * never followed if it is a symbolic link; else, @name being NULL, what @dir
 * itself is a handle of.  Besides @file the others are set if the driver wants
 * that (V9fsFs.files_by_name) and the file is known to have them.
 */
typedef struct V9fsObject {
    const V9fsHandle *dir;
    const char *name;
    V9fsFile *file;
} V9fsObject;

typedef struct V9fsStat {
    uint64_t dev, ino;          /* before any remapping */
    uint32_t mode;              /* type and permissions */
    uint32_t uid, gid;
    uint64_t nlink, rdev;       /* rdev as Linux encodes it (makedev) */
    uint64_t size, blocks;      /* bytes; units of 512 bytes */
    uint32_t blksize;
    bool has_btime;
    struct timespec atime, mtime, ctime, btime;
} V9fsStat;

/* Changes that Tsetattr asks for; what @valid does not name stays. */
typedef struct V9fsSetattr {
    uint32_t valid;             /* P9_SETATTR_* */
    uint32_t mode;              /* permissions only */
    uint32_t uid, gid;
    uint64_t size;
    struct timespec times[2];   /* atime, mtime; UTIME_NOW, UTIME_OMIT */
} V9fsSetattr;

/* An object to be made */
typedef struct V9fsNew {
    const char *name;
    uint32_t mode;              /* type and permissions */
    uint32_t uid, gid;          /* of the guest */
    uint64_t rdev;              /* of device nodes */
    const char *target;         /* of symbolic links */
} V9fsNew;

typedef struct V9fsDirent {
    uint64_t dev, ino;
    uint64_t offset;            /* position behind it: the host's cookie */
    uint8_t type;               /* DT_* */
    const char *name;
    uint16_t namelen;
} V9fsDirent;

/* Takes an entry; false if it has no room for it, which ends the reading. */
typedef bool V9fsAddDirent(void *opaque, const V9fsDirent *ent);

/* How an operation is called */
typedef struct V9fsCtx {
    V9fsFs *fs;
    /*
     * Called in the server's thread: do nothing that could wait or take long,
     * and return -EAGAIN, with nothing changed, if that is not possible.
     */
    bool nowait;
    bool random;                /* for tests: refuse that now and then */
} V9fsCtx;

/*
 * Whether a driver is to refuse, at a point where it could, to go on without
 * waiting: results must not depend on it
 */
static inline bool v9fs_refuse(const V9fsCtx *cx)
{
    return cx->nowait && cx->random && g_random_boolean();
}

/* A lock on bytes of a file, or what is to be locked or unlocked */
typedef struct V9fsLock {
    uint8_t type;               /* P9_LOCK_TYPE_* */
    uint64_t start, end;        /* first and last byte; INT64_MAX: for ever */
} V9fsLock;

/* A driver */
struct V9fsFsOps {
    const char *name;           /* of fsdriver= */
    bool needs_path;            /* path= and security_model= are required */
    /* Refuses options that it has no use for, at set-up; main thread */
    bool (*check)(const V9fsExport *exp, Error **errp);

    /* Opens the export and its root handle; main thread */
    bool (*start)(V9fsFs *fs, Error **errp);
    /* Closes them; no operation is running; main thread */
    void (*stop)(V9fsFs *fs);

    /*
     * Handles.  @path has no leading or trailing "/", no "." and no ".."; all
     * but its last component must be directories (-ENOTDIR if one is a
     * symbolic link), and so must the last if @directory is set.
     * @out->pinned is set already.
     */
    int (*open_handle)(const V9fsCtx *cx, const V9fsHandle *dir,
                       const char *path, bool directory, V9fsHandle *out);
    void (*close_handle)(V9fsFs *fs, V9fsHandle *h);    /* any thread */
    /* Whether the directory has been removed since */
    bool (*is_gone)(const V9fsCtx *cx, const V9fsHandle *h);

    /* Attributes */
    int (*stat)(const V9fsCtx *cx, const V9fsObject *obj, V9fsStat *st);
    /* All that is asked or, where that can be known before, nothing */
    int (*setattr)(const V9fsCtx *cx, const V9fsObject *obj,
                   const V9fsSetattr *attr);
    int (*statfs)(const V9fsCtx *cx, const V9fsObject *obj, P9Rstatfs *st);
    /* Length of the target in @buf, terminated; -ENAMETOOLONG if too long */
    ssize_t (*readlink)(const V9fsCtx *cx, const V9fsObject *obj,
                        char *buf, size_t size);

    /*
     * Open files.  @flags are P9_DOTL_*.  Only regular files and directories
     * are opened; others give -ENXIO, symbolic links -ELOOP.
     */
    int (*open)(const V9fsCtx *cx, const V9fsObject *obj, uint32_t flags,
                V9fsFile *out, V9fsStat *st);
    /*
     * Makes and opens a regular file.  Without P9_DOTL_EXCL an existing one
     * is opened as it is.  On failure nothing new is left.
     */
    int (*create)(const V9fsCtx *cx, const V9fsHandle *dir,
                  const V9fsNew *new, uint32_t flags,
                  V9fsFile *out, V9fsStat *st);
    int (*close)(const V9fsCtx *cx, V9fsFile *file);
    ssize_t (*preadv)(const V9fsCtx *cx, V9fsFile *file,
                      const struct iovec *iov, int iovcnt, uint64_t offset);
    /*
     * Never 0 for a request of more than 0 bytes.  @obj has a file.  @append:
     * at the end of the file, wherever that is now.  -EINTR: to be tried again
     * by the caller.
     */
    ssize_t (*pwritev)(const V9fsCtx *cx, const V9fsObject *obj,
                       const struct iovec *iov, int iovcnt, uint64_t offset,
                       bool append);
    int (*fsync)(const V9fsCtx *cx, V9fsFile *file, bool datasync);
    /*
     * Locks against others that use the file, NULL if there are none.  What
     * the server's clients hold of a file together is held by one open file,
     * the holder, which is made from any other one of the same file and
     * closed as that.  lock never waits for others; 1: one of them holds it.
     * getlock looks for another one's lock that is in the way of @lock and
     * puts it in its place, or sets the type to P9_LOCK_TYPE_UNLCK; @pid: its
     * process, 0 if that is not known.  What @file holds itself is not in the
     * way.
     */
    int (*open_holder)(const V9fsCtx *cx, V9fsFile *file, V9fsFile *holder);
    int (*lock)(const V9fsCtx *cx, V9fsFile *holder, const V9fsLock *lock);
    int (*getlock)(const V9fsCtx *cx, V9fsFile *file, V9fsLock *lock,
                   uint32_t *pid);
    /*
     * Gives entries from position @offset on (0, or an entry's offset) to
     * @add until that refuses one or there are no more; called anew after
     * -EAGAIN it goes on behind what @add has taken.  @room: bytes of
     * reply that @add has, so that not much more is read than it takes.  The
     * caller sees to it that only one runs for an open directory at a time.
     */
    int (*readdir)(const V9fsCtx *cx, V9fsFile *dir, uint64_t offset,
                   size_t room, V9fsAddDirent *add, void *opaque);

    /* Names.  On failure nothing is changed. */
    int (*make)(const V9fsCtx *cx, const V9fsHandle *dir, const V9fsNew *new,
                V9fsStat *st);
    int (*link)(const V9fsCtx *cx, const V9fsObject *obj,
                const V9fsHandle *dir, const char *name);
    int (*unlink)(const V9fsCtx *cx, const V9fsHandle *dir, const char *name,
                  bool rmdir);
    int (*rename)(const V9fsCtx *cx, const V9fsHandle *olddir,
                  const char *oldname, const V9fsHandle *newdir,
                  const char *newname);

    /*
     * Extended attributes.  With @size 0 getxattr and listxattr tell the size
     * that is needed; -ERANGE if @size is too small.
     */
    ssize_t (*getxattr)(const V9fsCtx *cx, const V9fsObject *obj,
                        const char *name, void *value, size_t size);
    ssize_t (*listxattr)(const V9fsCtx *cx, const V9fsObject *obj,
                         char *list, size_t size);
    /* @flags: P9_XATTR_CREATE or _REPLACE */
    int (*setxattr)(const V9fsCtx *cx, const V9fsObject *obj,
                    const char *name, const void *value, size_t size,
                    int flags);
    int (*removexattr)(const V9fsCtx *cx, const V9fsObject *obj,
                       const char *name);
};

/* An export in use by a device */
struct V9fsFs {
    const V9fsFsOps *ops;
    const V9fsExport *exp;
    V9fsHandle root;            /* open as long as the export is */
    /* A file that is closed can be opened again, by a handle, too */
    bool reopens;
    void *opaque;               /* the driver's */
    /*
     * Set by start: the driver keeps something of open files by name.  It is
     * told the name in each V9fsObject, but in that of pwritev only if
     * @suid_changes and the file's @suid_seen differ.  The driver sees to it
     * that they do as long as there may be bits to be dropped.  qatomic_*
     */
    bool files_by_name;
    unsigned suid_changes;
    /* In use now: the server counts, drivers read it with qatomic_read */
    unsigned xattr_fids;
};

/* Drivers */
extern const V9fsFsOps v9fs_local_ops;
extern const V9fsFsOps v9fs_synth_ops;

#endif
