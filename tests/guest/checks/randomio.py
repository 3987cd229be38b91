# SPDX-License-Identifier: GPL-2.0-or-later
"""A file changed at random, compared with a model in memory at each step.

Reads, writes, appends, truncates and maps of random places and lengths, with
close and reopen in between, also by a second name and after the kernel forgot
the names (a caching client must know the file again then); at the end the host's view must be the model's.
"""
import hashlib
import mmap
import os
import random

from check import check, content, Failure, equal

LARGEST = 300_000
ALL_CACHES = ('none', 'loose', 'mmap')


class Subject:
    """The file, its model, and what was done so far."""

    def __init__(self, place, seed):
        self.place = place
        self.rng = random.Random(seed)
        self.path = place.path(f'file-{seed}')
        self.model = bytearray()
        self.done = []
        self.fd = os.open(self.path, os.O_CREAT | os.O_RDWR, 0o644)
        self.link = self.path + '-link'
        os.link(self.path, self.link)

    def span(self):
        """A random offset and length, of every order of magnitude."""
        length = self.rng.randrange(1, 1 << self.rng.randrange(1, 18))
        return self.rng.randrange(0, LARGEST - length), length

    def compare(self, got, expected, what):
        """Fail with the first difference and the last steps."""
        if got == expected:
            return
        at = next((i for i, (a, b) in enumerate(zip(got, expected))
                   if a != b), min(len(got), len(expected)))
        raise Failure(
            f'{what}: expected {len(expected)} bytes, got {len(got)}, first '
            f'difference at {at}: expected {bytes(expected[at:at + 8])!r}, '
            f'got {bytes(got[at:at + 8])!r}\n'
            f'step {len(self.done)}; last steps: ' +
            '; '.join(self.done[-6:]))

    def write(self):
        """Write some bytes."""
        offset, length = self.span()
        data = self.rng.randbytes(length)
        os.pwrite(self.fd, data, offset)
        if len(self.model) < offset + length:
            self.model.extend(bytes(offset + length - len(self.model)))
        self.model[offset:offset + length] = data
        return f'write {length} at {offset}'

    def read(self):
        """Read some bytes and compare."""
        offset, length = self.span()
        self.compare(os.pread(self.fd, length, offset),
                     self.model[offset:offset + length],
                     f'read {length} at {offset}')
        return f'read {length} at {offset}'

    def truncate(self):
        """Make it shorter or longer."""
        size = self.rng.randrange(LARGEST)
        if self.rng.random() < 0.5:
            os.ftruncate(self.fd, size)
        else:
            os.truncate(self.path, size)
        del self.model[size:]
        self.model.extend(bytes(size - len(self.model)))
        return f'truncate to {size}'

    def append(self):
        """Append some bytes through another descriptor."""
        data = self.rng.randbytes(self.rng.randrange(1, 5000))
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        os.write(fd, data)
        os.close(fd)
        self.model.extend(data)
        return f'append {len(data)}'

    def reopen(self):
        """Close and open again."""
        os.close(self.fd)
        self.fd = os.open(self.path, os.O_RDWR)
        return 'reopen'

    def sync(self):
        """Have it all written."""
        os.fsync(self.fd)
        return 'fsync'

    def forget(self):
        """Have the kernel forget names, so that it asks for them again."""
        with open('/proc/sys/vm/drop_caches', 'w', encoding='ascii') as out:
            out.write('2')
        return 'forget names'

    def read_by_link(self):
        """Compare all of it, opened by its other name.

        With cache=mmap Linux holds back writes, but knows a file by its
        name only, whatever the server says.
        """
        if self.place.cache == 'mmap':
            return 'no other name'
        self.compare(content(self.link), self.model, 'by its other name')
        return 'read by its other name'

    def map_read(self):
        """Compare all of it, mapped.

        Not without a cache: when a file grew by ftruncate, was mapped and
        written behind that, Linux 6.12 shows zeros, asking no server.
        """
        if self.model and self.place.shared_maps():
            fd = os.open(self.path, os.O_RDONLY)
            with mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ) as area:
                self.compare(area[:], self.model, 'map')
            os.close(fd)
        return 'map and read'

    def map_write(self):
        """Change some bytes through a shared map."""
        if not self.model or not self.place.shared_maps():
            return 'no map'
        offset = self.rng.randrange(len(self.model))
        length = min(self.rng.randrange(1, 20_000), len(self.model) - offset)
        data = self.rng.randbytes(length)
        with mmap.mmap(self.fd, 0) as area:
            area[offset:offset + length] = data
            area.flush()
        self.model[offset:offset + length] = data
        return f'map and write {length} at {offset}'

    def size(self):
        """Compare the size, both ways."""
        equal(os.fstat(self.fd).st_size, len(self.model), 'fstat size')
        equal(os.stat(self.path).st_size, len(self.model), 'stat size')
        return 'stat'


def torture(place, seed, steps):
    """Do that many random things to a file."""
    subject = Subject(place, seed)
    actions = [subject.write, subject.write, subject.read, subject.read,
               subject.truncate, subject.append, subject.reopen,
               subject.sync, subject.map_read, subject.map_write,
               subject.size, subject.forget, subject.read_by_link]
    for _ in range(steps):
        subject.done.append(subject.rng.choice(actions)())
    os.close(subject.fd)
    subject.compare(content(subject.path), subject.model, 'at last')
    digest = hashlib.sha256(subject.model).hexdigest()
    name = os.path.basename(subject.path)
    equal(place.host(f'sha256sum < {name}').split()[0], digest,
          'sha256 on the host')
    place.remount()
    subject.compare(content(subject.path), subject.model, 'remounted')


@check(caches=ALL_CACHES)
def one_file(place):
    """400 random steps leave exactly what they should."""
    torture(place, place.seed, 400)


@check()
def known_again(place):
    """A file that is open and written is found again by another name."""
    path = place.file('f', b'0' * 100)
    os.link(path, place.path('g'))
    fd = os.open(path, os.O_RDWR)
    for number in range(1, 9):
        os.pwrite(fd, b'%d' % number, number)
        if number % 2:
            os.fsync(fd)
        with open('/proc/sys/vm/drop_caches', 'w', encoding='ascii') as out:
            out.write('2')
        equal(content(place.path('g'))[number:number + 1], b'%d' % number,
              f'byte {number} by the other name')
        equal(os.fstat(fd).st_ino, os.stat(place.path('g')).st_ino, 'inode')
    os.close(fd)


@check(caches=ALL_CACHES, slow=True, timeout=600)
def four_files(place):
    """1000 random steps on each of four files."""
    for number in range(4):
        torture(place, place.seed * 1000 + number, 1000)


@check(caches=ALL_CACHES)
def small_records(place):
    """Records of 100 bytes, written anywhere, closed and opened each time."""
    rng = random.Random(place.seed)
    path = place.file('f', bytes(20_000))
    model = bytearray(20_000)
    for number in range(60):
        offset = rng.randrange(200) * 100
        record = f'{number:<100}'.encode()
        with open(path, 'r+b') as out:
            out.seek(offset)
            out.write(record)
        model[offset:offset + 100] = record
        equal(content(path), bytes(model), f'content after record {number}')
