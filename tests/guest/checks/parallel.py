# SPDX-License-Identifier: GPL-2.0-or-later
"""Several processes at once, and processes that are killed meanwhile."""
import os
import random
import signal
import time

from check import check, content, equal, pattern, true


def together(count, function):
    """Run a function in that many processes; all must succeed."""
    children = []
    for number in range(count):
        child = os.fork()
        if not child:
            status = 1
            try:
                function(number)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    equal(statuses, [0] * count, 'statuses of the processes')


@check(share_of=2)
def one_directory(place):
    """Six processes make, rename, list and remove files in one directory."""
    def work(number):
        for step in range(30):
            path = place.path(f'p{number}-{step}')
            with open(path, 'wb') as out:
                out.write(pattern(step * 300, number))
            os.rename(path, path + '-moved')
            assert content(path + '-moved') == pattern(step * 300, number)
            assert f'p{number}-{step}-moved' in os.listdir(place.dir)
            if step % 3:
                os.unlink(path + '-moved')
    together(6, work)
    equal(len(os.listdir(place.dir)), 60, 'names left')


@check(share_of=2)
def one_file(place):
    """Four processes write every fourth block of a file, all at once."""
    path = place.file('f')

    def work(number):
        fd = os.open(path, os.O_WRONLY)
        for block in range(number, 80, 4):
            os.pwrite(fd, bytes([block + 1]) * 4096, block * 4096)
        os.close(fd)
    together(4, work)
    expected = b''.join(bytes([n + 1]) * 4096 for n in range(80))
    equal(content(path), expected, 'content')
    equal(place.host('stat -c %s f').strip(), str(80 * 4096), 'size on host')


@check(share_of=2)
def directories_moved_about(place):
    """Two processes rename directories in which two others work."""
    for name in ('a', 'b'):
        os.makedirs(place.path(name, 'x'))

    def work(number):
        mine = place.path('ab'[number % 2])
        for step in range(40):
            if number < 2:
                os.rename(mine, mine + 'm')
                os.rename(mine + 'm', mine)
                continue
            try:
                with open(mine + f'/x/{number}-{step}', 'wb') as out:
                    out.write(b'data')
            except FileNotFoundError:
                pass        # it had the other name just then
    together(4, work)
    for name in ('a', 'b'):
        for inner in os.listdir(place.path(name, 'x')):
            equal(content(place.path(name, 'x', inner)), b'data', inner)


def killed(function, rng):
    """Run a function in a child and kill that after a short time."""
    child = os.fork()
    if not child:
        while True:
            function()
    time.sleep(rng.random() * 0.1)
    os.kill(child, signal.SIGKILL)
    equal(os.waitpid(child, 0)[1], signal.SIGKILL, 'wait status')


@check(share_of=2)
def killed_at_work(place):
    """Processes are killed while they read, write and list; all goes on."""
    rng = random.Random(place.seed)
    data = pattern(4 << 20)
    path = place.file('f', data)
    for number in range(20):
        place.file(f'other-{number}')

    def write():
        with open(place.path('scratch'), 'wb') as out:
            out.write(data)
    for _ in range(6):
        killed(lambda: content(path), rng)
        killed(write, rng)
        killed(lambda: os.listdir(place.dir), rng)
    equal(content(path), data, 'content')
    names = set(os.listdir(place.dir)) - {'scratch'}
    equal(len(names), 21, 'names')
    place.remount()
    equal(content(path), data, 'content after a remount')
    true(os.statvfs(place.dir).f_blocks > 0, 'statfs works')
