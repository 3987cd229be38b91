/*
 * The Xen transport of 9p: connecting to a frontend and parting from it
 *
 * Xenstore says what is shared, how many rings there are and where.  Nothing
 * of what the guest says there, or in a ring's first page, is read twice.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "fsdev/qemu-fsdev.h"
#include "hw/9pfs/xen-9p-backend.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/option.h"

static Xen9pDevice *device_of(XenLegacyDevice *xendev)
{
    return container_of(xendev, Xen9pDevice, xendev);
}

/* The export */

static bool add_export(const char *id, const char *path, const char *model,
                       Error **errp)
{
    QemuOpts *opts = qemu_opts_create(&qemu_fsdev_opts, id, 1, errp);
    bool ok;

    if (!opts) {
        return false;
    }
    ok = qemu_opt_set(opts, "fsdriver", "local", errp) &&
         qemu_opt_set(opts, "path", path, errp) &&
         qemu_opt_set(opts, "security_model", model, errp) &&
         qemu_fsdev_add(opts, errp) == 0;
    qemu_opts_del(opts);
    return ok;
}

/*
 * What the tool stack wants to share, as if it had come with -fsdev.  A
 * frontend that connects again finds it there.
 */
static const V9fsExport *find_export(XenLegacyDevice *xendev, Error **errp)
{
    g_autofree char *path = xenstore_read_be_str(xendev, "path");
    g_autofree char *model = xenstore_read_be_str(xendev, "security_model");
    g_autofree char *id = g_strdup_printf("xen-9pfs-%d-%d", xendev->dom,
                                          xendev->dev);
    const V9fsExport *exp = qemu_fsdev_find(id);

    if (!path || !model) {
        error_setg(errp, "xenstore has no path or no security_model");
        return NULL;
    }
    if (!exp && !add_export(id, path, model, errp)) {
        return NULL;
    }
    exp = qemu_fsdev_find(id);
    if (!g_str_equal(exp->path, path)) {
        error_setg(errp, "the path has changed from '%s' to '%s' since the "
                   "guest was last connected", exp->path, path);
        return NULL;
    }
    return exp;
}

/* Rings */

static void on_event(void *opaque)
{
    Xen9pChannel *ch = opaque;
    int port = qemu_xen_evtchn_pending(ch->evtchn);

    if (port >= 0) {
        qemu_xen_evtchn_unmask(ch->evtchn, port);
        xen_9p_serve(ch);
    }
}

static void serve_again(void *opaque)
{
    xen_9p_serve(opaque);
}

static bool map_ring(Xen9pChannel *ch, Error **errp)
{
    XenLegacyDevice *xendev = &ch->dev->xendev;
    const int prot = PROT_READ | PROT_WRITE;
    unsigned order;

    ch->shared = xen_be_map_grant_ref(xendev, ch->grant, prot);
    if (!ch->shared) {
        error_setg(errp, "the first page of a ring cannot be mapped");
        return false;
    }
    order = qatomic_read(&ch->shared->order);
    if (order < XEN_9P_MIN_ORDER || order > XEN_9P_MAX_ORDER) {
        error_setg(errp, "a ring of order %u: it may be %d to %d", order,
                   XEN_9P_MIN_ORDER, XEN_9P_MAX_ORDER);
        return false;
    }
    ch->order = order;
    ch->grants = g_memdup2(ch->shared->ref, sizeof(uint32_t) << order);
    ch->data = xen_be_map_grant_refs(xendev, ch->grants, 1 << order, prot);
    if (!ch->data) {
        error_setg(errp, "the pages of a ring cannot be mapped");
        return false;
    }
    xen_9p_ring_init(&ch->ring, ch->shared, ch->data,
                     XEN_PAGE_SIZE << order >> 1);
    return true;
}

static bool bind_channel(Xen9pChannel *ch, int remote_port, Error **errp)
{
    ch->evtchn = qemu_xen_evtchn_open();
    if (!ch->evtchn) {
        error_setg(errp, "event channels cannot be opened");
        return false;
    }
    qemu_set_cloexec(qemu_xen_evtchn_fd(ch->evtchn));
    ch->port = qemu_xen_evtchn_bind_interdomain(ch->evtchn,
                                                ch->dev->xendev.dom,
                                                remote_port);
    if (ch->port < 0) {
        error_setg(errp, "event channel %d cannot be bound", remote_port);
        return false;
    }
    return true;
}

static bool open_channel(Xen9pDevice *dev, unsigned i, Error **errp)
{
    g_autofree char *ref = g_strdup_printf("ring-ref%u", i);
    g_autofree char *event = g_strdup_printf("event-channel-%u", i);
    Xen9pChannel *ch = &dev->channel[i];
    int grant, remote_port;

    if (xenstore_read_fe_int(&dev->xendev, ref, &grant) < 0 ||
        xenstore_read_fe_int(&dev->xendev, event, &remote_port) < 0) {
        error_setg(errp, "the frontend has no %s or no %s", ref, event);
        return false;
    }
    *ch = (Xen9pChannel) { .dev = dev, .grant = grant, .port = -1 };
    QSIMPLEQ_INIT(&ch->replies);
    ch->bh = qemu_bh_new(serve_again, ch);
    dev->nchannels = i + 1;
    return map_ring(ch, errp) && bind_channel(ch, remote_port, errp);
}

/* Nothing comes from it any more */
static void silence_channel(Xen9pChannel *ch)
{
    qemu_bh_cancel(ch->bh);
    if (ch->port >= 0) {
        qemu_set_fd_handler(qemu_xen_evtchn_fd(ch->evtchn), NULL, NULL, NULL);
    }
}

static void close_channel(Xen9pChannel *ch)
{
    XenLegacyDevice *xendev = &ch->dev->xendev;

    xen_9p_drop_replies(ch);
    qemu_bh_delete(ch->bh);
    if (ch->port >= 0) {
        qemu_xen_evtchn_unbind(ch->evtchn, ch->port);
    }
    if (ch->evtchn) {
        qemu_xen_evtchn_close(ch->evtchn);
    }
    if (ch->data) {
        xen_be_unmap_grant_refs(xendev, ch->data, ch->grants, 1 << ch->order);
    }
    g_free(ch->grants);
    if (ch->shared) {
        xen_be_unmap_grant_ref(xendev, ch->shared, ch->grant);
    }
}

/* The device */

/* Whatever has been begun of it; again does nothing */
static void xen_9p_disconnect(XenLegacyDevice *xendev)
{
    Xen9pDevice *dev = device_of(xendev);

    for (int i = 0; i < dev->nchannels; i++) {
        silence_channel(&dev->channel[i]);
    }
    if (dev->serving) {
        v9fs_reset(&dev->state);
        v9fs_state_cleanup(&dev->state);
        dev->serving = false;
    }
    for (int i = 0; i < dev->nchannels; i++) {
        close_channel(&dev->channel[i]);
    }
    dev->nchannels = 0;
    xen_9p_free_spare(dev);
    g_clear_pointer(&dev->tag, g_free);
    qemu_bh_cancel(dev->close_bh);
}

/* The guest does not keep to the protocol: nothing is done for it any more. */
static void close_broken(void *opaque)
{
    Xen9pDevice *dev = opaque;

    xen_9p_disconnect(&dev->xendev);
    xen_be_set_state(&dev->xendev, XenbusStateClosing);
}

static void xen_9p_alloc(XenLegacyDevice *xendev)
{
    Xen9pDevice *dev = device_of(xendev);

    QSIMPLEQ_INIT(&dev->spare);
    dev->close_bh = qemu_bh_new(close_broken, dev);
}

/* The tool stack may take the device away while it is connected. */
static int xen_9p_free(XenLegacyDevice *xendev)
{
    xen_9p_disconnect(xendev);
    qemu_bh_delete(device_of(xendev)->close_bh);
    return 0;
}

static int xen_9p_init(XenLegacyDevice *xendev)
{
    xenstore_write_be_str(xendev, "versions", "1");
    xenstore_write_be_int(xendev, "max-rings", XEN_9P_MAX_RINGS);
    xenstore_write_be_int(xendev, "max-ring-page-order", XEN_9P_MAX_ORDER);
    return 0;
}

static bool check_frontend(Xen9pDevice *dev, int *rings, Error **errp)
{
    g_autofree char *version = xenstore_read_fe_str(&dev->xendev, "version");

    if (!version || !g_str_equal(version, "1")) {
        error_setg(errp, "the frontend speaks version '%s', not 1",
                   version ?: "");
        return false;
    }
    if (xenstore_read_fe_int(&dev->xendev, "num-rings", rings) < 0 ||
        *rings < 1 || *rings > XEN_9P_MAX_RINGS) {
        error_setg(errp, "the frontend wants no number of rings from 1 to %d",
                   XEN_9P_MAX_RINGS);
        return false;
    }
    dev->tag = xenstore_read_fe_str(&dev->xendev, "tag");
    return true;
}

static bool connect_rings(Xen9pDevice *dev, Error **errp)
{
    const V9fsExport *exp;
    int rings;

    if (!check_frontend(dev, &rings, errp)) {
        return false;
    }
    xen_be_set_max_grant_refs(&dev->xendev,
                              rings * ((1 << XEN_9P_MAX_ORDER) + 1));
    for (int i = 0; i < rings; i++) {
        if (!open_channel(dev, i, errp)) {
            return false;
        }
    }
    exp = find_export(&dev->xendev, errp);
    dev->serving = exp && v9fs_state_init(&dev->state, exp, &xen_9p_transport,
                                          errp);
    dev->state.tag = dev->tag;
    return dev->serving;
}

/* Events are heard of only when all is ready. */
static int xen_9p_connect(XenLegacyDevice *xendev)
{
    Xen9pDevice *dev = device_of(xendev);
    Error *err = NULL;

    dev->broken = false;
    if (!connect_rings(dev, &err)) {
        error_prepend(&err, "xen 9pfs %s: ", xendev->name);
        error_report_err(err);
        xen_9p_disconnect(xendev);
        return -1;
    }
    for (int i = 0; i < dev->nchannels; i++) {
        Xen9pChannel *ch = &dev->channel[i];

        qemu_set_fd_handler(qemu_xen_evtchn_fd(ch->evtchn), on_event, NULL,
                            ch);
        /* What was asked before */
        qemu_bh_schedule(ch->bh);
    }
    return 0;
}

static const struct XenDevOps xen_9pfs_ops = {
    .size = sizeof(Xen9pDevice),
    .flags = DEVOPS_FLAG_NEED_GNTDEV,
    .alloc = xen_9p_alloc,
    .init = xen_9p_init,
    .initialise = xen_9p_connect,
    .disconnect = xen_9p_disconnect,
    .free = xen_9p_free,
};

static void xen_9p_register(void)
{
    xen_be_register("9pfs", &xen_9pfs_ops);
}

xen_backend_init(xen_9p_register)
