# SPDX-License-Identifier: GPL-2.0-or-later
"""Mounting and unmounting, with every size of message."""
import os
import subprocess

from check import check, content, equal, mount_command, pattern, Skip, \
    true

ONE = {'caches': ('none',), 'msizes': (512000,)}


def mount(place, msize, cache='none', more=''):
    """Mount the share anew, with these options; the mount's exit status."""
    if os.path.ismount(place.root):
        subprocess.run(['umount', place.root], check=True)
    command = mount_command(place.tag, place.root, cache, msize)
    command[4] += more
    return subprocess.run(command, check=False,
                          stderr=subprocess.DEVNULL).returncode


@check(timeout=200, **ONE)
def message_sizes(place):
    """From 4096 bytes up every size works; what is too large is capped."""
    if place.local:
        raise Skip('nothing to mount or compare with')
    data = pattern(300_000)
    try:
        for msize in (4096, 4097, 5000, 65536, 131096, 511999, 1 << 20,
                      (1 << 31) - 1):
            equal(mount(place, msize), 0, f'status of mount, msize={msize}')
            place.file('f', data)
            equal(content(place.path('f')), data, f'content at msize {msize}')
            equal(len(os.listdir(place.dir)), 1, 'names')
            os.unlink(place.path('f'))
        true(mount(place, 4095) != 0, 'msize=4095 is refused')
    finally:
        place.remount()


@check(timeout=200, **ONE)
def again_and_again(place):
    """40 mounts and unmounts, some of them with work left in the cache."""
    if place.local:
        raise Skip('nothing to mount or compare with')
    try:
        for number in range(40):
            cache = ('none', 'loose', 'mmap', 'readahead')[number % 4]
            equal(mount(place, 8192 << number % 6, cache), 0, 'mount')
            place.file(f'f{number}', pattern(20_000, number))
    finally:
        place.remount()
    for number in range(40):
        equal(content(place.path(f'f{number}')), pattern(20_000, number),
              f'file of mount {number}')


@check(**ONE)
def access_modes(place):
    """access=any and access=client let root work; a wrong tag is refused."""
    if place.local:
        raise Skip('nothing to mount or compare with')
    try:
        for more in (',access=any', ',access=client', ',access=user',
                     ',noatime,nosuid', ',debug=0'):
            equal(mount(place, 65536, more=more), 0, f'mount with {more}')
            place.file('f', b'data')
            equal(content(place.path('f')), b'data', f'content with {more}')
        wrong = mount_command('no-such-tag', '/tmp', 'none', 8192)
        true(subprocess.run(wrong, check=False, stderr=subprocess.DEVNULL)
             .returncode != 0, 'a tag that is not there is refused')
    finally:
        place.remount()
