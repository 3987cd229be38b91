/*
 * Work items: extended attributes
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/coth.h"

/* Sizes may grow between asking for them and reading; then once more. */
#define XATTR_TRIES 8

typedef struct XattrWork {
    V9fsWork w;
    const char *name;
    uint8_t *value;
    size_t size;
    const void *new_value;
    int flags;
} XattrWork;

static ssize_t get(const V9fsCtx *cx, XattrWork *w, void *buf, size_t size)
{
    const V9fsObject *obj = &w->w.place[0].obj;

    if (!*w->name) {
        return cx->fs->ops->listxattr(cx, obj, buf, size);
    }
    return cx->fs->ops->getxattr(cx, obj, w->name, buf, size);
}

static int get_run(const V9fsCtx *cx, V9fsWork *work)
{
    XattrWork *w = container_of(work, XattrWork, w);

    for (int i = 0; i < XATTR_TRIES; i++) {
        ssize_t size = get(cx, w, NULL, 0);
        g_autofree uint8_t *buf = NULL;

        if (size < 0) {
            return size;
        }
        buf = g_malloc(size + 1);
        size = size ? get(cx, w, buf, size) : 0;
        if (size >= 0) {
            w->size = size;
            w->value = g_steal_pointer(&buf);
            return 0;
        }
        if (size != -ERANGE) {
            return size;
        }
    }
    return -EBUSY;
}

int coroutine_fn v9fs_co_getxattr(V9fsPDU *pdu, V9fsFid *fid,
                                  const char *name, uint8_t **value,
                                  uint64_t *size)
{
    XattrWork w = {
        .w = { .run = get_run, .place = { v9fs_at_fid(fid) }, .nplaces = 1 },
        .name = name,
    };
    int err = v9fs_co_work(pdu, &w.w);

    if (err == 0) {
        *value = w.value;
        *size = w.size;
    }
    return err;
}

static int set_run(const V9fsCtx *cx, V9fsWork *work)
{
    XattrWork *w = container_of(work, XattrWork, w);
    const V9fsObject *obj = &work->place[0].obj;

    if (!w->new_value) {
        return cx->fs->ops->removexattr(cx, obj, w->name);
    }
    return cx->fs->ops->setxattr(cx, obj, w->name, w->new_value, w->size,
                                 w->flags);
}

int coroutine_fn v9fs_co_setxattr(V9fsPDU *pdu, V9fsFid *fid,
                                  const char *name, const void *value,
                                  size_t size, int flags)
{
    XattrWork w = {
        .w = { .run = set_run, .place = { v9fs_at_fid(fid) }, .nplaces = 1,
               .must_run = true },
        .name = name, .new_value = value, .size = size, .flags = flags,
    };

    return v9fs_co_work(pdu, &w.w);
}
