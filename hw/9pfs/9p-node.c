/*
 * Nodes: names in directories that fids stand for
 *
 * The table of nodes and the cache of directory handles.  No file-system
 * call is made here but for closing, and no request is known.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "block/thread-pool.h"
#include "hw/9pfs/9p-node.h"

static guint node_hash(gconstpointer p)
{
    const V9fsNode *node = p;

    return g_str_hash(node->name) ^ g_direct_hash(node->parent);
}

static gboolean node_equal(gconstpointer a, gconstpointer b)
{
    const V9fsNode *x = a, *y = b;

    return x->parent == y->parent && g_str_equal(x->name, y->name);
}

static V9fsNode *node_new(V9fsNode *parent, const char *name)
{
    V9fsNode *node = g_new0(V9fsNode, 1);

    node->parent = parent ? v9fs_node_ref(parent) : NULL;
    node->name = g_strdup(name);
    node->refs = 1;
    qemu_co_rwlock_init(&node->names);
    QLIST_INIT(&node->children);
    return node;
}

void v9fs_nodes_init(V9fsState *s)
{
    s->nodes = g_hash_table_new(node_hash, node_equal);
    s->root = node_new(NULL, "");
    s->root->qid_type = P9_QTDIR;
    s->root->handle = &s->fs.root;
    s->fs.root.refs = 1;
    QTAILQ_INIT(&s->lru);
    QTAILQ_INIT(&s->unwanted);
    qemu_co_rwlock_init(&s->tree_lock);
}

void v9fs_nodes_destroy(V9fsState *s)
{
    v9fs_handles_shrink(s, 0);
    v9fs_handles_close(s);
    assert(s->root->refs == 1 && !g_hash_table_size(s->nodes));
    s->root->handle = NULL;
    v9fs_node_unref(s, s->root);
    s->root = NULL;
    g_hash_table_unref(s->nodes);
}

V9fsNode *v9fs_node_ref(V9fsNode *node)
{
    node->refs++;
    return node;
}

static void node_leave_tree(V9fsState *s, V9fsNode *node)
{
    if (node->in_tree) {
        g_hash_table_remove(s->nodes, node);
        QLIST_REMOVE(node, sibling);
        node->in_tree = false;
    }
}

static void node_enter_tree(V9fsState *s, V9fsNode *node)
{
    g_hash_table_add(s->nodes, node);
    QLIST_INSERT_HEAD(&node->parent->children, node, sibling);
    node->in_tree = true;
}

void v9fs_node_unref(V9fsState *s, V9fsNode *node)
{
    while (node && --node->refs == 0) {
        V9fsNode *parent = node->parent;

        node_leave_tree(s, node);
        /* Only of a detached node: a cached handle holds a reference. */
        if (node->handle) {
            v9fs_handle_unref(s, node->handle);
        }
        g_free(node->name);
        g_free(node);
        node = parent;
    }
}

V9fsNode *v9fs_node_find(V9fsState *s, V9fsNode *dir, const char *name)
{
    V9fsNode key = { .parent = dir, .name = (char *)name };

    return g_hash_table_lookup(s->nodes, &key);
}

V9fsNode *v9fs_node_get(V9fsState *s, V9fsNode *dir, const char *name)
{
    V9fsNode *node = v9fs_node_find(s, dir, name);

    if (node) {
        return v9fs_node_ref(node);
    }
    node = node_new(dir, name);
    node_enter_tree(s, node);
    return node;
}

bool v9fs_node_in_use(const V9fsNode *node)
{
    return node->refs > (node->handle ? 1 : 0);
}

static V9fsNode *next_below(V9fsNode *node, const V9fsNode *top)
{
    V9fsNode *next = QLIST_FIRST(&node->children);

    for (; !next && node != top; node = node->parent) {
        next = QLIST_NEXT(node, sibling);
    }
    return next;
}

/* Not by recursion: there is no limit to how deep a guest makes directories. */
static void forget_subtree(V9fsState *s, V9fsNode *top)
{
    V9fsNode *node = v9fs_node_ref(top);

    while (node) {
        V9fsNode *next = next_below(node, top);

        if (next) {
            v9fs_node_ref(next);
        }
        v9fs_node_uncache(s, node);
        v9fs_node_unref(s, node);
        node = next;
    }
}

void v9fs_node_seen(V9fsState *s, V9fsNode *node, const V9fsStat *st)
{
    V9fsHandle *h = node->handle;

    node->qid_type = v9fs_qid_type(st->mode);
    if (h && !node->detached && node->parent &&
        (h->ino != st->ino || h->dev != st->dev)) {
        forget_subtree(s, node);
    }
}

void v9fs_node_detach(V9fsState *s, V9fsNode *node, V9fsHandle *pin)
{
    v9fs_node_ref(node);
    v9fs_node_uncache(s, node);
    node_leave_tree(s, node);
    node->detached = true;
    node->handle = pin;
    v9fs_node_unref(s, node);
}

void v9fs_node_displace(V9fsState *s, V9fsNode *node)
{
    v9fs_node_ref(node);
    v9fs_node_uncache(s, node);
    node_leave_tree(s, node);
    v9fs_node_unref(s, node);
}

void v9fs_node_move(V9fsState *s, V9fsNode *node, V9fsNode *dir,
                    const char *name)
{
    V9fsNode *old = node->parent;

    node_leave_tree(s, node);
    g_free(node->name);
    node->name = g_strdup(name);
    node->parent = v9fs_node_ref(dir);
    v9fs_node_unref(s, old);
    node_enter_tree(s, node);
}

V9fsHandle *v9fs_handle_ref(V9fsHandle *h)
{
    h->refs++;
    return h;
}

/* Handles on their way to be closed by a worker */
typedef struct CloseBatch {
    V9fsState *s;
    QTAILQ_HEAD(, V9fsHandle) handles;
} CloseBatch;

static int close_batch(void *opaque)
{
    CloseBatch *batch = opaque;
    V9fsHandle *h;

    QTAILQ_FOREACH(h, &batch->handles, lru) {
        batch->s->fs.ops->close_handle(&batch->s->fs, h);
    }
    return 0;
}

static void close_batch_done(void *opaque, int ret)
{
    CloseBatch *batch = opaque;
    V9fsHandle *h, *next;

    QTAILQ_FOREACH_SAFE(h, &batch->handles, lru, next) {
        g_free(h);
    }
    batch->s->closing--;
    if (!batch->s->closing && !QTAILQ_EMPTY(&batch->s->unwanted)) {
        v9fs_handles_retire(batch->s);
    }
    g_free(batch);
}

void v9fs_handles_retire(V9fsState *s)
{
    CloseBatch *batch;
    V9fsHandle *h;

    if (s->closing || QTAILQ_EMPTY(&s->unwanted)) {
        return;
    }
    batch = g_new0(CloseBatch, 1);
    batch->s = s;
    QTAILQ_INIT(&batch->handles);
    while ((h = QTAILQ_FIRST(&s->unwanted))) {
        QTAILQ_REMOVE(&s->unwanted, h, lru);
        QTAILQ_INSERT_TAIL(&batch->handles, h, lru);
    }
    s->closing++;
    thread_pool_submit_aio(close_batch, batch, close_batch_done, batch);
}

void v9fs_handles_close(V9fsState *s)
{
    V9fsHandle *h, *next;

    QTAILQ_FOREACH_SAFE(h, &s->unwanted, lru, next) {
        QTAILQ_REMOVE(&s->unwanted, h, lru);
        s->fs.ops->close_handle(&s->fs, h);
        g_free(h);
    }
}

void v9fs_handle_unref(V9fsState *s, V9fsHandle *h)
{
    if (--h->refs) {
        return;
    }
    if (h->pinned) {
        QTAILQ_INSERT_TAIL(&s->unwanted, h, lru);
        v9fs_handles_retire(s);
        return;
    }
    s->fs.ops->close_handle(&s->fs, h);
    g_free(h);
}

void v9fs_node_cache(V9fsState *s, V9fsNode *node, V9fsHandle *h)
{
    if (node->handle || node->detached) {
        v9fs_handle_unref(s, h);
        return;
    }
    node->handle = h;
    h->owner = v9fs_node_ref(node);
    QTAILQ_INSERT_TAIL(&s->lru, h, lru);
    s->nhandles++;
    v9fs_handles_shrink(s, s->max_handles);
}

void v9fs_node_uncache(V9fsState *s, V9fsNode *node)
{
    V9fsHandle *h = node->handle;

    if (!h || node->detached || !node->parent) {
        return;
    }
    QTAILQ_REMOVE(&s->lru, h, lru);
    s->nhandles--;
    node->handle = NULL;
    v9fs_handle_unref(s, h);
    v9fs_node_unref(s, node);
}

void v9fs_node_touch(V9fsState *s, V9fsNode *node)
{
    V9fsHandle *h = node->handle;

    if (h && !node->detached && node->parent &&
        h != QTAILQ_LAST(&s->lru)) {
        QTAILQ_REMOVE(&s->lru, h, lru);
        QTAILQ_INSERT_TAIL(&s->lru, h, lru);
    }
}

unsigned v9fs_handles_shrink(V9fsState *s, unsigned keep)
{
    unsigned before = s->nhandles;

    while (s->nhandles > keep) {
        v9fs_node_uncache(s, QTAILQ_FIRST(&s->lru)->owner);
    }
    return before - s->nhandles;
}
