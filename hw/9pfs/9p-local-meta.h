/*
 * Local driver: the metadata files of security model mapped-file
 *
 * DIR/.virtfs_metadata/NAME holds the credentials of DIR/NAME in lines of
 * text, ".virtfs_metadata_root" in the export's root those of the root.  What
 * is no regular file there is no metadata file, and nothing follows it.
 *
 * A file is written in place with one call, so that names of one object, which
 * are links to one metadata file too, keep sharing it; and so that a
 * descriptor of it stays good whatever becomes of the names.
 *
 * May be called in any thread; functions return 0 or a negative errno.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_9PFS_9P_LOCAL_META_H
#define HW_9PFS_9P_LOCAL_META_H

#include "9p-local-kept.h"

#define LOCAL_META_DIR  ".virtfs_metadata"
#define LOCAL_META_ROOT ".virtfs_metadata_root"

/**
 * local_meta_hidden: whether a name is of the metadata
 */
bool local_meta_hidden(const char *name, size_t len);

/**
 * local_meta_dir: open a directory's own directory of metadata
 * @make: make it if there is none
 *
 * Returns a handle; -ENOENT if there is none.
 */
int local_meta_dir(const V9fsHandle *dir, bool make);

/**
 * local_meta_has_dir: whether a directory has one
 * @obj, @at: the directory, as in LocalModel
 *
 * Returns 1 or 0.
 */
int local_meta_has_dir(const V9fsCtx *cx, const V9fsObject *obj,
                       const LocalAt *at);

/**
 * local_meta_remove_dir: remove it, if it is empty
 */
void local_meta_remove_dir(const V9fsHandle *dir);

/* Where an object's metadata are: in a file, or kept, or not known */
typedef struct LocalMetaPlace {
    const V9fsHandle *dir;
    const char *name;           /* NULL: @dir is the export's root itself */
    LocalKept *kept;            /* if @dir is NULL */
} LocalMetaPlace;

/**
 * local_meta_find: where an object's metadata are
 *
 * A name that has become another object's is not an open file's any more.
 */
int local_meta_find(const V9fsCtx *cx, const V9fsObject *obj,
                    LocalMetaPlace *p);

/**
 * local_meta_get: read what is kept of an object, if anything
 */
int local_meta_get(const V9fsCtx *cx, const V9fsObject *obj,
                   LocalCreds *creds);

/**
 * local_meta_set: set some of an object's, and leave the others
 */
int local_meta_set(const V9fsCtx *cx, const V9fsObject *obj,
                   const LocalCreds *creds);

/**
 * local_meta_make: make the metadata file of a name
 * @replace: in place of the one that is there, whose object is none any more;
 *           else that is -EEXIST
 */
int local_meta_make(const V9fsHandle *dir, const char *name,
                    const LocalCreds *creds, bool replace);

/* LocalModel functions */
void local_meta_keep_file(V9fsFile *file, const V9fsStat *st);
int local_meta_keep(const V9fsCtx *cx, const V9fsHandle *dir,
                    const char *name, V9fsHandle *h);
void local_meta_unkeep(void *kept);

#endif
