/*
 * 9p driver "synth": a tree in memory with known content, for tests
 *
 * The tree is built when the export starts and is freed when it stops.  In
 * between it does not change, so that workers need no lock and handles are
 * plain pointers.  Nothing here may depend on the host's files.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/atomic.h"
#include "qemu/iov.h"
#include "hw/9pfs/9p-fs.h"
#include "hw/9pfs/9p-synth.h"

#define SYNTH_DEV       1
#define SYNTH_BLKSIZE   4096
#define SYNTH_MAGIC     0x01021997      /* of 9p itself, see linux/magic.h */

/* Positions in a directory: the dots, and then the children by index */
#define SYNTH_POS_DOT       0
#define SYNTH_POS_DOTDOT    1
#define SYNTH_POS_CHILDREN  2

struct V9fsSynthNode {
    char *name;
    uint64_t ino;
    uint32_t mode;              /* type and permissions */
    uint64_t nlink;
    V9fsSynthNode *parent;      /* the root's is the root */
    /* Directories */
    GPtrArray *children;        /* in the order of readdir */
    GHashTable *by_name;
    /* Files */
    const V9fsSynthFileOps *ops;
    void *opaque;
};

typedef struct SynthTree {
    GPtrArray *nodes;           /* owns all of them; the first is the root */
} SynthTree;

static bool synth_is_dir(const V9fsSynthNode *node)
{
    return S_ISDIR(node->mode);
}

/* The tree */

static void synth_node_free(void *opaque)
{
    V9fsSynthNode *node = opaque;

    g_free(node->name);
    if (synth_is_dir(node)) {
        g_ptr_array_unref(node->children);
        g_hash_table_unref(node->by_name);
    }
    g_free(node);
}

static V9fsSynthNode *synth_node_new(SynthTree *tree, const char *name,
                                     uint32_t mode)
{
    V9fsSynthNode *node = g_new0(V9fsSynthNode, 1);

    node->name = g_strdup(name);
    node->mode = mode;
    node->nlink = 1;
    node->parent = node;
    if (synth_is_dir(node)) {
        node->nlink = 2;
        node->children = g_ptr_array_new();
        node->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    }
    g_ptr_array_add(tree->nodes, node);
    node->ino = tree->nodes->len;
    return node;
}

static int synth_check_name(const char *name)
{
    if (!*name || strchr(name, '/') || g_str_equal(name, ".") ||
        g_str_equal(name, "..")) {
        return -EINVAL;
    }
    return strlen(name) > P9_NAME_MAX ? -ENAMETOOLONG : 0;
}

static int synth_add(V9fsFs *fs, V9fsSynthNode *parent, const char *name,
                     uint32_t mode, V9fsSynthNode **out)
{
    SynthTree *tree = fs->opaque;
    int err = synth_check_name(name);
    V9fsSynthNode *node;

    if (!parent) {
        parent = fs->root.opaque;
    }
    if (err < 0) {
        return err;
    }
    if (!synth_is_dir(parent)) {
        return -ENOTDIR;
    }
    if (g_hash_table_contains(parent->by_name, name)) {
        return -EEXIST;
    }

    node = synth_node_new(tree, name, mode);
    node->parent = parent;
    parent->nlink += synth_is_dir(node);
    g_ptr_array_add(parent->children, node);
    g_hash_table_insert(parent->by_name, node->name, node);
    *out = node;
    return 0;
}

int v9fs_synth_mkdir(V9fsFs *fs, V9fsSynthNode *parent, const char *name,
                     uint32_t mode, V9fsSynthNode **node)
{
    V9fsSynthNode *dir;

    return synth_add(fs, parent, name, S_IFDIR | (mode & 07777),
                     node ?: &dir);
}

int v9fs_synth_add_file(V9fsFs *fs, V9fsSynthNode *parent, const char *name,
                        uint32_t mode, const V9fsSynthFileOps *ops,
                        void *opaque)
{
    V9fsSynthNode *node;
    int err = synth_add(fs, parent, name, S_IFREG | (mode & 07777), &node);

    if (err == 0) {
        node->ops = ops;
        node->opaque = opaque;
    }
    return err;
}

/* The fixture */

static ssize_t synth_write_any(const V9fsCtx *cx, void *opaque,
                               const struct iovec *iov, int iovcnt,
                               uint64_t offset)
{
    return iov_size(iov, iovcnt);
}

static ssize_t synth_write_flush(const V9fsCtx *cx, void *opaque,
                                 const struct iovec *iov, int iovcnt,
                                 uint64_t offset)
{
    uint8_t first = 0;

    iov_to_buf(iov, iovcnt, 0, &first, sizeof(first));
    if (!first) {
        return iov_size(iov, iovcnt);
    }
    if (cx->nowait) {
        return -EAGAIN;
    }
    /* The caller tries again and again: spare it a spinning processor */
    g_usleep(1000);
    return -EINTR;
}

static char *synth_xattr_count(V9fsFs *fs)
{
    return g_strdup_printf("%u", qatomic_read(&fs->xattr_fids));
}

static uint64_t synth_size_xattr_count(V9fsFs *fs, void *opaque)
{
    g_autofree char *text = synth_xattr_count(fs);

    return strlen(text);
}

static ssize_t synth_read_xattr_count(const V9fsCtx *cx, void *opaque,
                                      const struct iovec *iov, int iovcnt,
                                      uint64_t offset)
{
    g_autofree char *text = synth_xattr_count(cx->fs);
    size_t size = strlen(text);

    if (offset >= size) {
        return 0;
    }
    return iov_from_buf(iov, iovcnt, 0, text + offset, size - offset);
}

static const V9fsSynthFileOps synth_write_file = {
    .write = synth_write_any,
};

static const V9fsSynthFileOps synth_flush_file = {
    .write = synth_write_flush,
};

static const V9fsSynthFileOps synth_xattr_count_file = {
    .size = synth_size_xattr_count,
    .read = synth_read_xattr_count,
};

/* Fresh names in a fresh tree: nothing of this can fail */
static void synth_populate(V9fsFs *fs)
{
    V9fsSynthNode *dir = NULL;
    unsigned i;

    for (i = 0; i < QTEST_V9FS_SYNTH_WALK_NFILES; i++) {
        g_autofree char *name = g_strdup_printf(QTEST_V9FS_SYNTH_WALK_FILE, i);

        v9fs_synth_mkdir(fs, dir, name, 0755, &dir);
    }

    v9fs_synth_add_file(fs, NULL, QTEST_V9FS_SYNTH_LOPEN_FILE, 0644,
                        NULL, NULL);
    v9fs_synth_add_file(fs, NULL, QTEST_V9FS_SYNTH_WRITE_FILE, 0644,
                        &synth_write_file, NULL);
    v9fs_synth_add_file(fs, NULL, QTEST_V9FS_SYNTH_FLUSH_FILE, 0644,
                        &synth_flush_file, NULL);

    v9fs_synth_mkdir(fs, NULL, QTEST_V9FS_SYNTH_READDIR_DIR, 0755, &dir);
    for (i = 0; i < QTEST_V9FS_SYNTH_READDIR_NFILES; i++) {
        g_autofree char *name =
            g_strdup_printf(QTEST_V9FS_SYNTH_READDIR_FILE, i);

        v9fs_synth_add_file(fs, dir, name, 0644, NULL, NULL);
    }

    v9fs_synth_mkdir(fs, NULL, QTEST_V9FS_SYNTH_STAT_DIR, 0555, &dir);
    v9fs_synth_add_file(fs, dir, QTEST_V9FS_SYNTH_XATTR_COUNT_FILE, 0444,
                        &synth_xattr_count_file, NULL);
}

/* Set-up */

static bool synth_check(const V9fsExport *exp, Error **errp)
{
    const char *useless = exp->path ? "path" :
                          exp->model != V9FS_MODEL_UNSET ? "security_model" :
                          exp->writeout_immediate ? "writeout" : NULL;

    if (useless) {
        error_setg(errp, "fsdriver 'synth' has no use for %s: it has no host "
                   "directory; leave it out", useless);
        return false;
    }
    return true;
}

static bool synth_start(V9fsFs *fs, Error **errp)
{
    SynthTree *tree = g_new0(SynthTree, 1);

    tree->nodes = g_ptr_array_new_with_free_func(synth_node_free);
    fs->opaque = tree;
    fs->root.opaque = synth_node_new(tree, "", S_IFDIR | 0755);
    fs->root.dev = SYNTH_DEV;
    fs->root.ino = ((V9fsSynthNode *)fs->root.opaque)->ino;
    synth_populate(fs);
    return true;
}

static void synth_stop(V9fsFs *fs)
{
    SynthTree *tree = fs->opaque;

    g_ptr_array_unref(tree->nodes);
    g_free(tree);
    fs->opaque = NULL;
    fs->root.opaque = NULL;
}

/* Names */

/* Node @name in @dir; @err is set if it returns NULL */
static V9fsSynthNode *synth_lookup(V9fsSynthNode *dir, const char *name,
                                   int *err)
{
    V9fsSynthNode *node;

    if (!synth_is_dir(dir)) {
        *err = -ENOTDIR;
        return NULL;
    }
    node = g_hash_table_lookup(dir->by_name, name);
    if (!node) {
        *err = -ENOENT;
    }
    return node;
}

static V9fsSynthNode *synth_resolve(const V9fsObject *obj, int *err)
{
    if (obj->file) {
        return obj->file->opaque;
    }
    if (obj->name) {
        return synth_lookup(obj->dir->opaque, obj->name, err);
    }
    return obj->dir->opaque;
}

/*
 * The tree does not change, so that is what every change of names comes to,
 * unless something else is wrong with it.
 */
static int synth_refuse_new(const V9fsHandle *dir, const char *name)
{
    int err = -EEXIST;

    synth_lookup(dir->opaque, name, &err);
    return err == -ENOENT ? -EPERM : err;
}

static int synth_refuse_old(const V9fsHandle *dir, const char *name)
{
    int err = -EPERM;

    synth_lookup(dir->opaque, name, &err);
    return err;
}

static int synth_open_handle(const V9fsCtx *cx, const V9fsHandle *dir,
                             const char *path, bool directory,
                             V9fsHandle *out)
{
    g_auto(GStrv) names = g_strsplit(path, "/", -1);
    V9fsSynthNode *node = dir->opaque;
    unsigned i;
    int err = 0;

    for (i = 0; names[i]; i++) {
        node = synth_lookup(node, names[i], &err);
        if (!node) {
            return err;
        }
    }
    if (directory && !synth_is_dir(node)) {
        return -ENOTDIR;
    }
    out->opaque = node;
    out->dev = SYNTH_DEV;
    out->ino = node->ino;
    return 0;
}

static void synth_close_handle(V9fsFs *fs, V9fsHandle *h)
{
    h->opaque = NULL;
}

static bool synth_is_gone(const V9fsCtx *cx, const V9fsHandle *h)
{
    return false;
}

static int synth_make(const V9fsCtx *cx, const V9fsHandle *dir,
                      const V9fsNew *new, V9fsStat *st)
{
    return synth_refuse_new(dir, new->name);
}

static int synth_link(const V9fsCtx *cx, const V9fsObject *obj,
                      const V9fsHandle *dir, const char *name)
{
    int err = 0;

    if (!synth_resolve(obj, &err)) {
        return err;
    }
    return synth_refuse_new(dir, name);
}

static int synth_unlink(const V9fsCtx *cx, const V9fsHandle *dir,
                        const char *name, bool rmdir)
{
    return synth_refuse_old(dir, name);
}

static int synth_rename(const V9fsCtx *cx, const V9fsHandle *olddir,
                        const char *oldname, const V9fsHandle *newdir,
                        const char *newname)
{
    return synth_refuse_old(olddir, oldname);
}

/* Attributes */

static void synth_fill_stat(V9fsFs *fs, V9fsSynthNode *node, V9fsStat *st)
{
    uint64_t size = 0;

    if (node->ops && node->ops->size) {
        size = node->ops->size(fs, node->opaque);
    }
    *st = (V9fsStat) {
        .dev = SYNTH_DEV,
        .ino = node->ino,
        .mode = node->mode,
        .nlink = node->nlink,
        .size = size,
        .blocks = DIV_ROUND_UP(size, 512),
        .blksize = SYNTH_BLKSIZE,
    };
}

static int synth_stat(const V9fsCtx *cx, const V9fsObject *obj, V9fsStat *st)
{
    int err = 0;
    V9fsSynthNode *node = synth_resolve(obj, &err);

    if (!node) {
        return err;
    }
    synth_fill_stat(cx->fs, node, st);
    return 0;
}

static int synth_setattr(const V9fsCtx *cx, const V9fsObject *obj,
                         const V9fsSetattr *attr)
{
    int err = 0;

    if (!synth_resolve(obj, &err)) {
        return err;
    }
    return attr->valid ? -EPERM : 0;
}

static int synth_statfs(const V9fsCtx *cx, const V9fsObject *obj,
                        P9Rstatfs *st)
{
    const SynthTree *tree = cx->fs->opaque;
    int err = 0;

    if (!synth_resolve(obj, &err)) {
        return err;
    }
    *st = (P9Rstatfs) {
        .type = SYNTH_MAGIC,
        .bsize = SYNTH_BLKSIZE,
        .files = tree->nodes->len,
        .namelen = P9_NAME_MAX,
    };
    return 0;
}

static ssize_t synth_readlink(const V9fsCtx *cx, const V9fsObject *obj,
                              char *buf, size_t size)
{
    int err = 0;

    return synth_resolve(obj, &err) ? -EINVAL : err;
}

/* Open files */

/* O_TRUNC does nothing: what takes writes is empty all the time */
static int synth_open_node(V9fsFs *fs, V9fsSynthNode *node, uint32_t flags,
                           V9fsFile *out, V9fsStat *st)
{
    bool is_dir = synth_is_dir(node);

    if (is_dir && (flags & P9_DOTL_NOACCESS) != P9_DOTL_RDONLY) {
        return -EISDIR;
    }
    if (!is_dir && (flags & P9_DOTL_DIRECTORY)) {
        return -ENOTDIR;
    }
    *out = (V9fsFile) {
        .opaque = node,
        .is_dir = is_dir,
        .dev = SYNTH_DEV,
        .ino = node->ino,
    };
    synth_fill_stat(fs, node, st);
    return 0;
}

static int synth_open(const V9fsCtx *cx, const V9fsObject *obj,
                      uint32_t flags, V9fsFile *out, V9fsStat *st)
{
    int err = 0;
    V9fsSynthNode *node = synth_resolve(obj, &err);

    return node ? synth_open_node(cx->fs, node, flags, out, st) : err;
}

static int synth_create(const V9fsCtx *cx, const V9fsHandle *dir,
                        const V9fsNew *new, uint32_t flags,
                        V9fsFile *out, V9fsStat *st)
{
    int err = 0;
    V9fsSynthNode *node = synth_lookup(dir->opaque, new->name, &err);

    if (!node || (flags & P9_DOTL_EXCL)) {
        return synth_refuse_new(dir, new->name);
    }
    if (synth_is_dir(node)) {
        return -EISDIR;
    }
    return synth_open_node(cx->fs, node, flags, out, st);
}

static int synth_close(const V9fsCtx *cx, V9fsFile *file)
{
    file->opaque = NULL;
    return 0;
}

static ssize_t synth_preadv(const V9fsCtx *cx, V9fsFile *file,
                            const struct iovec *iov, int iovcnt,
                            uint64_t offset)
{
    V9fsSynthNode *node = file->opaque;

    if (synth_is_dir(node)) {
        return -EISDIR;
    }
    if (!node->ops || !node->ops->read) {
        return 0;
    }
    return node->ops->read(cx, node->opaque, iov, iovcnt, offset);
}

static ssize_t synth_pwritev(const V9fsCtx *cx, const V9fsObject *obj,
                             const struct iovec *iov, int iovcnt,
                             uint64_t offset, bool append)
{
    V9fsSynthNode *node = obj->file->opaque;

    if (!node->ops || !node->ops->write) {
        return -EINVAL;
    }
    if (append) {
        offset = node->ops->size ? node->ops->size(cx->fs, node->opaque) : 0;
    }
    return node->ops->write(cx, node->opaque, iov, iovcnt, offset);
}

static int synth_fsync(const V9fsCtx *cx, V9fsFile *file, bool datasync)
{
    return 0;
}

/* The entry at position @pos; false at the end */
static bool synth_dirent(const V9fsSynthNode *dir, uint64_t pos,
                         V9fsDirent *ent)
{
    const V9fsSynthNode *node;
    const char *name;

    if (pos == SYNTH_POS_DOT) {
        node = dir;
        name = ".";
    } else if (pos == SYNTH_POS_DOTDOT) {
        node = dir->parent;
        name = "..";
    } else if (pos - SYNTH_POS_CHILDREN < dir->children->len) {
        node = g_ptr_array_index(dir->children, pos - SYNTH_POS_CHILDREN);
        name = node->name;
    } else {
        return false;
    }

    *ent = (V9fsDirent) {
        .dev = SYNTH_DEV,
        .ino = node->ino,
        .offset = pos + 1,
        .type = synth_is_dir(node) ? DT_DIR : DT_REG,
        .name = name,
        .namelen = strlen(name),
    };
    return true;
}

static int synth_readdir(const V9fsCtx *cx, V9fsFile *dir, uint64_t offset,
                         size_t room, V9fsAddDirent *add, void *opaque)
{
    const V9fsSynthNode *node = dir->opaque;
    V9fsDirent ent;

    if (!synth_is_dir(node)) {
        return -ENOTDIR;
    }
    while (synth_dirent(node, offset, &ent) && add(opaque, &ent)) {
        offset = ent.offset;
    }
    dir->pos = offset;
    return 0;
}

/* Extended attributes: there are none */

static int synth_no_xattr(const V9fsObject *obj)
{
    int err = 0;

    return synth_resolve(obj, &err) ? -EOPNOTSUPP : err;
}

static ssize_t synth_getxattr(const V9fsCtx *cx, const V9fsObject *obj,
                              const char *name, void *value, size_t size)
{
    return synth_no_xattr(obj);
}

static ssize_t synth_listxattr(const V9fsCtx *cx, const V9fsObject *obj,
                               char *list, size_t size)
{
    int err = 0;

    return synth_resolve(obj, &err) ? 0 : err;
}

static int synth_setxattr(const V9fsCtx *cx, const V9fsObject *obj,
                          const char *name, const void *value, size_t size,
                          int flags)
{
    return synth_no_xattr(obj);
}

static int synth_removexattr(const V9fsCtx *cx, const V9fsObject *obj,
                             const char *name)
{
    return synth_no_xattr(obj);
}

const V9fsFsOps v9fs_synth_ops = {
    .name = "synth",
    .check = synth_check,
    .start = synth_start,
    .stop = synth_stop,
    .open_handle = synth_open_handle,
    .close_handle = synth_close_handle,
    .is_gone = synth_is_gone,
    .stat = synth_stat,
    .setattr = synth_setattr,
    .statfs = synth_statfs,
    .readlink = synth_readlink,
    .open = synth_open,
    .create = synth_create,
    .close = synth_close,
    .preadv = synth_preadv,
    .pwritev = synth_pwritev,
    .fsync = synth_fsync,
    .readdir = synth_readdir,
    .make = synth_make,
    .link = synth_link,
    .unlink = synth_unlink,
    .rename = synth_rename,
    .getxattr = synth_getxattr,
    .listxattr = synth_listxattr,
    .setxattr = synth_setxattr,
    .removexattr = synth_removexattr,
};
