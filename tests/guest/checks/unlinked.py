# SPDX-License-Identifier: GPL-2.0-or-later
"""Open files whose name is gone, or now another file's."""
import mmap
import os

from check import check, content, equal, refused, true, pattern
import errno

BYSTANDER = b'the file that took the name'


def remove_name(place, fd, path):
    """Unlink the name."""
    os.unlink(path)
    return None


def replace_name(place, fd, path):
    """Rename another file over the name; that file's path."""
    place.file('other', BYSTANDER, 0o640)
    os.utime(place.path('other'), (1000, 1000))
    os.rename(place.path('other'), path)
    return path


def both(place, states=(remove_name, replace_name)):
    """Yield (descriptor, path of the bystander or None) for each way."""
    for lose in states:
        path = place.path(lose.__name__)
        fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        os.write(fd, b'0123456789')
        bystander = lose(place, fd, path)
        yield fd, bystander
        if bystander:
            info = os.stat(bystander)
            equal(content(bystander), BYSTANDER, 'content of the other file')
            equal(info.st_mode, 0o100640, 'mode of the other file')
            equal(info.st_mtime, 1000, 'mtime of the other file')
            equal(info.st_uid, os.getuid(), 'owner of the other file')
            equal(os.listxattr(bystander), [], 'xattrs of the other file')
        os.close(fd)


@check()
def fstat(place):
    """fstat tells size and kind, and no links."""
    for fd, _ in both(place):
        info = os.fstat(fd)
        equal(info.st_size, 10, 'size')
        equal(info.st_mode, 0o100644, 'mode')
        equal(info.st_nlink, 0, 'links')


@check()
def fstat_of_new_file(place):
    """Made exclusively, unlinked at once: size 0, no links."""
    path = place.path('f')
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    os.unlink(path)
    equal(os.fstat(fd).st_size, 0, 'size')
    equal(os.fstat(fd).st_nlink, 0, 'links')
    os.ftruncate(fd, 131072)
    equal(os.fstat(fd).st_size, 131072, 'size after ftruncate')
    equal(os.pread(fd, 200000, 0), bytes(131072), 'content')
    os.close(fd)


@check()
def read_and_write(place):
    """Reading and writing go on."""
    for fd, _ in both(place):
        equal(os.pread(fd, 20, 0), b'0123456789', 'old content')
        os.pwrite(fd, pattern(20000), 5)
        equal(os.pread(fd, 30000, 5), pattern(20000), 'new content')
        os.fsync(fd)


@check()
def ftruncate(place):
    """ftruncate makes it shorter and longer, with zeros."""
    for fd, _ in both(place):
        os.ftruncate(fd, 4)
        equal(os.fstat(fd).st_size, 4, 'size')
        os.ftruncate(fd, 100000)
        equal(os.fstat(fd).st_size, 100000, 'size')
        equal(os.pread(fd, 200000, 0), b'0123' + bytes(99996), 'content')


@check()
def map_private(place):
    """It can be mapped, and shows its own content."""
    for fd, _ in both(place):
        os.ftruncate(fd, 10000)
        with mmap.mmap(fd, 10000, mmap.MAP_PRIVATE) as area:
            equal(area[:12], b'0123456789\0\0', 'mapped content')
            area[0:2] = b'ab'
            equal(area[:4], b'ab23', 'private change')
        equal(os.pread(fd, 4, 0), b'0123', 'file unchanged')


@check(caches=('loose', 'mmap'))
def map_shared(place):
    """A shared map of it can be written, and the file has what was."""
    for fd, _ in both(place):
        os.ftruncate(fd, 10000)
        with mmap.mmap(fd, 10000) as area:
            equal(area[:12], b'0123456789\0\0', 'mapped content')
            area[5000:5005] = b'stone'
            area.flush()
        equal(os.pread(fd, 7, 4999), b'\0stone\0', 'written by the map')


@check()
def fchmod(place):
    """fchmod changes it and nothing else."""
    for fd, _ in both(place):
        os.fchmod(fd, 0o711)
        equal(os.fstat(fd).st_mode, 0o100711, 'mode')


@check(privileged=True)
def fchown(place):
    """fchown changes it and nothing else."""
    for fd, _ in both(place):
        os.fchown(fd, 1234, 5678)
        info = os.fstat(fd)
        equal((info.st_uid, info.st_gid), (1234, 5678), 'owner')


@check()
def futimens(place):
    """futimens changes it and nothing else."""
    for fd, _ in both(place):
        os.utime(fd, (1_000_005, 2_000_007))
        equal(os.fstat(fd).st_mtime, 2_000_007, 'mtime')
        equal(os.fstat(fd).st_atime, 1_000_005, 'atime')


@check()
def fsetxattr(place):
    """Extended attributes are set, read, listed and removed by descriptor."""
    for fd, _ in both(place):
        os.setxattr(fd, 'user.colour', b'red')
        equal(os.getxattr(fd, 'user.colour'), b'red', 'value')
        equal(os.listxattr(fd), ['user.colour'], 'names')
        os.removexattr(fd, 'user.colour')
        equal(os.listxattr(fd), [], 'names after removal')
        refused(errno.ENODATA, os.getxattr, fd, 'user.colour')


@check()
def reopen_by_proc(place):
    """/proc/self/fd/N opens the old file again, not the new one."""
    for fd, _ in both(place):
        again = os.open(f'/proc/self/fd/{fd}', os.O_RDWR)
        equal(os.pread(again, 20, 0), b'0123456789', 'content')
        os.pwrite(again, b'X', 0)
        os.close(again)
        equal(os.pread(fd, 2, 0), b'X1', 'written by the second descriptor')


@check()
def dup_and_close(place):
    """It lives until its last descriptor is closed, in any order."""
    for fd, _ in both(place):
        copy = os.dup(fd)
        child = os.fork()
        if not child:
            os.close(fd)
            os._exit(0 if os.pread(copy, 20, 0) == b'0123456789' else 1)
        equal(os.waitpid(child, 0)[1], 0, 'status of the child')
        os.close(copy)
        equal(os.pread(fd, 20, 0), b'0123456789', 'content')


@check()
def name_used_again(place):
    """A new file under the name is another one, with its own content."""
    path = place.file('f', b'old')
    old = os.open(path, os.O_RDWR)
    os.unlink(path)
    place.file('f', b'newer', 0o600)
    new = os.open(path, os.O_RDWR)
    true(os.fstat(old).st_ino != os.fstat(new).st_ino, 'two inodes')
    os.fchmod(old, 0o640)
    os.ftruncate(old, 1)
    equal(os.fstat(new).st_mode, 0o100600, 'mode of the new file')
    equal(os.pread(old, 9, 0), b'o', 'content of the old file')
    equal(os.pread(new, 9, 0), b'newer', 'content of the new file')
    os.unlink(path)
    equal(os.pread(new, 9, 0), b'newer', 'content when that is gone too')
    equal(os.pread(old, 9, 0), b'o', 'content of the old file still')
    os.close(old)
    os.close(new)


@check()
def directory(place):
    """In a removed directory nothing is found and nothing can be made."""
    path = place.path('d')
    os.mkdir(path)
    fd = os.open(path, os.O_RDONLY)
    os.rmdir(path)
    equal(os.fstat(fd).st_mode & 0o170000, 0o040000, 'kind')
    equal(os.listdir(fd), [], 'names')
    refused(errno.ENOENT, os.open, 'f', os.O_CREAT | os.O_WRONLY, 0o600,
            dir_fd=fd)
    refused(errno.ENOENT, os.mkdir, 'e', dir_fd=fd)
    os.mkdir(path)
    place.file('d/f', b'in the new one')
    equal(os.listdir(fd), [], 'names, when a new directory has the name')
    refused(errno.ENOENT, os.stat, 'f', dir_fd=fd)
    os.close(fd)


@check()
def one_of_two_names(place):
    """A file that loses one of two names keeps the other."""
    path = place.file('f', b'data')
    fd = os.open(path, os.O_RDWR)
    os.link(path, place.path('g'))
    os.unlink(path)
    equal(os.fstat(fd).st_nlink, 1, 'links')
    os.fchmod(fd, 0o611)
    os.write(fd, b'DA')
    equal(os.stat(place.path('g')).st_mode, 0o100611, 'mode by other name')
    equal(content(place.path('g')), b'DAta', 'content by other name')
    os.close(fd)
