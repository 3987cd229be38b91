/*
 * The fid table
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/9p-node.h"

int v9fs_fid_new(V9fsState *s, uint32_t number, V9fsNode *node, uint32_t uid,
                 V9fsFid **out)
{
    uint32_t max = s->fs.exp->max_fids;
    V9fsFid *fid;

    if (number == P9_NOFID ||
        g_hash_table_contains(s->fids, GUINT_TO_POINTER(number))) {
        return -EINVAL;
    }
    if (max && g_hash_table_size(s->fids) >= max) {
        return -ENFILE;
    }
    fid = g_new0(V9fsFid, 1);
    fid->fid = number;
    fid->refs = 2;
    fid->state = V9FS_FID_WALKED;
    fid->node = v9fs_node_ref(node);
    fid->uid = uid;
    qemu_co_mutex_init(&fid->dir_lock);
    qemu_co_queue_init(&fid->idle);
    g_hash_table_insert(s->fids, GUINT_TO_POINTER(number), fid);
    *out = fid;
    return 0;
}

/* Why a fid in @state cannot be what a message wants */
static int wrong_state(V9fsFidState state, unsigned wanted)
{
    switch (state) {
    case V9FS_FID_WALKED:
        return -EBADF;
    case V9FS_FID_DIR:
        return wanted & V9FS_FID_FILE ? -EISDIR : -EINVAL;
    case V9FS_FID_FILE:
        return wanted & V9FS_FID_DIR ? -ENOTDIR : -EINVAL;
    default:
        return -EINVAL;
    }
}

V9fsFid *v9fs_fid_get(V9fsState *s, uint32_t number, unsigned states, int *err)
{
    V9fsFid *fid = g_hash_table_lookup(s->fids, GUINT_TO_POINTER(number));

    if (!fid) {
        *err = -EBADF;
        return NULL;
    }
    if (!(fid->state & states)) {
        *err = wrong_state(fid->state, states);
        return NULL;
    }
    fid->refs++;
    if ((fid->state & V9FS_FID_OPEN) && !fid->parked) {
        QTAILQ_REMOVE(&s->open_fids, fid, open_lru);
        QTAILQ_INSERT_TAIL(&s->open_fids, fid, open_lru);
    }
    return fid;
}

static void free_fid(V9fsState *s, V9fsFid *fid)
{
    v9fs_node_unref(s, fid->node);
    if (fid->xattr) {
        v9fs_xattr_free(s, fid->xattr);
    }
    v9fs_ahead_free(s, fid->ahead);
    g_free(fid);
}

void v9fs_fid_put(V9fsState *s, V9fsFid *fid)
{
    fid->refs--;
    if (fid->refs == 1) {
        qemu_co_enter_all(&fid->idle, NULL);
    }
    if (!fid->refs) {
        free_fid(s, fid);
    }
}

bool v9fs_fid_remove(V9fsState *s, V9fsFid *fid)
{
    gpointer number = GUINT_TO_POINTER(fid->fid);

    /* Its number may be another one's by now. */
    if (g_hash_table_lookup(s->fids, number) != fid) {
        return false;
    }
    g_hash_table_remove(s->fids, number);
    fid->refs--;
    if (!g_hash_table_size(s->fids)) {
        v9fs_set_mounted(s, false);
    }
    return true;
}

void v9fs_fid_move(V9fsState *s, V9fsFid *fid, V9fsNode *node)
{
    v9fs_node_ref(node);
    v9fs_node_unref(s, fid->node);
    fid->node = node;
}

void v9fs_fid_set_file(V9fsState *s, V9fsFid *fid, const V9fsFile *file,
                       uint32_t flags, const V9fsStat *st)
{
    fid->file = *file;
    fid->state = file->is_dir ? V9FS_FID_DIR : V9FS_FID_FILE;
    fid->flags = flags;
    fid->parked = false;
    fid->id = (V9fsFileId) { st->dev, st->ino, st->has_btime, st->btime };
    QTAILQ_INSERT_TAIL(&s->open_fids, fid, open_lru);
    s->nfiles++;
}

bool v9fs_fid_drop_file(V9fsState *s, V9fsFid *fid)
{
    bool open = (fid->state & V9FS_FID_OPEN) && !fid->parked;

    if (open) {
        QTAILQ_REMOVE(&s->open_fids, fid, open_lru);
        s->nfiles--;
    }
    if (fid->state & V9FS_FID_OPEN) {
        fid->state = V9FS_FID_WALKED;
        fid->parked = false;
    }
    return open;
}

void v9fs_fids_drop(V9fsState *s)
{
    V9fsCtx cx = { .fs = &s->fs };
    GHashTableIter iter;
    V9fsFid *fid;

    g_hash_table_iter_init(&iter, s->fids);
    while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&fid)) {
        g_hash_table_iter_remove(&iter);
        if (v9fs_fid_drop_file(s, fid)) {
            s->fs.ops->close(&cx, &fid->file);
        }
        free_fid(s, fid);
    }
    v9fs_locks_drop(s);
    v9fs_set_mounted(s, false);
}

void v9fs_xattr_free(V9fsState *s, V9fsXattr *xattr)
{
    g_free(xattr->name);
    g_free(xattr->value);
    g_free(xattr);
    qatomic_set(&s->fs.xattr_fids, s->fs.xattr_fids - 1);
}
