/*
 * 9P2000.u: its modes and stat records, and Linux's
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include <sys/sysmacros.h>
#include "hw/9pfs/9p-u.h"

static const struct {
    uint32_t u, mode;
} types[] = {
    { P9_DMDIR, S_IFDIR },
    { P9_DMSYMLINK, S_IFLNK },
    { P9_DMNAMEDPIPE, S_IFIFO },
    { P9_DMSOCKET, S_IFSOCK },
    { P9_DMDEVICE, S_IFCHR },
    { P9_DMDEVICE, S_IFBLK },
}, bits[] = {
    { P9_DMSETUID, S_ISUID },
    { P9_DMSETGID, S_ISGID },
    { P9_DMSETVTX, S_ISVTX },
};

uint32_t v9fs_u_mode(uint32_t mode)
{
    uint32_t u = mode & 0777;

    for (int i = 0; i < ARRAY_SIZE(types); i++) {
        u |= (mode & S_IFMT) == types[i].mode ? types[i].u : 0;
    }
    for (int i = 0; i < ARRAY_SIZE(bits); i++) {
        u |= mode & bits[i].mode ? bits[i].u : 0;
    }
    return u;
}

int v9fs_u_unix_mode(uint32_t perm, const char *extension, uint32_t *mode)
{
    uint32_t type = 0, left = perm & ~(0777 | P9_DMLINK);

    *mode = perm & 0777;
    for (int i = 0; i < ARRAY_SIZE(bits); i++) {
        *mode |= perm & bits[i].u ? bits[i].mode : 0;
        left &= ~bits[i].u;
    }
    for (int i = 0; i < ARRAY_SIZE(types); i++) {
        if (!(left & types[i].u)) {
            continue;
        }
        if (type) {
            return -EINVAL;
        }
        type = types[i].mode;
        left &= ~types[i].u;
    }
    if (left) {
        return -EOPNOTSUPP;
    }
    if (type == S_IFCHR && *extension == 'b') {
        type = S_IFBLK;
    }
    *mode |= type ?: S_IFREG;
    return 0;
}

int v9fs_u_rdev(const char *extension, uint64_t *rdev)
{
    unsigned major, minor;
    char type;

    if (sscanf(extension, "%c %u %u", &type, &major, &minor) != 3 ||
        (type != 'b' && type != 'c')) {
        return -EINVAL;
    }
    *rdev = makedev(major, minor);
    return 0;
}

/* Linux has the number of links from here, and devices and targets. */
static void set_extension(const V9fsStat *st, char *extension)
{
    switch (st->mode & S_IFMT) {
    case S_IFLNK:
        break;
    case S_IFREG:
    case S_IFDIR:
        sprintf(extension, "HARDLINKCOUNT %" PRIu64, st->nlink);
        break;
    case S_IFCHR:
    case S_IFBLK:
        sprintf(extension, "%c %u %u", S_ISBLK(st->mode) ? 'b' : 'c',
                major(st->rdev), minor(st->rdev));
        break;
    default:
        *extension = '\0';
    }
}

/* Seconds that 32 bits can say; all of them set mean "leave it" in Twstat */
static uint32_t seconds(const struct timespec *time)
{
    return MAX(MIN(time->tv_sec, UINT32_MAX - 1ll), 0);
}

int v9fs_u_stat(V9fsQidMap *qids, const V9fsStat *st, V9fsUText *text,
                P9Stat *rec)
{
    set_extension(st, text->extension);
    sprintf(text->uid, "%u", st->uid);
    sprintf(text->gid, "%u", st->gid);
    *rec = (P9Stat) {
        .mode = v9fs_u_mode(st->mode), .length = st->size,
        .atime = seconds(&st->atime), .mtime = seconds(&st->mtime),
        .name = text->name, .extension = text->extension,
        .uid = text->uid, .gid = text->gid, .muid = text->uid,
        .n_uid = st->uid, .n_gid = st->gid, .n_muid = st->uid,
    };
    return v9fs_qid(qids, st, &rec->qid);
}
