/*
 * Fuzz target: bytes that are decoded as a message
 *
 * An input is the message's type and what follows its header.  Whatever is
 * decoded can be printed, and encoded to the same bytes.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/9p-wire.h"
#include "fuzz.h"

typedef union Record {
    P9Request t;
    P9Reply r;
} Record;

/* In memory of exactly this size, so that a sanitizer sees what is beyond */
static uint8_t *message(const uint8_t *data, size_t size)
{
    uint8_t *bytes = g_malloc(P9_HDRSZ + size - 1);

    memcpy(bytes + P9_HDRSZ, data + 1, size - 1);
    p9_put_header(bytes, (P9Header) { P9_HDRSZ + size - 1, data[0], 7 });
    return bytes;
}

/* A client may leave out what is optional; it is always written. */
static void encode_again(uint8_t type, const Record *rec,
                         const uint8_t *bytes, size_t size)
{
    const P9Message *m = p9_message(type);
    g_autofree uint8_t *again = g_malloc(size + 4);
    ssize_t len = p9_encode(type, 7, rec, again, size + 4);

    if (type == P9_TFSYNC && len == size + 4) {
        return;
    }
    g_assert_cmpint(len, ==, size);
    g_assert_cmpint(memcmp(bytes, again, p9_prefix(m, size)), ==, 0);
}

static void try_message(const uint8_t *data, size_t size)
{
    const P9Message *m = p9_message(data[0]);
    g_autofree uint8_t *bytes = message(data, size);
    g_autofree uint8_t *copy = NULL;
    size_t len = P9_HDRSZ + size - 1;
    char text[300];
    Record rec;

    if (!m) {
        return;
    }
    copy = g_memdup2(bytes, p9_prefix(m, len));
    if (p9_decode(m, copy, len, &rec) == 0) {
        p9_format(data[0], &rec, text, sizeof(text));
        encode_again(data[0], &rec, bytes, len);
    }
}

/* Directories are no messages, but clients take them apart, too. */
static void try_entries(const uint8_t *data, size_t size)
{
    g_autofree uint8_t *bytes = g_memdup2(data, size);
    P9Dirent ent;
    P9Stat stat;
    size_t at, n;

    for (at = 0; (n = p9_get_dirent(bytes + at, size - at, &ent)); at += n) {
        g_assert_cmpuint(n, <=, size - at);
    }
    for (at = 0; (n = p9_get_stat(bytes + at, size - at, &stat)); at += n) {
        g_assert_cmpuint(n, <=, size - at);
        g_assert_cmpuint(strlen(stat.name) + strlen(stat.extension), <, n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size) {
        try_message(data, size);
        try_entries(data + 1, size - 1);
    }
    return 0;
}
