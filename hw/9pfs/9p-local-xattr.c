/*
 * Local driver: extended attributes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <sys/xattr.h>
#include "qemu/units.h"
#include "9p-local.h"

/* Most bytes of names that Linux gives for an object */
#define LOCAL_XATTR_LIST_SIZE (64 * KiB)

/*
 * What belongs to the guest: security.* and trusted.* mean something to the
 * host itself.
 */
const char *local_plain_xattr_guest(const char *name)
{
    if (g_str_has_prefix(name, "user.") ||
        g_str_equal(name, "system.posix_acl_access") ||
        g_str_equal(name, "system.posix_acl_default")) {
        return name;
    }
    return NULL;
}

const char *local_plain_xattr_host(const char *name,
                                   char buf[LOCAL_XATTR_NAME_SIZE])
{
    return local_plain_xattr_guest(name);
}

const char *local_all_xattr_guest(const char *name)
{
    return g_str_has_prefix(name, "security.") ||
           g_str_has_prefix(name, "trusted.") ? name :
           local_plain_xattr_guest(name);
}

const char *local_all_xattr_host(const char *name,
                                 char buf[LOCAL_XATTR_NAME_SIZE])
{
    return local_all_xattr_guest(name);
}

/*
 * An object and the host's name of one of its attributes
 *
 * -EOPNOTSUPP for one that the guest may not have, as of a file system that
 * knows no such attributes.  -ENODATA would have programs ask again for each
 * file: of security.capability, before each write, the Linux client's kernel
 * takes either for "none"; but ls and cp, of what they read "not supported"
 * for, do not ask again.
 */
static int local_xattr_at(const V9fsCtx *cx, const V9fsObject *obj,
                          const char *name, LocalAt *at,
                          char buf[LOCAL_XATTR_NAME_SIZE], const char **host)
{
    if (local_may_not_wait(cx)) {
        return -EAGAIN;
    }
    *host = local_of(cx)->model->xattr_host(name, buf);
    return *host ? local_at(cx, obj, at) : -EOPNOTSUPP;
}

ssize_t local_getxattr(const V9fsCtx *cx, const V9fsObject *obj,
                       const char *name, void *value, size_t size)
{
    char buf[LOCAL_XATTR_NAME_SIZE];
    const char *host = local_of(cx)->model->xattr_host(name, buf);
    LocalFound found;
    ssize_t ret;

    if (!host) {
        return -EOPNOTSUPP;
    }
    ret = local_find(cx, obj, LOCAL_NOWAIT_CACHED, &found);
    if (ret == 0) {
        ret = local_os_getxattr(&found.at, host, value, size);
        local_lose(&found);
    }
    return ret;
}

/* Appends the guest's names among the host's; returns the bytes used */
static size_t local_filter_xattrs(const LocalModel *model, const char *host,
                                  size_t hostsize, char *list, size_t room)
{
    const char *end = host + hostsize;
    const char *name;
    size_t used = 0;
    size_t len;

    for (; host < end; host += strlen(host) + 1) {
        name = model->xattr_guest(host);
        if (!name) {
            continue;
        }
        len = strlen(name) + 1;
        if (used + len <= room) {
            memcpy(list + used, name, len);
        }
        used += len;
    }
    return used;
}

ssize_t local_listxattr(const V9fsCtx *cx, const V9fsObject *obj,
                        char *list, size_t size)
{
    g_autofree char *host = NULL;
    LocalFound found;
    size_t used;
    ssize_t ret = local_find(cx, obj, LOCAL_NOWAIT_CACHED, &found);

    if (ret < 0) {
        return ret;
    }
    host = g_malloc(LOCAL_XATTR_LIST_SIZE);
    ret = local_os_listxattr(&found.at, host, LOCAL_XATTR_LIST_SIZE);
    local_lose(&found);
    if (ret < 0) {
        return ret;
    }
    used = local_filter_xattrs(local_of(cx)->model, host, ret, list, size);
    return size > 0 && used > size ? -ERANGE : used;
}

int local_setxattr(const V9fsCtx *cx, const V9fsObject *obj,
                   const char *name, const void *value, size_t size,
                   int flags)
{
    int host_flags = (flags & P9_XATTR_CREATE ? XATTR_CREATE : 0) |
                     (flags & P9_XATTR_REPLACE ? XATTR_REPLACE : 0);
    char buf[LOCAL_XATTR_NAME_SIZE];
    const char *host;
    LocalAt at;
    int ret = local_xattr_at(cx, obj, name, &at, buf, &host);

    return ret < 0 ? ret : local_os_setxattr(&at, host, value, size,
                                             host_flags);
}

int local_removexattr(const V9fsCtx *cx, const V9fsObject *obj,
                      const char *name)
{
    char buf[LOCAL_XATTR_NAME_SIZE];
    const char *host;
    LocalAt at;
    int ret = local_xattr_at(cx, obj, name, &at, buf, &host);

    return ret < 0 ? ret : local_os_removexattr(&at, host);
}
