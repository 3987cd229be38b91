/*
 * -fsdev: directories that 9p devices can offer to a guest
 *
 * What the command line and the devices see of it.  This header is included
 * far from the server, so nothing of the server may live here.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef QEMU_FSDEV_H
#define QEMU_FSDEV_H

#include "qemu/option.h"

struct V9fsExport;

extern QemuOptsList qemu_fsdev_opts;
extern QemuOptsList qemu_virtfs_opts;

/**
 * qemu_fsdev_add: take in one -fsdev
 * @opts: of the group "fsdev"; remains the caller's
 * @errp: what is wrong, and what to do about it
 *
 * Options that came with a -virtfs and were not handed on are fetched from
 * there into @opts.  The export lives as long as QEMU does.  Main thread.
 *
 * Returns 0, or -1 with nothing added.
 */
int qemu_fsdev_add(QemuOpts *opts, Error **errp);

/**
 * qemu_fsdev_find: the export with a given id
 * @id: may be NULL, which no export has
 *
 * Main thread.  Returns NULL if there is none.
 */
const struct V9fsExport *qemu_fsdev_find(const char *id);

#endif
