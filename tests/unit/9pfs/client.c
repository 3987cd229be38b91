/*
 * Requests in one line each, for tests that play the client
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "client.h"

/* A fid that the helpers use for themselves */
#define OWN_FID     0x7ffffff0

int walk(MemSession *m, uint32_t fid, uint32_t newfid, const char *path)
{
    g_auto(GStrv) names = g_strsplit(path, "/", -1);
    P9Twalk t = { fid, newfid };
    P9Rwalk r;
    int err;

    g_assert_cmpuint(g_strv_length(names), <=, P9_MAXWELEM);
    for (; names[t.names.n]; t.names.n++) {
        t.names.name[t.names.n] = names[t.names.n];
    }
    err = mem_call(m, P9_TWALK, &t, &r);
    return err ?: (r.qids.n == t.names.n ? 0 : -ENOENT);
}

int clone_fid(MemSession *m, uint32_t fid, uint32_t newfid)
{
    return CALL(m, walk, fid, newfid);
}

int clunk(MemSession *m, uint32_t fid)
{
    return CALL(m, clunk, fid);
}

int lopen(MemSession *m, uint32_t fid, uint32_t flags)
{
    return CALL(m, lopen, fid, flags);
}

int walk_open(MemSession *m, uint32_t newfid, const char *path,
              uint32_t flags)
{
    return walk(m, 0, newfid, path) ?: lopen(m, newfid, flags);
}

int getattr(MemSession *m, uint32_t fid, P9Rgetattr *r)
{
    return ASK(m, getattr, r, fid, P9_GETATTR_BASIC);
}

static P9Rgetattr attributes(MemSession *m, uint32_t fid)
{
    P9Rgetattr r;

    g_assert_cmpint(getattr(m, fid, &r), ==, 0);
    return r;
}

uint64_t size_of(MemSession *m, uint32_t fid)
{
    return attributes(m, fid).size;
}

uint32_t mode_of(MemSession *m, uint32_t fid)
{
    return attributes(m, fid).mode;
}

uint64_t ino_of(MemSession *m, uint32_t fid)
{
    return attributes(m, fid).qid.path;
}

int write_at(MemSession *m, uint32_t fid, uint64_t at, const char *text)
{
    P9Rwrite r;
    int err = ASK(m, write, &r, fid, at,
                  { .count = strlen(text), .bytes = text });

    return err ?: r.count;
}

char *read_at(MemSession *m, uint32_t fid, uint64_t at, uint32_t count)
{
    P9Rread r;

    if (ASK(m, read, &r, fid, at, count) < 0) {
        return NULL;
    }
    return g_strndup((char *)m->last->in + r.data.at, r.data.count);
}

void expect_text(MemSession *m, uint32_t fid, const char *text)
{
    g_autofree char *got = read_at(m, fid, 0, 4096);

    g_assert_cmpstr(got, ==, text);
}

int set_xattr(MemSession *m, uint32_t fid, const char *name,
              const char *value, uint32_t flags)
{
    int err = clone_fid(m, fid, OWN_FID);
    int clunked;

    if (err) {
        return err;
    }
    err = CALL(m, xattrcreate, OWN_FID, name, strlen(value), flags);
    if (!err && *value) {
        err = MIN(write_at(m, OWN_FID, 0, value), 0);
    }
    clunked = clunk(m, OWN_FID);
    return err ?: clunked;
}

char *get_xattr(MemSession *m, uint32_t fid, const char *name, int *err)
{
    P9Rxattrwalk r;
    char *value;

    *err = ASK(m, xattrwalk, &r, fid, OWN_FID, name);
    if (*err) {
        return NULL;
    }
    value = read_at(m, OWN_FID, 0, r.size);
    g_assert_cmpint(clunk(m, OWN_FID), ==, 0);
    return value;
}

uint64_t all_crossings(MemSession *m)
{
    uint64_t sum = 0;

    for (int i = 0; i < ARRAY_SIZE(m->s.stats.type); i++) {
        sum += mem_crossings(m, i);
    }
    return sum;
}

unsigned open_descriptors(void)
{
    g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
    unsigned n = 0;

    g_assert_nonnull(dir);
    while (g_dir_read_name(dir)) {
        n++;
    }
    return n;
}
