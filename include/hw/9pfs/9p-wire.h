/*
 * 9P messages as C structs, and the way between those and bytes
 *
 * Everything here is made from the lists in 9p-messages.h.  It knows bytes
 * and nothing of fids, files or transports, so the server, the test client,
 * fuzzers and benchmarks share it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_9PFS_9P_WIRE_H
#define HW_9PFS_9P_WIRE_H

#include "hw/9pfs/9p-proto.h"
#include "hw/9pfs/9p-messages.h"

/* Server's identity of a file */
typedef struct P9Qid {
    uint8_t type;               /* P9_QT* */
    uint32_t version;
    uint64_t path;
} P9Qid;

typedef struct P9Names {
    uint16_t n;
    const char *name[P9_MAXWELEM];
} P9Names;

typedef struct P9Qids {
    uint16_t n;
    P9Qid qid[P9_MAXWELEM];
} P9Qids;

/*
 * Payload at the end of a message.  The server moves payloads between host
 * file and guest pages itself, so decoding only tells where it is; encoding
 * copies @bytes when it is set and otherwise only counts.
 */
typedef struct P9Data {
    uint32_t count;             /* bytes */
    uint32_t at;                /* where it begins in the message */
    const void *bytes;
} P9Data;

/*
 * Kinds of fields.  Integers are little-endian.  Strings are length[2] and
 * bytes, and become NUL-terminated; the name kinds are strings with the rules
 * of one component of a path, see p9_name_rules in 9p-wire.c.
 */
typedef enum P9Kind {
    P9_KIND_U8,
    P9_KIND_U16,
    P9_KIND_U32,
    P9_KIND_OPT32,      /* u32 that an older client leaves out; then 0 */
    P9_KIND_U64,
    P9_KIND_QID,
    P9_KIND_STR,        /* any string */
    P9_KIND_NEWNAME,    /* name of an object to be made */
    P9_KIND_OLDNAME,    /* name to be removed */
    P9_KIND_RENNAME,    /* either name of a rename */
    P9_KIND_NAMES,      /* count[2] and names to walk; ".." is allowed */
    P9_KIND_QIDS,       /* count[2] and qids */
    P9_KIND_STAT,       /* size[2] and a stat record */
    P9_KIND_WSTAT,      /* the same; its name is one to be given, or empty */
    P9_KIND_DATA,       /* count[4] and bytes, last in its message */
} P9Kind;

#define P9_CTYPE_U8      uint8_t
#define P9_CTYPE_U16     uint16_t
#define P9_CTYPE_U32     uint32_t
#define P9_CTYPE_OPT32   uint32_t
#define P9_CTYPE_U64     uint64_t
#define P9_CTYPE_QID     P9Qid
#define P9_CTYPE_STR     const char *
#define P9_CTYPE_NEWNAME const char *
#define P9_CTYPE_OLDNAME const char *
#define P9_CTYPE_RENNAME const char *
#define P9_CTYPE_NAMES   P9Names
#define P9_CTYPE_QIDS    P9Qids
#define P9_CTYPE_STAT    P9Stat
#define P9_CTYPE_WSTAT   P9Stat
#define P9_CTYPE_DATA    P9Data

#define P9_MEMBER(kind, member) P9_CTYPE_##kind member;
/* A stat record */
typedef struct P9Stat { P9_STAT(P9_MEMBER) } P9Stat;

#define P9_STRUCTS(number, name) \
    typedef struct P9T##name { P9_T_##name(P9_MEMBER) } P9T##name; \
    typedef struct P9R##name { P9_R_##name(P9_MEMBER) } P9R##name;
P9_MESSAGES(P9_STRUCTS)
#undef P9_STRUCTS

#define P9_T_UNION(number, name) P9T##name name;
#define P9_R_UNION(number, name) P9R##name name;
/* Any request, any reply */
typedef union P9Request {
    P9_MESSAGES(P9_T_UNION)
} P9Request;
typedef union P9Reply {
    P9_MESSAGES(P9_R_UNION)
} P9Reply;
#undef P9_T_UNION
#undef P9_R_UNION
#undef P9_MEMBER

typedef struct P9Field {
    P9Kind kind;
    uint16_t offset;            /* in the struct */
    const char *name;
} P9Field;

typedef struct P9Message {
    const char *name;           /* "Twalk" */
    const P9Field *fields;
    unsigned nfields;
    uint32_t min_size;          /* of the smallest such message, bytes */
    unsigned dialects;          /* P9_DIALECT_*: where it belongs */
} P9Message;

typedef struct P9Header {
    uint32_t size;              /* of the whole message, bytes */
    uint8_t type;
    uint16_t tag;
} P9Header;

/**
 * p9_message: the description of a message type
 * @type: P9_T* or P9_R*
 *
 * Returns NULL for a number that is no message of this server.
 */
const P9Message *p9_message(uint8_t type);

/**
 * p9_header: take apart the first P9_HDRSZ bytes of a message
 */
P9Header p9_header(const uint8_t *buf);

/**
 * p9_put_header: write the first P9_HDRSZ bytes of a message
 */
void p9_put_header(uint8_t *buf, P9Header header);

/**
 * p9_prefix: how many bytes of a message must be in memory to decode it
 * @m: its description
 * @size: bytes in the whole message
 *
 * All of it, but for a payload at its end.
 */
uint32_t p9_prefix(const P9Message *m, uint32_t size);

/**
 * p9_decode: bytes into struct
 * @m: description of the message
 * @buf: p9_prefix() bytes of the message, header included.  Strings are
 *       terminated in place, so it is changed, and @rec points into it.
 * @size: bytes in the whole message
 * @rec: the struct that goes with @m
 *
 * Returns 0; -EPROTO if fields and bytes do not agree in number, or a count
 * is out of its bounds; for names what p9_name_rules says; -EINVAL for a
 * string with a NUL byte in it.
 */
int p9_decode(const P9Message *m, uint8_t *buf, uint32_t size, void *rec);

/**
 * p9_encode: struct into bytes
 * @type: P9_T* or P9_R*
 * @rec: the struct that goes with it
 * @buf: where to
 * @room: bytes in @buf; a payload without bytes of its own needs none
 *
 * Returns the size of the message, payload included, or -EMSGSIZE.
 */
ssize_t p9_encode(uint8_t type, uint16_t tag, const void *rec,
                  uint8_t *buf, size_t room);

/**
 * p9_format: struct into text for people
 * @text: where to; cut at @room bytes and always terminated
 */
void p9_format(uint8_t type, const void *rec, char *text, size_t room);

/**
 * p9_put_stat: encode a stat record, as directories are made of them
 *
 * Returns its size, or 0 if it does not fit into @room bytes.
 */
size_t p9_put_stat(uint8_t *buf, size_t room, const P9Stat *stat);

/**
 * p9_get_stat: decode a stat record
 * @buf: is changed, and @stat points into it
 *
 * Returns its size, or 0 if @size bytes do not begin with a good one.
 */
size_t p9_get_stat(uint8_t *buf, size_t size, P9Stat *stat);

/* One entry of a Rreaddir's payload */
typedef struct P9Dirent {
    P9Qid qid;
    uint64_t offset;            /* position behind it */
    uint8_t type;               /* DT_* */
    const char *name;
    uint16_t namelen;
} P9Dirent;

/**
 * p9_put_dirent: encode a directory entry
 * @buf: where to
 * @room: bytes in @buf
 *
 * Returns the entry's size, or 0 if it does not fit.
 */
size_t p9_put_dirent(uint8_t *buf, size_t room, const P9Dirent *ent);

/**
 * p9_get_dirent: decode a directory entry
 * @ent: its name points into @buf and is not terminated
 *
 * Returns the entry's size, or 0 if @size bytes hold no whole entry.
 */
size_t p9_get_dirent(const uint8_t *buf, size_t size, P9Dirent *ent);

#endif
