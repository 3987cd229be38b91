/*
 * Migration while the guest has a share mounted
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_9P_MIGRATION_H
#define QEMU_9P_MIGRATION_H

/**
 * v9fs_block_migration: forbid or allow migration
 * @blocker: of the device; NULL at first
 * @tag: the share's mount tag
 * @mounted: whether to forbid it
 *
 * Main thread.  The fids of a mounted share cannot be moved to another host.
 * Returns 0; -EBUSY if a migration is under way and nothing may be mounted.
 */
int v9fs_block_migration(Error **blocker, const char *tag, bool mounted);

#endif
