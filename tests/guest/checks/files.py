# SPDX-License-Identifier: GPL-2.0-or-later
"""Contents of files: sizes, holes, big offsets, vectors, maps."""
import errno
import hashlib
import mmap
import os

from check import check, content, equal, pattern, refused, true

GIB = 1 << 30


@check()
def sizes(place):
    """Files of sizes around every limit are written and read whole."""
    edges = {0, 1, 4095, 4096, 4097, place.msize, 131072}
    edges |= {place.msize - n for n in (1, 11, 12, 23, 24, 25)}
    for size in sorted(edges):
        data = pattern(size, size)
        path = place.file('f', data)
        equal(content(path), data, f'content of {size} bytes')
        place.remount()
        equal(content(path), data, f'content of {size} bytes, remounted')
        equal(place.host('sha256sum < f').split()[0],
              hashlib.sha256(data).hexdigest(), f'{size} bytes on the host')


@check()
def over_4_gib(place):
    """Reading and writing work at offsets beyond 4 GiB."""
    path = place.path('f')
    fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    for offset in (0, 2 * GIB - 3, 4 * GIB - 3, 5 * GIB + 1, 100 * GIB):
        os.pwrite(fd, f'at {offset}'.encode(), offset)
    size = 100 * GIB + len(f'at {100 * GIB}')
    equal(os.fstat(fd).st_size, size, 'size')
    os.fsync(fd)
    for offset in (100 * GIB, 5 * GIB + 1, 4 * GIB - 3, 2 * GIB - 3, 0):
        expected = f'at {offset}'.encode()
        equal(os.pread(fd, len(expected), offset), expected, 'content')
        equal(os.pread(fd, 4, offset + 1000), b'' if offset == 100 * GIB
              else bytes(4), 'the hole behind it')
    equal(os.lseek(fd, 0, os.SEEK_END), size, 'end')
    os.ftruncate(fd, 4 * GIB + 5)
    equal(os.pread(fd, 100, 4 * GIB - 3), f'at {4 * GIB - 3}'.encode()[:8],
          'content before the new end')
    os.close(fd)
    equal(place.host('stat -c %s f').strip(), str(4 * GIB + 5),
          'size on the host')


@check()
def holes(place):
    """What was never written reads as zeros."""
    path = place.path('f')
    with open(path, 'wb') as out:
        out.seek(100_000)
        out.write(b'x')
    equal(content(path), bytes(100_000) + b'x', 'content')
    os.truncate(path, 50)
    os.truncate(path, 200)
    equal(content(path), bytes(200), 'content, cut and grown')
    place.file('f', b'y' * 8192)
    os.truncate(path, 10)
    os.truncate(path, 8192)
    equal(content(path), b'y' * 10 + bytes(8182), 'nothing old comes back')
    place.remount()
    equal(content(path), b'y' * 10 + bytes(8182), 'nor after a remount')


@check()
def short_vectors(place):
    """A vector read with 12 and 1024 bytes gives each file exactly."""
    for size in (0, 5, 12, 13, 1036, 1037, 2000, 2 * place.msize):
        data = pattern(size, size)
        fd = os.open(place.file('f', data), os.O_RDONLY)
        first, second = bytearray(12), bytearray(1024)
        got = os.readv(fd, [first, second])
        equal(got, min(size, 1036), f'bytes read of {size}')
        equal(bytes(first + second)[:got], data[:got], f'data of {size}')
        equal(bytes(first + second)[got:], bytes(1036 - got), 'the rest')
        os.close(fd)
        equal(content(place.path('f')), data, 'content afterwards')


@check()
def long_vectors(place):
    """Vectors of many odd pieces are written and read in order."""
    pieces = [pattern(n * 37 % 5000 + 1, n) for n in range(200)]
    whole = b''.join(pieces)
    fd = os.open(place.path('f'), os.O_CREAT | os.O_RDWR, 0o644)
    equal(os.writev(fd, pieces), len(whole), 'bytes written')
    os.lseek(fd, 0, os.SEEK_SET)
    buffers = [bytearray(len(p)) for p in pieces]
    equal(os.readv(fd, buffers), len(whole), 'bytes read')
    equal([bytes(b) for b in buffers], pieces, 'pieces')
    equal(os.preadv(fd, buffers[:3], 1), sum(map(len, pieces[:3])), 'preadv')
    equal(b''.join(bytes(b) for b in buffers[:3]),
          whole[1:1 + sum(map(len, pieces[:3]))], 'pieces from offset 1')
    os.close(fd)


@check()
def big_transfers(place):
    """8 MiB go in and out by one call each."""
    data = pattern(8 << 20)
    fd = os.open(place.path('f'), os.O_CREAT | os.O_RDWR, 0o644)
    done = 0
    while done < len(data):
        done += os.pwrite(fd, data[done:], done)
    equal(os.pread(fd, len(data) + 1, 0), data, 'content')
    os.close(fd)
    equal(place.host('sha256sum < f').split()[0],
          hashlib.sha256(data).hexdigest(), 'content on the host')


@check()
def maps(place):
    """A file can be mapped for reading, and shows later changes anew."""
    data = pattern(50_000)
    path = place.file('f', data)
    with open(path, 'rb') as source, \
            mmap.mmap(source.fileno(), 0, mmap.MAP_PRIVATE,
                      mmap.PROT_READ) as area:
        equal(area[:], data, 'content')
    with open(path, 'r+b') as out:
        out.seek(5000)
        out.write(b'change')
    with open(path, 'rb') as source, \
            mmap.mmap(source.fileno(), 0, mmap.MAP_PRIVATE,
                      mmap.PROT_READ) as area:
        equal(area[4999:5007], data[4999:5000] + b'change' + data[5006:5007],
              'changed content')


@check(caches=('loose', 'mmap'))
def shared_maps(place):
    """A shared map is written back, and both ways agree."""
    path = place.file('f', bytes(20_000))
    fd = os.open(path, os.O_RDWR)
    with mmap.mmap(fd, 20_000) as area:
        area[100:105] = b'first'
        area.flush()
        equal(os.pread(fd, 5, 100), b'first', 'map to file')
        os.pwrite(fd, b'second', 9000)
        equal(area[9000:9006], b'second', 'file to map')
        area[19_990:20_000] = b'last bytes'
    os.close(fd)
    place.remount()
    expected = bytearray(20_000)
    expected[100:105] = b'first'
    expected[9000:9006] = b'second'
    expected[19_990:20_000] = b'last bytes'
    equal(content(path), bytes(expected), 'content after a remount')


@check()
def two_descriptors(place):
    """What one descriptor writes, another reads at once."""
    path = place.file('f')
    out = os.open(path, os.O_WRONLY)
    source = os.open(path, os.O_RDONLY)
    for number in range(100):
        data = f'line {number:04}\n'.encode()
        os.write(out, data)
        equal(os.read(source, 100), data, f'line {number}')
    os.ftruncate(out, 5)
    equal(os.fstat(source).st_size, 5, 'size')
    os.close(out)
    os.close(source)


@check()
def after_the_end(place):
    """Reads at and after the end give nothing, not an error."""
    fd = os.open(place.file('f', b'data'), os.O_RDONLY)
    for offset in (4, 5, 4096, 5 * GIB):
        equal(os.pread(fd, 10, offset), b'', f'read at {offset}')
    equal(os.pread(fd, 10, 3), b'a', 'last byte')
    os.close(fd)


@check()
def wrong_ways(place):
    """Reading what is open for writing only, and the reverse, is refused."""
    path = place.file('f', b'data')
    fd = os.open(path, os.O_WRONLY)
    refused(errno.EBADF, os.read, fd, 1)
    os.close(fd)
    fd = os.open(path, os.O_RDONLY)
    refused(errno.EBADF, os.write, fd, b'x')
    refused(errno.EINVAL, os.ftruncate, fd, 1)
    os.close(fd)
    os.mkdir(place.path('d'))
    fd = os.open(place.path('d'), os.O_RDONLY)
    refused(errno.EISDIR, os.read, fd, 1)
    refused(errno.EINVAL, os.ftruncate, fd, 1)
    os.close(fd)
    refused(errno.EISDIR, os.truncate, place.path('d'), 1)
    equal(content(path), b'data', 'content')


@check()
def file_size_limit(place):
    """A file cannot grow beyond what the file system holds."""
    fd = os.open(place.path('f'), os.O_CREAT | os.O_RDWR, 0o644)
    refused((errno.EFBIG, errno.EINVAL), os.ftruncate, fd, (1 << 63) - 1)
    equal(os.fstat(fd).st_size, 0, 'size')
    os.close(fd)


@check()
def copy_calls(place):
    """sendfile and copy_file_range move exactly what they say."""
    data = pattern(100_001)
    source = os.open(place.file('a', data), os.O_RDONLY)
    target = os.open(place.path('b'), os.O_CREAT | os.O_RDWR, 0o644)
    done = 0
    while done < len(data):
        done += os.sendfile(target, source, done, len(data) - done)
    os.close(target)
    equal(content(place.path('b')), data, 'content sent')
    target = os.open(place.path('c'), os.O_CREAT | os.O_RDWR, 0o644)
    done = 0
    while done < len(data):
        count = os.copy_file_range(source, target, len(data) - done, done,
                                   done)
        true(count > 0, f'copy_file_range at {done} copies something')
        done += count
    os.close(target)
    os.close(source)
    equal(content(place.path('c')), data, 'content copied')
