/*
 * The 9p server: sessions, requests and fids
 *
 * What a transport (virtio, Xen, the memory of a test) and the server's own
 * files share.  A session (V9fsState) belongs to one device; everything in it
 * is used in the server's thread alone: that of the AioContext the transport
 * submits requests in.  Workers see only what 9p-fs.h describes.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_9P_H
#define QEMU_9P_H

#include "block/aio.h"
#include "qemu/coroutine.h"
#include "qemu/iov.h"
#include "qemu/queue.h"
#include "hw/9pfs/9p-fs.h"
#include "hw/9pfs/9p-qid.h"
#include "hw/9pfs/9p-stats.h"
#include "hw/9pfs/9p-throttle.h"
#include "hw/9pfs/9p-workers.h"

typedef struct V9fsState V9fsState;
typedef struct V9fsPDU V9fsPDU;
typedef struct V9fsNode V9fsNode;
typedef struct V9fsFid V9fsFid;
typedef struct V9fsXattr V9fsXattr;
typedef struct V9fsAhead V9fsAhead;
typedef struct V9fsLocks V9fsLocks;

#define V9FS_TAG_BUCKETS    128
/* Bytes that a request or a reply's path takes without an allocation */
#define V9FS_INLINE_BUF     (PATH_MAX + 512)

/* What a transport does for the server; server's thread. */
typedef struct V9fsTransport {
    /* Largest message it can carry, bytes */
    uint32_t (*max_msize)(V9fsState *s);
    /*
     * The reply of @size bytes is in pdu->in_sg; 0: the request was flushed
     * and has none.  The transport owns the PDU again.
     */
    void (*reply)(V9fsPDU *pdu, size_t size);
    /* The request cannot even be refused by a reply; owns the PDU again. */
    void (*broken)(V9fsPDU *pdu, const char *why);
    /* The first fid came or the last one went; an error refuses the attach */
    int (*mounted)(V9fsState *s, bool mounted);
} V9fsTransport;

/*
 * A request on its way.  The transport allocates it, fills in the first part
 * and calls v9fs_submit(); it gets it back with reply() or broken().
 */
struct V9fsPDU {
    V9fsState *s;
    struct iovec *out_sg, *in_sg;       /* request; room for the reply */
    unsigned out_num, in_num;

    /* From here on the server's own */
    size_t out_size, in_size;           /* bytes in the vectors */
    P9Header header;
    uint8_t *buf;                       /* private copy that @req points into */
    uint8_t inline_buf[V9FS_INLINE_BUF];
    P9Request req;
    P9Reply res;
    V9fsFid *fid[2];                    /* those that the message names */
    bool cancelled;                     /* by Tflush or the session's end */
    V9fsJob *job;                       /* work item on its way */
    unsigned crossings;
    CoQueue done;                       /* Tflush waits here */
    QLIST_ENTRY(V9fsPDU) by_tag;
    QSIMPLEQ_ENTRY(V9fsPDU) waiting;
};

/* Whether work items are tried in the server's own thread first */
typedef struct V9fsTry {
    enum {
        V9FS_TRY_ON,
        V9FS_TRY_OFF,
        V9FS_TRY_RANDOM,                /* refused now and then, for tests */
    } mode;
    int64_t wasted;                     /* ns, on tries that gained nothing */
    unsigned skip;                      /* items not to be tried */
    unsigned pause;                     /* how many the next time */
} V9fsTry;

struct V9fsState {
    V9fsFs fs;
    V9fsTry try;
    V9fsWorkers workers;
    const V9fsTransport *transport;
    const char *tag;                    /* mount tag, for messages, or NULL */
    uint32_t msize;                     /* 0: no Tversion yet */
    unsigned dialect;                   /* P9_DIALECT_*, as of Tversion */
    bool warned_msize;                  /* that it is small, once */

    GHashTable *fids;                   /* fid number -> V9fsFid */
    bool mounted;
    GHashTable *locks;                  /* V9fsLocks by inode, see 9p-lock.h */
    unsigned nlocks;

    /* Node table, see 9p-node.h */
    V9fsNode *root;
    GHashTable *nodes;
    CoRwlock tree_lock;
    QTAILQ_HEAD(, V9fsHandle) lru;      /* coldest first */
    unsigned nhandles, max_handles;
    QTAILQ_HEAD(, V9fsHandle) unwanted; /* to be closed by a worker */
    unsigned closing;                   /* such work items under way */

    /* Open files, see 9p-reclaim.c */
    QTAILQ_HEAD(, V9fsFid) open_fids;   /* not parked; coldest first */
    unsigned nfiles, max_files;
    unsigned opening;                   /* there is room for, but not yet so */
    uint64_t ended;                     /* requests so far */
    CoMutex reclaim_lock;
    int spare_fd;                       /* to give up when there is no other */
    QSIMPLEQ_HEAD(, V9fsShort) shorts;  /* requests without descriptors */

    /* Directories read ahead, see codir.c */
    unsigned aheads;                    /* workers at it */
    size_t ahead_bytes;                 /* allocated */

    QLIST_HEAD(, V9fsPDU) tags[V9FS_TAG_BUCKETS];
    unsigned in_flight;
    bool draining;                      /* take no new requests */
    V9fsPDU *drainer;                   /* until this one is answered */
    CoQueue drained;
    QSIMPLEQ_HEAD(, V9fsPDU) backlog;   /* came while draining */

    V9fsQidMap qids;
    V9fsThrottle throttle;
    V9fsStats stats;
};

/* What a fid is; masks of these say what a message takes. */
typedef enum V9fsFidState {
    V9FS_FID_WALKED = 1 << 0,           /* a name, not opened */
    V9FS_FID_FILE = 1 << 1,             /* open file */
    V9FS_FID_DIR = 1 << 2,              /* open directory */
    V9FS_FID_XATTR = 1 << 3,            /* value or list of names to read */
    V9FS_FID_NEW_XATTR = 1 << 4,        /* value to be set when clunked */
} V9fsFidState;

#define V9FS_FID_OPEN     (V9FS_FID_FILE | V9FS_FID_DIR)
#define V9FS_FID_OBJECT   (V9FS_FID_WALKED | V9FS_FID_OPEN)
#define V9FS_FID_ANY      (V9FS_FID_OBJECT | V9FS_FID_XATTR | \
                           V9FS_FID_NEW_XATTR)

/* Tells a file from another that has its name, or its number, later. */
typedef struct V9fsFileId {
    uint64_t dev, ino;
    bool has_btime;
    struct timespec btime;
} V9fsFileId;

struct V9fsFid {
    uint32_t fid;
    unsigned refs;                      /* the table's and those of requests */
    V9fsFidState state;
    V9fsNode *node;
    uint32_t uid;                       /* of whom it was attached for */
    V9fsFile file;                      /* if open and not parked */
    uint32_t flags;                     /* P9_DOTL_* that it was opened with */
    bool parked;                        /* open, but the file is closed */
    V9fsFileId id;                      /* what is open */
    QTAILQ_ENTRY(V9fsFid) open_lru;
    CoMutex dir_lock;                   /* one reader of a directory at once */
    V9fsAhead *ahead;                   /* entries read ahead, or NULL */
    /* Tread of a directory: bytes so far, and the driver's position there */
    uint64_t read_end, read_pos;
    uint32_t read_left;                 /* bytes the last one left unused */
    V9fsLocks *locks;                   /* of its file, once asked for */
    V9fsXattr *xattr;                   /* if one of the xattr states */
    CoQueue idle;                       /* Tclunk waits for other requests */
};

struct V9fsXattr {
    char *name;
    uint8_t *value;
    uint64_t size;
    uint64_t filled;                    /* bytes written from the start on */
    int flags;                          /* P9_XATTR_* */
};

/**
 * v9fs_state_init: begin to serve an export
 * @exp: must outlive the session
 *
 * Main thread.  Returns false with @errp set when it cannot be opened.
 */
bool v9fs_state_init(V9fsState *s, const V9fsExport *exp,
                     const V9fsTransport *transport, Error **errp);

/**
 * v9fs_state_cleanup: end it; v9fs_reset() has been called
 */
void v9fs_state_cleanup(V9fsState *s);

/**
 * v9fs_submit: serve a request
 *
 * Server's thread.  May call reply() before it returns.
 */
void v9fs_submit(V9fsPDU *pdu);

/**
 * v9fs_reset: abort all requests, wait until none is left, drop all fids
 *
 * Main thread, not in a coroutine.  Each request is given back with a reply
 * of size 0 or its ordinary one before this returns, and no worker touches
 * the guest's memory or the export for this session any more.
 */
void v9fs_reset(V9fsState *s);

/* 9p-fid.c: the fid table */

/**
 * v9fs_fid_new: a fid for a node
 *
 * Takes its own reference to @node.  Returns -EINVAL if the number is in use,
 * -ENFILE if there are max_fids.
 */
int v9fs_fid_new(V9fsState *s, uint32_t number, V9fsNode *node, uint32_t uid,
                 V9fsFid **fid);

/**
 * v9fs_fid_get: look up a fid
 * @states: what it may be
 *
 * Returns it with a reference, or NULL with *@err set: -EBADF if there is no
 * such fid or it is not open, -EINVAL if it must not be open or is an xattr,
 * -EISDIR and -ENOTDIR if it is open as the wrong one of the two.
 */
V9fsFid *v9fs_fid_get(V9fsState *s, uint32_t number, unsigned states,
                      int *err);

void v9fs_fid_put(V9fsState *s, V9fsFid *fid);

/**
 * v9fs_fid_remove: take it out of the table
 *
 * The caller has a reference, and closes what is open.  Returns false if
 * another request has taken it out, which then does that.
 */
bool v9fs_fid_remove(V9fsState *s, V9fsFid *fid);

/**
 * v9fs_fid_move: let the fid stand for another node
 */
void v9fs_fid_move(V9fsState *s, V9fsFid *fid, V9fsNode *node);

/**
 * v9fs_fid_set_file: the fid is now open as @file, which it takes over
 * @flags: P9_DOTL_* to open it again with
 * @st: attributes of what is open
 */
void v9fs_fid_set_file(V9fsState *s, V9fsFid *fid, const V9fsFile *file,
                       uint32_t flags, const V9fsStat *st);

/**
 * v9fs_fid_drop_file: the fid is not open any more
 *
 * Returns whether there is a file to be closed, which the caller does then.
 */
bool v9fs_fid_drop_file(V9fsState *s, V9fsFid *fid);

/**
 * v9fs_fids_drop: forget all fids and close what they have open
 *
 * No request is in flight.
 */
void v9fs_fids_drop(V9fsState *s);

/* 9p-lock.c: the same for all locks; a part of it */
void v9fs_locks_drop(V9fsState *s);

/**
 * v9fs_xattr_free: free an xattr fid's value
 */
void v9fs_xattr_free(V9fsState *s, V9fsXattr *xattr);

/**
 * v9fs_ahead_free: free what has been read ahead of a directory
 */
void v9fs_ahead_free(V9fsState *s, V9fsAhead *ahead);

/* 9p-reclaim.c: open files that are closed for a while */

/**
 * v9fs_fid_wake: let an open fid have its file again, if it is parked
 *
 * Returns 0; -ESTALE if the host has put another one in its place; or what
 * keeps it from being opened.
 */
int coroutine_fn v9fs_fid_wake(V9fsPDU *pdu, V9fsFid *fid);

/**
 * v9fs_reclaim: close idle files until at most @keep are open
 *
 * Their fids stay open, parked.  Returns whether any was closed.
 */
bool coroutine_fn v9fs_reclaim(V9fsPDU *pdu, unsigned keep);

/**
 * v9fs_make_room: see to it that one more file can be opened
 *
 * v9fs_room_used() says that it is open now, or will not be.
 */
void coroutine_fn v9fs_make_room(V9fsPDU *pdu);
void v9fs_room_used(V9fsState *s);

/**
 * v9fs_wait_for_others: wait until another request has ended, or a while
 *
 * Returns false if there is none.
 */
bool coroutine_fn v9fs_wait_for_others(V9fsPDU *pdu);

/**
 * v9fs_let_one_go_on: a request has ended, which one may wait for
 */
void v9fs_let_one_go_on(V9fsState *s);

void v9fs_reclaim_init(V9fsState *s);
void v9fs_reclaim_destroy(V9fsState *s);

/* 9p-session-ops.c, for other handlers */

/**
 * v9fs_end_fid: what Tclunk does
 *
 * Takes the fid out of the table, waits for other requests that use it, and
 * closes what is open; a new xattr is set.  Returns the error of that; the
 * fid is gone in any case.  If another request has begun to end the fid, that
 * one does all of it.
 */
int coroutine_fn v9fs_end_fid(V9fsPDU *pdu, V9fsFid *fid);

/* 9p-file-ops.c, for other handlers */

/**
 * v9fs_open_fid: what Tlopen and Topen do
 * @flags: P9_DOTL_*
 */
int coroutine_fn v9fs_open_fid(V9fsPDU *pdu, uint32_t flags, P9Qid *qid);

/**
 * v9fs_take_file: give a walked fid its open file
 *
 * Another request may have opened the fid in the meantime; then this one's
 * file is closed again, and -EINVAL returned.
 */
int coroutine_fn v9fs_take_file(V9fsPDU *pdu, V9fsFid *fid, V9fsFile *file,
                                uint32_t flags, const V9fsStat *st);

/* 9p-u-ops.c, for other handlers */
int coroutine_fn v9fs_read_dir(V9fsPDU *pdu, V9fsFid *fid);

/* 9p-lock-ops.c, for other handlers */

/**
 * v9fs_close_fid: end a fid's locks and close its file, in one crossing
 * @has_file: what v9fs_fid_drop_file() has said
 *
 * As v9fs_co_close().
 */
int coroutine_fn v9fs_close_fid(V9fsPDU *pdu, V9fsFid *fid, bool has_file);

/* 9p-xattr-ops.c, for other handlers */
int coroutine_fn v9fs_set_new_xattr(V9fsPDU *pdu, V9fsFid *fid);
int v9fs_read_xattr(V9fsPDU *pdu, V9fsFid *fid);
int v9fs_write_xattr(V9fsPDU *pdu, V9fsFid *fid);

/* 9p.c, for the handlers */

/**
 * v9fs_pdu_find: the request with a tag, or NULL
 */
V9fsPDU *v9fs_pdu_find(V9fsState *s, uint16_t tag);

/**
 * v9fs_pdu_cancel: let a request end soon
 *
 * It ends at once if its work item is still queued; one that a worker has
 * begun ends as it would have.
 */
void v9fs_pdu_cancel(V9fsPDU *pdu);

/**
 * v9fs_drain: abort all requests but @self and wait for their end
 *
 * Requests that come meanwhile wait until @self is answered.
 */
void coroutine_fn v9fs_drain(V9fsState *s, V9fsPDU *self);

/**
 * v9fs_set_mounted: tell the transport whether there are fids
 */
int v9fs_set_mounted(V9fsState *s, bool mounted);

/**
 * v9fs_room: how many bytes of payload a reply can have
 * @count: that the client asked for
 *
 * At most @count; what msize and the guest's buffer leave.
 */
uint32_t v9fs_room(V9fsPDU *pdu, uint32_t count);

/**
 * V9fsPayload: part of a message in the guest's memory
 *
 * Made by v9fs_payload(), freed by itself at the end of its scope.
 */
typedef struct V9fsPayload {
    struct iovec *iov;
    unsigned n;
    struct iovec few[8];        /* most have no more pieces */
} V9fsPayload;

/**
 * v9fs_payload: bytes @at to @at + @count of a scatter list
 *
 * There must be as many.
 */
void v9fs_payload(V9fsPayload *p, const struct iovec *sg, unsigned num,
                  size_t at, size_t count);
void v9fs_payload_free(V9fsPayload *p);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(V9fsPayload, v9fs_payload_free)

/* The handlers, one a message; they return 0 or -errno. */
#define V9FS_HANDLER(number, name) \
    int coroutine_fn v9fs_do_##name(V9fsPDU *pdu);
P9_MESSAGES(V9FS_HANDLER)
#undef V9FS_HANDLER

#endif
