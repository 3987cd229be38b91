# SPDX-License-Identifier: GPL-2.0-or-later
"""Fifos, sockets, device nodes and locks among the guest's processes."""
import errno
import fcntl
import os
import socket
import stat
import struct

from check import check, equal, refused, true, Skip


def in_child(function):
    """Run a function in a child; the returned call waits for its status."""
    child = os.fork()
    if not child:
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    return lambda: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@check()
def fifo(place):
    """A fifo carries a message from one guest process to another."""
    path = place.path('p')
    os.mkfifo(path, 0o644)
    equal(stat.S_IFMT(os.lstat(path).st_mode), stat.S_IFIFO, 'kind')
    if place.model in ('passthrough', 'none') and not place.local:
        equal(place.host('stat -c %F p').strip(), 'fifo', 'kind on host')
    wait = in_child(lambda: os.write(os.open(path, os.O_WRONLY), b'message'))
    fd = os.open(path, os.O_RDONLY)
    equal(os.read(fd, 100), b'message', 'message')
    equal(os.read(fd, 100), b'', 'end')
    equal(wait(), 0, 'status of the writer')
    os.close(fd)
    equal(os.lstat(path).st_size, 0, 'size')


@check()
def fifo_nonblocking(place):
    """Without a reader opening a fifo for writing fails, nothing hangs."""
    path = place.path('p')
    os.mkfifo(path)
    refused(errno.ENXIO, os.open, path, os.O_WRONLY | os.O_NONBLOCK)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    out = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.write(out, b'x')
    equal(os.read(fd, 10), b'x', 'message')
    os.rename(path, place.path('q'))
    os.write(out, b'y')
    equal(os.read(fd, 10), b'y', 'message after a rename')
    os.close(fd)
    os.close(out)
    os.unlink(place.path('q'))


@check()
def unix_socket(place):
    """A local socket on the share joins two guest processes."""
    os.chdir(place.dir)
    server = socket.socket(socket.AF_UNIX)
    server.bind('sock')
    server.listen(1)
    equal(stat.S_IFMT(os.lstat('sock').st_mode), stat.S_IFSOCK, 'kind')

    def client():
        with socket.socket(socket.AF_UNIX) as line:
            line.connect('sock')
            line.sendall(b'question')
            assert line.recv(100) == b'answer'
    wait = in_child(client)
    server.settimeout(30)
    line, _ = server.accept()
    equal(line.recv(100), b'question', 'message')
    line.sendall(b'answer')
    equal(wait(), 0, 'status of the client')
    line.close()
    server.close()
    refused(errno.ECONNREFUSED, socket.socket(socket.AF_UNIX).connect, 'sock')
    refused(errno.EADDRINUSE, socket.socket(socket.AF_UNIX).bind, 'sock')
    refused(errno.ENXIO, os.open, 'sock', os.O_RDWR)
    os.unlink('sock')
    os.chdir('/')


@check(privileged=True)
def device_nodes(place):
    """A device node made on the share works as the guest's device."""
    path = place.path('null')
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    os.mknod(place.path('zero'), 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    os.mknod(place.path('disk'), 0o600 | stat.S_IFBLK, os.makedev(254, 300))
    info = os.stat(path)
    equal((stat.S_IFMT(info.st_mode), info.st_rdev),
          (stat.S_IFCHR, os.makedev(1, 3)), 'kind and device')
    info = os.stat(place.path('disk'))
    equal((stat.S_IFMT(info.st_mode), info.st_rdev),
          (stat.S_IFBLK, os.makedev(254, 300)), 'kind and device')
    with open(path, 'r+b', buffering=0) as device:
        equal(device.write(b'gone'), 4, 'bytes written to null')
        equal(device.read(10), b'', 'read from null')
    with open(place.path('zero'), 'rb', buffering=0) as device:
        equal(device.read(10), bytes(10), 'read from zero')


@check()
def mknod_regular(place):
    """mknod makes empty regular files too."""
    os.mknod(place.path('f'), 0o640 | stat.S_IFREG)
    equal(os.stat(place.path('f')).st_mode, 0o100640, 'mode')
    refused(errno.EEXIST, os.mknod, place.path('f'), 0o640 | stat.S_IFREG)
    refused(errno.EEXIST, os.mkfifo, place.path('f'))


@check()
def flock(place):
    """flock keeps other processes out until it is dropped."""
    path = place.file('f')
    fd = os.open(path, os.O_RDWR)
    other = os.open(path, os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    refused(errno.EAGAIN, fcntl.flock, other, fcntl.LOCK_SH | fcntl.LOCK_NB)
    fcntl.flock(fd, fcntl.LOCK_SH)
    fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
    refused(errno.EAGAIN, fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


@check()
def record_locks(place):
    """fcntl locks bytes against other processes; getlk tells of them."""
    path = place.file('f', bytes(100))
    fd = os.open(path, os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX, 10, 10)

    def other():
        mine = os.open(path, os.O_RDWR)
        refused((errno.EAGAIN, errno.EACCES), fcntl.lockf, mine,
                fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 15)
        fcntl.lockf(mine, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 20)
        wanted = struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        found = struct.unpack('hhqqi4x',
                              fcntl.fcntl(mine, fcntl.F_GETLK, wanted))
        assert found[0] == fcntl.F_WRLCK and found[2:4] == (10, 10), found
    equal(in_child(other)(), 0, 'status of the other process')
    fcntl.lockf(fd, fcntl.LOCK_UN, 10, 10)
    free = in_child(lambda: fcntl.lockf(
        os.open(path, os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB))
    equal(free(), 0, 'status of a process that locks all')
    os.close(fd)


@check()
def lock_waits(place):
    """A process that waits for a lock gets it when it is dropped."""
    path = place.file('f')
    fd = os.open(path, os.O_RDWR)
    reader, writer = os.pipe()
    fcntl.lockf(fd, fcntl.LOCK_EX)

    def other():
        mine = os.open(path, os.O_RDWR)
        os.write(writer, b'w')
        fcntl.lockf(mine, fcntl.LOCK_EX)
        os.write(writer, b'l')
    wait = in_child(other)
    equal(os.read(reader, 1), b'w', 'the other waits')
    os.write(writer, b'u')
    equal(os.read(reader, 1), b'u', 'it still waits')
    fcntl.lockf(fd, fcntl.LOCK_UN)
    equal(os.read(reader, 1), b'l', 'the other has the lock')
    equal(wait(), 0, 'status of the other')
    os.close(fd)


@check()
def open_file_locks(place):
    """Open file description locks exclude other descriptors."""
    path = place.file('f')
    ofd_setlk = 37
    lock = struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, 0, 10, 0)
    fd = os.open(path, os.O_RDWR)
    other = os.open(path, os.O_RDWR)
    try:
        fcntl.fcntl(fd, ofd_setlk, lock)
    except OSError as error:
        raise Skip(f'this kernel has no such locks here: {error}') from error
    refused((errno.EAGAIN, errno.EACCES), fcntl.fcntl, other, ofd_setlk, lock)
    os.close(fd)
    fcntl.fcntl(other, ofd_setlk, lock)
    os.close(other)


@check()
def locked_counter(place):
    """Two processes count in a file under a lock and lose no step."""
    path = place.file('f', b'0')

    def count():
        for _ in range(50):
            fd = os.open(path, os.O_RDWR)
            fcntl.lockf(fd, fcntl.LOCK_EX)
            number = int(os.pread(fd, 10, 0)) + 1
            os.pwrite(fd, str(number).encode(), 0)
            os.close(fd)
    waits = [in_child(count), in_child(count)]
    for wait in waits:
        equal(wait(), 0, 'status of a process')
    with open(path, 'rb') as source:
        equal(source.read(), b'100', 'counter')
    true(os.stat(path).st_size == 3, 'three digits')
