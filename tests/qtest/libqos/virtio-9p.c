/*
 * qgraph nodes of the virtio 9p device
 *
 * Device set-up only.  No message of the protocol may appear here.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "../libqtest.h"
#include "qemu/module.h"
#include "qobject/qdict.h"
#include "standard-headers/linux/virtio_ids.h"
#include "standard-headers/linux/virtio_ring.h"
#include "qgraph.h"
#include "virtio-9p.h"

#define FSDEV_ID        "fsdev0"
#define DEFAULT_EXPORT  "synth"
#define FSDEV(what)     "-fsdev " what ",id=" FSDEV_ID
#define DEVICE_OPTIONS  "id=" QVIRTIO_9P_ID ",fsdev=" FSDEV_ID \
                        ",mount_tag=" QVIRTIO_9P_MOUNT_TAG

void qvirtio_9p_set_export(GString *cmd_line, const char *fsdev)
{
    const char *found = strstr(cmd_line->str, FSDEV(DEFAULT_EXPORT));
    g_autofree char *option = g_strdup_printf("-fsdev %s,id=%s", fsdev,
                                              FSDEV_ID);
    size_t at;

    g_assert_nonnull(found);
    at = found - cmd_line->str;
    g_string_erase(cmd_line, at, strlen(FSDEV(DEFAULT_EXPORT)));
    g_string_insert(cmd_line, at, option);
}

static void virtio_9p_setup(QVirtio9P *v9p)
{
    uint64_t features = qvirtio_get_features(v9p->vdev);

    features &= ~(QVIRTIO_F_BAD_FEATURE |
                  (1ull << VIRTIO_RING_F_INDIRECT_DESC) |
                  (1ull << VIRTIO_RING_F_EVENT_IDX));
    qvirtio_set_features(v9p->vdev, features);
    v9p->vq = qvirtqueue_setup(v9p->vdev, v9p->alloc, 0);
    qvirtio_set_driver_ok(v9p->vdev);
}

static void virtio_9p_cleanup(QVirtio9P *v9p)
{
    qvirtqueue_cleanup(v9p->vdev->bus, v9p->vq, v9p->alloc);
    v9p->vq = NULL;
}

void qvirtio_9p_restart(QVirtio9P *v9p)
{
    qvirtio_start_device(v9p->vdev);
    virtio_9p_cleanup(v9p);
    virtio_9p_setup(v9p);
}

char *qvirtio_9p_qom_path(QTestState *qts)
{
    const char *path = "/machine/peripheral/" QVIRTIO_9P_ID "/virtio-backend";
    QDict *reply = qtest_qmp(qts, "{ 'execute': 'qom-list',"
                             " 'arguments': { 'path': %s } }", path);
    bool proxied = qdict_haskey(reply, "return");

    qobject_unref(reply);
    return g_strdup(proxied ? path : "/machine/peripheral/" QVIRTIO_9P_ID);
}

static void *virtio_9p_interface(QVirtio9P *v9p, const char *interface)
{
    /* Tests may have made more names for it that begin like this. */
    if (g_str_has_prefix(interface, "virtio-9p")) {
        return v9p;
    }
    if (g_str_equal(interface, "virtio")) {
        return v9p->vdev;
    }
    fprintf(stderr, "a virtio 9p device is no %s\n", interface);
    g_assert_not_reached();
}

/* virtio-9p-device: on a bus of its own, like that of virtio-mmio */

static void *virtio_9p_device_get_driver(void *object, const char *interface)
{
    QVirtio9PDevice *device = object;

    return virtio_9p_interface(&device->v9p, interface);
}

static void virtio_9p_device_start_hw(QOSGraphObject *obj)
{
    virtio_9p_setup(&container_of(obj, QVirtio9PDevice, obj)->v9p);
}

static void virtio_9p_device_destructor(QOSGraphObject *obj)
{
    virtio_9p_cleanup(&container_of(obj, QVirtio9PDevice, obj)->v9p);
}

static void *virtio_9p_device_create(void *vdev, QGuestAllocator *alloc,
                                     void *addr)
{
    QVirtio9PDevice *device = g_new0(QVirtio9PDevice, 1);

    device->v9p.vdev = vdev;
    device->v9p.alloc = alloc;
    device->obj.get_driver = virtio_9p_device_get_driver;
    device->obj.start_hw = virtio_9p_device_start_hw;
    device->obj.destructor = virtio_9p_device_destructor;
    return &device->obj;
}

/* virtio-9p-pci */

static void *virtio_9p_pci_get_driver(void *object, const char *interface)
{
    QVirtio9PPCI *pci = object;

    if (g_str_equal(interface, "pci-device")) {
        return pci->pci_vdev.pdev;
    }
    return virtio_9p_interface(&pci->v9p, interface);
}

static void virtio_9p_pci_start_hw(QOSGraphObject *obj)
{
    qvirtio_pci_start_hw(obj);
    virtio_9p_setup(&container_of(obj, QVirtio9PPCI, pci_vdev.obj)->v9p);
}

static void virtio_9p_pci_destructor(QOSGraphObject *obj)
{
    virtio_9p_cleanup(&container_of(obj, QVirtio9PPCI, pci_vdev.obj)->v9p);
    qvirtio_pci_destructor(obj);
}

static void *virtio_9p_pci_create(void *bus, QGuestAllocator *alloc,
                                  void *addr)
{
    QVirtio9PPCI *pci = g_new0(QVirtio9PPCI, 1);
    QOSGraphObject *obj = &pci->pci_vdev.obj;

    virtio_pci_init(&pci->pci_vdev, bus, addr);
    pci->v9p.vdev = &pci->pci_vdev.vdev;
    pci->v9p.alloc = alloc;
    g_assert_cmphex(pci->v9p.vdev->device_type, ==, VIRTIO_ID_9P);
    obj->get_driver = virtio_9p_pci_get_driver;
    obj->start_hw = virtio_9p_pci_start_hw;
    obj->destructor = virtio_9p_pci_destructor;
    return obj;
}

typedef struct NodeKind {
    const char *name, *bus;
    QOSCreateDriverFunc create;
    const char *interfaces[4];
} NodeKind;

static const NodeKind node_kinds[] = {
    { "virtio-9p-device", "virtio-bus", virtio_9p_device_create,
      { "virtio", "virtio-9p" } },
    { "virtio-9p-pci", "pci-bus", virtio_9p_pci_create,
      { "virtio", "virtio-9p", "pci-device" } },
};

static void register_node(const NodeKind *kind, QOSGraphEdgeOptions *opts)
{
    qos_node_create_driver(kind->name, kind->create);
    qos_node_consumes(kind->name, kind->bus, opts);
    for (int i = 0; kind->interfaces[i]; i++) {
        qos_node_produces(kind->name, kind->interfaces[i]);
    }
}

static void virtio_9p_register_nodes(void)
{
    QPCIAddress addr = { .devfn = QPCI_DEVFN(QVIRTIO_9P_PCI_SLOT, 0) };
    QOSGraphEdgeOptions opts = {
        .before_cmd_line = FSDEV(DEFAULT_EXPORT),
        .extra_device_opts = DEVICE_OPTIONS,
    };

    register_node(&node_kinds[0], &opts);
    opts.extra_device_opts = DEVICE_OPTIONS ",addr="
                             stringify(QVIRTIO_9P_PCI_SLOT);
    add_qpci_address(&opts, &addr);
    register_node(&node_kinds[1], &opts);
}

libqos_init(virtio_9p_register_nodes);
