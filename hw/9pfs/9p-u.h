/*
 * 9P2000.u: its modes and stat records, and Linux's
 *
 * What the dialect says of a file, from what a driver says of it.  Any
 * thread.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_9P_U_H
#define QEMU_9P_U_H

#include "hw/9pfs/9p-qid.h"

/* The strings of a stat record */
typedef struct V9fsUText {
    char extension[PATH_MAX];   /* a symbolic link's target, see below */
    char name[P9_NAME_MAX + 1];
    char uid[11], gid[11];
} V9fsUText;

/* Bytes of the largest stat record made of it */
#define V9FS_U_RECORD_MAX (P9_STAT_HDRSZ + sizeof(V9fsUText))

/**
 * v9fs_u_mode: type and permissions as 9P2000.u has them
 */
uint32_t v9fs_u_mode(uint32_t mode);

/**
 * v9fs_u_unix_mode: the other way round
 * @perm: of Tcreate, or the mode of a stat record
 * @extension: of a device, says which kind
 *
 * Returns 0; -EINVAL if it is of more than one type; -EOPNOTSUPP for bits
 * that no file here can have.  Hard links have no type of their own.
 */
int v9fs_u_unix_mode(uint32_t perm, const char *extension, uint32_t *mode);

/**
 * v9fs_u_rdev: the device that an extension ("b 8 1") means
 *
 * Returns 0 or -EINVAL.
 */
int v9fs_u_rdev(const char *extension, uint64_t *rdev);

/**
 * v9fs_u_stat: the stat record of a file
 * @text: has the name, and the target if it is a symbolic link; the rest is
 *        filled in, and @rec points into it
 *
 * Returns as v9fs_qid().
 */
int v9fs_u_stat(V9fsQidMap *qids, const V9fsStat *st, V9fsUText *text,
                P9Stat *rec);

#endif
