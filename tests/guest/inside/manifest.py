# SPDX-License-Identifier: GPL-2.0-or-later
"""One line for each entry of a tree: all that host and guest must agree on.

Run on both sides (also alone: manifest.py DIR writes the lines out).
"""
import hashlib
import os
import stat
import sys

HASHED_MAX = 16 << 20


def entries(top):
    """The lines of all entries below a directory, in order of their names."""
    return sorted(describe(top))


def describe(top):
    """Yield the line of each entry."""
    top = os.fsencode(top)
    stack = [b'']
    while stack:
        inner = stack.pop()
        with os.scandir(os.path.join(top, inner)) as names:
            for entry in names:
                name = os.path.join(inner, entry.name)
                is_dir = entry.is_dir(follow_symlinks=False)
                yield line(os.path.join(top, name), name, entry)
                if is_dir:
                    stack.append(name)


def line(path, name, entry):
    """Describe one entry."""
    descriptor = None
    if entry.is_file(follow_symlinks=False):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        info = os.fstat(descriptor)
    else:
        info = os.lstat(path)
    fields = [ascii(os.fsdecode(name)), f'{info.st_mode:o}',
              str(info.st_mtime_ns)]
    if entry.inode() != info.st_ino:
        fields.append(f'd_ino={entry.inode()},st_ino={info.st_ino}')
    if descriptor is not None:
        fields += [str(info.st_size), digest(descriptor, info.st_size)]
        os.close(descriptor)
    elif stat.S_ISLNK(info.st_mode):
        fields += [str(info.st_size), ascii(os.readlink(path))]
    return ' '.join(fields)


def digest(descriptor, size):
    """sha256 of a file's content; of its first part where it is huge."""
    check = hashlib.sha256()
    left = min(size, HASHED_MAX)
    while left:
        data = os.read(descriptor, min(left, 1 << 20))
        if not data:
            return f'short-by-{left}'
        check.update(data)
        left -= len(data)
    return check.hexdigest()


if __name__ == '__main__':
    for text in entries(sys.argv[1]):
        print(text)
