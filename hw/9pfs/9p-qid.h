/*
 * Qids: the server's identities of files
 *
 * The only place that turns device, inode number and birth time into what
 * the client sees.  Any thread.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef QEMU_9P_QID_H
#define QEMU_9P_QID_H

#include "qemu/thread.h"
#include "hw/9pfs/9p-fs.h"

/* Devices that inode numbers can be told apart of; more fail with -ENFILE. */
#define V9FS_QID_MAX_DEVS   0xfffe

typedef struct V9fsQidMap {
    V9fsMultidevs multidevs;
    uint64_t root_dev;
    QemuMutex lock;             /* of all below */
    GArray *devs;               /* uint64_t: devices other than the root's */
    GHashTable *large;          /* files with inode numbers over 48 bits */
    bool warned;
} V9fsQidMap;

void v9fs_qidmap_init(V9fsQidMap *map, V9fsMultidevs multidevs,
                      uint64_t root_dev);
void v9fs_qidmap_destroy(V9fsQidMap *map);

/**
 * v9fs_qid_path: the number of a file that no other file of the export has
 *
 * Returns 0; -ENODEV if the export forbids other devices; -ENFILE.
 */
int v9fs_qid_path(V9fsQidMap *map, uint64_t dev, uint64_t ino, uint64_t *path);

/**
 * v9fs_qid: the qid of a file
 *
 * The version stays the same as long as the file lives and is never 0.
 * Linux takes a changed version for another file and then parts with the
 * pages it has cached, dirty ones too, and 0 for "do not cache".
 * Returns as v9fs_qid_path().
 */
int v9fs_qid(V9fsQidMap *map, const V9fsStat *st, P9Qid *qid);

/**
 * v9fs_qid_type: from a mode's file type bits
 */
uint8_t v9fs_qid_type(uint32_t mode);

#endif
