/*
 * The virtio-9p device: messages from and to a virtqueue
 *
 * Nothing of 9P is known here but that a request is the readable part of a
 * queue element and its reply goes to the writable part.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "fsdev/qemu-fsdev.h"
#include "hw/qdev-properties.h"
#include "hw/9pfs/9p-migration.h"
#include "hw/9pfs/virtio-9p.h"
#include "hw/virtio/virtio-access.h"
#include "qapi/error.h"
#include "qemu/defer-call.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "standard-headers/linux/virtio_ids.h"
#include "system/system.h"

#define QUEUE_SIZE      128
#define MAX_TAG_BYTES   31
#define REQUESTS_AT_ONCE 64
/*
 * A chain of descriptors has at most this many; two of them may hold parts of
 * the header, and the others a page each.
 */
#define MAX_MSIZE       ((VIRTQUEUE_MAX_SIZE - 2) * 4096)

struct VirtioRequest {
    VirtQueueElement *elem;
    V9fsPDU pdu;
    QSLIST_ENTRY(VirtioRequest) next;   /* spare */
};

static V9fsVirtioState *device_of(V9fsState *s)
{
    return container_of(s, V9fsVirtioState, state);
}

/* Requests are used again: as many are kept as were in flight at once. */
static VirtioRequest *new_request(V9fsVirtioState *v, VirtQueueElement *elem)
{
    VirtioRequest *r = QSLIST_FIRST(&v->spare);

    if (r) {
        QSLIST_REMOVE_HEAD(&v->spare, next);
    } else {
        r = g_new(VirtioRequest, 1);
    }
    r->elem = elem;
    r->pdu.s = &v->state;
    r->pdu.out_sg = elem->out_sg;
    r->pdu.out_num = elem->out_num;
    r->pdu.in_sg = elem->in_sg;
    r->pdu.in_num = elem->in_num;
    return r;
}

static void free_request(V9fsVirtioState *v, VirtioRequest *r)
{
    g_free(r->elem);
    QSLIST_INSERT_HEAD(&v->spare, r, next);
}

static void free_spare(V9fsVirtioState *v)
{
    VirtioRequest *r;

    while ((r = QSLIST_FIRST(&v->spare))) {
        QSLIST_REMOVE_HEAD(&v->spare, next);
        g_free(r);
    }
}

static uint32_t virtio_9p_max_msize(V9fsState *s)
{
    return MAX_MSIZE;
}

static void notify(void *opaque)
{
    V9fsVirtioState *v = opaque;

    virtio_notify(VIRTIO_DEVICE(v), v->vq);
}

/* Replies that come together raise one interrupt. */
static void virtio_9p_reply(V9fsPDU *pdu, size_t size)
{
    VirtioRequest *r = container_of(pdu, VirtioRequest, pdu);
    V9fsVirtioState *v = device_of(pdu->s);

    virtqueue_push(v->vq, r->elem, size);
    free_request(v, r);
    defer_call(notify, v);
}

static void virtio_9p_broken(V9fsPDU *pdu, const char *why)
{
    VirtioRequest *r = container_of(pdu, VirtioRequest, pdu);
    V9fsVirtioState *v = device_of(pdu->s);

    virtio_error(VIRTIO_DEVICE(v), "virtio-9p '%s': a queue element is %s",
                 v->mount_tag, why);
    virtqueue_detach_element(v->vq, r->elem, 0);
    free_request(v, r);
}

static int virtio_9p_mounted(V9fsState *s, bool mounted)
{
    V9fsVirtioState *v = device_of(s);

    return v9fs_block_migration(&v->migration_blocker, v->mount_tag, mounted);
}

static const V9fsTransport virtio_9p_transport = {
    .max_msize = virtio_9p_max_msize,
    .reply = virtio_9p_reply,
    .broken = virtio_9p_broken,
    .mounted = virtio_9p_mounted,
};

/* Takes up to so many requests; false if there may be more */
static bool take_requests(V9fsVirtioState *v, unsigned most)
{
    VirtQueueElement *elem;

    while (most-- && (elem = virtqueue_pop(v->vq, sizeof(*elem)))) {
        v9fs_submit(&new_request(v, elem)->pdu);
    }
    return VIRTIO_DEVICE(v)->broken || virtio_queue_empty(v->vq);
}

/*
 * All that is there in one go, without being notified of more meanwhile.  But
 * a guest can ask as fast as requests are answered in place: after some of
 * them the rest of QEMU has its turn.
 */
static void serve_queue(void *opaque)
{
    V9fsVirtioState *v = opaque;
    bool empty;

    defer_call_begin();
    virtio_queue_set_notification(v->vq, 0);
    empty = take_requests(v, REQUESTS_AT_ONCE);
    if (empty) {
        virtio_queue_set_notification(v->vq, 1);
        empty = take_requests(v, 1);
    }
    if (!empty) {
        qemu_bh_schedule(v->bh);
    }
    defer_call_end();
}

static void virtio_9p_handle_output(VirtIODevice *vdev, VirtQueue *vq)
{
    serve_queue(VIRTIO_9P(vdev));
}

static uint64_t virtio_9p_get_features(VirtIODevice *vdev, uint64_t features,
                                       Error **errp)
{
    virtio_add_feature(&features, VIRTIO_9P_MOUNT_TAG);
    return features;
}

static size_t config_size(V9fsVirtioState *v)
{
    return sizeof(struct virtio_9p_config) + strlen(v->mount_tag);
}

static void virtio_9p_get_config(VirtIODevice *vdev, uint8_t *config)
{
    V9fsVirtioState *v = VIRTIO_9P(vdev);
    size_t len = strlen(v->mount_tag);

    virtio_stw_p(vdev, config, len);
    memcpy(config + offsetof(struct virtio_9p_config, tag), v->mount_tag, len);
}

static void virtio_9p_reset(VirtIODevice *vdev)
{
    qemu_bh_cancel(VIRTIO_9P(vdev)->bh);
    v9fs_reset(&VIRTIO_9P(vdev)->state);
}

static const V9fsExport *find_export(V9fsVirtioState *v, Error **errp)
{
    const V9fsExport *exp;

    if (!v->fsdev) {
        error_setg(errp, "virtio-9p: property 'fsdev' is missing; it takes "
                   "the id of an -fsdev");
        return NULL;
    }
    exp = qemu_fsdev_find(v->fsdev);
    if (!exp) {
        error_setg(errp, "virtio-9p: there is no -fsdev with id '%s'",
                   v->fsdev);
    }
    return exp;
}

static bool check_tag(V9fsVirtioState *v, Error **errp)
{
    if (!v->mount_tag || !*v->mount_tag) {
        error_setg(errp, "virtio-9p: property 'mount_tag' is missing; it is "
                   "the name that the guest mounts the share by");
        return false;
    }
    if (strlen(v->mount_tag) > MAX_TAG_BYTES) {
        error_setg(errp, "virtio-9p: mount_tag '%s' has %zu bytes; it may "
                   "have at most %d", v->mount_tag, strlen(v->mount_tag),
                   MAX_TAG_BYTES);
        return false;
    }
    return true;
}

static bool set_try_mode(V9fsVirtioState *v, Error **errp)
{
    static const char *const modes[] = {
        [V9FS_TRY_ON] = "on", [V9FS_TRY_OFF] = "off",
        [V9FS_TRY_RANDOM] = "random",
    };

    for (int i = 0; i < ARRAY_SIZE(modes); i++) {
        if (g_str_equal(v->in_place ?: "on", modes[i])) {
            v->state.try.mode = i;
            return true;
        }
    }
    error_setg(errp, "virtio-9p: in-place '%s' is unknown; it is on, off or, "
               "for tests, random", v->in_place);
    return false;
}

static void virtio_9p_realize(DeviceState *dev, Error **errp)
{
    VirtIODevice *vdev = VIRTIO_DEVICE(dev);
    V9fsVirtioState *v = VIRTIO_9P(dev);
    const V9fsExport *exp;

    if (!check_tag(v, errp)) {
        return;
    }
    if (!set_try_mode(v, errp)) {
        return;
    }
    exp = find_export(v, errp);
    if (!exp || !v9fs_state_init(&v->state, exp, &virtio_9p_transport, errp)) {
        return;
    }
    v->state.tag = v->mount_tag;
    virtio_init(vdev, VIRTIO_ID_9P, config_size(v));
    v->vq = virtio_add_queue(vdev, QUEUE_SIZE, virtio_9p_handle_output);
    v->bh = qemu_bh_new_guarded(serve_queue, v, &dev->mem_reentrancy_guard);
}

static void virtio_9p_unrealize(DeviceState *dev)
{
    V9fsVirtioState *v = VIRTIO_9P(dev);

    qemu_bh_delete(v->bh);
    v9fs_reset(&v->state);
    v9fs_state_cleanup(&v->state);
    free_spare(v);
    virtio_delete_queue(v->vq);
    virtio_cleanup(VIRTIO_DEVICE(dev));
}

static void virtio_9p_init(Object *obj)
{
    v9fs_stats_add_properties(obj, &VIRTIO_9P(obj)->state.stats);
}

/* Only a device that nobody has mounted is migrated: it has no state. */
static const VMStateDescription virtio_9p_vmstate = {
    .name = "virtio-9p",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_VIRTIO_DEVICE,
        VMSTATE_END_OF_LIST()
    },
};

static const Property virtio_9p_props[] = {
    DEFINE_PROP_STRING("fsdev", V9fsVirtioState, fsdev),
    DEFINE_PROP_STRING("in-place", V9fsVirtioState, in_place),
    DEFINE_PROP_STRING("mount_tag", V9fsVirtioState, mount_tag),
};

static void virtio_9p_class(ObjectClass *oc, void *data)
{
    VirtioDeviceClass *vdc = VIRTIO_DEVICE_CLASS(oc);
    DeviceClass *dc = DEVICE_CLASS(oc);

    vdc->get_config = virtio_9p_get_config;
    vdc->get_features = virtio_9p_get_features;
    vdc->reset = virtio_9p_reset;
    vdc->unrealize = virtio_9p_unrealize;
    vdc->realize = virtio_9p_realize;
    dc->vmsd = &virtio_9p_vmstate;
    dc->desc = "host directory shared with the guest";
    device_class_set_props(dc, virtio_9p_props);
    set_bit(DEVICE_CATEGORY_STORAGE, dc->categories);
}

static const TypeInfo virtio_9p_types[] = {
    {
        .parent = TYPE_VIRTIO_DEVICE,
        .name = TYPE_VIRTIO_9P,
        .class_init = virtio_9p_class,
        .instance_init = virtio_9p_init,
        .instance_size = sizeof(V9fsVirtioState),
    },
};

DEFINE_TYPES(virtio_9p_types)
