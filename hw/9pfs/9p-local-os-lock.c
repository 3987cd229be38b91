/*
 * Local driver: locks of open file descriptions, which not every host has
 *
 * See 9p-local-os.h.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "9p-local-os.h"

#ifdef F_OFD_SETLK

static const short host_types[] = {
    [P9_LOCK_TYPE_RDLCK] = F_RDLCK,
    [P9_LOCK_TYPE_WRLCK] = F_WRLCK,
    [P9_LOCK_TYPE_UNLCK] = F_UNLCK,
};

static uint8_t p9_type(short type)
{
    for (int i = 0; i < ARRAY_SIZE(host_types); i++) {
        if (host_types[i] == type) {
            return i;
        }
    }
    g_assert_not_reached();
}

static struct flock host_lock(const V9fsLock *lock)
{
    return (struct flock) {
        .l_type = host_types[lock->type],
        .l_whence = SEEK_SET,
        .l_start = lock->start,
        .l_len = lock->end == INT64_MAX ? 0 : lock->end - lock->start + 1,
    };
}

int local_os_lock(int fd, const V9fsLock *lock)
{
    struct flock host = host_lock(lock);

    if (RETRY_ON_EINTR(fcntl(fd, F_OFD_SETLK, &host)) < 0) {
        return errno == EACCES ? -EAGAIN : -errno;
    }
    return 0;
}

int local_os_getlock(int fd, V9fsLock *lock, uint32_t *pid)
{
    struct flock host = host_lock(lock);

    if (RETRY_ON_EINTR(fcntl(fd, F_OFD_GETLK, &host)) < 0) {
        return -errno;
    }
    lock->type = p9_type(host.l_type);
    if (host.l_type != F_UNLCK) {
        lock->start = host.l_start;
        lock->end = host.l_len ? host.l_start + host.l_len - 1 : INT64_MAX;
        *pid = MAX(host.l_pid, 0);
    }
    return 0;
}

#else

int local_os_lock(int fd, const V9fsLock *lock)
{
    return 0;
}

int local_os_getlock(int fd, V9fsLock *lock, uint32_t *pid)
{
    lock->type = P9_LOCK_TYPE_UNLCK;
    return 0;
}

#endif
