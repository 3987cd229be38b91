# SPDX-License-Identifier: GPL-2.0-or-later
"""What the host does to the shared directory meanwhile, seen from here.

Only for cache=none: the other modes need not see it.
"""
import errno
import os
import stat

from check import check, content, equal, refused, true

HOST = {'caches': ('none',)}


@check(**HOST)
def new_and_changed(place):
    """A file that the host makes, grows, cuts, removes is seen as it is."""
    refused(errno.ENOENT, os.stat, place.path('f'))
    place.host('printf one > f')
    equal(content(place.path('f')), b'one', 'content')
    place.host('printf longer > f')
    equal(os.stat(place.path('f')).st_size, 6, 'size')
    equal(content(place.path('f')), b'longer', 'changed content')
    place.host('chmod 711 f')
    equal(os.stat(place.path('f')).st_mode, 0o100711, 'mode')
    place.host('rm f')
    refused(errno.ENOENT, os.stat, place.path('f'))
    equal(os.listdir(place.dir), [], 'names')


@check(**HOST)
def replaced_file(place):
    """After a rename over it on the host, the name is the new file's."""
    path = place.file('f', b'old content')
    os.stat(path)
    fd = os.open(path, os.O_RDONLY)
    place.host('printf new > tmp; chmod 640 tmp; mv tmp f')
    equal(content(path), b'new', 'content of the name')
    equal(os.stat(path).st_mode, 0o100640, 'mode of the name')
    equal(os.stat(path).st_size, 3, 'size of the name')
    equal(os.pread(fd, 100, 0), b'old content', 'content by descriptor')
    os.close(fd)
    os.chmod(path, 0o600)
    equal(place.host('stat -c "%a %s" f').strip(), '600 3',
          'mode and size on the host')


@check(**HOST)
def replaced_many_times(place):
    """An editor on the host saves a file 20 times; each is seen."""
    place.host('printf 0 > f')
    for number in range(20):
        place.host(f'printf {number} > tmp; mv tmp f')
        equal(content(place.path('f')), str(number).encode(), 'content')


@check(**HOST)
def replaced_directory(place):
    """rm -r and mkdir on the host: the new directory is used by name."""
    os.mkdir(place.path('build'))
    place.file('build/old')
    os.mkdir(place.path('build', 'sub'))
    equal(sorted(os.listdir(place.path('build'))), ['old', 'sub'], 'names')
    place.host('rm -r build; mkdir -p build/sub; echo x > build/new; '
               'echo y > build/sub/inner')
    equal(sorted(os.listdir(place.path('build'))), ['new', 'sub'],
          'names in the new directory')
    equal(content(place.path('build', 'new')), b'x\n', 'content')
    equal(content(place.path('build', 'sub', 'inner')), b'y\n', 'content')
    refused(errno.ENOENT, os.stat, place.path('build', 'old'))
    place.file('build/mine', b'mine')
    equal(place.host('cat build/mine'), 'mine', 'content on the host')
    place.file('build/sub/mine', b'mine too')
    equal(place.host('cat build/sub/mine'), 'mine too', 'content below')


@check(**HOST)
def renamed_directory(place):
    """A directory that the host renames is gone there and found here."""
    os.makedirs(place.path('a', 'b'))
    place.file('a/b/f', b'data')
    place.host('mv a z; mkdir a; echo other > a/g')
    equal(content(place.path('z', 'b', 'f')), b'data', 'content')
    equal(os.listdir(place.path('a')), ['g'], 'names')
    refused(errno.ENOENT, os.stat, place.path('a', 'b', 'f'))


@check(**HOST)
def other_kind(place):
    """A name that becomes another kind of file is that kind."""
    kinds = [('rm -rf x; echo data > x', stat.S_IFREG),
             ('rm -rf x; mkdir x', stat.S_IFDIR),
             ('rm -rf x; ln -s nowhere x', stat.S_IFLNK),
             ('rm -rf x; mkfifo x', stat.S_IFIFO),
             ('rm -rf x; mkdir x; touch x/y', stat.S_IFDIR),
             ('rm -rf x; echo data > x', stat.S_IFREG)]
    for script, kind in kinds:
        place.host(script)
        info = os.lstat(place.path('x'))
        equal(oct(stat.S_IFMT(info.st_mode)), oct(kind), f'after: {script}')
    equal(content(place.path('x')), b'data\n', 'content')


@check(**HOST)
def listing_while_changed(place):
    """The host fills a directory while it is listed; it stays whole."""
    place.host('for i in $(seq 100); do : > stays-$i; done')
    place.host('touch running; (for i in $(seq 200); do : > new-$i; '
               'rm new-$i; done; rm running) > /dev/null 2>&1 &')
    for number in range(10):
        names = [n for n in os.listdir(place.dir) if n.startswith('stays')]
        equal(len(names), 100, f'names that stay, listing {number}')
        equal(len(set(names)), 100, 'different names')
    place.host('while [ -e running ]; do sleep 0.1; done')


@check(**HOST)
def open_file_grows(place):
    """A reader sees what the host appends to a file that is open here."""
    fd = os.open(place.file('log'), os.O_RDONLY)
    for number in range(5):
        place.host(f'echo line {number} >> log')
        equal(os.read(fd, 100), f'line {number}\n'.encode(), 'new line')
    os.close(fd)


@check(**HOST)
def removed_below(place):
    """What the host removes under an open directory is not found."""
    os.makedirs(place.path('a', 'b'))
    place.file('a/b/f', b'data')
    fd = os.open(place.path('a', 'b'), os.O_RDONLY)
    place.host('rm -r a')
    refused((errno.ENOENT, errno.ESTALE), os.stat, place.path('a', 'b', 'f'))
    refused(errno.ENOENT, os.stat, 'f', dir_fd=fd)
    os.close(fd)
    os.makedirs(place.path('a', 'b'))
    equal(os.listdir(place.path('a', 'b')), [], 'names in the new one')


@check(caches=('none', 'loose'))
def seen_by_host(place):
    """What is written here and closed is on the host, whole."""
    for number in range(20):
        place.file('f', f'version {number}'.encode())
        equal(place.host('cat f'), f'version {number}', 'content on host')
    os.mkdir(place.path('d'))
    os.rename(place.path('f'), place.path('d', 'g'))
    equal(place.host('find . | sort | tr "\\n" " "'), '. ./d ./d/g ',
          'names on the host')
    os.unlink(place.path('d', 'g'))
    true(place.host('ls d') == '', 'the directory is empty on the host')
