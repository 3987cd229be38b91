/*
 * Local driver: what is mounted inside the exported directory
 *
 * A directory's entry for a mount point has the number of what is below the
 * mount, not of what a guest finds there.  The kernel's list of mounts tells
 * which names that can be, so that all others cost nothing.  btrfs has
 * subvolumes, each a device of its own, that no list tells.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <poll.h>
#include "qemu/lockable.h"
#include "9p-local.h"

#define BTRFS_TYPE 0x9123683e       /* f_type of statfs(2) */

struct LocalMounts {
    QemuMutex lock;
    int fd;                     /* of the list; -1 if there is none */
    char *path;                 /* of the export, as the list calls it */
    GHashTable *names;          /* last components; NULL: none */
    bool subvolumes;            /* any directory may be one */
    bool root_subvolumes;
};

/* The part of a mount point's path below the export, or NULL */
static const char *mounts_below(const LocalMounts *m, const char *point)
{
    size_t len = strlen(m->path);

    if (len == 1) {
        return point[1] ? point + 1 : NULL;
    }
    return strncmp(point, m->path, len) == 0 && point[len] == '/' ?
           point + len + 1 : NULL;
}

/*
 * A line: number, parent, device, root, mount point, options, optional fields
 * up to "-", type.  Blanks in paths are octal.
 */
static void mounts_add(LocalMounts *m, const char *line)
{
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    g_autofree char *point = NULL;
    const char *below;
    unsigned i;

    if (g_strv_length(words) < 5) {
        return;
    }
    point = g_strcompress(words[4]);
    below = mounts_below(m, point);
    if (!below) {
        return;
    }
    if (!m->names) {
        m->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                         NULL);
    }
    g_hash_table_add(m->names, g_path_get_basename(below));
    for (i = 5; words[i] && !g_str_equal(words[i], "-"); i++) {
        continue;
    }
    if (words[i] && g_strcmp0(words[i + 1], "btrfs") == 0) {
        m->subvolumes = true;
    }
}

static void mounts_read(LocalMounts *m)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    g_clear_pointer(&m->names, g_hash_table_unref);
    m->subvolumes = m->root_subvolumes;
    if (!g_file_get_contents("/proc/self/mountinfo", &text, NULL, NULL)) {
        return;
    }
    lines = g_strsplit(text, "\n", -1);
    for (int i = 0; lines[i]; i++) {
        mounts_add(m, lines[i]);
    }
}

LocalMounts *local_mounts_new(const char *path, int root_fd)
{
    LocalMounts *m = g_new0(LocalMounts, 1);

    qemu_mutex_init(&m->lock);
    m->path = realpath(path, NULL);
    m->root_subvolumes = local_os_fs_type(root_fd) == BTRFS_TYPE;
    m->subvolumes = m->root_subvolumes;
    m->fd = m->path ? open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) : -1;
    if (m->fd >= 0) {
        mounts_read(m);
    }
    return m;
}

void local_mounts_free(LocalMounts *m)
{
    g_clear_pointer(&m->names, g_hash_table_unref);
    if (m->fd >= 0) {
        close(m->fd);
    }
    free(m->path);
    qemu_mutex_destroy(&m->lock);
    g_free(m);
}

GHashTable *local_mounts_names(LocalMounts *m, bool *subvolumes)
{
    struct pollfd changed = { .fd = m->fd, .events = POLLPRI };

    QEMU_LOCK_GUARD(&m->lock);
    /* The list says so once, when it is no more what was read. */
    if (m->fd >= 0 && poll(&changed, 1, 0) > 0) {
        mounts_read(m);
    }
    *subvolumes = m->subvolumes;
    return m->names ? g_hash_table_ref(m->names) : NULL;
}
