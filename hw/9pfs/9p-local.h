/*
 * The local driver: what its files share
 *
 * The driver shows a directory of the host.  The files 9p-local-*.c implement
 * its operations for everything that does not depend on the security model;
 * what does is a LocalModel, chosen when the export is started.  A model's own
 * code lives in its own file.  Host specifics live in 9p-local-os.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_9PFS_9P_LOCAL_H
#define HW_9PFS_9P_LOCAL_H

#include "qemu/units.h"
#include "hw/9pfs/9p-fs.h"
#include "9p-local-os.h"

/* Longest name of an extended attribute, with its end; bytes */
#define LOCAL_XATTR_NAME_SIZE 256

/* What the guest has set where the host is not told: 9p-local-mapped.h */
typedef struct LocalCreds LocalCreds;

/*
 * A security model: whose the objects are, and what of that the host is told.
 * Called with the rules of V9fsFsOps.  Names have been found not to be
 * hidden.  Where there is an @at besides @obj, that is the way to the object
 * for calls of the host; it may be a handle of what has a name in @obj.
 */
typedef struct LocalModel {
    /* Whether a name is the model's own, which the guest does not see */
    bool (*hidden)(const char *name, size_t len);
    /* Whether what is a regular file for the host may be something else */
    bool hides_types;
    bool files_by_name;         /* V9fsFs.files_by_name */

    /* Turns what the host said of an object into what the guest sees */
    int (*stat_fix)(const V9fsCtx *cx, const V9fsObject *obj,
                    const LocalAt *at, V9fsStat *st);
    int (*setattr)(const V9fsCtx *cx, const V9fsObject *obj,
                   const LocalAt *at, const V9fsSetattr *attr);
    /*
     * Sets a host object's owner; UINT32_MAX leaves uid or gid.  1: it has
     * stayed as it was, which is not to be reported
     */
    int (*chown)(const LocalAt *at, uint32_t uid, uint32_t gid);
    /* Before data of a file is changed: setuid and setgid bits go */
    int (*drop_suid)(const V9fsCtx *cx, const V9fsObject *obj, int fd);
    ssize_t (*readlink)(const V9fsCtx *cx, const V9fsObject *obj,
                        const LocalAt *at, char *buf, size_t size);

    /*
     * New objects: the host's permissions to begin with, the bare object of
     * any type, and then owner, mode and whatever else makes it the guest's.
     * @st comes from the host and is to be what the guest sees.
     */
    uint32_t (*new_mode)(const V9fsCtx *cx, const V9fsNew *new);
    int (*make)(const V9fsCtx *cx, const V9fsHandle *dir,
                const V9fsNew *new);
    int (*made)(const V9fsCtx *cx, const V9fsHandle *dir, const LocalAt *at,
                const V9fsNew *new, V9fsStat *st);

    /* Names, and what the model keeps beside them */
    int (*link)(const V9fsCtx *cx, const V9fsObject *obj,
                const V9fsHandle *dir, const char *name);
    int (*unlink)(const V9fsCtx *cx, const V9fsHandle *dir, const char *name,
                  bool rmdir);
    int (*rename)(const V9fsCtx *cx, const V9fsHandle *olddir,
                  const char *oldname, const V9fsHandle *newdir,
                  const char *newname);

    /*
     * What is kept by name is to be found, whatever becomes of the name, by
     * an open file (@file->kept), and by a handle of a name that may go.
     * @st: what the guest sees of the file
     */
    void (*keep_file)(V9fsFile *file, const V9fsStat *st);
    int (*keep)(const V9fsCtx *cx, const V9fsHandle *dir, const char *name,
                V9fsHandle *h);
    /* Gives back what is not NULL of either */
    void (*unkeep)(void *kept);

    /*
     * Names of extended attributes, guest's to host's (in @buf if it is
     * another one) and back; NULL if the guest may not have that one.
     */
    const char *(*xattr_host)(const char *name,
                              char buf[LOCAL_XATTR_NAME_SIZE]);
    const char *(*xattr_guest)(const char *name);

    /*
     * Of mapped models: what is kept of an object; adds to @creds what there
     * is.  @host is what the host says of it.
     */
    int (*get_creds)(const V9fsCtx *cx, const V9fsObject *obj,
                     const LocalAt *at, const V9fsStat *host,
                     LocalCreds *creds);
    /* Sets what is in @creds, all of it or nothing; the rest stays */
    int (*set_creds)(const V9fsCtx *cx, const V9fsObject *obj,
                     const LocalAt *at, const LocalCreds *creds);
    /* The same for a new object, which goes if this fails */
    int (*init_creds)(const V9fsCtx *cx, const V9fsObject *obj,
                      const LocalAt *at, const LocalCreds *creds);
} LocalModel;

/* 9p-local-mapped-xattr.c, 9p-local-mapped-file.c */
extern const LocalModel local_mapped_xattr_model;
extern const LocalModel local_mapped_file_model;

/* V9fsFs.opaque */
typedef struct LocalMounts LocalMounts;

typedef struct Local {
    const LocalModel *model;
    LocalMounts *mounts;
    bool keeps_suid;            /* the kernel leaves setuid bits to us */
} Local;

static inline const Local *local_of(const V9fsCtx *cx)
{
    return cx->fs->opaque;
}

/* An operation that may wait whatever it is asked */
static inline bool local_may_not_wait(const V9fsCtx *cx)
{
    return cx->nowait;
}

/* ---------------------------------------------------------------------- */
/* 9p-local-nowait.c: what can be done without waiting */

/* V9fsHandle.nowait and V9fsFile.nowait, by file system */
enum {
    /*
     * What the kernel has of names, attributes and data in its caches can be
     * had without waiting, and told apart from what it has not.
     */
    LOCAL_NOWAIT_CACHED = 1 << 0,
    LOCAL_NOWAIT_WRITE = 1 << 1,        /* the same for writing data */
    LOCAL_NOWAIT_MEMORY = 1 << 2,       /* there is nothing but memory */
    LOCAL_NOWAIT_WRITTEN = 1 << 3,      /* a file: to close it may write */
};

/* Bytes to move at most: that takes as long as a crossing */
#define LOCAL_NOWAIT_BYTES  (128 * KiB)
/* Bytes of a file to free at most */
#define LOCAL_NOWAIT_FREE   (256 * KiB)

/**
 * local_nowait_of: what can be tried in the file system of a descriptor
 *
 * May wait.
 */
unsigned local_nowait_of(int fd);

/**
 * local_nowait_open: as local_os_open_node(), of a path, without waiting
 */
int local_nowait_open(const V9fsCtx *cx, const V9fsHandle *dir,
                      const char *path, bool directory);

/**
 * local_nowait_open_file: as local_os_open_beneath(), without waiting
 */
int local_nowait_open_file(const V9fsCtx *cx, const V9fsHandle *dir,
                           const char *path, int flags);

/* An object, found as cx->nowait wants it */
typedef struct LocalFound {
    LocalAt at;
    bool pinned;                /* @at is a handle of its own */
} LocalFound;

/**
 * local_find: where an object is
 * @need: LOCAL_NOWAIT_* that its file system must have, if cx->nowait is set
 * @found: to be given back with local_lose() if this returned 0
 *
 * If cx->nowait is set @found->at has no name, so that nothing needs to be
 * looked up again.  Returns 0; -EAGAIN; as local_at().
 */
int local_find(const V9fsCtx *cx, const V9fsObject *obj, unsigned need,
               LocalFound *found);
void local_lose(LocalFound *found);

/**
 * local_nowait_may_free: whether an object may go without taking long
 */
bool local_nowait_may_free(const LocalAt *at);

ssize_t local_nowait_read(V9fsFile *file, const struct iovec *iov, int iovcnt,
                          uint64_t offset);
/**
 * local_nowait_may_write: whether local_nowait_write() is worth a call
 */
bool local_nowait_may_write(const V9fsFile *file, const struct iovec *iov,
                            int iovcnt);
ssize_t local_nowait_write(V9fsFile *file, const struct iovec *iov, int iovcnt,
                           uint64_t offset);

/* ---------------------------------------------------------------------- */
/* 9p-local-path.c: handles, and where objects are */

/**
 * local_at: where an object is
 *
 * Returns 0; -ENOENT if its name is hidden.
 */
int local_at(const V9fsCtx *cx, const V9fsObject *obj, LocalAt *at);

/**
 * local_check_new_name: whether the guest may give something this name
 *
 * Returns 0 or -EINVAL.
 */
int local_check_new_name(const V9fsCtx *cx, const char *name);

/**
 * local_pin: a handle of an object, for several calls on the same one
 * @pinned: a handle if @at is a name and the host has handles that can be
 *          used for everything, else as @at.  To be given back with
 *          local_unpin(), even if this failed
 */
int local_pin(const LocalAt *at, LocalAt *pinned);
void local_unpin(const LocalAt *at, const LocalAt *pinned);

int local_open_handle(const V9fsCtx *cx, const V9fsHandle *dir,
                      const char *path, bool directory, V9fsHandle *out);
void local_close_handle(V9fsFs *fs, V9fsHandle *h);
bool local_is_gone(const V9fsCtx *cx, const V9fsHandle *h);

/* LocalModel functions for models that keep nothing by name */
void local_plain_keep_file(V9fsFile *file, const V9fsStat *st);
int local_plain_keep(const V9fsCtx *cx, const V9fsHandle *dir,
                     const char *name, V9fsHandle *h);

/* ---------------------------------------------------------------------- */
/* 9p-local-attr.c: attributes */

int local_stat(const V9fsCtx *cx, const V9fsObject *obj, V9fsStat *st);
int local_setattr(const V9fsCtx *cx, const V9fsObject *obj,
                  const V9fsSetattr *attr);
int local_statfs(const V9fsCtx *cx, const V9fsObject *obj, P9Rstatfs *st);
ssize_t local_readlink(const V9fsCtx *cx, const V9fsObject *obj,
                       char *buf, size_t size);

/**
 * local_suid_bits: what of a mode is lost when a file is written to
 * @mode: type and permissions
 */
uint32_t local_suid_bits(uint32_t mode);

/* LocalModel functions for models that leave everything to the host */
int local_plain_stat_fix(const V9fsCtx *cx, const V9fsObject *obj,
                         const LocalAt *at, V9fsStat *st);
int local_plain_setattr(const V9fsCtx *cx, const V9fsObject *obj,
                        const LocalAt *at, const V9fsSetattr *attr);
int local_plain_drop_suid(const V9fsCtx *cx, const V9fsObject *obj, int fd);
ssize_t local_plain_readlink(const V9fsCtx *cx, const V9fsObject *obj,
                             const LocalAt *at, char *buf, size_t size);

/* ---------------------------------------------------------------------- */
/* 9p-local-file.c: open files */

int local_open(const V9fsCtx *cx, const V9fsObject *obj, uint32_t flags,
               V9fsFile *out, V9fsStat *st);
int local_create(const V9fsCtx *cx, const V9fsHandle *dir,
                 const V9fsNew *new, uint32_t flags,
                 V9fsFile *out, V9fsStat *st);
int local_close(const V9fsCtx *cx, V9fsFile *file);
ssize_t local_preadv(const V9fsCtx *cx, V9fsFile *file,
                     const struct iovec *iov, int iovcnt, uint64_t offset);
ssize_t local_pwritev(const V9fsCtx *cx, const V9fsObject *obj,
                      const struct iovec *iov, int iovcnt, uint64_t offset,
                      bool append);
int local_fsync(const V9fsCtx *cx, V9fsFile *file, bool datasync);

/* 9p-local-lock.c: locks */

int local_open_holder(const V9fsCtx *cx, V9fsFile *file, V9fsFile *holder);
int local_lock(const V9fsCtx *cx, V9fsFile *holder, const V9fsLock *lock);
int local_getlock(const V9fsCtx *cx, V9fsFile *file, V9fsLock *lock,
                  uint32_t *pid);

/* ---------------------------------------------------------------------- */
/* 9p-local-mounts.c: what is mounted inside the export */

/**
 * local_mounts_new: begin to watch
 * @path: the exported directory
 * @root_fd: a handle of it
 *
 * Main thread, as local_mounts_free().
 */
LocalMounts *local_mounts_new(const char *path, int root_fd);
void local_mounts_free(LocalMounts *m);

/**
 * local_mounts_names: names by which something else may be found than a
 * directory's entry says
 * @subvolumes: set to whether that goes for all directories
 *
 * Returns a new reference to a set, or NULL: there are none.  Any thread.
 */
GHashTable *local_mounts_names(LocalMounts *m, bool *subvolumes);

/* 9p-local-dir.c: open directories */

/* V9fsFile.pos when it is not known where the host's descriptor stands */
#define LOCAL_POS_UNKNOWN UINT64_MAX

int local_readdir(const V9fsCtx *cx, V9fsFile *dir, uint64_t offset,
                  size_t room, V9fsAddDirent *add, void *opaque);

/* ---------------------------------------------------------------------- */
/* 9p-local-name.c: names */

int local_make(const V9fsCtx *cx, const V9fsHandle *dir, const V9fsNew *new,
               V9fsStat *st);
int local_link(const V9fsCtx *cx, const V9fsObject *obj,
               const V9fsHandle *dir, const char *name);
int local_unlink(const V9fsCtx *cx, const V9fsHandle *dir, const char *name,
                 bool rmdir);
int local_rename(const V9fsCtx *cx, const V9fsHandle *olddir,
                 const char *oldname, const V9fsHandle *newdir,
                 const char *newname);

/**
 * local_undo: remove a name again that could not be made as it should be
 * @st: of what was made; what another one has put there is left alone
 */
void local_undo(const V9fsHandle *dir, const char *name, const V9fsStat *st);

bool local_plain_hidden(const char *name, size_t len);
uint32_t local_plain_new_mode(const V9fsCtx *cx, const V9fsNew *new);
int local_plain_make(const V9fsCtx *cx, const V9fsHandle *dir,
                     const V9fsNew *new);
int local_plain_made(const V9fsCtx *cx, const V9fsHandle *dir,
                     const LocalAt *at, const V9fsNew *new, V9fsStat *st);
int local_plain_link(const V9fsCtx *cx, const V9fsObject *obj,
                     const V9fsHandle *dir, const char *name);
int local_plain_unlink(const V9fsCtx *cx, const V9fsHandle *dir,
                       const char *name, bool rmdir);
int local_plain_rename(const V9fsCtx *cx, const V9fsHandle *olddir,
                       const char *oldname, const V9fsHandle *newdir,
                       const char *newname);

/* ---------------------------------------------------------------------- */
/* 9p-local-xattr.c: extended attributes */

ssize_t local_getxattr(const V9fsCtx *cx, const V9fsObject *obj,
                       const char *name, void *value, size_t size);
ssize_t local_listxattr(const V9fsCtx *cx, const V9fsObject *obj,
                        char *list, size_t size);
int local_setxattr(const V9fsCtx *cx, const V9fsObject *obj,
                   const char *name, const void *value, size_t size,
                   int flags);
int local_removexattr(const V9fsCtx *cx, const V9fsObject *obj,
                      const char *name);

const char *local_plain_xattr_host(const char *name,
                                   char buf[LOCAL_XATTR_NAME_SIZE]);
const char *local_plain_xattr_guest(const char *name);
const char *local_all_xattr_host(const char *name,
                                 char buf[LOCAL_XATTR_NAME_SIZE]);
const char *local_all_xattr_guest(const char *name);

#endif
