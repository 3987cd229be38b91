# SPDX-License-Identifier: GPL-2.0-or-later
"""Opening files: every flag of open(), and many at once."""
import errno
import mmap
import os

from check import check, content, equal, refused, true, pattern, Skip


@check()
def create_and_read_back(place):
    """What is written is read back, through old and new descriptors."""
    data = pattern(70000)
    fd = os.open(place.path('f'), os.O_CREAT | os.O_RDWR, 0o640)
    equal(os.write(fd, data), len(data), 'write')
    equal(os.pread(fd, 80000, 0), data, 'content, same descriptor')
    equal(os.fstat(fd).st_size, len(data), 'size by fstat')
    equal(os.stat(place.path('f')).st_size, len(data), 'size by stat')
    os.close(fd)
    equal(content(place.path('f')), data, 'content, opened anew')
    equal(os.stat(place.path('f')).st_mode, 0o100640, 'mode')
    place.remount()
    equal(content(place.path('f')), data, 'content after a remount')


@check()
def append(place):
    """With O_APPEND each write goes to the end, wherever the offset is."""
    path = place.file('f', b'one')
    fd = os.open(path, os.O_RDWR | os.O_APPEND)
    other = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(fd, b'two')
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, b'three')
    os.write(other, b'four')
    os.write(fd, b'five')
    equal(os.pread(fd, 100, 0), b'onetwothreefourfive', 'content')
    os.close(fd)
    os.close(other)
    with open(path, 'ab') as again:
        again.write(b'six')
    equal(content(path), b'onetwothreefourfivesix', 'content at last')
    equal(place.host('cat f'), 'onetwothreefourfivesix', 'content on host')


@check()
def append_by_two_processes(place):
    """Records that two processes append are all there, none torn."""
    path = place.file('log')
    child = os.fork()
    letter = b'b' if child else b'a'
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    for _ in range(100):
        os.write(fd, letter * 99 + b'\n')
    os.close(fd)
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    lines = content(path).split(b'\n')[:-1]
    equal(len(lines), 200, 'number of records')
    equal(sorted(set(lines)), [b'a' * 99, b'b' * 99], 'kinds of records')


@check()
def truncate_flag(place):
    """O_TRUNC empties the file for everybody who has it open."""
    path = place.file('f', pattern(30000))
    before = os.open(path, os.O_RDONLY)
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
    equal(os.fstat(fd).st_size, 0, 'size after O_TRUNC')
    equal(os.fstat(before).st_size, 0, 'size through the other descriptor')
    equal(os.read(before, 10), b'', 'read through the other descriptor')
    os.write(fd, b'new')
    os.close(fd)
    equal(os.pread(before, 10, 0), b'new', 'new content')
    os.close(before)
    equal(content(path), b'new', 'content opened anew')


@check()
def exclusive(place):
    """O_EXCL creates or fails; nothing that exists is opened or changed."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    fd = os.open(place.path('f'), flags, 0o600)
    os.write(fd, b'mine')
    os.close(fd)
    os.mkdir(place.path('d'))
    os.symlink('nowhere', place.path('dangling'))
    for name in ('f', 'd', 'dangling'):
        refused(errno.EEXIST, os.open, place.path(name), flags, 0o600)
        refused(errno.EEXIST, os.open, place.path(name),
                flags | os.O_TRUNC, 0o600)
    equal(content(place.path('f')), b'mine', 'content')
    true(not os.path.exists(place.path('nowhere')), 'no link was followed')


@check()
def exclusive_race(place):
    """Of two processes that create a name exclusively, one succeeds."""
    wins = 0
    reader, writer = os.pipe()
    child = os.fork()
    for number in range(40):
        try:
            os.close(os.open(place.path(f'f{number}'),
                             os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            wins += 1
        except FileExistsError:
            pass
    if not child:
        os.write(writer, str(wins).encode())
        os._exit(0)
    os.waitpid(child, 0)
    equal(wins + int(os.read(reader, 10)), 40, 'files won by both together')


@check()
def direct(place):
    """O_DIRECT reads and writes whole blocks, also over the end."""
    path = place.path('f')
    size = 1 << 20
    buffer = mmap.mmap(-1, size)
    buffer.write(pattern(size))
    try:
        fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o644)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise Skip('this kernel has no O_DIRECT here') from error
        raise
    equal(os.pwritev(fd, [buffer], 0), size, 'direct write')
    again = mmap.mmap(-1, size)
    equal(os.preadv(fd, [again], 0), size, 'direct read')
    equal(again[:], pattern(size), 'content read directly')
    os.ftruncate(fd, 5000)
    equal(os.preadv(fd, [again], 4096), 904, 'direct read over the end')
    equal(again[:904], pattern(5000)[4096:], 'content over the end')
    os.close(fd)
    equal(content(path), pattern(5000), 'content read with a cache')


@check()
def direct_and_cached(place):
    """Direct and cached descriptors of one file see each other's writes."""
    path = place.file('f', b'-' * 16384)
    try:
        fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    except OSError as error:
        raise Skip('no O_DIRECT here') from error
    block = mmap.mmap(-1, 4096)
    with open(path, 'r+b', buffering=0) as cached:
        equal(cached.read(16384), b'-' * 16384, 'first content')
        block.write(b'D' * 4096)
        os.pwritev(fd, [block], 4096)
        cached.seek(4096)
        equal(cached.read(4096), b'D' * 4096, 'direct write, cached read')
        cached.seek(8192)
        cached.write(b'C' * 4096)
        os.preadv(fd, [block], 8192)
        equal(block[:], b'C' * 4096, 'cached write, direct read')
    os.close(fd)


@check()
def no_atime(place):
    """The owner, and root, may open with O_NOATIME."""
    path = place.file('f', b'data')
    fd = os.open(path, os.O_RDONLY | os.O_NOATIME)
    equal(os.read(fd, 10), b'data', 'content')
    os.close(fd)


@check(privileged=True)
def no_atime_other_owner(place):
    """Root may open a readable file of another owner with O_NOATIME."""
    path = place.file('f', b'data')
    place.host('chown 1234:1234 f')
    place.remount()
    fd = os.open(path, os.O_RDONLY | os.O_NOATIME)
    equal(os.read(fd, 10), b'data', 'content')
    os.close(fd)


@check()
def sync_flags(place):
    """O_SYNC, O_DSYNC and O_NONBLOCK are taken; fsync and fdatasync work."""
    for flag in (os.O_SYNC, os.O_DSYNC, os.O_NONBLOCK, os.O_CLOEXEC):
        fd = os.open(place.path('f'), os.O_CREAT | os.O_RDWR | flag, 0o644)
        os.write(fd, b'data')
        os.fsync(fd)
        os.fdatasync(fd)
        equal(os.pread(fd, 9, 0), b'data', f'content, flag {flag:o}')
        os.close(fd)
    fd = os.open(place.dir, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(fd)
    os.close(fd)


@check()
def kinds(place):
    """What is opened as the wrong kind of file is refused rightly."""
    place.file('f')
    os.mkdir(place.path('d'))
    os.symlink('f', place.path('link'))
    os.symlink('self', place.path('self'))
    refused(errno.ENOTDIR, os.open, place.path('f'),
            os.O_RDONLY | os.O_DIRECTORY)
    refused(errno.EISDIR, os.open, place.path('d'), os.O_WRONLY)
    refused(errno.EISDIR, os.open, place.path('d'), os.O_RDWR)
    refused(errno.EISDIR, os.open, place.path('d'), os.O_CREAT | os.O_RDWR)
    refused(errno.ELOOP, os.open, place.path('link'),
            os.O_RDONLY | os.O_NOFOLLOW)
    refused(errno.ELOOP, os.open, place.path('self'), os.O_RDONLY)
    refused(errno.ENOENT, os.open, place.path('none'), os.O_RDONLY)
    refused(errno.ENOTDIR, os.open, place.path('f', 'below'), os.O_RDONLY)
    refused(errno.ENOENT, os.open, place.path('none', 'below'),
            os.O_CREAT | os.O_RDWR)
    fd = os.open(place.path('link'), os.O_PATH | os.O_NOFOLLOW)
    equal(os.readlink('', dir_fd=fd), 'f', 'link through O_PATH')
    os.close(fd)


@check(timeout=300, share_of=2)
def two_thousand_open(place):
    """2000 files are open at once; each keeps its own content."""
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    opened = []
    for number in range(2000):
        fd = os.open(place.path(f'f{number}'), os.O_CREAT | os.O_RDWR, 0o644)
        os.write(fd, str(number).encode())
        opened.append(fd)
    for number, fd in enumerate(opened):
        equal(os.pread(fd, 10, 0), str(number).encode(), f'file {number}')
    for fd in opened:
        os.close(fd)
    equal(len(os.listdir(place.dir)), 2000, 'number of names')


@check()
def mode_zero_still_writable(place):
    """A file made with mode 0000 can be written and cut by its maker."""
    fd = os.open(place.path('f'), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0)
    equal(os.fstat(fd).st_mode, 0o100000, 'mode')
    os.write(fd, b'data')
    os.ftruncate(fd, 131072)
    equal(os.fstat(fd).st_size, 131072, 'size')
    equal(os.pread(fd, 200000, 0), b'data' + bytes(131068), 'content')
    os.fchmod(fd, 0o600)
    os.close(fd)


@check()
def read_only_file_creation(place):
    """A file created read-only can be written through its descriptor."""
    fd = os.open(place.path('f'), os.O_CREAT | os.O_RDWR, 0o444)
    equal(os.write(fd, b'data'), 4, 'write')
    equal(os.pread(fd, 9, 0), b'data', 'read')
    os.close(fd)
    equal(os.stat(place.path('f')).st_mode, 0o100444, 'mode')


@check()
def execute(place):
    """A script and a program on the share can be run, also write-only read."""
    path = place.file('script', b'#!/bin/sh\necho "$1"\n', 0o755)
    import shutil
    import subprocess
    equal(subprocess.check_output([path, 'word']), b'word\n', 'script')
    shutil.copy('/usr/bin/echo', place.path('echo'))
    equal(subprocess.check_output([place.path('echo'), 'word']), b'word\n',
          'program')
    place.remount()
    equal(subprocess.check_output([place.path('echo'), 'word']), b'word\n',
          'program after a remount')
