# SPDX-License-Identifier: GPL-2.0-or-later
"""Modes, owners, times, set-id bits, extended attributes, statfs."""
import errno
import os
import stat
import time

from check import check, equal, pattern, refused, true, sh

NOW = (1 << 30) - 1
OMIT = (1 << 30) - 2


@check()
def chmod(place):
    """Every permission bit can be set on files and directories."""
    path = place.file('f')
    os.mkdir(place.path('d'))
    for mode in (0, 0o777, 0o644, 0o1755, 0o4755, 0o2755, 0o7777, 0o600):
        os.chmod(path, mode)
        equal(os.stat(path).st_mode, 0o100000 | mode, 'mode of a file')
        os.chmod(place.path('d'), mode | 0o700)
        equal(os.stat(place.path('d')).st_mode, 0o40700 | mode,
              'mode of a directory')
    os.symlink('f', place.path('l'))
    os.chmod(place.path('l'), 0o640)
    equal(os.stat(path).st_mode, 0o100640, 'mode set through a link')
    place.remount()
    equal(os.stat(path).st_mode, 0o100640, 'mode after a remount')


@check()
def creation_modes(place):
    """The umask is applied, once, to everything that is created."""
    for mask in (0, 0o022, 0o077, 0o777):
        os.umask(mask)
        name = f'{mask:o}'
        fd = os.open(place.path('f' + name), os.O_CREAT | os.O_WRONLY, 0o666)
        os.close(fd)
        os.mkdir(place.path('d' + name), 0o777)
        os.mkfifo(place.path('p' + name), 0o666)
        os.umask(0o022)
        for letter, mode in (('f', 0o666), ('d', 0o777), ('p', 0o666)):
            got = os.stat(place.path(letter + name)).st_mode
            equal(stat.S_IMODE(got), mode & ~mask, f'mode of {letter}{name}')


@check(privileged=True)
def owners(place):
    """Root gives files away; each of uid and gid alone, links too."""
    path = place.file('f')
    os.symlink('f', place.path('l'))
    os.chown(path, 70, 71)
    os.chown(path, 72, -1)
    os.chown(path, -1, 73)
    info = os.stat(path)
    equal((info.st_uid, info.st_gid), (72, 73), 'owner of the file')
    os.lchown(place.path('l'), 80, 81)
    info = os.lstat(place.path('l'))
    equal((info.st_uid, info.st_gid), (80, 81), 'owner of the link')
    info = os.stat(path)
    equal((info.st_uid, info.st_gid), (72, 73), 'owner of its target')
    place.remount()
    info = os.stat(path)
    equal((info.st_uid, info.st_gid), (72, 73), 'owner after a remount')


def as_user(function):
    """Run a function as user 2000; its result as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(2000)
            os.setuid(2000)
            result = str(function())
        except OSError as error:
            result = errno.errorcode[error.errno]
        os.write(writer, result.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as source:
        return source.read()


@check(privileged=True)
def created_by_user(place):
    """What a user creates belongs to him, of whatever kind it is."""
    os.chmod(place.dir, 0o777)

    def create():
        with open(place.path('f'), 'wb') as out:
            out.write(b'data')
        os.mkdir(place.path('d'))
        os.symlink('f', place.path('l'))
        os.mkfifo(place.path('p'))
        return 'done'
    equal(as_user(create), 'done', 'creating as user 2000')
    for name in ('f', 'd', 'l', 'p'):
        info = os.lstat(place.path(name))
        equal((info.st_uid, info.st_gid), (2000, 2000), f'owner of {name}')


@check(privileged=True)
def permissions_apply(place):
    """A user is kept out of what is not his."""
    path = place.file('secret', b'data', 0o600)
    os.mkdir(place.path('d'), 0o700)
    place.file('d/f', b'data', 0o666)
    place.file('public', b'data', 0o644)
    equal(as_user(lambda: os.open(path, os.O_RDONLY)), 'EACCES', 'open')
    equal(as_user(lambda: os.stat(place.path('d/f'))), 'EACCES', 'stat')
    equal(as_user(lambda: os.open(place.path('public'), os.O_WRONLY)),
          'EACCES', 'open for writing')
    equal(as_user(lambda: os.unlink(path)), 'EACCES', 'unlink')
    equal(as_user(lambda: os.chmod(path, 0o777)), 'EPERM', 'chmod')
    equal(as_user(lambda: os.chown(path, 2000, 2000)), 'EPERM', 'chown')
    equal(as_user(lambda: os.utime(path, (1, 1))), 'EPERM', 'utime')
    equal(as_user(lambda: os.open(place.path('public'), os.O_RDONLY) > 0),
          'True', 'open for reading')


def kept(place, nanoseconds):
    """What is left of a time that is set: Linux's 9p client cuts it."""
    if place.local:
        return nanoseconds
    return max(0, nanoseconds // 10**9 * 10**9)


@check()
def times(place):
    """Times are kept, before 1970 and after 2038 too."""
    path = place.file('f')
    os.mkdir(place.path('d'))
    os.symlink('f', place.path('l'))
    for name in ('f', 'd', 'l'):
        for atime, mtime in ((1, 2), (10**9 + 1, 999_999_999),
                             (5 * 10**18, 4 * 10**18 + 1), (-10**9 + 1, 0)):
            os.utime(place.path(name), ns=(atime, mtime),
                     follow_symlinks=False)
            info = os.lstat(place.path(name))
            equal((info.st_atime_ns, info.st_mtime_ns),
                  (kept(place, atime), kept(place, mtime)),
                  f'times of {name}')
    place.remount()
    equal(os.stat(path).st_mtime_ns, 0, 'mtime after a remount')


@check()
def nanoseconds(place):
    """Times that the host has are seen to the nanosecond."""
    place.host('touch -d "2001-02-03 04:05:06.123456789 UTC" f')
    equal(os.stat(place.path('f')).st_mtime_ns, 981173106123456789, 'mtime')
    equal(os.stat(place.path('f')).st_atime_ns, 981173106123456789, 'atime')


@check()
def now_and_omit(place):
    """utimensat with UTIME_NOW and UTIME_OMIT, each time on its own."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    path = place.file('f')

    def set_times(*pairs):
        array = (ctypes.c_long * 4)(*pairs)
        if libc.utimensat(-100, os.fsencode(path), array, 0):
            raise OSError(ctypes.get_errno(), 'utimensat')
    set_times(1000, 1, 2000, 2)
    set_times(0, OMIT, 3000, 3)
    info = os.stat(path)
    first = kept(place, 1000 * 10**9 + 1)
    second = kept(place, 3000 * 10**9 + 3)
    third = kept(place, 4000 * 10**9 + 4)
    equal((info.st_atime_ns, info.st_mtime_ns), (first, second),
          'times, atime omitted')
    set_times(4000, 4, 0, OMIT)
    info = os.stat(path)
    equal((info.st_atime_ns, info.st_mtime_ns), (third, second),
          'times, mtime omitted')
    set_times(0, OMIT, 0, OMIT)
    equal(os.stat(path).st_mtime_ns, second, 'mtime, both omitted')
    before = time.time() - 3600
    set_times(0, NOW, 0, OMIT)
    info = os.stat(path)
    true(info.st_atime > before, f'atime {info.st_atime} is now')
    equal(info.st_mtime_ns, second, 'mtime, atime now')
    set_times(5000, 5, 0, NOW)
    info = os.stat(path)
    equal(info.st_atime_ns, kept(place, 5000 * 10**9 + 5),
          'atime, mtime now')
    true(info.st_mtime > before, f'mtime {info.st_mtime} is now')


@check()
def times_follow_changes(place):
    """Writing sets mtime and ctime, chmod only ctime, names the parent's."""
    path = place.file('f', b'data')
    os.mkdir(place.path('d'))
    for name in ('f', 'd'):
        os.utime(place.path(name), (1000, 1000))
    place.remount()
    with open(path, 'ab') as out:
        out.write(b'more')
    place.file('d/g')
    place.remount()
    true(os.stat(path).st_mtime > 10**9, 'mtime of a written file is new')
    true(os.stat(place.path('d')).st_mtime > 10**9,
         'mtime of a directory with a new name is new')
    os.utime(path, (1000, 1000))
    os.chmod(path, 0o600)
    place.remount()
    equal(os.stat(path).st_mtime, 1000, 'mtime after chmod')
    true(os.stat(path).st_ctime > 10**9, 'ctime after chmod is new')
    os.utime(place.path('d'), (1000, 1000))
    os.unlink(place.path('d/g'))
    place.remount()
    true(os.stat(place.path('d')).st_mtime > 10**9,
         'mtime of a directory with a lost name is new')


@check(privileged=True)
def set_id_dropped(place):
    """A user's write, truncate and chown take set-id bits away."""
    def by_write(path):
        with open(path, 'r+b', buffering=0) as out:
            out.write(b'X')

    def by_truncate(path):
        os.truncate(path, 1)

    def by_open(path):
        os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))
    for change in (by_write, by_truncate, by_open):
        path = place.file(change.__name__, b'data')
        os.chown(path, 2000, 2000)
        os.chmod(path, 0o6777)
        equal(as_user(lambda: change(path)), 'None', change.__name__)
        equal(os.stat(path).st_mode, 0o100777, f'mode {change.__name__}')
        place.remount()
        equal(os.stat(path).st_mode, 0o100777,
              f'mode {change.__name__}, after a remount')


@check(privileged=True)
def set_id_dropped_by_chown(place):
    """chown of a program takes the set-id bits away, also for root."""
    path = place.file('f')
    os.chmod(path, 0o6755)
    os.chown(path, 70, 70)
    equal(os.stat(path).st_mode, 0o100755, 'mode after chown')
    place.remount()
    equal(os.stat(path).st_mode, 0o100755, 'mode after a remount')
    equal(os.stat(path).st_uid, 70, 'owner')


@check(privileged=True)
def set_gid_directory(place):
    """A set-gid directory hands on its group, and the bit to directories."""
    os.mkdir(place.path('d'))
    os.chown(place.path('d'), 0, 4242)
    os.chmod(place.path('d'), 0o2777)
    place.file('d/f')
    os.mkdir(place.path('d/e'))
    equal(os.stat(place.path('d/f')).st_gid, 4242, 'group of a file')
    info = os.stat(place.path('d/e'))
    equal(info.st_gid, 4242, 'group of a directory')
    true(info.st_mode & stat.S_ISGID, f'mode {info.st_mode:o} has set-gid')


@check(privileged=True)
def sticky_directory(place):
    """In a sticky directory only owners remove names."""
    os.chmod(place.dir, 0o1777)
    path = place.file('f')
    equal(as_user(lambda: os.unlink(path)), 'EPERM', 'unlink by another')
    equal(as_user(lambda: os.rename(path, place.path('g'))), 'EPERM',
          'rename by another')


@check()
def xattr_values(place):
    """Values of 0 to 65536 bytes come back the same, or are refused."""
    for name in ('f', 'd'):
        path = place.path(name)
        if name == 'f':
            place.file(name)
        else:
            os.mkdir(path)
        for size in (0, 1, 100, 3000, 4096, 65536):
            try:
                os.setxattr(path, 'user.v', pattern(size))
            except OSError as error:
                refusals = (errno.ENOSPC, errno.E2BIG, errno.ERANGE)
                true(size > 3000 and error.errno in refusals,
                     f'{size} bytes on {name}: {error}')
                continue
            equal(os.getxattr(path, 'user.v'), pattern(size),
                  f'value of {size} bytes on {name}')
            equal(os.listxattr(path), ['user.v'], 'names')


@check()
def xattr_flags(place):
    """XATTR_CREATE and XATTR_REPLACE are kept to; what is absent is."""
    path = place.file('f')
    refused(errno.ENODATA, os.setxattr, path, 'user.a', b'1',
            os.XATTR_REPLACE)
    os.setxattr(path, 'user.a', b'1', os.XATTR_CREATE)
    refused(errno.EEXIST, os.setxattr, path, 'user.a', b'2',
            os.XATTR_CREATE)
    equal(os.getxattr(path, 'user.a'), b'1', 'value')
    os.setxattr(path, 'user.a', b'33', os.XATTR_REPLACE)
    equal(os.getxattr(path, 'user.a'), b'33', 'value replaced')
    # With XATTR_REPLACE Linux's 9p client means removal by an empty value
    os.setxattr(path, 'user.a', b'')
    equal(os.getxattr(path, 'user.a'), b'', 'value replaced by nothing')
    os.removexattr(path, 'user.a')
    equal(os.listxattr(path), [], 'names')
    refused(errno.ENODATA, os.removexattr, path, 'user.a')
    os.mkdir(place.path('d'))
    for name in ('f', 'd'):
        refused(errno.ENODATA, os.getxattr, place.path(name), 'user.none')


@check()
def xattr_many(place):
    """30 attributes are listed, read and removed one by one."""
    path = place.file('f')
    names = [f'user.name-{number}-' + 'n' * 40 for number in range(30)]
    for number, name in enumerate(names):
        os.setxattr(path, name, str(number).encode())
    equal(sorted(os.listxattr(path)), sorted(names), 'names')
    for number, name in enumerate(names):
        equal(os.getxattr(path, name), str(number).encode(), name)
        os.removexattr(path, name)
    equal(os.listxattr(path), [], 'names at last')


@check(privileged=True)
def xattr_on_links_and_nodes(place):
    """Absent attributes of links and fifos are absent, not errors."""
    os.symlink('nowhere', place.path('l'))
    os.mkfifo(place.path('p'))
    for name in ('l', 'p'):
        refused((errno.ENODATA, errno.EPERM, errno.EOPNOTSUPP), os.getxattr,
                place.path(name), 'user.none', follow_symlinks=False)
    sh(place, 'cp -a l l2; cp -a p p2; ls -l')


@check()
def statfs(place):
    """statfs tells sizes that make sense, and names up to 255 bytes."""
    info = os.statvfs(place.dir)
    true(info.f_blocks >= info.f_bfree >= info.f_bavail, 'blocks in order')
    true(info.f_bsize >= 512, f'block size {info.f_bsize}')
    equal(info.f_namemax, 255, 'longest name')
    host = place.host('stat -f -c "%S %b %c" .').split()
    total = int(host[0]) * int(host[1])
    got = info.f_frsize * info.f_blocks     # in units that may be larger
    true(abs(got - total) < 16 << 20, f'{got} is the size, {total}')
    equal(info.f_files, int(host[2]), 'number of inodes')


@check()
def blocks(place):
    """st_blocks of a sparse file is small, of a full one is not."""
    path = place.file('sparse')
    os.truncate(path, 1 << 30)
    true(os.stat(path).st_blocks < 1000, 'a hole takes no blocks')
    place.file('full', pattern(1 << 16))
    place.host('sync full')
    place.remount()
    true(os.stat(place.path('full')).st_blocks >= 128, 'data takes blocks')


@check()
def access(place):
    """access() follows the modes; faccessat agrees with open."""
    path = place.file('f', b'', 0o600)
    true(os.access(path, os.R_OK | os.W_OK), 'it can be read and written')
    true(not os.access(path, os.X_OK), 'it cannot be executed')
    os.chmod(path, 0o700)
    true(os.access(path, os.X_OK), 'it can be executed')
