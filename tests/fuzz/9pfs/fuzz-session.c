/*
 * Fuzz target: sequences of requests in one session
 *
 * An input is two bytes of choices and then requests:
 *
 *     how[1] count[1] type[1] body[count]
 *
 * "how" says whether to wait for the reply, which of eight tags to use, how
 * the buffers are cut, and how much room the reply has.  Sizes and tags are
 * filled in here, so that what a mutation changes is what the server reads;
 * one in a while lies about the size.  Every reply must be well-formed, and
 * the server must serve the next client.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "fuzz.h"
#include "fuzz-session.h"

#define MAX_REQUESTS    64
#define MSIZE           4096
/* How often to look for replies: some come only after a Tflush */
#define PATIENCE        400

/* First byte of choices */
#define WITH_U          (1 << 0)    /* 9P2000.u */
#define UNATTACHED      (1 << 1)    /* not even Tversion has been sent */
#define TRY_SHIFT       2           /* two bits of V9fsTry's mode */

/* "how" of a request */
#define WAIT            (1 << 0)
#define LIE             (1 << 7)
#define TAG(how)        (2 + ((how) >> 1 & 7))      /* not the helpers' */
#define PIECE(how)      ((how) >> 4 & 3)
#define ROOM(how)       ((how) >> 6 & 1)

static MemRequest *sent[MAX_REQUESTS];
static unsigned nsent;
static int patience;            /* what is left of it for this input */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    mem_init();
    return 0;
}

static void wait_a_while(MemRequest *r)
{
    while (!r->done && patience-- > 0) {
        if (!aio_poll(qemu_get_aio_context(), false)) {
            g_usleep(20);
        }
    }
}

static void send_one(MemSession *m, uint8_t how, uint8_t type,
                     const uint8_t *body, size_t count)
{
    static const size_t pieces[] = { 0, 1, 7, 64 };
    uint8_t bytes[P9_HDRSZ + UINT8_MAX];
    size_t size = P9_HDRSZ + count;
    P9Header header = { size, type, TAG(how) };

    if (how & LIE && count) {
        header.size = body[0] * 17;
    }
    p9_put_header(bytes, header);
    memcpy(bytes + P9_HDRSZ, body, count);
    sent[nsent] = mem_send_bytes(m, bytes, size, ROOM(how) ? 60 : MSIZE,
                                 pieces[PIECE(how)]);
    if (how & WAIT) {
        wait_a_while(sent[nsent]);
    }
    nsent++;
}

static void send_all(MemSession *m, const uint8_t *data, size_t size)
{
    while (size >= 3 && nsent < MAX_REQUESTS) {
        size_t count = MIN(data[1], size - 3);

        send_one(m, data[0], data[2], data + 3, count);
        data += 3 + count;
        size -= 3 + count;
    }
}

/* In order, for a session that has ended has replies of both dialects. */
static void check_replies(void)
{
    for (unsigned i = 0; i < nsent; i++) {
        g_assert_true(sent[i]->done);
        if (!sent[i]->broken && sent[i]->reply) {
            mem_result(sent[i], NULL);
        }
        mem_request_free(sent[i]);
    }
    nsent = 0;
}

static void attach(MemSession *m, uint8_t choice)
{
    if (choice & WITH_U) {
        mem_attach_u(m, MSIZE);
    } else {
        mem_attach(m, MSIZE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MemSession *m;

    if (size < 2) {
        return 0;
    }
    g_random_set_seed(1);
    patience = PATIENCE;
    m = fuzz_new(data[1]);
    mem_start(m);
    m->s.try.mode = (data[0] >> TRY_SHIFT & 3) % 3;
    if (!(data[0] & UNATTACHED)) {
        attach(m, data[0]);
    }
    send_all(m, data + 2, size - 2);
    attach(m, data[0]);
    mem_free(m);
    check_replies();
    fuzz_check();
    return 0;
}
