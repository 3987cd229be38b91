# SPDX-License-Identifier: GPL-2.0-or-later
"""Work in a share that is mounted with version=9p2000.u."""
import contextlib
import errno
import os
import stat

from check import check, content, equal, pattern, refused, sh, Skip, true


@contextlib.contextmanager
def mounted(place):
    """The share is mounted in 9P2000.u meanwhile."""
    if place.local:
        raise Skip('nothing to mount or compare with')
    try:
        place.remount('9p2000.u')
        options = [line.split()[3] for line in open('/proc/mounts')
                   if line.split()[1] == place.root]
        true('version=9p2000.u' in options[-1], 'the dialect is 9P2000.u')
        yield
    finally:
        place.remount()


@check()
def everyday_commands(place):
    """A shell's everyday commands do there what they do anywhere."""
    with mounted(place):
        sh(place, '''mkdir -p d/e
            echo one > d/f
            echo two >> d/f
            test "$(cat d/f)" = "$(printf 'one\\ntwo')"
            touch -d @1000000000 d/f
            test "$(stat -c %Y d/f)" = 1000000000
            chmod 640 d/f
            chmod 1770 d/e
            ln -s f d/link
            test "$(readlink d/link)" = f
            cat d/link > /dev/null
            ln d/f d/hard
            test "$(stat -c %h d/f)" = 2
            mv d/f d/g
            echo old > d/old
            mv d/g d/old
            test "$(head -n 1 d/old)" = one
            mv d/old d/e/
            mkfifo -m 600 d/fifo
            cp -a d copy
            truncate -s 3 copy/hard
            ls -laR . > /dev/null
            sync copy/hard''')
        equal(stat.S_IFMT(os.lstat(place.path('copy/fifo')).st_mode),
              stat.S_IFIFO, 'kind of the fifo')
        equal(sorted(os.listdir(place.path('d'))),
              ['e', 'fifo', 'hard', 'link'], 'names')
        equal(content(place.path('copy/hard')), b'one', 'truncated')
    # And now as everybody else sees it
    equal(content(place.path('d/e/old')), b'one\ntwo\n', 'content')
    equal(os.stat(place.path('d/e')).st_mode & 0o7777, 0o1770, 'mode')
    equal(os.stat(place.path('d/hard')).st_mode & 0o7777, 0o640, 'mode')
    with mounted(place):
        sh(place, 'rm -r d copy')
        equal(os.listdir(place.dir), [], 'names')


@check()
def errors(place):
    """What cannot be done fails with the error that it has anywhere."""
    with mounted(place):
        path = place.file('f')
        os.mkdir(place.path('d'))
        place.file('d/x')
        refused(errno.ENOENT, os.stat, place.path('no'))
        refused(errno.EEXIST, os.mkdir, path)
        refused(errno.ENOTDIR, os.listdir, path)
        refused(errno.ENOTDIR, os.stat, place.path('f', 'x'))
        refused((errno.ENOTEMPTY, errno.EEXIST), os.rmdir, place.path('d'))
        refused(errno.EEXIST, os.open, path, os.O_CREAT | os.O_EXCL)
        refused(errno.EEXIST, os.symlink, 'to', path)


@check()
def whole_listings(place):
    """600 files are listed once each, again after a rewind, with sizes."""
    names = [f'a-name-of-some-length-{n}' for n in range(600)]
    with mounted(place):
        place.host('for i in $(seq 0 599); do '
                   'echo $i > a-name-of-some-length-$i; done')
        equal(sorted(os.listdir(place.dir)), sorted(names), 'names')
        fd = os.open(place.dir, os.O_RDONLY)
        equal(len(os.listdir(fd)), 600, 'names by descriptor')
        os.lseek(fd, 0, os.SEEK_SET)
        equal(sorted(os.listdir(fd)), sorted(names), 'names after a rewind')
        os.close(fd)
        with os.scandir(place.dir) as entries:
            true(all(e.is_file(follow_symlinks=False) for e in entries),
                 'all are regular files')
        equal(os.stat(place.path(names[599])).st_size, 4, 'size')


@check()
def data(place):
    """Data of all sizes come back, also those past the end of a message."""
    with mounted(place):
        for size in (0, 1, 4095, 4096, 8169, 70_000, 1_300_000):
            path = place.file('f', pattern(size, size))
            equal(content(path), pattern(size, size), f'{size} bytes')
        with open(path, 'r+b') as file:
            file.seek(10_000)
            file.write(b'hello')
            file.flush()
            os.fsync(file.fileno())
            file.truncate(20_000)
        expected = bytearray(pattern(1_300_000, 1_300_000)[:20_000])
        expected[10_000:10_005] = b'hello'
    equal(content(path), bytes(expected), 'content in the other dialect')


@check(share_of=2)
def a_tree_of_odd_names(place):
    """A tree with names of every kind is copied, compared and removed."""
    place.host('cp -a "$TREE/odd" src; rm src/sparse src/socket src/fifo')
    with mounted(place):
        sh(place, '''cp -a src copy
            diff -r --no-dereference src copy
            test "$(find copy | wc -l)" = "$(find src | wc -l)"
            tar -cf - copy | tar -df -
            rm -r copy''')
        equal(os.listdir(place.dir), ['src'], 'names')
