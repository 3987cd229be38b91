# SPDX-License-Identifier: GPL-2.0-or-later
"""Making, listing and removing directories."""
import ctypes
import errno
import os
import stat

from check import check, equal, refused, true


@check()
def make_and_remove(place):
    """mkdir and rmdir, link counts, and what they refuse."""
    path = place.path('d')
    os.mkdir(path, 0o750)
    equal(os.stat(path).st_mode, 0o40750, 'mode')
    equal(os.listdir(path), [], 'names')
    refused(errno.EEXIST, os.mkdir, path)
    os.mkdir(place.path('d', 'e'))
    place.file('d/f')
    full = (errno.ENOTEMPTY, errno.EEXIST)
    refused(full, os.rmdir, path)
    refused(errno.EISDIR, os.unlink, place.path('d', 'e'))
    refused(errno.ENOTDIR, os.rmdir, place.path('d', 'f'))
    os.unlink(place.path('d', 'f'))
    refused(full, os.rmdir, path)
    os.rmdir(place.path('d', 'e'))
    os.rmdir(path)
    refused(errno.ENOENT, os.stat, path)
    refused(errno.ENOENT, os.rmdir, path)
    refused(errno.ENOENT, os.mkdir, place.path('x', 'y'))


@check()
def link_counts(place):
    """A directory's links are two and one for each directory in it."""
    if place.host('mkdir x; stat -c %h x; rmdir x').strip() != '2':
        return                      # the host's file system does not count
    os.mkdir(place.path('d'))
    for number in range(3):
        os.mkdir(place.path('d', str(number)))
    place.remount()
    equal(os.stat(place.path('d')).st_nlink, 5, 'links')
    os.rmdir(place.path('d', '1'))
    place.remount()
    equal(os.stat(place.path('d')).st_nlink, 4, 'links after rmdir')


@check()
def list_many(place):
    """Each of 600 names is listed once, from the start and again."""
    place.host('for i in $(seq 600); do : > file-name-$i; done')
    expected = sorted(f'file-name-{n}' for n in range(1, 601))
    equal(sorted(os.listdir(place.dir)), expected, 'names')
    fd = os.open(place.dir, os.O_RDONLY)
    equal(sorted(os.listdir(fd)), expected, 'names by descriptor')
    os.lseek(fd, 0, os.SEEK_SET)
    equal(sorted(os.listdir(fd)), expected, 'names after a rewind')
    os.close(fd)


@check()
def list_long_names(place):
    """100 names of 255 bytes do not fit one answer; all are listed."""
    names = [f'{number:03}' + 'n' * 252 for number in range(100)]
    place.host("for i in $(seq -w 0 99); do : > 0$i$(printf 'n%.0s' "
               '$(seq 252)); done')
    equal(sorted(os.listdir(place.dir)), names, 'names')


@check()
def kinds_and_numbers(place):
    """The kind and number listed are those that stat gives."""
    place.file('f')
    os.mkdir(place.path('d'))
    os.symlink('f', place.path('l'))
    os.mkfifo(place.path('p'))
    for entry in os.scandir(place.dir):
        info = os.lstat(entry.path)
        equal(entry.inode(), info.st_ino, f'number of {entry.name}')
        equal(entry.is_dir(follow_symlinks=False), stat.S_ISDIR(info.st_mode),
              f'{entry.name} is a directory')
        equal(entry.is_file(follow_symlinks=False),
              stat.S_ISREG(info.st_mode), f'{entry.name} is a file')
        equal(entry.is_symlink(), stat.S_ISLNK(info.st_mode),
              f'{entry.name} is a link')


class Entry(ctypes.Structure):
    """struct dirent of 64-bit Linux."""

    _fields_ = [('d_ino', ctypes.c_uint64), ('d_off', ctypes.c_int64),
                ('d_reclen', ctypes.c_uint16), ('d_type', ctypes.c_uint8),
                ('d_name', ctypes.c_char * 256)]


class Stream:
    """opendir() and its family, which Python hides."""

    def __init__(self, path):
        self.libc = ctypes.CDLL(None, use_errno=True)
        for name in ('opendir', 'readdir'):
            getattr(self.libc, name).restype = ctypes.c_void_p
        self.libc.telldir.restype = ctypes.c_long
        self.handle = ctypes.c_void_p(self.libc.opendir(os.fsencode(path)))
        true(self.handle.value, f'opendir({path}) works')

    def read(self):
        """The next name but dots, or None at the end."""
        address = self.libc.readdir(self.handle)
        if not address:
            return None
        name = Entry.from_address(address).d_name
        return self.read() if name in (b'.', b'..') else name

    def rest(self):
        """All names from here to the end."""
        return list(iter(self.read, None))

    def tell(self):
        """The position."""
        return self.libc.telldir(self.handle)

    def seek(self, position):
        """Go to a position."""
        self.libc.seekdir(self.handle, ctypes.c_long(position))

    def rewind(self):
        """Go to the start, and see changes."""
        self.libc.rewinddir(self.handle)

    def close(self):
        """Close it."""
        self.libc.closedir(self.handle)


@check()
def positions(place):
    """telldir and seekdir find any place again, in any order."""
    place.host('for i in $(seq 300); do : > name-$i; done')
    stream = Stream(place.dir)
    marks = []
    names = []
    while True:
        marks.append(stream.tell())
        name = stream.read()
        if name is None:
            break
        names.append(name)
    equal(len(set(names)), 300, 'different names')
    for index in (250, 3, 299, 0, 150, 151, 149):
        stream.seek(marks[index])
        equal(stream.read(), names[index], f'name at mark {index}')
        equal(stream.rest(), names[index + 1:], f'names after mark {index}')
    stream.close()


@check()
def removed_while_listed(place):
    """Names removed while a directory is read do not hide others."""
    place.host('for i in $(seq 400); do : > name-$i; done')
    stream = Stream(place.dir)
    seen = []
    while True:
        name = stream.read()
        if name is None:
            break
        seen.append(name)
        os.unlink(os.path.join(os.fsencode(place.dir), name))
    equal(len(seen), 400, 'names seen')
    equal(len(set(seen)), 400, 'different names seen')
    stream.rewind()
    equal(stream.rest(), [], 'names after a rewind')
    stream.close()
    equal(os.listdir(place.dir), [], 'names left')


@check()
def added_while_listed(place):
    """What is there all the time is listed once, whatever comes and goes."""
    for number in range(60):
        place.file(f'stays-{number}')
    stream = Stream(place.dir)
    seen = []
    for number in range(10000):
        name = stream.read()
        if name is None:
            break
        seen.append(name)
        if number < 40:
            place.file(f'new-{number}')
            os.unlink(place.path(f'new-{number}'))
            os.rename(place.path('stays-0'), place.path('moved'))
            os.rename(place.path('moved'), place.path('stays-0'))
    stays = [n for n in seen if n.startswith(b'stays-') and n != b'stays-0']
    equal(sorted(stays), sorted(f'stays-{n}'.encode() for n in range(1, 60)),
          'names that stay')
    stream.close()


@check()
def deep_and_wide(place):
    """A tree made here is removed here, entirely."""
    import shutil
    for first in range(4):
        for second in range(4):
            os.makedirs(place.path('t', str(first), str(second), 'x', 'y'))
            place.file(f't/{first}/{second}/x/y/f', b'data')
    found = place.host('find t | wc -l').strip()
    equal(found, str(1 + 4 + 16 * 4), 'entries on the host')
    shutil.rmtree(place.path('t'))
    equal(place.host('ls -A').strip(), '', 'names on the host')


@check()
def two_readers(place):
    """Two streams of one directory do not disturb each other."""
    place.host('for i in $(seq 200); do : > name-$i; done')
    first, second = Stream(place.dir), Stream(place.dir)
    names = [first.read() for _ in range(100)]
    equal(len(second.rest()), 200, 'names of the second stream')
    names += first.rest()
    equal(len(set(names)), 200, 'names of the first stream')
    first.close()
    second.close()
