/*
 * Tests of requests that do not run to their end
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "hw/9pfs/9p-synth.h"
#include "client.h"
#include "tree.h"

/* A session with fid 1 open on the file whose writes go on until flushed */
static MemSession *serve_flush(void)
{
    MemSession *m = mem_new(&v9fs_synth_ops, NULL, V9FS_MODEL_UNSET);
    P9Twalk walk = { 0, 1, { 1, { QTEST_V9FS_SYNTH_FLUSH_FILE } } };

    mem_start(m);
    mem_attach(m, 8192);
    g_assert_cmpint(mem_call(m, P9_TWALK, &walk, NULL), ==, 0);
    g_assert_cmpint(mem_call(m, P9_TLOPEN,
                             &(P9Tlopen) { 1, P9_DOTL_WRONLY }, NULL), ==, 0);
    return m;
}

static MemRequest *post_write(MemSession *m, uint16_t tag, const char *byte)
{
    P9Twrite w = { 1, 0, { .count = 1, .bytes = byte } };

    return mem_send(m, tag, P9_TWRITE, &w, 100);
}

static MemRequest *post_flush(MemSession *m, uint16_t tag, uint16_t oldtag)
{
    return mem_send(m, tag, P9_TFLUSH, &(P9Tflush) { oldtag }, 100);
}

static void expect_flushed(MemRequest *r)
{
    g_assert_true(r->done);
    g_assert_cmpuint(r->reply, ==, 0);
    mem_request_free(r);
}

static void expect_answer(MemRequest *r, int result)
{
    mem_wait(r);
    g_assert_cmpint(mem_result(r, NULL), ==, result);
    mem_request_free(r);
}

static void test_running(void)
{
    MemSession *m = serve_flush();
    MemRequest *write = post_write(m, 10, "x");
    MemRequest *flush;

    for (int i = 0; i < 3; i++) {
        aio_poll(qemu_get_aio_context(), true);
    }
    g_assert_false(write->done);
    flush = post_flush(m, 11, 10);
    mem_wait(flush);
    /* The request comes back first, and without a reply. */
    expect_flushed(write);
    expect_answer(flush, 0);
    expect_answer(post_write(m, 10, "\0"), 0);
    mem_free(m);
}

/* Finished, never heard of, and itself */
static void test_nothing_to_flush(void)
{
    MemSession *m = serve_flush();

    expect_answer(post_write(m, 10, "\0"), 0);
    expect_answer(post_flush(m, 11, 10), 0);
    expect_answer(post_flush(m, 11, 99), 0);
    expect_answer(post_flush(m, 11, 11), 0);
    mem_free(m);
}

static void test_two_flushes(void)
{
    MemSession *m = serve_flush();
    MemRequest *write = post_write(m, 10, "x");
    MemRequest *one = post_flush(m, 11, 10);
    MemRequest *two = post_flush(m, 12, 10);

    expect_answer(one, 0);
    expect_answer(two, 0);
    expect_flushed(write);
    mem_free(m);
}

static void test_duplicate_tag(void)
{
    MemSession *m = serve_flush();
    MemRequest *write = post_write(m, 10, "x");

    expect_answer(post_write(m, 10, "\0"), -EINVAL);
    g_assert_false(write->done);
    expect_answer(post_flush(m, 11, 10), 0);
    expect_flushed(write);
    mem_free(m);
}

/* A new session ends what the old one has asked for. */
static void test_version(void)
{
    MemSession *m = serve_flush();
    P9Tversion v = { 8192, "9P2000.L" };
    P9Tgetattr getattr = { 0, P9_GETATTR_BASIC };
    MemRequest *write[20], *version, *late;

    for (int i = 0; i < ARRAY_SIZE(write); i++) {
        write[i] = post_write(m, 100 + i, "x");
    }
    version = mem_send(m, P9_NOTAG, P9_TVERSION, &v, 100);
    /* It comes while the old ones end, and belongs to the new session. */
    late = mem_send(m, 7, P9_TGETATTR, &getattr, 1000);
    expect_answer(version, 0);
    for (int i = 0; i < ARRAY_SIZE(write); i++) {
        expect_flushed(write[i]);
    }
    expect_answer(late, -EBADF);
    g_assert_false(m->mounted);
    mem_attach(m, 8192);
    mem_free(m);
}

/* After a reset nothing is in flight, nothing is open, nothing is written. */
static void test_reset(void)
{
    g_autoptr(Tree) t = tree_new();
    MemSession *m = tree_serve(t);
    unsigned before = open_descriptors();
    MemRequest *r[100];

    for (int round = 0; round < 20; round++) {
        g_autofree char *path = tree_path(t, "file");
        g_autofree char *text = NULL, *later = NULL;
        P9Twalk walk = { 0, 1, { 1, { "file" } } };

        tree_write(t, "file", "");
        g_assert_cmpint(mem_call(m, P9_TWALK, &walk, NULL), ==, 0);
        g_assert_cmpint(mem_call(m, P9_TLOPEN,
                                 &(P9Tlopen) { 1, P9_DOTL_WRONLY }, NULL),
                        ==, 0);
        for (int i = 0; i < ARRAY_SIZE(r); i++) {
            P9Twrite w = { 1, i, { .count = 1, .bytes = "x" } };

            r[i] = mem_send(m, 100 + i, P9_TWRITE, &w, 100);
        }
        v9fs_reset(&m->s);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        for (int i = 0; i < ARRAY_SIZE(r); i++) {
            g_assert_true(r[i]->done);
            mem_request_free(r[i]);
        }
        g_usleep(2000);
        g_assert_true(g_file_get_contents(path, &later, NULL, NULL));
        g_assert_cmpstr(text, ==, later);
        g_assert_cmpuint(open_descriptors(), <=, before);
        mem_attach(m, 8192);
    }
    mem_free(m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mem_init();
    g_test_add_func("/9p/flush/running", test_running);
    g_test_add_func("/9p/flush/nothing", test_nothing_to_flush);
    g_test_add_func("/9p/flush/twice", test_two_flushes);
    g_test_add_func("/9p/flush/duplicate-tag", test_duplicate_tag);
    g_test_add_func("/9p/flush/version", test_version);
    g_test_add_func("/9p/flush/reset", test_reset);
    return g_test_run();
}
