/*
 * Migration while the guest has a share mounted
 *
 * Shared by the transports that are devices; apart from them so that the
 * server itself depends on nothing of migration.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "hw/9pfs/9p-migration.h"
#include "migration/blocker.h"
#include "qapi/error.h"

int v9fs_block_migration(Error **blocker, const char *tag, bool mounted)
{
    if (!mounted) {
        migrate_del_blocker(blocker);
        return 0;
    }
    error_setg(blocker, "The guest has the 9p share '%s' mounted; it must be "
               "unmounted in the guest before the VM can be migrated or "
               "saved", tag);
    return migrate_add_blocker(blocker, NULL) < 0 ? -EBUSY : 0;
}
