# SPDX-License-Identifier: GPL-2.0-or-later
"""A read-only export: everything can be read, nothing can be changed."""
import errno
import os

from check import check, content, equal, refused, true

RO = {'where': 'readonly', 'caches': ('none',)}


def furnish(place):
    """Have the host make what is tried on."""
    place.host('echo data > f; mkdir d; echo inner > d/g; ln -s f l; '
               'mkfifo p; chmod 755 f')


@check(**RO)
def reading(place):
    """Contents, names, attributes and links can be read."""
    furnish(place)
    equal(content(place.path('f')), b'data\n', 'content')
    equal(content(place.path('d', 'g')), b'inner\n', 'content below')
    equal(sorted(os.listdir(place.dir)), ['d', 'f', 'l', 'p'], 'names')
    equal(os.readlink(place.path('l')), 'f', 'target')
    equal(os.stat(place.path('f')).st_mode, 0o100755, 'mode')
    refused(errno.ENODATA, os.getxattr, place.path('f'), 'user.none')
    true(os.statvfs(place.dir).f_blocks > 0, 'statfs works')


@check(**RO)
def writing(place):
    """No way of opening for change works; the file stays as it is."""
    furnish(place)
    path = place.path('f')
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC,
                  os.O_WRONLY | os.O_TRUNC, os.O_WRONLY | os.O_APPEND,
                  os.O_RDWR | os.O_CREAT):
        refused(errno.EROFS, os.open, path, flags)
    refused(errno.EROFS, os.truncate, path, 0)
    refused(errno.EROFS, os.open, place.path('new'),
            os.O_CREAT | os.O_WRONLY)
    fd = os.open(path, os.O_RDONLY | os.O_CREAT)
    equal(os.read(fd, 10), b'data\n', 'content, O_CREAT of what is there')
    os.close(fd)
    equal(place.host('cat f'), 'data\n', 'content on the host')


@check(**RO)
def names(place):
    """No name can be made, moved or removed."""
    furnish(place)
    refused(errno.EROFS, os.mkdir, place.path('new'))
    refused(errno.EROFS, os.symlink, 'x', place.path('new'))
    refused(errno.EROFS, os.link, place.path('f'), place.path('new'))
    refused(errno.EROFS, os.mkfifo, place.path('new'))
    refused(errno.EROFS, os.rename, place.path('f'), place.path('new'))
    refused(errno.EROFS, os.rename, place.path('f'), place.path('d', 'g'))
    refused(errno.EROFS, os.unlink, place.path('f'))
    refused(errno.EROFS, os.rmdir, place.path('d'))
    equal(place.host('find . | sort | tr "\\n" " "'),
          '. ./d ./d/g ./f ./l ./p ', 'names on the host')


@check(**RO)
def attributes(place):
    """No attribute can be changed."""
    furnish(place)
    before = place.host('stat -c "%a %u %Y" f d')
    for path in (place.path('f'), place.path('d')):
        refused(errno.EROFS, os.chmod, path, 0o700)
        refused(errno.EROFS, os.chown, path, 1, 1)
        refused(errno.EROFS, os.utime, path, (1, 1))
        refused(errno.EROFS, os.utime, path)
        refused(errno.EROFS, os.setxattr, path, 'user.a', b'1')
        refused(errno.EROFS, os.removexattr, path, 'user.a')
    fd = os.open(place.path('f'), os.O_RDONLY)
    refused(errno.EROFS, os.fchmod, fd, 0o700)
    refused(errno.EROFS, os.utime, fd, (1, 1))
    refused(errno.EROFS, os.setxattr, fd, 'user.a', b'1')
    os.close(fd)
    equal(place.host('stat -c "%a %u %Y" f d'), before, 'attributes')


@check(**RO)
def many_refusals(place):
    """500 refused changes later the share still works."""
    furnish(place)
    for _ in range(500):
        refused(errno.EROFS, os.unlink, place.path('f'))
    equal(content(place.path('f')), b'data\n', 'content')
