/*
 * The options of -fsdev and -virtfs
 *
 * Names and types only; what they mean is in qemu-fsdev.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/config-file.h"
#include "qemu/module.h"
#include "qemu/throttle-options.h"
#include "fsdev/qemu-fsdev.h"

/* F(name, type, help): what both groups know, for one hands on to the other */
#define FSDEV_OPTS(F) \
    F("fsdriver", STRING, "local or synth") \
    F("path", STRING, "host directory to export") \
    F("security_model", STRING, \
      "none, passthrough, mapped-xattr or mapped-file") \
    F("writeout", STRING, "immediate: writes are answered when on disk") \
    F("readonly", BOOL, "let the guest change nothing") \
    F("fmode", STRING, "octal host mode of new files, mapped models only") \
    F("dmode", STRING, \
      "octal host mode of new directories, mapped models only") \
    F("multidevs", STRING, "remap, forbid or warn") \
    F("xattrs", STRING, \
      "user or all: security.* and trusted.*, too; passthrough only") \
    F("locks", BOOL, "keep the guest's locks on the host's files, too") \
    F("max_xattr", NUMBER, "xattr fids at once, 0 for no limit") \
    F("max_fids", NUMBER, "fids at once, 0 for no limit") \
    /* Known so that qemu-fsdev.c can say what became of them */ \
    F("socket", STRING, "of the removed fsdriver proxy") \
    F("sock_fd", STRING, "of the removed fsdriver proxy")

#define FSDEV_DESC(option, kind, text) \
    { .name = option, .type = QEMU_OPT_##kind, .help = text },

QemuOptsList qemu_fsdev_opts = {
    .name = "fsdev",
    .implied_opt_name = "fsdriver",
    .head = QTAILQ_HEAD_INITIALIZER(qemu_fsdev_opts.head),
    .desc = {
        FSDEV_OPTS(FSDEV_DESC)
        THROTTLE_OPTS,
        { /* end of list */ }
    },
};

QemuOptsList qemu_virtfs_opts = {
    .name = "virtfs",
    .implied_opt_name = "fsdriver",
    .head = QTAILQ_HEAD_INITIALIZER(qemu_virtfs_opts.head),
    .desc = {
        FSDEV_DESC("mount_tag", STRING, "name by which the guest mounts it")
        FSDEV_OPTS(FSDEV_DESC)
        THROTTLE_OPTS,
        { /* end of list */ }
    },
};

static void register_fsdev_opts(void)
{
    qemu_add_opts(&qemu_fsdev_opts);
    qemu_add_opts(&qemu_virtfs_opts);
}
opts_init(register_fsdev_opts);
