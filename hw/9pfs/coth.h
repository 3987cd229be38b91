/*
 * Work items: the one place where a request leaves the server's thread
 *
 * A work item is plain data and a function that a worker runs.  Its places
 * say what it works on; v9fs_co_work() turns them into handles and names
 * before and enters what came of it in the node table after, so the function
 * sees drivers' objects and no table of the server.
 *
 * cofs.c, cofile.c, codir.c and coxattr.c hold the items, one coroutine
 * function each, for the message handlers to call.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_9P_COTH_H
#define QEMU_9P_COTH_H

#include "hw/9pfs/9p-node.h"

/* What a work item works on.  Made by one of the v9fs_at_*() functions. */
typedef struct V9fsPlace {
    V9fsNode *node;             /* whose name; NULL if @dir and @name are set */
    bool itself;                /* @node as a directory, or, so many levels */
    unsigned up;                /* above, one of its ancestors */
    V9fsNode *dir;              /* NULL if @file is all */
    const char *name;           /* NULL: @dir itself */
    const char *beside;         /* a name in @node's directory, not its own */
    V9fsFile *file;             /* then @node only with fs.files_by_name */
    bool change;                /* the name is to be removed or replaced */

    /* Set by v9fs_co_work() */
    V9fsNode *base_node;        /* nearest node that has a handle, */
    V9fsHandle *base;           /* and this; both referenced */
    bool cached;                /* it comes from the cache, so it may be old: */
    bool stale;                 /* its directory has been removed */
    char *path;                 /* from there to @dir; NULL if none */
    V9fsHandle *opened;         /* worker: of @dir, if there is a @path */
    V9fsObject obj;             /* for the work function */
} V9fsPlace;

typedef struct V9fsWork V9fsWork;

struct V9fsWork {
    /* Worker: returns 0, a count or -errno */
    int (*run)(const V9fsCtx *cx, V9fsWork *w);
    /* Server's thread, with the locks held, before; -EAGAIN: lock anew */
    int (*prepare)(V9fsWork *w);
    /* Server's thread, with the locks held, after each run */
    void (*finish)(V9fsWork *w, int ret);
    V9fsPlace place[2];
    unsigned nplaces;
    bool walks;                 /* it walks names below a place */
    bool moves_dir;             /* it renames or removes a directory */
    bool alters;                /* names that are places come or go */
    bool reclaims;              /* it gives up descriptors itself */
    bool must_run;              /* even if the request has been cancelled */

    /* Set by v9fs_co_work() */
    V9fsState *s;
    bool locked_tree;
    unsigned short_runs;        /* that ended without descriptors, */
    int64_t short_since;        /* the first of them then */
    V9fsJob job;
};

/**
 * v9fs_at_fid: the object that a fid stands for
 *
 * Its open file if it is open, else as v9fs_at_node().
 */
V9fsPlace v9fs_at_fid(V9fsFid *fid);

/**
 * v9fs_at_file: an open file, whatever name it has
 */
V9fsPlace v9fs_at_file(V9fsFile *file);

/**
 * v9fs_at_node: what has a node's name, or the handle of a name that is gone
 */
V9fsPlace v9fs_at_node(V9fsNode *node);

/**
 * v9fs_at_name: a name in the directory that a fid stands for
 */
V9fsPlace v9fs_at_name(V9fsFid *fid, const char *name);

/**
 * v9fs_in_dir: a directory, or its ancestor @up levels above
 */
V9fsPlace v9fs_in_dir(V9fsNode *dir, unsigned up);

/**
 * v9fs_place_seen: a work item got the attributes of what is at a place
 *
 * For its finish function.
 */
void v9fs_place_seen(V9fsState *s, const V9fsPlace *p, const V9fsStat *st);

/**
 * v9fs_co_work: run a work item in a worker, in one crossing
 * @pdu: on whose behalf
 *
 * Returns what the function returned; -ECANCELED if the request was cancelled
 * before it began; or what kept a place from being reached.  Crosses once
 * more only if a directory turns out to have been removed by the host, or
 * descriptors ran out: handles and idle files are then given up, and what
 * other requests hold is waited for, some seconds at most.
 */
int coroutine_fn v9fs_co_work(V9fsPDU *pdu, V9fsWork *w);

/*
 * The items.  Each makes one crossing and returns 0, a count or -errno of the
 * driver, besides what v9fs_co_work() returns.
 */

/* cofs.c: names and attributes */
int coroutine_fn v9fs_co_stat(V9fsPDU *pdu, V9fsFid *fid, V9fsStat *st);
/* And the target, if it is a symbolic link */
int coroutine_fn v9fs_co_stat_link(V9fsPDU *pdu, V9fsFid *fid, V9fsStat *st,
                                   char *target, size_t size);
int coroutine_fn v9fs_co_setattr(V9fsPDU *pdu, V9fsFid *fid,
                                 const V9fsSetattr *attr);
int coroutine_fn v9fs_co_statfs(V9fsPDU *pdu, V9fsFid *fid, P9Rstatfs *st);
int coroutine_fn v9fs_co_readlink(V9fsPDU *pdu, V9fsFid *fid, char *buf,
                                  size_t size);
int coroutine_fn v9fs_co_make(V9fsPDU *pdu, V9fsFid *dir, const V9fsNew *new,
                              V9fsStat *st);
int coroutine_fn v9fs_co_link(V9fsPDU *pdu, V9fsFid *fid, V9fsFid *dir,
                              const char *name);
/* A node that has the name is detached, and keeps what it was. */
int coroutine_fn v9fs_co_unlink(V9fsPDU *pdu, V9fsFid *dir, const char *name,
                                bool rmdir);
/* The same for what a fid stands for, file or directory */
int coroutine_fn v9fs_co_remove(V9fsPDU *pdu, V9fsFid *fid);
/* Nodes follow the names. */
int coroutine_fn v9fs_co_renameat(V9fsPDU *pdu, V9fsFid *olddir,
                                  const char *oldname, V9fsFid *newdir,
                                  const char *newname);
int coroutine_fn v9fs_co_rename(V9fsPDU *pdu, V9fsFid *fid, V9fsFid *dir,
                                const char *name);
/* In the directory that it is in */
int coroutine_fn v9fs_co_rename_here(V9fsPDU *pdu, V9fsFid *fid,
                                     const char *name);

/* cowalk.c */

/**
 * v9fs_co_walk: look up names one in another
 * @st: attributes of each that was found
 * @node: set to the last one's node, with a reference, if all were found
 *
 * Returns how many were found, or -errno if not even the first was.
 */
int coroutine_fn v9fs_co_walk(V9fsPDU *pdu, V9fsFid *fid, const P9Names *names,
                              V9fsStat *st, V9fsNode **node);

/* cofile.c: open files */
int coroutine_fn v9fs_co_open(V9fsPDU *pdu, V9fsFid *fid, uint32_t flags,
                              V9fsFile *file, V9fsStat *st);
/* @node: set to the new file's, with a reference */
int coroutine_fn v9fs_co_create(V9fsPDU *pdu, V9fsFid *dir,
                                const V9fsNew *new, uint32_t flags,
                                V9fsFile *file, V9fsStat *st,
                                V9fsNode **node);
/* Whatever it returns, the file is closed. */
int coroutine_fn v9fs_co_close(V9fsPDU *pdu, V9fsFile *file);
int coroutine_fn v9fs_co_preadv(V9fsPDU *pdu, V9fsFid *fid,
                                const struct iovec *iov, int iovcnt,
                                uint64_t offset);
int coroutine_fn v9fs_co_pwritev(V9fsPDU *pdu, V9fsFid *fid,
                                 const struct iovec *iov, int iovcnt,
                                 uint64_t offset, bool append);
int coroutine_fn v9fs_co_fsync(V9fsPDU *pdu, V9fsFid *fid, bool datasync);

/* cocreate.c: what Tcreate makes */

typedef struct V9fsUCreate {
    V9fsFid *link_to;           /* make a hard link to this; or NULL */
    uint32_t flags;             /* P9_DOTL_*: how to open a file */
    V9fsStat st;
    V9fsNode *node;             /* set, with a reference */
    V9fsFile file;              /* if it has been opened */
    bool opened;
} V9fsUCreate;

/**
 * v9fs_co_u_create: make an object of any kind
 * @new: its group is ignored: it gets that of the directory
 * @c: what else there is to know; the rest of it is set
 *
 * Files and directories are opened.  On failure nothing is left.
 */
int coroutine_fn v9fs_co_u_create(V9fsPDU *pdu, V9fsFid *dir,
                                  const V9fsNew *new, V9fsUCreate *c);

/* codir.c: listing directories */

/**
 * v9fs_co_readdir: entries from a position on, encoded for Rreaddir
 * @iov: where to
 * @size: bytes there; no more are used
 * @entries: set to how many there are
 *
 * Returns the bytes used, 0 at the end of the directory; -EINVAL if not even
 * one entry fits.
 */
int coroutine_fn v9fs_co_readdir(V9fsPDU *pdu, V9fsFid *dir, uint64_t offset,
                                 const struct iovec *iov, int iovcnt,
                                 size_t size, unsigned *entries);

/* costats.c: listing directories for 9P2000.u */

/**
 * v9fs_co_read_stats: stat records of entries from a position on, for Tread
 * @offset: is moved behind the last entry that was taken
 * @iov: where to
 * @size: bytes there; no more are used
 *
 * Returns as v9fs_co_readdir().
 */
int coroutine_fn v9fs_co_read_stats(V9fsPDU *pdu, V9fsFid *dir,
                                    uint64_t *offset,
                                    const struct iovec *iov, int iovcnt,
                                    size_t size);

/* coxattr.c: extended attributes */

/**
 * v9fs_co_getxattr: the value of an attribute, or the list of all names
 * @name: "" for the list
 * @value: set to a new buffer that the caller frees
 * @size: set to its size, bytes
 */
int coroutine_fn v9fs_co_getxattr(V9fsPDU *pdu, V9fsFid *fid,
                                  const char *name, uint8_t **value,
                                  uint64_t *size);
/* @value NULL removes it */
int coroutine_fn v9fs_co_setxattr(V9fsPDU *pdu, V9fsFid *fid,
                                  const char *name, const void *value,
                                  size_t size, int flags);

#endif
