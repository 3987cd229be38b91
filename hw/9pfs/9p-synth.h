/*
 * 9p driver "synth": names of its test fixture, and an interface to add to it
 *
 * The qtests include this header for the names, so nothing of the server may
 * live here.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef HW_9PFS_9P_SYNTH_H
#define HW_9PFS_9P_SYNTH_H

/* Directories WALK0 to WALK15, each in the one before */
#define QTEST_V9FS_SYNTH_WALK_FILE "WALK%d"
#define QTEST_V9FS_SYNTH_WALK_NFILES 16
/* An empty file to be opened */
#define QTEST_V9FS_SYNTH_LOPEN_FILE "LOPEN"
/* Takes what is written, and is empty again */
#define QTEST_V9FS_SYNTH_WRITE_FILE "WRITE"
/*
 * Takes what is written if it begins with a zero byte.  Any other write goes
 * on until it is flushed.
 */
#define QTEST_V9FS_SYNTH_FLUSH_FILE "FLUSH"
/* A directory with files ReadDirFile0 to ReadDirFile99 */
#define QTEST_V9FS_SYNTH_READDIR_DIR "ReadDirDir"
#define QTEST_V9FS_SYNTH_READDIR_FILE "ReadDirFile%d"
#define QTEST_V9FS_SYNTH_READDIR_NFILES 100
/* A file that tells how many xattr fids the device has, in decimal digits */
#define QTEST_V9FS_SYNTH_STAT_DIR "stat"
#define QTEST_V9FS_SYNTH_XATTR_COUNT_FILE "xattr_count"

struct V9fsCtx;
struct V9fsFs;
typedef struct V9fsSynthNode V9fsSynthNode;

/*
 * What a file of this driver does.  Called in any thread, several at once;
 * everything may be NULL, which makes an empty file that cannot be written.
 */
typedef struct V9fsSynthFileOps {
    /* Bytes in the file, as stat tells */
    uint64_t (*size)(struct V9fsFs *fs, void *opaque);
    /* As preadv and pwritev of V9fsFsOps */
    ssize_t (*read)(const struct V9fsCtx *cx, void *opaque,
                    const struct iovec *iov, int iovcnt, uint64_t offset);
    ssize_t (*write)(const struct V9fsCtx *cx, void *opaque,
                     const struct iovec *iov, int iovcnt, uint64_t offset);
} V9fsSynthFileOps;

/**
 * v9fs_synth_mkdir: add a directory
 * @fs: an export of this driver that is started
 * @parent: where, or NULL for the root
 * @name: copied
 * @mode: permissions
 * @node: set to the new directory unless NULL; lives as long as the export
 *
 * Main thread, while no operation is running: the tree has no lock because
 * it does not change after that.
 *
 * Returns 0, -EEXIST, -ENOTDIR, -EINVAL (no valid name) or -ENAMETOOLONG.
 */
int v9fs_synth_mkdir(struct V9fsFs *fs, V9fsSynthNode *parent,
                     const char *name, uint32_t mode, V9fsSynthNode **node);

/**
 * v9fs_synth_add_file: add a regular file
 * @ops: what it does, or NULL for an empty file; must outlive the export
 * @opaque: passed to @ops; the caller's
 *
 * The rest is as for v9fs_synth_mkdir().
 */
int v9fs_synth_add_file(struct V9fsFs *fs, V9fsSynthNode *parent,
                        const char *name, uint32_t mode,
                        const V9fsSynthFileOps *ops, void *opaque);

#endif
