/*
 * Local driver: credentials of objects that may have no name any more
 *
 * Security model mapped-file finds what the guest has set of an object by its
 * name.  For objects that are open, or whose name the guest has removed while
 * it used them, it is kept here as well, by the host's identity of the object:
 * all who have the same object see the same.  In memory, and if the guest has
 * removed the name also as a descriptor of the metadata file, which other
 * names of the object may share.
 *
 * May be called in any thread; nothing here waits.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef HW_9PFS_9P_LOCAL_KEPT_H
#define HW_9PFS_9P_LOCAL_KEPT_H

#include "9p-local-mapped.h"

typedef struct LocalKept LocalKept;

/**
 * local_kept_get: what is kept of an object, at first nothing
 * @dev, @ino: of an object that is open until this is given back
 */
LocalKept *local_kept_get(uint64_t dev, uint64_t ino);
void local_kept_put(LocalKept *kept);

/* Whether it is of this object */
bool local_kept_is(const LocalKept *kept, uint64_t dev, uint64_t ino);

/* Adds what is kept to @creds */
void local_kept_read(LocalKept *kept, LocalCreds *creds);
/* Adds @creds to what is kept */
void local_kept_merge(LocalKept *kept, const LocalCreds *creds);

/**
 * local_kept_changed: @creds have been set of an object; to be kept if it is
 */
void local_kept_changed(uint64_t dev, uint64_t ino, const LocalCreds *creds);

/**
 * local_kept_take_fd: keep a descriptor of the metadata file
 *
 * It is closed if there is one already.
 */
void local_kept_take_fd(LocalKept *kept, int fd);
/* Stays open while @kept is; -1 if there is none */
int local_kept_fd(const LocalKept *kept);

#endif
