# SPDX-License-Identifier: GPL-2.0-or-later
"""Renaming files and directories, open ones and over others."""
import ctypes
import errno
import os

from check import check, content, equal, refused, true

NOREPLACE = 1
EXCHANGE = 2


def rename2(old, new, flags):
    """The system call renameat2, which Python does not have."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, os.fsencode(old), -100, os.fsencode(new), flags):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), old)


@check()
def open_file(place):
    """A renamed file is still what its descriptor is for."""
    path = place.file('f', b'0123')
    os.mkdir(place.path('d'))
    fd = os.open(path, os.O_RDWR)
    for step, new in enumerate((place.path('g'), place.path('d', 'h'),
                                place.path('d', 'i'))):
        os.rename(path, new)
        path = new
        os.pwrite(fd, b'XYZ'[step:step + 1], step)
        os.ftruncate(fd, 10 + step)
        os.fchmod(fd, 0o600 + step)
        equal(os.fstat(fd).st_size, 10 + step, 'size by descriptor')
        equal(os.stat(path).st_mode, 0o100600 + step, 'mode by new name')
        equal(os.stat(path).st_size, 10 + step, 'size by new name')
    os.close(fd)
    equal(content(path), b'XYZ3' + bytes(8), 'content')
    equal(os.listdir(place.dir), ['d'], 'names left')


@check()
def directory_with_open_files(place):
    """Files below a renamed directory stay open, and are found anew."""
    os.makedirs(place.path('a', 'b', 'c'))
    place.file('a/b/c/f', b'deep')
    inner = os.open(place.path('a', 'b', 'c'), os.O_RDONLY)
    fd = os.open(place.path('a', 'b', 'c', 'f'), os.O_RDWR)
    os.rename(place.path('a'), place.path('z'))
    os.pwrite(fd, b'D', 0)
    os.fchmod(fd, 0o611)
    os.ftruncate(fd, 3)
    equal(os.fstat(fd).st_size, 3, 'size by descriptor')
    equal(content(place.path('z', 'b', 'c', 'f')), b'Dee', 'content')
    equal(os.stat(place.path('z/b/c/f')).st_mode, 0o100611, 'mode')
    new = os.open('g', os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=inner)
    os.close(new)
    equal(sorted(os.listdir(inner)), ['f', 'g'], 'names by descriptor')
    refused(errno.ENOENT, os.stat, place.path('a'))
    os.mkdir(place.path('a'))
    place.file('a/f', b'another')
    equal(os.pread(fd, 9, 0), b'Dee', 'content beside a new directory a')
    os.rename(place.path('z', 'b'), place.path('y'))
    os.rmdir(place.path('z'))
    equal(os.stat('f', dir_fd=inner).st_size, 3, 'size, renamed twice')
    equal(content(place.path('y', 'c', 'f')), b'Dee', 'content at last')
    os.close(fd)
    os.close(inner)


@check()
def working_directory(place):
    """A process in a directory that is renamed stays in it."""
    os.makedirs(place.path('a', 'b'))
    os.chdir(place.path('a', 'b'))
    os.rename(place.path('a'), place.path('c'))
    with open('f', 'wb') as out:
        out.write(b'here')
    equal(content(place.path('c', 'b', 'f')), b'here', 'content')
    equal(os.getcwd(), place.path('c', 'b'), 'working directory')
    os.rename('f', '../g')
    equal(content(place.path('c', 'g')), b'here', 'content one up')
    os.chdir('/')


@check()
def over_a_file(place):
    """Rename replaces a file in one step; nobody sees none or half."""
    place.file('old', b'old')
    place.file('new', b'new', 0o600)
    number = os.stat(place.path('new')).st_ino
    os.rename(place.path('new'), place.path('old'))
    info = os.stat(place.path('old'))
    equal(info.st_ino, number, 'inode')
    equal(info.st_mode, 0o100600, 'mode')
    equal(content(place.path('old')), b'new', 'content')
    refused(errno.ENOENT, os.stat, place.path('new'))


@check()
def over_while_read(place):
    """A reader that opens a name again and again always finds one file."""
    place.file('f', b'0' * 5000)
    child = os.fork()
    if not child:
        for number in range(60):
            place.file('tmp', str(number % 10).encode() * 5000)
            os.rename(place.path('tmp'), place.path('f'))
        os._exit(0)
    rounds = 0
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        data = content(place.path('f'))
        equal(len(data), 5000, f'length seen in round {rounds}')
        equal(data, data[:1] * 5000, 'content of one writer')
        rounds += 1
    equal(content(place.path('f')), b'9' * 5000, 'last content')
    true(rounds > 0, 'it was read at least once')


@check()
def over_directories(place):
    """Only an empty directory can be replaced, and only by a directory."""
    for name in ('a', 'b', 'full'):
        os.mkdir(place.path(name))
    place.file('full/f')
    place.file('f')
    full = (errno.ENOTEMPTY, errno.EEXIST)
    refused(full, os.rename, place.path('a'), place.path('full'))
    refused(errno.ENOTDIR, os.rename, place.path('a'), place.path('f'))
    refused(errno.EISDIR, os.rename, place.path('f'), place.path('a'))
    refused(errno.EINVAL, os.rename, place.path('a'), place.path('a', 'in'))
    refused((errno.ENOTEMPTY, errno.EEXIST), os.rename,
            place.path('full', 'f'), place.path('full'))
    os.rename(place.path('full'), place.path('a'))
    equal(os.listdir(place.path('a')), ['f'], 'names in what replaced a')
    equal(sorted(os.listdir(place.dir)), ['a', 'b', 'f'], 'names')


@check()
def same_file(place):
    """Renaming a name to itself, or to a link of it, does nothing."""
    path = place.file('f', b'data')
    os.rename(path, path)
    os.link(path, place.path('g'))
    os.rename(path, place.path('g'))
    equal(sorted(os.listdir(place.dir)), ['f', 'g'], 'names')
    equal(content(path), b'data', 'content')


@check()
def flags(place):
    """RENAME_NOREPLACE and _EXCHANGE do what they say or say EINVAL."""
    place.file('f', b'one')
    place.file('g', b'two')
    try:
        rename2(place.path('f'), place.path('g'), EXCHANGE)
        equal(content(place.path('f')), b'two', 'exchanged content')
    except OSError as error:
        equal(error.errno, errno.EINVAL, 'errno of an unsupported flag')
        equal(content(place.path('f')), b'one', 'content untouched')
    refused((errno.EEXIST, errno.EINVAL), rename2, place.path('f'),
            place.path('g'), NOREPLACE)
    equal(sorted(os.listdir(place.dir)), ['f', 'g'], 'names')


@check()
def many_times(place):
    """100 renames up and down a tree lose nothing."""
    for name in ('a', 'b', 'a/c'):
        os.mkdir(place.path(name))
    place.file('a/c/f', b'data')
    fd = os.open(place.path('a/c/f'), os.O_RDONLY)
    for number in range(50):
        os.rename(place.path('a/c'), place.path(f'b/c{number}'))
        os.rename(place.path(f'b/c{number}'), place.path('a/c'))
    equal(content(place.path('a/c/f')), b'data', 'content')
    equal(os.pread(fd, 9, 0), b'data', 'content by descriptor')
    equal(os.listdir(place.path('b')), [], 'names in b')
    os.close(fd)


@check()
def across_directories_updates_parent(place):
    """".." of a moved directory is its new parent; link counts follow."""
    for name in ('a', 'b', 'a/c'):
        os.mkdir(place.path(name))
    os.stat(place.path('a/c/..'))
    os.rename(place.path('a/c'), place.path('b/c'))
    equal(os.stat(place.path('b/c/..')).st_ino,
          os.stat(place.path('b')).st_ino, 'inode of ".."')
    here = os.open(place.path('b/c'), os.O_RDONLY)
    equal(os.stat('..', dir_fd=here).st_ino, os.stat(place.path('b')).st_ino,
          'inode of ".." by descriptor')
    os.close(here)
    place.remount()
    equal(os.stat(place.path('a')).st_nlink, 2, 'links of a')
    equal(os.stat(place.path('b')).st_nlink, 3, 'links of b')
