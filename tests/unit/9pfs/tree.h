/*
 * Directories of the host for tests to share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_UNIT_9PFS_TREE_H
#define TESTS_UNIT_9PFS_TREE_H

#include "memory-transport.h"

typedef struct Tree {
    char *path;
} Tree;

/**
 * tree_new: an empty directory, removed with all it holds by tree_free()
 */
Tree *tree_new(void);
void tree_free(Tree *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tree, tree_free)

/**
 * tree_serve: a session on it, security model none, fid 0 at its root
 */
MemSession *tree_serve(Tree *t);
MemSession *tree_serve_as(Tree *t, V9fsModel model);

/* Security models by name, for tests of all of them; ends with a NULL name */
typedef struct TreeModel {
    const char *name;
    V9fsModel model;
} TreeModel;
extern const TreeModel tree_models[];

/**
 * tree_model_lacks: why a model cannot be tested here, or NULL if it can
 */
const char *tree_model_lacks(V9fsModel model);

/* What the host does; @path is relative.  They abort if it fails. */
char *tree_path(Tree *t, const char *path);
void tree_write(Tree *t, const char *path, const char *text);
void tree_mkdir(Tree *t, const char *path);
/* With all that is in it */
void tree_remove(Tree *t, const char *path);
bool tree_exists(Tree *t, const char *path);
/* Attributes, not following a symbolic link */
struct stat tree_stat(Tree *t, const char *path);
/* What is in a file; to be freed */
char *tree_read(Tree *t, const char *path);
/*
 * Whether this process may mount, and what it mounts goes with it.  Before
 * mem_init(), since there must be one thread only.
 */
bool tree_own_mounts(void);
void tree_rename(Tree *t, const char *from, const char *to);

/**
 * tree_snapshot: all that is below, as text: names, what they are, contents
 *
 * Equal for two trees that a guest could not tell apart but for times and
 * inode numbers.  To be freed.
 */
char *tree_snapshot(Tree *t);

#endif
