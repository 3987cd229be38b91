/*
 * Benchmark: the exported trees
 *
 * Each export of the local driver has a directory of its own below tree_top,
 * with the same in it:
 *
 *   file, rdata, wdata.A, wdata.B   files with tree_pattern() in them
 *   hostlink                        a link to LINK_TARGET
 *   work                            where names come and go
 *   lvl01/.../lvl20/leaf            a file far down
 *   many100, many1000, ...          directories of so many files
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <ftw.h>
#include <sys/xattr.h>
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "device.h"

const char *const export_names[EXPORT__MAX] = { "none", "mapped", "synth" };

const char *const chain_names[CHAIN_DIRS + 1] = {
    "lvl01", "lvl02", "lvl03", "lvl04", "lvl05", "lvl06", "lvl07", "lvl08",
    "lvl09", "lvl10", "lvl11", "lvl12", "lvl13", "lvl14", "lvl15", "lvl16",
    "lvl17", "lvl18", "lvl19", "lvl20", NULL
};

char *tree_top;

/* Word @word of any file: different at every offset */
uint64_t tree_pattern(uint64_t word)
{
    return (word + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
}

char *tree_path(Export export, const char *format, ...)
{
    g_autofree char *relative = NULL;
    va_list ap;

    va_start(ap, format);
    relative = g_strdup_vprintf(format, ap);
    va_end(ap);
    return g_build_filename(tree_top, export_names[export], relative, NULL);
}

static void G_NORETURN give_up(const char *path)
{
    error_report("%s: %s", path, strerror(errno));
    exit(1);
}

/* What security model mapped-xattr keeps for an object that a guest made */
static void set_owner(Export export, const char *path, uint32_t mode)
{
    const struct {
        const char *name;
        uint32_t value;
    } attrs[] = {
        { "user.virtfs.mode", cpu_to_le32(mode) },
        { "user.virtfs.uid", 0 },
        { "user.virtfs.gid", 0 },
    };

    for (int i = 0; export == EXPORT_MAPPED && i < ARRAY_SIZE(attrs); i++) {
        if (lsetxattr(path, attrs[i].name, &attrs[i].value, 4, 0)) {
            give_up(path);
        }
    }
}

void tree_put_file(Export export, const char *path, uint32_t size)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    g_autofree uint64_t *buf = g_malloc(size + 8);

    for (uint32_t i = 0; i < size / 8; i++) {
        buf[i] = tree_pattern(i);
    }
    if (fd < 0 || pwrite(fd, buf, size, 0) != size) {
        give_up(path);
    }
    close(fd);
    set_owner(export, path, S_IFREG | 0644);
}

static void put_dir(Export export, const char *path)
{
    if (mkdir(path, 0755)) {
        give_up(path);
    }
    set_owner(export, path, S_IFDIR | 0755);
}

static void put_chain(Export export)
{
    g_autofree char *path = tree_path(export, ".");
    g_autofree char *leaf = NULL;

    for (int i = 0; i < CHAIN_DIRS; i++) {
        char *deeper = g_build_filename(path, chain_names[i], NULL);

        g_free(path);
        path = deeper;
        put_dir(export, path);
    }
    leaf = g_build_filename(path, "leaf", NULL);
    tree_put_file(export, leaf, SMALL_SIZE);
}

static void put_many(Export export, unsigned n)
{
    g_autofree char *path = tree_path(export, "many%u", n);

    put_dir(export, path);
    for (unsigned i = 0; i < n; i++) {
        g_autofree char *file = g_strdup_printf("%s/entry-%07u", path, i);

        if (mknod(file, S_IFREG | 0644, 0)) {
            give_up(file);
        }
    }
}

void tree_make(Export export, unsigned max_entries)
{
    static const struct {
        const char *name;
        uint32_t size;
    } files[] = {
        { "file", SMALL_SIZE },
        { "rdata", DATA_SIZE },
        { "wdata.A", DATA_SIZE },
        { "wdata.B", DATA_SIZE },
    };
    g_autofree char *root = g_build_filename(tree_top, export_names[export],
                                             NULL);
    g_autofree char *link = tree_path(export, "hostlink");
    g_autofree char *work = tree_path(export, "work");

    put_dir(export, root);
    put_dir(export, work);
    for (int i = 0; i < ARRAY_SIZE(files); i++) {
        g_autofree char *path = tree_path(export, "%s", files[i].name);

        tree_put_file(export, path, files[i].size);
    }
    if (symlink(LINK_TARGET, link)) {
        give_up(link);
    }
    put_chain(export);
    for (unsigned n = 100; n <= max_entries; n *= 10) {
        put_many(export, n);
    }
}

static int remove_one(const char *path, const struct stat *st, int flag,
                      struct FTW *ftw)
{
    return remove(path);
}

void tree_remove(const char *path)
{
    nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
