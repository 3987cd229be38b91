/*
 * Nodes: names in directories that fids stand for
 *
 * A node is (parent node, name).  All fids of one name share it, so a rename
 * moves one node and with it every fid at or below it.  A name that the guest
 * removes takes its node out of the tree; the node then lives by a handle to
 * what the name was ("detached").  Directories are reached through handles in
 * a cache with a bound; whoever needs one that is not there resolves it from
 * the nearest ancestor that has one.
 *
 * Server's thread only.  Locks, in this order:
 *
 *   s->tree_lock   read: a work item walks more than one name
 *                  write: a directory is renamed or removed
 *   node->names    read: a work item uses a name in this directory
 *                  write: it removes or replaces one
 *   (of two nodes' the one at the lower address first)
 *
 * They are held from before a work item's handles and names are gathered
 * until its result is entered here, so that no name is used after the guest
 * has given it to another file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_9P_NODE_H
#define QEMU_9P_NODE_H

#include "hw/9pfs/9p.h"

struct V9fsNode {
    V9fsNode *parent;           /* NULL: the root */
    char *name;
    unsigned refs;              /* fids, children, requests, cached handle */
    bool in_tree;               /* found by its name */
    bool detached;              /* has no name any more */
    uint8_t qid_type;           /* as last seen */
    unsigned changes;           /* how often a name in it came or went */
    V9fsHandle *handle;         /* cached, or what a detached node was */
    CoRwlock names;
    QLIST_HEAD(, V9fsNode) children;
    QLIST_ENTRY(V9fsNode) sibling;
};

void v9fs_nodes_init(V9fsState *s);

/**
 * v9fs_nodes_destroy: free the table; no fids and no requests are left
 */
void v9fs_nodes_destroy(V9fsState *s);

V9fsNode *v9fs_node_ref(V9fsNode *node);
void v9fs_node_unref(V9fsState *s, V9fsNode *node);

/**
 * v9fs_node_find: the node of a name, without a new reference, or NULL
 */
V9fsNode *v9fs_node_find(V9fsState *s, V9fsNode *dir, const char *name);

/**
 * v9fs_node_get: the node of a name, made if there is none, with a reference
 */
V9fsNode *v9fs_node_get(V9fsState *s, V9fsNode *dir, const char *name);

/**
 * v9fs_node_in_use: whether someone stands on it or below
 *
 * If not, only its cached handle keeps it.
 */
bool v9fs_node_in_use(const V9fsNode *node);

/**
 * v9fs_node_seen: a look at the host found @st under the node's name
 *
 * Forgets handles below if that is another directory than before.
 */
void v9fs_node_seen(V9fsState *s, V9fsNode *node, const V9fsStat *st);

/**
 * v9fs_node_detach: the guest removed the node's name
 * @pin: handle to what it was, which is taken over; NULL if nobody uses it
 */
void v9fs_node_detach(V9fsState *s, V9fsNode *node, V9fsHandle *pin);

/**
 * v9fs_node_displace: the guest gave the node's name to another node
 *
 * For a node whose name was nothing's: it stands for the name as before, but
 * is not found by it, since the other one is.
 */
void v9fs_node_displace(V9fsState *s, V9fsNode *node);

/**
 * v9fs_node_move: the guest gave the node another name
 *
 * A node that had that name must have been detached or displaced before.
 */
void v9fs_node_move(V9fsState *s, V9fsNode *node, V9fsNode *dir,
                    const char *name);

/* Handles */

V9fsHandle *v9fs_handle_ref(V9fsHandle *h);

/**
 * v9fs_handle_unref: drop a reference, and close the handle with the last one
 *
 * A worker closes pinned ones: what they are may have no name any more, and
 * freeing a large file takes time.
 */
void v9fs_handle_unref(V9fsState *s, V9fsHandle *h);

/**
 * v9fs_handles_retire: have a worker close what is unwanted
 *
 * While s->closing is set it is at it.
 */
void v9fs_handles_retire(V9fsState *s);

/**
 * v9fs_node_cache: keep a handle for a directory
 *
 * Takes over the reference.  The coldest handle goes if there are too many.
 */
void v9fs_node_cache(V9fsState *s, V9fsNode *node, V9fsHandle *h);

/**
 * v9fs_node_uncache: forget the cached handle of a node, if it has one
 */
void v9fs_node_uncache(V9fsState *s, V9fsNode *node);

/**
 * v9fs_node_touch: the node's cached handle is in use
 */
void v9fs_node_touch(V9fsState *s, V9fsNode *node);

/**
 * v9fs_handles_shrink: forget cached handles until at most @keep are left
 *
 * Returns how many went.
 */
unsigned v9fs_handles_shrink(V9fsState *s, unsigned keep);

/**
 * v9fs_handles_close: close all unwanted handles in this thread
 */
void v9fs_handles_close(V9fsState *s);

#endif
