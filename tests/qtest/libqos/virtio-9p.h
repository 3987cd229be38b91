/*
 * qgraph nodes of the virtio 9p device
 *
 * The device and its queue, ready to be used; the protocol spoken over it is
 * in virtio-9p-client.h.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TESTS_LIBQOS_VIRTIO_9P_H
#define TESTS_LIBQOS_VIRTIO_9P_H

#include "qgraph.h"
#include "virtio.h"
#include "virtio-pci.h"

#define QVIRTIO_9P_MOUNT_TAG    "qtest"
#define QVIRTIO_9P_ID           "share0"
#define QVIRTIO_9P_PCI_SLOT     4

typedef struct QVirtio9P {
    QVirtioDevice *vdev;
    QVirtQueue *vq;
    QGuestAllocator *alloc;
} QVirtio9P;

typedef struct QVirtio9PPCI {
    QVirtioPCIDevice pci_vdev;
    QVirtio9P v9p;
} QVirtio9PPCI;

typedef struct QVirtio9PDevice {
    QOSGraphObject obj;
    QVirtio9P v9p;
} QVirtio9PDevice;

/**
 * qvirtio_9p_set_export: choose what the device serves
 * @cmd_line: of a test node's "before" function
 * @fsdev: options of -fsdev without the id, like "local,path=/tmp/x"
 *
 * Without it the device serves the synthetic file system.
 */
void qvirtio_9p_set_export(GString *cmd_line, const char *fsdev);

/**
 * qvirtio_9p_restart: reset the device and bring it up again
 *
 * What was on its queue is gone.
 */
void qvirtio_9p_restart(QVirtio9P *v9p);

/**
 * qvirtio_9p_qom_path: where the device is in QEMU's object tree
 *
 * The caller frees the result.
 */
char *qvirtio_9p_qom_path(QTestState *qts);

#endif
