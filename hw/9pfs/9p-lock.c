/*
 * The locks on files that the guest's processes hold: the table
 *
 * See 9p-lock.h.  No request, no driver.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/xxhash.h"
#include "9p-lock.h"

/* Locks that a guest may hold: each takes memory here and on the host. */
#define MAX_LOCKS   16384

static guint locks_hash(gconstpointer key)
{
    const V9fsLocks *l = key;

    return qemu_xxhash4(l->dev, l->ino);
}

static gboolean locks_equal(gconstpointer a, gconstpointer b)
{
    const V9fsLocks *x = a, *y = b;

    return x->dev == y->dev && x->ino == y->ino;
}

static void close_and_free(V9fsState *s, V9fsLocks *l)
{
    V9fsCtx cx = { .fs = &s->fs };

    if (l->has_holder) {
        s->fs.ops->close(&cx, &l->holder);
    }
    v9fs_locks_free(s, l);
}

void v9fs_locks_init(V9fsState *s)
{
    s->locks = g_hash_table_new(locks_hash, locks_equal);
    s->nlocks = 0;
}

void v9fs_locks_destroy(V9fsState *s)
{
    g_hash_table_unref(s->locks);
}

void v9fs_locks_drop(V9fsState *s)
{
    GHashTableIter iter;
    V9fsLocks *l;

    g_hash_table_iter_init(&iter, s->locks);
    while (g_hash_table_iter_next(&iter, (gpointer *)&l, NULL)) {
        g_hash_table_iter_remove(&iter);
        close_and_free(s, l);
    }
}

V9fsLocks *v9fs_locks_of(V9fsState *s, V9fsFid *fid)
{
    V9fsLocks key = { .dev = fid->file.dev, .ino = fid->file.ino };
    V9fsLocks *l = fid->locks ?: g_hash_table_lookup(s->locks, &key);

    if (!l) {
        l = g_new0(V9fsLocks, 1);
        l->dev = key.dev;
        l->ino = key.ino;
        l->held = g_array_new(false, false, sizeof(V9fsHeld));
        qemu_co_mutex_init(&l->mutex);
        g_hash_table_add(s->locks, l);
    }
    if (!fid->locks) {
        fid->locks = l;
        l->fids++;
    }
    return l;
}

static V9fsHeld *nth(const V9fsLocks *l, unsigned i)
{
    return &g_array_index(l->held, V9fsHeld, i);
}

static void add(V9fsState *s, V9fsLocks *l, const V9fsHeld *h)
{
    g_array_append_vals(l->held, h, 1);
    s->nlocks++;
}

/* The last one takes its place. */
static void drop(V9fsState *s, V9fsLocks *l, unsigned i)
{
    g_ref_string_release((char *)nth(l, i)->client_id);
    g_array_remove_index_fast(l->held, i);
    s->nlocks--;
}

void v9fs_locks_free(V9fsState *s, V9fsLocks *l)
{
    while (l->held->len) {
        drop(s, l, l->held->len - 1);
    }
    g_array_unref(l->held);
    g_free(l);
}

static bool overlap(const V9fsLock *a, const V9fsLock *b)
{
    return a->start <= b->end && b->start <= a->end;
}

static bool is_whole(const V9fsLock *lock)
{
    return lock->start == 0 && lock->end == INT64_MAX;
}

static bool same_owner(const V9fsHeld *a, const V9fsHeld *b)
{
    return a->proc_id == b->proc_id && g_str_equal(a->client_id, b->client_id);
}

static bool same_client(const V9fsHeld *a, const V9fsHeld *b)
{
    return g_str_equal(a->client_id, b->client_id);
}

V9fsLock v9fs_locks_for_host(const V9fsLocks *l, const V9fsHeld *ask)
{
    V9fsLock lock = ask->lock;

    for (unsigned i = 0; i < l->held->len; i++) {
        const V9fsHeld *h = nth(l, i);

        if (overlap(&h->lock, &lock) && !same_owner(h, ask) &&
            h->lock.type == P9_LOCK_TYPE_WRLCK) {
            lock.type = P9_LOCK_TYPE_WRLCK;
        }
    }
    return lock;
}

const V9fsHeld *v9fs_locks_conflict(const V9fsLocks *l, const V9fsHeld *ask)
{
    for (unsigned i = 0; i < l->held->len; i++) {
        const V9fsHeld *h = nth(l, i);

        if (overlap(&h->lock, &ask->lock) && !same_client(h, ask) &&
            (h->lock.type == P9_LOCK_TYPE_WRLCK ||
             ask->lock.type == P9_LOCK_TYPE_WRLCK)) {
            return h;
        }
    }
    return NULL;
}

bool v9fs_locks_room(const V9fsState *s, const V9fsHeld *ask)
{
    bool frees = ask->lock.type == P9_LOCK_TYPE_UNLCK && is_whole(&ask->lock);

    /* At most a new one, and another one cut in two */
    return frees || s->nlocks + 2 <= MAX_LOCKS;
}

/* Takes a range out of a lock, which leaves none, one or two of it */
static void cut(V9fsState *s, V9fsLocks *l, unsigned i, const V9fsLock *range)
{
    V9fsHeld h = *nth(l, i);
    bool before = h.lock.start < range->start;
    bool after = h.lock.end > range->end;

    if (before) {
        nth(l, i)->lock.end = range->start - 1;
    }
    if (after && before) {
        g_ref_string_acquire((char *)h.client_id);
        h.lock.start = range->end + 1;
        add(s, l, &h);
    } else if (after) {
        nth(l, i)->lock.start = range->end + 1;
    } else if (!before) {
        drop(s, l, i);
    }
}

/* Takes in locks like @h that it touches, so that they do not become many */
static void merge(V9fsState *s, V9fsLocks *l, V9fsHeld *h)
{
    for (unsigned i = l->held->len; i-- > 0;) {
        const V9fsHeld *o = nth(l, i);

        if (o->lock.type == h->lock.type && o->fid == h->fid &&
            same_owner(o, h) && o->lock.start <= h->lock.end + 1 &&
            h->lock.start <= o->lock.end + 1) {
            h->lock.start = MIN(h->lock.start, o->lock.start);
            h->lock.end = MAX(h->lock.end, o->lock.end);
            drop(s, l, i);
        }
    }
}

void v9fs_locks_set(V9fsState *s, V9fsLocks *l, const V9fsHeld *ask)
{
    V9fsHeld h = *ask;

    /* Downwards: what takes the place of one that is dropped has been seen. */
    for (unsigned i = l->held->len; i-- > 0;) {
        if (same_owner(nth(l, i), ask) &&
            overlap(&nth(l, i)->lock, &ask->lock)) {
            cut(s, l, i, &ask->lock);
        }
    }
    if (ask->lock.type != P9_LOCK_TYPE_UNLCK) {
        h.client_id = g_ref_string_new(ask->client_id);
        merge(s, l, &h);
        add(s, l, &h);
    }
}

void v9fs_locks_take_over(V9fsLocks *l, const V9fsHeld *ask)
{
    for (unsigned i = 0; i < l->held->len; i++) {
        V9fsHeld *h = nth(l, i);

        if (h->fid == ask->fid && is_whole(&h->lock) && !same_owner(h, ask)) {
            g_ref_string_release((char *)h->client_id);
            h->client_id = g_ref_string_new(ask->client_id);
            h->proc_id = ask->proc_id;
        }
    }
}

static int compare_starts(gconstpointer a, gconstpointer b)
{
    const V9fsLock *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static GArray *overlapping(const V9fsLocks *l, const V9fsLock *range)
{
    GArray *found = g_array_new(false, false, sizeof(V9fsLock));

    for (unsigned i = 0; i < l->held->len; i++) {
        if (overlap(&nth(l, i)->lock, range)) {
            g_array_append_vals(found, &nth(l, i)->lock, 1);
        }
    }
    g_array_sort(found, compare_starts);
    return found;
}

GArray *v9fs_locks_unheld(const V9fsLocks *l, const V9fsLock *range)
{
    g_autoptr(GArray) held = overlapping(l, range);
    GArray *gaps = g_array_new(false, false, sizeof(V9fsLock));
    V9fsLock gap = { .type = P9_LOCK_TYPE_UNLCK, .start = range->start };

    for (unsigned i = 0; i < held->len; i++) {
        const V9fsLock *h = &g_array_index(held, V9fsLock, i);

        if (h->start > gap.start) {
            gap.end = h->start - 1;
            g_array_append_vals(gaps, &gap, 1);
        }
        /* At most 2^63 */
        gap.start = MAX(gap.start, h->end + 1);
    }
    if (gap.start <= range->end) {
        gap.end = range->end;
        g_array_append_vals(gaps, &gap, 1);
    }
    return gaps;
}

bool v9fs_locks_leave(V9fsState *s, V9fsFid *fid)
{
    V9fsLocks *l = fid->locks;

    for (unsigned i = l->held->len; i-- > 0;) {
        if (nth(l, i)->fid == fid) {
            drop(s, l, i);
        }
    }
    fid->locks = NULL;
    if (--l->fids) {
        return false;
    }
    g_hash_table_remove(s->locks, l);
    return true;
}
