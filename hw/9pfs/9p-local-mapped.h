/*
 * Local driver: what the mapped security models share
 *
 * In them the host's objects belong to whoever runs QEMU, and what the guest
 * has set of owner, mode and device number ("credentials") is kept beside
 * them.  9p-local-mapped.c has all that does not depend on where that is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_9PFS_9P_LOCAL_MAPPED_H
#define HW_9PFS_9P_LOCAL_MAPPED_H

#include "9p-local.h"

enum {
    LOCAL_CREDS_UID,
    LOCAL_CREDS_GID,
    LOCAL_CREDS_MODE,           /* type and permissions */
    LOCAL_CREDS_RDEV,
    LOCAL_CREDS_N
};

/* What the guest has set of an object; the rest is as the host has it */
struct LocalCreds {
    unsigned has;               /* bit n: value[n] is set */
    uint64_t value[LOCAL_CREDS_N];
};

static inline bool local_creds_has(const LocalCreds *c, unsigned n)
{
    return c->has & (1u << n);
}

static inline void local_creds_put(LocalCreds *c, unsigned n, uint64_t value)
{
    c->has |= 1u << n;
    c->value[n] = value;
}

/* Sets in @creds what is in @more */
void local_creds_merge(LocalCreds *creds, const LocalCreds *more);

/**
 * local_creds_gives_suid: whether setting these makes a file setuid or setgid
 */
bool local_creds_gives_suid(const LocalCreds *c);

/**
 * local_creds_drop_suid: the part of LocalModel.drop_suid that decides
 * @creds: those of @obj, which is open as @fd
 */
int local_creds_drop_suid(const V9fsCtx *cx, const V9fsObject *obj, int fd,
                          const LocalCreds *creds);

/* LocalModel functions */
int local_mapped_stat_fix(const V9fsCtx *cx, const V9fsObject *obj,
                          const LocalAt *at, V9fsStat *st);
int local_mapped_setattr(const V9fsCtx *cx, const V9fsObject *obj,
                         const LocalAt *at, const V9fsSetattr *attr);
ssize_t local_mapped_readlink(const V9fsCtx *cx, const V9fsObject *obj,
                              const LocalAt *at, char *buf, size_t size);
uint32_t local_mapped_new_mode(const V9fsCtx *cx, const V9fsNew *new);
int local_mapped_make(const V9fsCtx *cx, const V9fsHandle *dir,
                      const V9fsNew *new);
int local_mapped_made(const V9fsCtx *cx, const V9fsHandle *dir,
                      const LocalAt *at, const V9fsNew *new, V9fsStat *st);
const char *local_mapped_xattr_host(const char *name,
                                    char buf[LOCAL_XATTR_NAME_SIZE]);
const char *local_mapped_xattr_guest(const char *name);

#define LOCAL_MAPPED_MODEL \
    .hides_types = true, \
    .setattr = local_mapped_setattr, \
    .readlink = local_mapped_readlink, \
    .new_mode = local_mapped_new_mode, \
    .make = local_mapped_make, \
    .made = local_mapped_made, \
    .xattr_host = local_mapped_xattr_host, \
    .xattr_guest = local_mapped_xattr_guest

#endif
