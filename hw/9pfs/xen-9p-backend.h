/*
 * The Xen transport of 9p: "9pfs" of Xen's PV devices
 *
 * What its files share.  The protocol between frontend and backend is Xen's
 * docs/misc/9pfs.pandoc: each device has one or more rings, each with an
 * event channel of its own.  Main thread only.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_XEN_9P_BACKEND_H
#define QEMU_XEN_9P_BACKEND_H

#include "hw/9pfs/9p.h"
#include "hw/9pfs/xen-9p-ring.h"
#include "hw/xen/xen-legacy-backend.h"

#define XEN_9P_MAX_RINGS        8
/* Pages of a ring's buffers, as powers of two: each holds half of them */
#define XEN_9P_MIN_ORDER        1
#define XEN_9P_MAX_ORDER        9

typedef struct Xen9pDevice Xen9pDevice;

/* A ring with its event channel */
typedef struct Xen9pChannel {
    Xen9pDevice *dev;
    Xen9pRing ring;
    Xen9pShared *shared;        /* mapped */
    void *data;                 /* mapped: 1 << order pages, */
    uint32_t *grants;           /* of these grants */
    unsigned order;
    uint32_t grant;             /* of @shared */
    xenevtchn_handle *evtchn;
    int port;                   /* -1: not bound */
    QEMUBH *bh;                 /* looks at the ring again */
    QSIMPLEQ_HEAD(, Xen9pRequest) replies;      /* for which there is no room */
} Xen9pChannel;

struct Xen9pDevice {
    XenLegacyDevice xendev;     /* first: Xen's code allocates all of it */
    V9fsState state;
    bool serving;               /* @state is in use */
    bool broken;                /* the guest does not keep to the protocol */
    char *tag;
    Xen9pChannel channel[XEN_9P_MAX_RINGS];
    unsigned nchannels;
    unsigned requests;          /* in flight or waiting for room */
    QSIMPLEQ_HEAD(, Xen9pRequest) spare;
    QEMUBH *close_bh;
    Error *migration_blocker;
};

/* xen-9p-backend.c */
extern const V9fsTransport xen_9p_transport;

/**
 * xen_9p_serve: take requests from a ring, and give it replies
 */
void xen_9p_serve(Xen9pChannel *ch);

/**
 * xen_9p_drop_replies: forget replies that wait for room
 */
void xen_9p_drop_replies(Xen9pChannel *ch);

/**
 * xen_9p_free_spare: free requests that are not in use
 */
void xen_9p_free_spare(Xen9pDevice *dev);

#endif
