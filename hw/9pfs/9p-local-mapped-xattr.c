/*
 * Local driver: security model mapped-xattr
 *
 * The guest's owner, mode and device number of a file are kept in extended
 * attributes of the host's file, all little-endian: user.virtfs.uid, .gid and
 * .mode (32 bits), user.virtfs.rdev (64 bits).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "9p-local-mapped.h"

static const struct {
    const char *name;
    size_t size;
} xattr_fields[LOCAL_CREDS_N] = {
    [LOCAL_CREDS_MODE] = { "user.virtfs.mode", 4 },
    [LOCAL_CREDS_RDEV] = { "user.virtfs.rdev", 8 },
    [LOCAL_CREDS_UID] = { "user.virtfs.uid", 4 },
    [LOCAL_CREDS_GID] = { "user.virtfs.gid", 4 },
};

/* Adds one to @creds, if there is one */
static int xattr_get(const LocalAt *at, unsigned n, LocalCreds *creds)
{
    size_t size = xattr_fields[n].size;
    uint8_t buf[8];
    ssize_t ret = local_os_getxattr(at, xattr_fields[n].name, buf, size);

    if (ret == size) {
        local_creds_put(creds, n, ldn_le_p(buf, size));
        return 0;
    }
    /* A file system without any has none; one of another size is no one's. */
    return ret >= 0 || ret == -ENODATA || ret == -EOPNOTSUPP ||
           ret == -ERANGE || ret == -EPERM ? 0 : ret;
}

static int xattr_set(const LocalAt *at, unsigned n, uint64_t value)
{
    size_t size = xattr_fields[n].size;
    uint8_t buf[8];

    stn_le_p(buf, size, value);
    return local_os_setxattr(at, xattr_fields[n].name, buf, size, 0);
}

static int xattr_get_creds(const V9fsCtx *cx, const V9fsObject *obj,
                           const LocalAt *at, const V9fsStat *host,
                           LocalCreds *creds)
{
    uint32_t mode;
    int ret;

    if (S_ISLNK(host->mode)) {
        return 0;       /* the host's: it can have no such attributes */
    }
    ret = xattr_get(at, LOCAL_CREDS_MODE, creds) ?:
          xattr_get(at, LOCAL_CREDS_UID, creds) ?:
          xattr_get(at, LOCAL_CREDS_GID, creds);
    mode = creds->value[LOCAL_CREDS_MODE];
    if (ret == 0 && (S_ISCHR(mode) || S_ISBLK(mode))) {
        ret = xattr_get(at, LOCAL_CREDS_RDEV, creds);
    }
    return ret;
}

static int xattr_init_creds(const V9fsCtx *cx, const V9fsObject *obj,
                            const LocalAt *at, const LocalCreds *creds)
{
    int ret = 0;

    for (unsigned n = 0; ret == 0 && n < LOCAL_CREDS_N; n++) {
        if (local_creds_has(creds, n)) {
            ret = xattr_set(at, n, creds->value[n]);
        }
    }
    return ret;
}

/* Makes those of @creds what they were */
static void xattr_undo(const LocalAt *at, const LocalCreds *creds,
                       const LocalCreds *old)
{
    for (unsigned n = 0; n < LOCAL_CREDS_N; n++) {
        if (local_creds_has(creds, n) && local_creds_has(old, n)) {
            xattr_set(at, n, old->value[n]);
        } else if (local_creds_has(creds, n)) {
            local_os_removexattr(at, xattr_fields[n].name);
        }
    }
}

static int xattr_set_creds(const V9fsCtx *cx, const V9fsObject *obj,
                           const LocalAt *at, const LocalCreds *creds)
{
    LocalCreds old = { 0 };
    int ret = 0;

    for (unsigned n = 0; ret == 0 && n < LOCAL_CREDS_N; n++) {
        if (local_creds_has(creds, n)) {
            ret = xattr_get(at, n, &old);
        }
    }
    if (ret == 0) {
        ret = xattr_init_creds(cx, obj, at, creds);
        if (ret < 0) {
            xattr_undo(at, creds, &old);
        }
    }
    return ret;
}

static int xattr_drop_suid(const V9fsCtx *cx, const V9fsObject *obj, int fd)
{
    LocalAt at = { .fd = fd, .opened = true };
    LocalCreds creds = { 0 };
    int ret = xattr_get(&at, LOCAL_CREDS_MODE, &creds);

    return ret < 0 ? ret : local_creds_drop_suid(cx, obj, fd, &creds);
}

const LocalModel local_mapped_xattr_model = {
    LOCAL_MAPPED_MODEL,
    .stat_fix = local_mapped_stat_fix,
    .hidden = local_plain_hidden,
    .drop_suid = xattr_drop_suid,
    .link = local_plain_link,
    .unlink = local_plain_unlink,
    .rename = local_plain_rename,
    .keep_file = local_plain_keep_file,
    .keep = local_plain_keep,
    .get_creds = xattr_get_creds,
    .set_creds = xattr_set_creds,
    .init_creds = xattr_init_creds,
};
