/*
 * Tests of the wire format: structs to bytes and back
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/9p-wire.h"

/* A message of each type, with recognizable contents */

static const char *const words[] = { "a", "some-name", "x.c", "README" };

typedef struct Sample {
    uint8_t type;
    union {
        P9Request t;
        P9Reply r;
    };
} Sample;

static uint64_t number(void)
{
    return (uint64_t)g_test_rand_int() << 32 | (uint32_t)g_test_rand_int();
}

static P9Qid a_qid(void)
{
    return (P9Qid) { number(), number(), number() };
}

static void fill_stat(P9Stat *stat)
{
    *stat = (P9Stat) {
        .type = number(), .dev = number(), .qid = a_qid(), .mode = number(),
        .atime = number(), .mtime = number(), .length = number(),
        .name = words[number() % ARRAY_SIZE(words)], .uid = "7", .gid = "",
        .muid = "somebody", .extension = "b 8 1",
        .n_uid = number(), .n_gid = number(), .n_muid = number(),
    };
}

static void fill_field(P9Kind kind, void *p)
{
    const char *word = words[number() % ARRAY_SIZE(words)];
    P9Names *names = p;
    P9Qids *qids = p;

    switch (kind) {
    case P9_KIND_U8:
        *(uint8_t *)p = number();
        break;
    case P9_KIND_U16:
        *(uint16_t *)p = number();
        break;
    case P9_KIND_U32:
    case P9_KIND_OPT32:
        *(uint32_t *)p = number();
        break;
    case P9_KIND_U64:
        *(uint64_t *)p = number();
        break;
    case P9_KIND_QID:
        *(P9Qid *)p = a_qid();
        break;
    case P9_KIND_STR:
    case P9_KIND_NEWNAME:
    case P9_KIND_OLDNAME:
    case P9_KIND_RENNAME:
        *(const char **)p = word;
        break;
    case P9_KIND_NAMES:
        names->n = number() % (P9_MAXWELEM + 1);
        for (int i = 0; i < names->n; i++) {
            names->name[i] = words[number() % ARRAY_SIZE(words)];
        }
        break;
    case P9_KIND_QIDS:
        qids->n = number() % (P9_MAXWELEM + 1);
        for (int i = 0; i < qids->n; i++) {
            qids->qid[i] = a_qid();
        }
        break;
    case P9_KIND_STAT:
    case P9_KIND_WSTAT:
        fill_stat(p);
        break;
    case P9_KIND_DATA:
        *(P9Data *)p = (P9Data) { .count = 17, .bytes = "seventeen bytes.." };
        break;
    }
}

static void fill(Sample *s, uint8_t type)
{
    const P9Message *m = p9_message(type);

    memset(s, 0, sizeof(*s));
    s->type = type;
    for (int i = 0; i < m->nfields; i++) {
        fill_field(m->fields[i].kind, (char *)&s->t + m->fields[i].offset);
    }
}

static void assert_same_qid(const P9Qid *a, const P9Qid *b)
{
    g_assert_cmpuint(a->type, ==, b->type);
    g_assert_cmpuint(a->version, ==, b->version);
    g_assert_cmpuint(a->path, ==, b->path);
}

static void assert_same_stat(const P9Stat *a, const P9Stat *b)
{
    g_assert_cmpuint(a->type, ==, b->type);
    g_assert_cmpuint(a->dev, ==, b->dev);
    assert_same_qid(&a->qid, &b->qid);
    g_assert_cmpuint(a->mode, ==, b->mode);
    g_assert_cmpuint(a->atime, ==, b->atime);
    g_assert_cmpuint(a->mtime, ==, b->mtime);
    g_assert_cmpuint(a->length, ==, b->length);
    g_assert_cmpstr(a->name, ==, b->name);
    g_assert_cmpstr(a->uid, ==, b->uid);
    g_assert_cmpstr(a->gid, ==, b->gid);
    g_assert_cmpstr(a->muid, ==, b->muid);
    g_assert_cmpstr(a->extension, ==, b->extension);
    g_assert_cmpuint(a->n_uid, ==, b->n_uid);
    g_assert_cmpuint(a->n_gid, ==, b->n_gid);
    g_assert_cmpuint(a->n_muid, ==, b->n_muid);
}

static void assert_same_field(P9Kind kind, const void *a, const void *b)
{
    const P9Names *names = a, *names_b = b;
    const P9Qids *qids = a, *qids_b = b;

    switch (kind) {
    case P9_KIND_U8:
        g_assert_cmpmem(a, 1, b, 1);
        break;
    case P9_KIND_U16:
        g_assert_cmpmem(a, 2, b, 2);
        break;
    case P9_KIND_U32:
    case P9_KIND_OPT32:
        g_assert_cmpmem(a, 4, b, 4);
        break;
    case P9_KIND_U64:
        g_assert_cmpmem(a, 8, b, 8);
        break;
    case P9_KIND_QID:
        assert_same_qid(a, b);
        break;
    case P9_KIND_STR:
    case P9_KIND_NEWNAME:
    case P9_KIND_OLDNAME:
    case P9_KIND_RENNAME:
        g_assert_cmpstr(*(char *const *)a, ==, *(char *const *)b);
        break;
    case P9_KIND_NAMES:
        g_assert_cmpuint(names->n, ==, names_b->n);
        for (int i = 0; i < names->n; i++) {
            g_assert_cmpstr(names->name[i], ==, names_b->name[i]);
        }
        break;
    case P9_KIND_QIDS:
        g_assert_cmpuint(qids->n, ==, qids_b->n);
        for (int i = 0; i < qids->n; i++) {
            assert_same_qid(&qids->qid[i], &qids_b->qid[i]);
        }
        break;
    case P9_KIND_STAT:
    case P9_KIND_WSTAT:
        assert_same_stat(a, b);
        break;
    case P9_KIND_DATA:
        g_assert_cmpuint(((P9Data *)a)->count, ==, ((P9Data *)b)->count);
        break;
    }
}

static void for_each_type(void (*test)(uint8_t type))
{
    for (int type = 0; type < 256; type++) {
        if (p9_message(type)) {
            test(type);
        }
    }
}

static size_t encode(const Sample *s, uint8_t **buf)
{
    uint8_t big[4096];
    ssize_t size = p9_encode(s->type, 0x1234, &s->t, big, sizeof(big));

    g_assert_cmpint(size, >=, P9_HDRSZ);
    *buf = g_memdup2(big, size);
    return size;
}

static void round_trip(uint8_t type)
{
    const P9Message *m = p9_message(type);

    for (int n = 0; n < 50; n++) {
        g_autofree uint8_t *buf = NULL;
        Sample sent, got = { 0 };
        size_t size;
        P9Header h;

        fill(&sent, type);
        size = encode(&sent, &buf);
        h = p9_header(buf);
        g_assert_cmpuint(h.size, ==, size);
        g_assert_cmpuint(h.type, ==, type);
        g_assert_cmpuint(h.tag, ==, 0x1234);
        g_assert_cmpuint(size, >=, m->min_size);
        g_assert_cmpint(p9_decode(m, buf, size, &got.t), ==, 0);
        for (int i = 0; i < m->nfields; i++) {
            assert_same_field(m->fields[i].kind,
                              (char *)&sent.t + m->fields[i].offset,
                              (char *)&got.t + m->fields[i].offset);
        }
    }
}

static void test_round_trip(void)
{
    for_each_type(round_trip);
}

/* Whether a message may end after its first @cut bytes: an old Tfsync */
static bool may_end(uint8_t type, size_t cut)
{
    return type == P9_TFSYNC && cut == p9_message(type)->min_size;
}

static void truncate_message(uint8_t type)
{
    g_autofree uint8_t *buf = NULL;
    Sample sent;
    size_t size;

    fill(&sent, type);
    size = encode(&sent, &buf);
    for (size_t cut = P9_HDRSZ; cut < size; cut++) {
        /* Exactly as long, so that a sanitizer sees any byte behind it read */
        g_autofree uint8_t *part = g_memdup2(buf, cut);
        Sample got;
        int err = p9_decode(p9_message(type), part, cut, &got.t);

        g_assert_cmpint(err, ==, may_end(type, cut) ? 0 : -EPROTO);
    }
}

static void test_truncated(void)
{
    for_each_type(truncate_message);
}

static void lengthen_message(uint8_t type)
{
    g_autofree uint8_t *buf = NULL;
    g_autofree uint8_t *longer = NULL;
    Sample sent, got;
    size_t size;

    fill(&sent, type);
    size = encode(&sent, &buf);
    longer = g_malloc0(size + 1);
    memcpy(longer, buf, size);
    g_assert_cmpint(p9_decode(p9_message(type), longer, size + 1, &got.t),
                    ==, -EPROTO);
}

static void test_over_long(void)
{
    for_each_type(lengthen_message);
}

static void small_room(uint8_t type)
{
    g_autofree uint8_t *buf = NULL;
    Sample sent;
    size_t size;

    fill(&sent, type);
    size = encode(&sent, &buf);
    for (size_t room = 0; room < size; room++) {
        g_autofree uint8_t *small = g_malloc(room);

        g_assert_cmpint(p9_encode(type, 1, &sent.t, small, room), ==,
                        -EMSGSIZE);
    }
}

static void test_small_room(void)
{
    for_each_type(small_room);
}

/* What Linux says to each name that cannot be one */

static int decode_as(uint8_t type, const char *name, size_t len)
{
    P9Tmkdir mkdir = { .name = "" };
    P9Tunlinkat unlinkat = { .name = "" };
    P9Trename rename = { .name = "" };
    P9Twalk walk = { .names = { 1, { "" } } };
    const void *rec = type == P9_TMKDIR ? (void *)&mkdir :
                      type == P9_TUNLINKAT ? (void *)&unlinkat :
                      type == P9_TRENAME ? (void *)&rename : (void *)&walk;
    size_t at = P9_HDRSZ + (type == P9_TMKDIR || type == P9_TUNLINKAT ? 4 :
                            type == P9_TRENAME ? 8 : 10);
    uint8_t empty[64];
    ssize_t size = p9_encode(type, 1, rec, empty, sizeof(empty));
    g_autofree uint8_t *buf = g_malloc(size + len);
    P9Request got;

    memcpy(buf, empty, at);
    buf[at] = len & 0xff;
    buf[at + 1] = len >> 8;
    memcpy(buf + at + 2, name, len);
    memcpy(buf + at + 2 + len, empty + at + 2, size - at - 2);
    return p9_decode(p9_message(type), buf, size + len, &got);
}

static void test_names(void)
{
    static const struct {
        const char *name;
        size_t len;
        int make, remove, rename, walk;
    } cases[] = {
        { "", 0, -ENOENT, -ENOENT, -ENOENT, -ENOENT },
        { ".", 1, -EEXIST, -EINVAL, -EBUSY, -ENOENT },
        { "..", 2, -EEXIST, -ENOTEMPTY, -EBUSY, 0 },
        { "...", 3, 0, 0, 0, 0 },
        { ".x", 2, 0, 0, 0, 0 },
        { "a/b", 3, -ENOENT, -ENOENT, -ENOENT, -ENOENT },
        { "/", 1, -ENOENT, -ENOENT, -ENOENT, -ENOENT },
        { "a\0b", 3, -ENOENT, -ENOENT, -ENOENT, -ENOENT },
        { "..\0", 3, -ENOENT, -ENOENT, -ENOENT, -ENOENT },
        { "\377\376\n.", 4, 0, 0, 0, 0 },
    };
    g_autofree char *longest = g_strnfill(256, 'n');

    for (int i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *name = cases[i].name;
        size_t len = cases[i].len;

        g_assert_cmpint(decode_as(P9_TMKDIR, name, len), ==, cases[i].make);
        g_assert_cmpint(decode_as(P9_TUNLINKAT, name, len), ==,
                        cases[i].remove);
        g_assert_cmpint(decode_as(P9_TRENAME, name, len), ==,
                        cases[i].rename);
        g_assert_cmpint(decode_as(P9_TWALK, name, len), ==, cases[i].walk);
    }
    g_assert_cmpint(decode_as(P9_TMKDIR, longest, 255), ==, 0);
    g_assert_cmpint(decode_as(P9_TMKDIR, longest, 256), ==, -ENAMETOOLONG);
    g_assert_cmpint(decode_as(P9_TWALK, longest, 256), ==, -ENAMETOOLONG);
}

static void test_too_many_names(void)
{
    uint8_t buf[P9_HDRSZ + 10 + 17 * 3];
    P9Request got;

    memset(buf, 0, sizeof(buf));
    p9_put_header(buf, (P9Header) { sizeof(buf), P9_TWALK, 1 });
    buf[P9_HDRSZ + 8] = 17;
    for (int i = 0; i < 17; i++) {
        buf[P9_HDRSZ + 10 + 3 * i] = 1;
        buf[P9_HDRSZ + 12 + 3 * i] = 'x';
    }
    g_assert_cmpint(p9_decode(p9_message(P9_TWALK), buf, sizeof(buf), &got),
                    ==, -EPROTO);
}

/* A string that is no name may be long, but has no NUL byte in it. */
static void test_strings(void)
{
    P9Tsymlink link = { .name = "x", .target = "a_b" };
    P9Request got;
    uint8_t buf[64];
    ssize_t size = p9_encode(P9_TSYMLINK, 1, &link, buf, sizeof(buf));
    uint8_t *inner = memchr(buf, '_', size);

    *inner = '/';
    g_assert_cmpint(p9_decode(p9_message(P9_TSYMLINK), buf, size, &got),
                    ==, 0);
    g_assert_cmpstr(got.symlink.target, ==, "a/b");
    size = p9_encode(P9_TSYMLINK, 1, &link, buf, sizeof(buf));
    *inner = '\0';
    g_assert_cmpint(p9_decode(p9_message(P9_TSYMLINK), buf, size, &got),
                    ==, -EINVAL);
}

/*
 * What is behind a string on the wire is no zero byte, but the next field or
 * the end of the buffer.
 */
static void test_terminated(void)
{
    P9Rreadlink link = { .target = "some/where/else" };
    P9Rversion version = { .msize = UINT32_MAX, .version = "9P2000.L" };
    uint8_t big[64];
    P9Reply got;

    for (int i = 0; i < 2; i++) {
        uint8_t type = i ? P9_RVERSION : P9_RREADLINK;
        const void *rec = i ? (void *)&version : (void *)&link;
        const char *want = i ? version.version : link.target;
        ssize_t size = p9_encode(type, 0xffff, rec, big, sizeof(big));
        /* Not a byte more, so that reading on is seen */
        g_autofree uint8_t *exact = g_memdup2(big, size);
        const char *str;

        g_assert_cmpint(p9_decode(p9_message(type), exact, size, &got), ==, 0);
        str = i ? got.version.version : got.readlink.target;
        g_assert_cmpuint(strlen(str), ==, strlen(want));
        g_assert_cmpstr(str, ==, want);
        g_assert_true((uint8_t *)str + strlen(str) < exact + size);
    }
}

static void format_message(uint8_t type)
{
    Sample s;
    char text[512], cut[8];

    fill(&s, type);
    p9_format(type, &s.t, text, sizeof(text));
    g_assert_cmpuint(strlen(text), <, sizeof(text));
    g_assert_cmpint(!!*text, ==, p9_message(type)->nfields > 0);
    p9_format(type, &s.t, cut, sizeof(cut));
    g_assert_cmpuint(strlen(cut), <, sizeof(cut));
    g_assert_true(g_str_has_prefix(text, cut));
}

static void test_format(void)
{
    for_each_type(format_message);
}

static void test_dirent(void)
{
    P9Dirent ent = {
        .qid = a_qid(), .offset = number(), .type = DT_LNK,
        .name = "some-name", .namelen = 9,
    };
    const size_t size = P9_DIRENT_HDRSZ + 9;

    for (size_t room = 0; room <= size + 1; room++) {
        g_autofree uint8_t *buf = g_malloc(room);
        P9Dirent got;

        g_assert_cmpuint(p9_put_dirent(buf, room, &ent), ==,
                         room < size ? 0 : size);
        if (room >= size) {
            g_assert_cmpuint(p9_get_dirent(buf, room, &got), ==, size);
            assert_same_qid(&got.qid, &ent.qid);
            g_assert_cmpuint(got.offset, ==, ent.offset);
            g_assert_cmpuint(got.type, ==, ent.type);
            g_assert_cmpmem(got.name, got.namelen, ent.name, 9);
            g_assert_cmpuint(p9_get_dirent(buf, size - 1, &got), ==, 0);
        }
    }
}

/* Any bytes at all: right or refused, and nothing beyond them touched */
static void test_noise(void)
{
    for (int n = 0; n < 200000; n++) {
        uint8_t type = number();
        size_t size = P9_HDRSZ + number() % 60;
        g_autofree uint8_t *buf = g_malloc(size);
        union {
            P9Request t;
            P9Reply r;
        } got;

        if (!p9_message(type)) {
            continue;
        }
        for (size_t i = 0; i < size; i++) {
            buf[i] = number() % 3 ? 0 : number() % 5;
        }
        p9_decode(p9_message(type), buf, size, &got);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/9p/wire/round-trip", test_round_trip);
    g_test_add_func("/9p/wire/truncated", test_truncated);
    g_test_add_func("/9p/wire/over-long", test_over_long);
    g_test_add_func("/9p/wire/small-room", test_small_room);
    g_test_add_func("/9p/wire/names", test_names);
    g_test_add_func("/9p/wire/too-many-names", test_too_many_names);
    g_test_add_func("/9p/wire/strings", test_strings);
    g_test_add_func("/9p/wire/terminated", test_terminated);
    g_test_add_func("/9p/wire/format", test_format);
    g_test_add_func("/9p/wire/dirent", test_dirent);
    g_test_add_func("/9p/wire/noise", test_noise);
    return g_test_run();
}
