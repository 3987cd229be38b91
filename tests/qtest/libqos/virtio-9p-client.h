/*
 * A 9p client for tests
 *
 * Requests and replies are the structs of hw/9pfs/9p-wire.h, so a test reads
 * like this:
 *
 *     P9Rlopen opened;
 *
 *     v9fs_mount(c, 8192);
 *     g_assert_cmpint(v9fs_walk_path(c, 0, 1, "dir/file"), ==, 0);
 *     g_assert_cmpint(v9fs_lopen(c, (P9Tlopen) {
 *         .fid = 1, .flags = P9_DOTL_RDWR,
 *     }, &opened), ==, 0);
 *
 * Functions that return int give 0, the errno of an Rlerror, or
 * V9FS_CANCELLED.  Every reply is checked: that it is one to its request, that
 * its fields fill it exactly, that its size is the one the device reports, and
 * that nothing was written beside the buffers.  A reply that fails ends the
 * test.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_LIBQOS_VIRTIO_9P_CLIENT_H
#define TESTS_LIBQOS_VIRTIO_9P_CLIENT_H

#include "hw/9pfs/9p-wire.h"
#include "virtio-9p.h"

#define V9FS_VERSION            "9P2000.L"
#define V9FS_MAX_SEGMENTS       16
/* The request was given back without a reply, as a flushed one is. */
#define V9FS_CANCELLED          (-1)

typedef struct V9fsClient V9fsClient;
typedef struct V9fsPending V9fsPending;

struct V9fsClient {
    QVirtio9P *dev;
    QTestState *qts;
    uint32_t msize;             /* room for a reply, if not said otherwise */
    uint16_t tag;               /* last one chosen */
    uint64_t replies;           /* that came so far */
    QTAILQ_HEAD(, V9fsPending) pending;
    uint8_t *reply;             /* what the latest reply's record points at */
};

/* How a message goes on the ring; what is 0 is as usual. */
typedef struct V9fsLayout {
    uint16_t tag;                       /* 0: one that is free */
    /* Bytes per descriptor; the last one takes what is left. */
    uint32_t out[V9FS_MAX_SEGMENTS];
    /* Bytes per descriptor of the reply; 0 in all: one of msize bytes */
    uint32_t in[V9FS_MAX_SEGMENTS];
    bool no_in;                         /* no descriptor for a reply */
} V9fsLayout;

/**
 * v9fs_client_new: a client of a device, which has sent nothing yet
 * @qts: where the device is
 */
V9fsClient *v9fs_client_new(QVirtio9P *dev, QTestState *qts);

/**
 * v9fs_client_free: the end of it; no request may be under way
 */
void v9fs_client_free(V9fsClient *c);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(V9fsClient, v9fs_client_free)

/**
 * v9fs_restart: reset the device, and forget what is under way
 */
void v9fs_restart(V9fsClient *c);

/**
 * v9fs_forget: expect no reply any more; the device is stopped or gone
 */
void v9fs_forget(V9fsClient *c);

/**
 * v9fs_post: send a request
 * @type: P9_T*
 * @request: the struct that goes with it
 * @layout: NULL for the usual one
 */
V9fsPending *v9fs_post(V9fsClient *c, uint8_t type, const void *request,
                       const V9fsLayout *layout);

/**
 * v9fs_post_bytes: send any bytes
 * @bytes: a message with header, right or wrong
 */
V9fsPending *v9fs_post_bytes(V9fsClient *c, const void *bytes, size_t size,
                             const V9fsLayout *layout);

/**
 * v9fs_is_done: whether the device gave a request back
 */
bool v9fs_is_done(V9fsClient *c, V9fsPending *pending);

/**
 * v9fs_place: wait for a reply, and tell its place in the order of replies
 */
uint64_t v9fs_place(V9fsClient *c, V9fsPending *pending);

/**
 * v9fs_wait: wait for a reply, and free @pending
 * @reply: set to the struct that goes with it unless there was an error;
 *         NULL if it does not matter.  Strings and data in it are good until
 *         the next reply.
 */
int v9fs_wait(V9fsClient *c, V9fsPending *pending, void *reply);

/**
 * v9fs_call: send a request and wait for its reply
 */
int v9fs_call(V9fsClient *c, uint8_t type, const void *request, void *reply);

/**
 * v9fs_call_as: the same with a layout
 */
int v9fs_call_as(V9fsClient *c, const V9fsLayout *layout, uint8_t type,
                 const void *request, void *reply);

/**
 * v9fs_call_bytes: send any bytes and wait for the reply
 *
 * The reply's tag must be the one in @bytes.
 */
int v9fs_call_bytes(V9fsClient *c, const void *bytes, size_t size);

/**
 * v9fs_bytes: encode a request
 *
 * Returns it in a buffer that the caller frees, its size in @size.
 */
uint8_t *v9fs_bytes(uint8_t type, uint16_t tag, const void *request,
                    size_t *size);

/**
 * v9fs_mount: begin a session of at most @msize, with fid 0 for the root
 */
void v9fs_mount(V9fsClient *c, uint32_t msize);

/**
 * v9fs_walk_path: let @newfid stand for a path below @fid
 * @path: names and "/"; "" for @fid itself
 *
 * ENOENT is also returned if only a part of the path exists.
 */
int v9fs_walk_path(V9fsClient *c, uint32_t fid, uint32_t newfid,
                   const char *path);

/* v9fs_getattr() and so on: v9fs_call() for every message, with types */
#define V9FS_CALL(number, name) \
    static inline int v9fs_##name(V9fsClient *c, P9T##name request, \
                                  struct P9R##name *reply) \
    { \
        return v9fs_call(c, number, &request, reply); \
    }
P9_MESSAGES(V9FS_CALL)
#undef V9FS_CALL

#endif
