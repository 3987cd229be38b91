/*
 * Shares with a mapped security model, for tests
 *
 * What a mapped model keeps on the host, written and read here as programs
 * other than the server would: byte by byte.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_9PFS_MAPPED_H
#define TESTS_UNIT_9PFS_MAPPED_H

#include "client.h"
#include "tree.h"

/* Fid of the root for a guest's user and his group */
#define USER_FID    1000
#define USER        70
#define GROUP       71
/* Permissions of files and directories on the host */
#define HOST_FILE   0640
#define HOST_DIR    0750

typedef struct Share {
    Tree *t;
    MemSession *m;
    V9fsModel model;
} Share;

Share *share_new(V9fsModel model);
/* Of a tree that is there; it becomes the share's */
Share *share_of(Tree *t, V9fsModel model);
void share_free(Share *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Share, share_free)
/* Another server for the same directory: all that was in memory is gone */
void share_restart(Share *s);

/**
 * kept: what the host keeps of an object, as "uid gid mode rdev"
 *
 * The mode is octal, what is not kept "-".  Fails the test if it is in another
 * form than existing shares have it.
 */
const char *kept(Share *s, const char *path);
/* Writes it, in the same words */
void keep(Share *s, const char *path, const char *words);

/* Path of the metadata file of an object, model mapped-file; to be freed */
char *meta_path(const char *path);

/* Fails the test unless the guest sees that: @mode with the type */
void expect_seen(Share *s, uint32_t fid, uint32_t mode, uint32_t uid,
                 uint32_t gid);
/* The same of a path */
void expect_seen_at(Share *s, const char *path, uint32_t mode, uint32_t uid,
                    uint32_t gid);

/* Requests on a path, by way of a fid of their own */
int chmod_path(Share *s, const char *path, uint32_t mode);
int chown_path(Share *s, const char *path, uint32_t uid, uint32_t gid);
/* Makes a file as USER; @fid then is the open file */
int create(Share *s, uint32_t fid, const char *dir, const char *name,
           uint32_t mode);
/* Names in a directory but "." and "..", sorted, each with a blank behind */
char *names_in(Share *s, const char *dir);

#endif
