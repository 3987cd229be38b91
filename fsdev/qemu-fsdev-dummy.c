/*
 * -fsdev in a QEMU binary without a 9p device
 *
 * Stands in for qemu-fsdev.c where CONFIG_FSDEV_9P is off.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "fsdev/qemu-fsdev.h"

int qemu_fsdev_add(QemuOpts *opts, Error **errp)
{
    error_setg(errp, "there is no fsdev support for this target: "
               "it has no 9p device");
    return -1;
}

const struct V9fsExport *qemu_fsdev_find(const char *id)
{
    return NULL;
}
