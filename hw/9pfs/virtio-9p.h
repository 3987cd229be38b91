/*
 * The virtio-9p device
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_VIRTIO_9P_H
#define QEMU_VIRTIO_9P_H

#include "standard-headers/linux/virtio_9p.h"
#include "hw/virtio/virtio.h"
#include "hw/9pfs/9p.h"
#include "qom/object.h"

#define TYPE_VIRTIO_9P "virtio-9p-device"
OBJECT_DECLARE_SIMPLE_TYPE(V9fsVirtioState, VIRTIO_9P)

typedef struct VirtioRequest VirtioRequest;

struct V9fsVirtioState {
    VirtIODevice parent_obj;
    VirtQueue *vq;
    char *mount_tag;            /* properties */
    char *fsdev;
    char *in_place;
    QEMUBH *bh;                 /* goes on with requests left in the queue */
    QSLIST_HEAD(, VirtioRequest) spare; /* requests to be used again */
    Error *migration_blocker;   /* while the guest has it mounted */
    V9fsState state;
};

#endif
