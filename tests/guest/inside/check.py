# SPDX-License-Identifier: GPL-2.0-or-later
"""What a check is, and what checks are written with.

A check is a function with one argument, the Place it works in.  It returns
where everything is true for a user that its doc string says, and raises
Failure (or any other exception) where not.  No check and nothing about
virtual machines lives here; runs on the host too, which only wants the list.
"""
import errno
import os
import subprocess

REGISTRY = {}


class Failure(Exception):
    """Something is not as it must be; the text says expected and got."""


class Skip(Exception):
    """This kernel or host cannot do it at all; the text says why."""


def check(caches=None, where='share', msizes=None, slow=False, timeout=120,
          privileged=False, share_of=1):
    """Make a function a check.

    caches      cache modes of the mounts it is for (None: all but mmap)
    msizes      msizes it is for (None: all)
    where       'share' for writable mounts, 'readonly' for the read-only one
    slow        only with --slow
    timeout     seconds after which the guest counts as hung
    privileged  what it states can be so only if the server runs as root
    share_of    1: on all of these mounts, 2: on every other, 4: on one;
                which ones differs from one security model to the next, and
                with --slow it is all
    """
    def register(function):
        module = function.__module__.rsplit('.', 1)[-1]
        name = f'{module}.{function.__name__}'
        function.needs = {
            'caches': caches or ('none', 'loose'), 'where': where,
            'msizes': msizes, 'slow': slow, 'timeout': timeout,
            'privileged': privileged, 'share_of': share_of}
        REGISTRY[name] = function
        return function
    return register


class Place:
    """A directory of its own for one check, and the mount that it is in.

    dir     its path, with no "/" at the end
    host()  runs a shell script in the same directory on the host
    """

    def __init__(self, settings, directory, host):
        self.dir = directory
        self.mount = settings['mount']
        self.cache = settings['cache']
        self.msize = settings['msize']
        self.model = settings['model']
        self.root = settings['root']
        self.local = settings['local']
        self.seed = settings['seed']
        self.privileged = settings['privileged']
        self.tag = settings['tag']
        self.slow = settings['slow']
        self._host = host

    def path(self, *names):
        """Path of a name in the check's directory."""
        return os.path.join(self.dir, *names)

    def host(self, script):
        """Run a shell script on the host in this directory; its output."""
        return self._host(script)

    def shared_maps(self):
        """Whether the client can map files shared and writable at all."""
        return self.local or self.cache in ('loose', 'mmap')

    def sees_host(self):
        """Whether the client asks the server again for each operation."""
        return self.local or self.cache == 'none'

    def file(self, name, data=b'', mode=0o644):
        """Make a file with this content; its path."""
        path = self.path(name)
        with open(path, 'wb') as out:
            out.write(data)
        os.chmod(path, mode)
        return path

    def remount(self, version='9p2000.L'):
        """Unmount the share and mount it again: no cached state is left."""
        if self.local:
            subprocess.run(['sync'], check=True)
            return
        commands = [mount_command(self.tag, self.root, self.cache,
                                  self.msize, version)]
        if os.path.ismount(self.root):
            commands.insert(0, ['umount', self.root])
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True,
                                  check=False)
            if done.returncode:
                raise Failure(f'{" ".join(command)}: {done.stderr.strip()}')


def mount_command(tag, where, cache, msize, version='9p2000.L'):
    """The command by which a guest mounts a share."""
    options = f'trans=virtio,version={version},msize={msize},cache={cache}'
    return ['mount', '-t', '9p', '-o', options, tag, where]


def equal(got, expected, what):
    """Both values must be the same."""
    if got != expected:
        raise Failure(f'{what}: expected {short(expected)}, got {short(got)}')


def true(condition, what):
    """The statement must hold."""
    if not condition:
        raise Failure(f'not so: {what}')


def refused(number, function, *arguments, **options):
    """The call must fail with this errno (or one of several)."""
    numbers = number if isinstance(number, tuple) else (number,)
    names = ' or '.join(errno.errorcode[n] for n in numbers)
    call = f'{function.__name__}{short(arguments)}'
    try:
        got = function(*arguments, **options)
    except OSError as error:
        if error.errno in numbers:
            return
        raise Failure(f'{call}: expected {names}, got '
                      f'{errno.errorcode.get(error.errno)}') from error
    raise Failure(f'{call}: expected {names}, got success: {short(got)}')


def content(path):
    """All bytes of a file."""
    with open(path, 'rb') as source:
        return source.read()


def short(value, limit=160):
    """A value's text, cut where it gets long."""
    text = repr(value)
    if len(text) <= limit:
        return text
    return f'{text[:limit // 2]}...{text[-limit // 3:]} ({len(text)} long)'


def sh(place, script, timeout=None):
    """Run a shell script in the place's directory; its output."""
    done = subprocess.run(
        ['bash', '-euc', script], cwd=place.dir, text=True, errors='replace',
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=timeout, check=False)
    if done.returncode:
        lines = done.stdout.strip().splitlines()[-12:]
        raise Failure(f'exit status {done.returncode} of: '
                      f'{script.strip().splitlines()[0]} ...\n' +
                      '\n'.join(lines))
    return done.stdout


def pattern(length, seed=0):
    """Bytes of which each 8 differ, to be found again and compared."""
    words = (length + 7) // 8
    block = b''.join((i * 0x9E3779B97F4A7C15 + seed & (1 << 64) - 1)
                     .to_bytes(8, 'little') for i in range(min(words, 8192)))
    return (block * (words // 8192 + 1))[:length]
