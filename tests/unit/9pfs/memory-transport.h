/*
 * A 9p transport made of memory
 *
 * Runs the server in this process with QEMU's own event loop, coroutines and
 * thread pool, and plays the client.  Every buffer has exactly the size that
 * the server may use, so that a sanitizer sees it use more.  For unit tests,
 * benchmarks and fuzzers; main thread.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_9PFS_MEMORY_TRANSPORT_H
#define TESTS_UNIT_9PFS_MEMORY_TRANSPORT_H

#include "hw/9pfs/9p.h"

#define MEM_MSIZE   (1024 * 1024)

/* A server, its export and its one client */
typedef struct MemSession {
    V9fsState s;
    V9fsExport exp;
    uint32_t max_msize;
    bool mounted;               /* what the server said last */
    int refuse_mount;           /* errno to refuse the next mount with */
    unsigned broken;            /* requests that could not even be refused */
    struct MemRequest *last;    /* of mem_call() */
} MemSession;

/* A request that the client has sent */
typedef struct MemRequest {
    V9fsPDU pdu;
    MemSession *m;
    uint8_t *out, *in;
    size_t out_size, in_size;
    bool done, broken;
    size_t reply;               /* bytes of the reply; 0: there is none */
} MemRequest;

/**
 * mem_init: prepare the event loop; once, before anything else
 *
 * V9FS_TEST_LACKS=node,proc,openat2,... in the environment names LOCAL_OS_*
 * features that the local driver shall do without.
 */
void mem_init(void);

/**
 * mem_new: serve an export
 * @path, @model: of the local driver; else NULL and V9FS_MODEL_UNSET
 *
 * @m->exp may be changed before mem_start(), which aborts if it fails.
 * V9FS_TEST_TRY=on|off|random in the environment says whether the server
 * tries requests in place (m->s.try.mode): results must be the same.
 */
MemSession *mem_new(const V9fsFsOps *ops, const char *path, V9fsModel model);
void mem_start(MemSession *m);
void mem_free(MemSession *m);

/**
 * mem_attach: negotiate @msize and let fid 0 be the root
 */
void mem_attach(MemSession *m, uint32_t msize);

/**
 * mem_attach_u: the same in 9P2000.u
 */
void mem_attach_u(MemSession *m, uint32_t msize);

/**
 * mem_send_bytes: send any bytes
 * @room: bytes for the reply
 * @piece: bytes in each element of the scatter lists; 0: one element
 *
 * @bytes are copied.  The request is the caller's, to be freed with
 * mem_request_free() when it is done.
 */
MemRequest *mem_send_bytes(MemSession *m, const void *bytes, size_t size,
                           size_t room, size_t piece);

/**
 * mem_send: encode and send a message
 */
MemRequest *mem_send(MemSession *m, uint16_t tag, uint8_t type,
                     const void *rec, size_t room);

/**
 * mem_wait: run the event loop until a request is done
 */
void mem_wait(MemRequest *r);

/**
 * mem_result: decode the reply of a request that is done
 * @res: the struct of the reply, or NULL; points into the request
 *
 * Returns 0, or the errno of an error reply, negative; asserts that it is
 * well-formed.
 */
int mem_result(MemRequest *r, void *res);
void mem_request_free(MemRequest *r);

/**
 * mem_call: send a message and wait for what comes of it
 *
 * As mem_result(); @res is good until the next call.
 */
int mem_call(MemSession *m, uint8_t type, const void *rec, void *res);

/**
 * mem_crossings: how often messages of a type have gone to a worker so far
 */
uint64_t mem_crossings(MemSession *m, uint8_t type);

#endif
