/*
 * 9P messages as C structs, and the way between those and bytes
 *
 * One walk over a message's field table each for decoding, encoding and
 * printing.  Bounds of strings and counts, the rules for names and their
 * errno are here and nowhere else.  Not here: what a message means.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/9pfs/9p-wire.h"

/* Bytes that the smallest field of a kind takes */
#define P9_SIZE_U8      1
#define P9_SIZE_U16     2
#define P9_SIZE_U32     4
#define P9_SIZE_OPT32   0
#define P9_SIZE_U64     8
#define P9_SIZE_QID     P9_QIDSZ
#define P9_SIZE_STR     2
#define P9_SIZE_NEWNAME 2
#define P9_SIZE_OLDNAME 2
#define P9_SIZE_RENNAME 2
#define P9_SIZE_NAMES   2
#define P9_SIZE_QIDS    2
#define P9_SIZE_STAT    (2 + P9_STAT_HDRSZ)
#define P9_SIZE_WSTAT   (2 + P9_STAT_HDRSZ)
#define P9_SIZE_DATA    4

#define P9_FIELD(kind, member) \
    { P9_KIND_##kind, offsetof(P9This, member), #member },
#define P9_BYTES(kind, member) char member[P9_SIZE_##kind];

/* A function, because only there P9This can mean another struct each time. */
#define P9_DESCRIBE(dir, name, dialects) \
    static const P9Message *p9_describe_##dir##name(void) \
    { \
        typedef P9##dir##name P9This G_GNUC_UNUSED; \
        static const P9Field fields[] = { P9_##dir##_##name(P9_FIELD) { 0 } }; \
        static const P9Message message = { \
            #dir #name, fields, ARRAY_SIZE(fields) - 1, \
            P9_HDRSZ + sizeof(struct { P9_##dir##_##name(P9_BYTES) }), \
            dialects \
        }; \
        return &message; \
    }
#define P9_DESCRIBE_PAIR(name, dialects) \
    P9_DESCRIBE(T, name, dialects) P9_DESCRIBE(R, name, dialects)
#define P9_DESCRIBE_BOTH(number, name) \
    P9_DESCRIBE_PAIR(name, P9_DIALECT_L | P9_DIALECT_U)
#define P9_DESCRIBE_L(number, name) P9_DESCRIBE_PAIR(name, P9_DIALECT_L)
#define P9_DESCRIBE_U(number, name) P9_DESCRIBE_PAIR(name, P9_DIALECT_U)
P9_MESSAGES_BOTH(P9_DESCRIBE_BOTH)
P9_MESSAGES_L(P9_DESCRIBE_L)
P9_MESSAGES_U(P9_DESCRIBE_U)

#define P9This P9Stat
static const P9Field p9_stat_fields[] = { P9_STAT(P9_FIELD) };
#undef P9This

#define P9_CASE_T(number, name) case number: return p9_describe_T##name();
#define P9_CASE_R(number, name) case number + 1: return p9_describe_R##name();

const P9Message *p9_message(uint8_t type)
{
    switch (type) {
    P9_MESSAGES(P9_CASE_T)
    P9_MESSAGES(P9_CASE_R)
    }
    return NULL;
}

/*
 * What Linux says to a name that cannot be one, by what is to be done with
 * it.  0 allows it.  Names over P9_NAME_MAX are -ENAMETOOLONG everywhere, and
 * a "/" or a NUL byte makes a name that nothing can have: -ENOENT.
 */
static const struct {
    int empty, dot, dotdot;
} p9_name_rules[] = {
    [P9_KIND_NEWNAME] = { -ENOENT, -EEXIST, -EEXIST },
    [P9_KIND_OLDNAME] = { -ENOENT, -EINVAL, -ENOTEMPTY },
    [P9_KIND_RENNAME] = { -ENOENT, -EBUSY, -EBUSY },
    [P9_KIND_NAMES] = { -ENOENT, -ENOENT, 0 },
    [P9_KIND_WSTAT] = { 0, -EBUSY, -EBUSY },
};

static int p9_check_name(P9Kind kind, const char *name, size_t len)
{
    if (len == 0) {
        return p9_name_rules[kind].empty;
    }
    if (len > P9_NAME_MAX) {
        return -ENAMETOOLONG;
    }
    if (memchr(name, '/', len) || memchr(name, '\0', len)) {
        return -ENOENT;
    }
    if (g_str_equal(name, ".")) {
        return p9_name_rules[kind].dot;
    }
    return g_str_equal(name, "..") ? p9_name_rules[kind].dotdot : 0;
}

P9Header p9_header(const uint8_t *buf)
{
    return (P9Header) {
        .size = ldl_le_p(buf), .type = buf[4], .tag = lduw_le_p(buf + 5),
    };
}

void p9_put_header(uint8_t *buf, P9Header header)
{
    stl_le_p(buf, header.size);
    buf[4] = header.type;
    stw_le_p(buf + 5, header.tag);
}

static bool p9_has_data(const P9Message *m)
{
    return m->nfields && m->fields[m->nfields - 1].kind == P9_KIND_DATA;
}

uint32_t p9_prefix(const P9Message *m, uint32_t size)
{
    return p9_has_data(m) ? MIN(m->min_size, size) : size;
}

/* Decoding */

typedef struct P9Reader {
    uint8_t *start, *at, *end;
    uint32_t size;              /* of the message, payload included */
    int error;                  /* first one met; later reads give zeroes */
} P9Reader;

/* @n bytes that are certainly there, or NULL once something was wrong */
static uint8_t *p9_take(P9Reader *r, size_t n)
{
    uint8_t *p = r->at;

    if (r->error || n > r->end - r->at) {
        r->error = r->error ?: -EPROTO;
        return NULL;
    }
    r->at += n;
    return p;
}

static uint64_t p9_get_int(P9Reader *r, size_t bytes)
{
    uint8_t *p = p9_take(r, bytes);

    return p ? ldn_le_p(p, bytes) : 0;
}

static P9Qid p9_get_qid(P9Reader *r)
{
    uint8_t *p = p9_take(r, P9_QIDSZ);

    return p ? (P9Qid) { p[0], ldl_le_p(p + 1), ldq_le_p(p + 5) }
             : (P9Qid) { 0 };
}

/*
 * Strings are moved over their own length: that makes room for the NUL byte,
 * so that no string needs an allocation.
 */
static const char *p9_get_str(P9Reader *r, P9Kind kind)
{
    uint16_t len = p9_get_int(r, 2);
    char *from = (char *)p9_take(r, len);
    char *str;

    if (!from) {
        return "";
    }
    str = from - 2;
    memmove(str, from, len);
    str[len] = '\0';
    if (kind != P9_KIND_STR) {
        r->error = p9_check_name(kind, str, len);
    } else if (strlen(str) != len) {
        r->error = -EINVAL;
    }
    return str;
}

static uint16_t p9_get_count(P9Reader *r)
{
    uint16_t n = p9_get_int(r, 2);

    if (n > P9_MAXWELEM) {
        r->error = r->error ?: -EPROTO;
        return 0;
    }
    return n;
}

static void p9_get_data(P9Reader *r, P9Data *data)
{
    data->count = p9_get_int(r, 4);
    data->at = r->at - r->start;
    data->bytes = NULL;
    if (!r->error && data->count != r->size - data->at) {
        r->error = -EPROTO;
    }
}

static void p9_get_field(P9Reader *r, P9Kind kind, void *p);

/* A record with its own size before it, which is to be right */
static void p9_get_record(P9Reader *r, P9Stat *stat)
{
    uint16_t size = p9_get_int(r, 2);
    const uint8_t *start = r->at;

    for (int i = 0; i < ARRAY_SIZE(p9_stat_fields); i++) {
        p9_get_field(r, p9_stat_fields[i].kind,
                     (char *)stat + p9_stat_fields[i].offset);
    }
    if (!r->error && r->at - start != size) {
        r->error = -EPROTO;
    }
}

static void p9_get_sized_record(P9Reader *r, P9Kind kind, P9Stat *stat)
{
    uint16_t size = p9_get_int(r, 2);
    const uint8_t *start = r->at;

    p9_get_record(r, stat);
    if (!r->error && r->at - start != size) {
        r->error = -EPROTO;
    }
    if (!r->error && kind == P9_KIND_WSTAT) {
        r->error = p9_check_name(kind, stat->name, strlen(stat->name));
    }
}

static void p9_get_field(P9Reader *r, P9Kind kind, void *p)
{
    P9Names *names = p;
    P9Qids *qids = p;

    switch (kind) {
    case P9_KIND_U8:
        *(uint8_t *)p = p9_get_int(r, 1);
        break;
    case P9_KIND_U16:
        *(uint16_t *)p = p9_get_int(r, 2);
        break;
    case P9_KIND_OPT32:
        *(uint32_t *)p = r->at < r->end ? p9_get_int(r, 4) : 0;
        break;
    case P9_KIND_U32:
        *(uint32_t *)p = p9_get_int(r, 4);
        break;
    case P9_KIND_U64:
        *(uint64_t *)p = p9_get_int(r, 8);
        break;
    case P9_KIND_QID:
        *(P9Qid *)p = p9_get_qid(r);
        break;
    case P9_KIND_STR:
    case P9_KIND_NEWNAME:
    case P9_KIND_OLDNAME:
    case P9_KIND_RENNAME:
        *(const char **)p = p9_get_str(r, kind);
        break;
    case P9_KIND_NAMES:
        names->n = p9_get_count(r);
        for (int i = 0; i < names->n; i++) {
            names->name[i] = p9_get_str(r, kind);
        }
        break;
    case P9_KIND_QIDS:
        qids->n = p9_get_count(r);
        for (int i = 0; i < qids->n; i++) {
            qids->qid[i] = p9_get_qid(r);
        }
        break;
    case P9_KIND_STAT:
    case P9_KIND_WSTAT:
        p9_get_sized_record(r, kind, p);
        break;
    case P9_KIND_DATA:
        p9_get_data(r, p);
        break;
    }
}

int p9_decode(const P9Message *m, uint8_t *buf, uint32_t size, void *rec)
{
    uint32_t prefix = p9_prefix(m, size);
    P9Reader r = {
        .start = buf, .at = buf, .end = buf + prefix, .size = size,
    };

    p9_take(&r, P9_HDRSZ);
    for (int i = 0; i < m->nfields; i++) {
        p9_get_field(&r, m->fields[i].kind, (char *)rec + m->fields[i].offset);
    }
    if (!r.error && r.at != r.end) {
        return -EPROTO;
    }
    return r.error;
}

/* Encoding */

typedef struct P9Writer {
    uint8_t *start, *at, *end;
    uint32_t payload;           /* bytes that are counted but not written */
    bool full;
} P9Writer;

static uint8_t *p9_make(P9Writer *w, size_t n)
{
    uint8_t *p = w->at;

    if (w->full || n > w->end - w->at) {
        w->full = true;
        return NULL;
    }
    w->at += n;
    return p;
}

static void p9_put_int(P9Writer *w, size_t bytes, uint64_t value)
{
    uint8_t *p = p9_make(w, bytes);

    if (p) {
        stn_le_p(p, bytes, value);
    }
}

static void p9_put_bytes(P9Writer *w, const void *bytes, size_t n)
{
    uint8_t *p = p9_make(w, n);

    if (p && n) {
        memcpy(p, bytes, n);
    }
}

static void p9_put_str(P9Writer *w, const char *str)
{
    size_t len = str ? strlen(str) : 0;

    if (len > UINT16_MAX) {
        w->full = true;
        return;
    }
    p9_put_int(w, 2, len);
    p9_put_bytes(w, str, len);
}

static void p9_put_qid(P9Writer *w, const P9Qid *qid)
{
    p9_put_int(w, 1, qid->type);
    p9_put_int(w, 4, qid->version);
    p9_put_int(w, 8, qid->path);
}

static void p9_put_data(P9Writer *w, const P9Data *data)
{
    p9_put_int(w, 4, data->count);
    if (data->bytes) {
        p9_put_bytes(w, data->bytes, data->count);
    } else {
        w->payload = data->count;
    }
}

static void p9_put_field(P9Writer *w, P9Kind kind, const void *p);

static void p9_put_record(P9Writer *w, const P9Stat *stat)
{
    uint8_t *size = p9_make(w, 2);

    for (int i = 0; i < ARRAY_SIZE(p9_stat_fields); i++) {
        p9_put_field(w, p9_stat_fields[i].kind,
                     (const char *)stat + p9_stat_fields[i].offset);
    }
    if (!w->full && w->at - size - 2 > UINT16_MAX - 2) {
        w->full = true;
    } else if (!w->full) {
        stw_le_p(size, w->at - size - 2);
    }
}

static void p9_put_sized_record(P9Writer *w, const P9Stat *stat)
{
    uint8_t *size = p9_make(w, 2);

    p9_put_record(w, stat);
    if (!w->full) {
        stw_le_p(size, w->at - size - 2);
    }
}

static void p9_put_field(P9Writer *w, P9Kind kind, const void *p)
{
    const P9Names *names = p;
    const P9Qids *qids = p;

    switch (kind) {
    case P9_KIND_U8:
        p9_put_int(w, 1, *(const uint8_t *)p);
        break;
    case P9_KIND_U16:
        p9_put_int(w, 2, *(const uint16_t *)p);
        break;
    case P9_KIND_U32:
    case P9_KIND_OPT32:
        p9_put_int(w, 4, *(const uint32_t *)p);
        break;
    case P9_KIND_U64:
        p9_put_int(w, 8, *(const uint64_t *)p);
        break;
    case P9_KIND_QID:
        p9_put_qid(w, p);
        break;
    case P9_KIND_STR:
    case P9_KIND_NEWNAME:
    case P9_KIND_OLDNAME:
    case P9_KIND_RENNAME:
        p9_put_str(w, *(const char *const *)p);
        break;
    case P9_KIND_NAMES:
        p9_put_int(w, 2, names->n);
        for (int i = 0; i < MIN(names->n, P9_MAXWELEM); i++) {
            p9_put_str(w, names->name[i]);
        }
        break;
    case P9_KIND_QIDS:
        p9_put_int(w, 2, qids->n);
        for (int i = 0; i < MIN(qids->n, P9_MAXWELEM); i++) {
            p9_put_qid(w, &qids->qid[i]);
        }
        break;
    case P9_KIND_STAT:
    case P9_KIND_WSTAT:
        p9_put_sized_record(w, p);
        break;
    case P9_KIND_DATA:
        p9_put_data(w, p);
        break;
    }
}

ssize_t p9_encode(uint8_t type, uint16_t tag, const void *rec,
                  uint8_t *buf, size_t room)
{
    const P9Message *m = p9_message(type);
    P9Writer w = { .start = buf, .at = buf, .end = buf + room };
    uint8_t *header = p9_make(&w, P9_HDRSZ);
    size_t size;

    for (int i = 0; i < m->nfields; i++) {
        p9_put_field(&w, m->fields[i].kind,
                     (const char *)rec + m->fields[i].offset);
    }
    if (w.full) {
        return -EMSGSIZE;
    }
    size = w.at - w.start + w.payload;
    p9_put_header(header, (P9Header) { size, type, tag });
    return size;
}

/* Printing */

static void p9_print_names(GString *out, const P9Names *names)
{
    for (int i = 0; i < names->n; i++) {
        g_string_append_printf(out, "%s'%s'", i ? "," : "", names->name[i]);
    }
}

static void p9_print_qid(GString *out, const P9Qid *qid)
{
    g_string_append_printf(out, "%02x.%x.%" PRIx64, qid->type, qid->version,
                           qid->path);
}

static void p9_print_fields(GString *out, const P9Field *fields, unsigned n,
                            const void *rec);

static void p9_print_field(GString *out, P9Kind kind, const void *p)
{
    const P9Qids *qids = p;

    switch (kind) {
    case P9_KIND_U8:
        g_string_append_printf(out, "%u", *(const uint8_t *)p);
        break;
    case P9_KIND_U16:
        g_string_append_printf(out, "%u", *(const uint16_t *)p);
        break;
    case P9_KIND_U32:
    case P9_KIND_OPT32:
        g_string_append_printf(out, "%u", *(const uint32_t *)p);
        break;
    case P9_KIND_U64:
        g_string_append_printf(out, "%" PRIu64, *(const uint64_t *)p);
        break;
    case P9_KIND_QID:
        p9_print_qid(out, p);
        break;
    case P9_KIND_STR:
    case P9_KIND_NEWNAME:
    case P9_KIND_OLDNAME:
    case P9_KIND_RENNAME:
        g_string_append_printf(out, "'%s'", *(const char *const *)p);
        break;
    case P9_KIND_NAMES:
        p9_print_names(out, p);
        break;
    case P9_KIND_QIDS:
        for (int i = 0; i < qids->n; i++) {
            g_string_append(out, i ? "," : "");
            p9_print_qid(out, &qids->qid[i]);
        }
        break;
    case P9_KIND_STAT:
    case P9_KIND_WSTAT:
        g_string_append_c(out, '{');
        p9_print_fields(out, p9_stat_fields, ARRAY_SIZE(p9_stat_fields), p);
        g_string_append_c(out, '}');
        break;
    case P9_KIND_DATA:
        g_string_append_printf(out, "%u bytes", ((const P9Data *)p)->count);
        break;
    }
}

static void p9_print_fields(GString *out, const P9Field *fields, unsigned n,
                            const void *rec)
{
    for (int i = 0; i < n; i++) {
        g_string_append_printf(out, "%s%s=", i ? " " : "", fields[i].name);
        p9_print_field(out, fields[i].kind,
                       (const char *)rec + fields[i].offset);
    }
}

void p9_format(uint8_t type, const void *rec, char *text, size_t room)
{
    const P9Message *m = p9_message(type);
    g_autoptr(GString) out = g_string_new(NULL);

    if (m) {
        p9_print_fields(out, m->fields, m->nfields, rec);
    }
    g_strlcpy(text, out->str, room);
}

/* Directory entries */

size_t p9_put_stat(uint8_t *buf, size_t room, const P9Stat *stat)
{
    P9Writer w = { .start = buf, .at = buf, .end = buf + room };

    p9_put_record(&w, stat);
    return w.full ? 0 : w.at - w.start;
}

size_t p9_get_stat(uint8_t *buf, size_t size, P9Stat *stat)
{
    P9Reader r = { .start = buf, .at = buf, .end = buf + size, .size = size };

    p9_get_record(&r, stat);
    return r.error ? 0 : r.at - r.start;
}

size_t p9_put_dirent(uint8_t *buf, size_t room, const P9Dirent *ent)
{
    size_t size = P9_DIRENT_HDRSZ + ent->namelen;

    if (size > room) {
        return 0;
    }
    buf[0] = ent->qid.type;
    stl_le_p(buf + 1, ent->qid.version);
    stq_le_p(buf + 5, ent->qid.path);
    stq_le_p(buf + 13, ent->offset);
    buf[21] = ent->type;
    stw_le_p(buf + 22, ent->namelen);
    memcpy(buf + P9_DIRENT_HDRSZ, ent->name, ent->namelen);
    return size;
}

size_t p9_get_dirent(const uint8_t *buf, size_t size, P9Dirent *ent)
{
    if (size < P9_DIRENT_HDRSZ) {
        return 0;
    }
    ent->qid = (P9Qid) { buf[0], ldl_le_p(buf + 1), ldq_le_p(buf + 5) };
    ent->offset = ldq_le_p(buf + 13);
    ent->type = buf[21];
    ent->namelen = lduw_le_p(buf + 22);
    ent->name = (const char *)buf + P9_DIRENT_HDRSZ;
    if (ent->namelen > size - P9_DIRENT_HDRSZ) {
        return 0;
    }
    return P9_DIRENT_HDRSZ + ent->namelen;
}
