# SPDX-License-Identifier: GPL-2.0-or-later
"""The tree of files that guests compare with the host, and its manifest.

Half of it is a copy of what this machine has under /usr, half is made from a
seed: names, sizes, kinds and modes that a distribution does not have.  What
is compared is decided in manifest.py.  Run on both sides, too, for a guest
that checks a local directory makes the tree itself.
"""
import os
import random
import shutil
import socket
import stat

ROOTS = ('/usr/include', '/usr/share', '/usr/lib')
LARGEST = 128 << 10
ODD_NAMES = ['with space', 'tab\tnew\nline', 'quote\'"\\', '-dash', '*?[x]',
             '\u00fcml\u00e4ut', '\U0001f600', 'trailing.', ' lead', '%2f',
             '..three', '.hidden', '~', '#', 'a' * 255, '\u00e9' * 127]
ODD_BYTES = [b'\xff\xfe', b'latin-\xe9', b'\x01\x7f', b'half\xc3']
SIZES = [0, 1, 2, 511, 512, 513, 4095, 4096, 4097, 8167, 8168, 8169, 8191,
         8192, 8193, 65535, 65536, 65537, 511975, 511976, 511977, 512000,
         1 << 20, (1 << 20) + 1]


def make(top, count):
    """Make the tree, with at least `count` entries, unless it is there."""
    if os.path.exists(top):
        return
    building = top + '.new'
    shutil.rmtree(building, ignore_errors=True)
    os.makedirs(building)
    made = copy_system(os.path.join(building, 'system'), count * 3 // 4)
    make_odd(os.path.join(building, 'odd'))
    make_many(os.path.join(building, 'many'), count - made)
    os.rename(building, top)


def copy_system(target, count):
    """Copy files of this machine; how many entries that made."""
    made = 0
    for root in ROOTS:
        for folder, dirs, files in os.walk(root):
            dirs.sort()
            place = target + folder
            os.makedirs(place, exist_ok=True)
            for name in sorted(files):
                made += copy_one(os.path.join(folder, name),
                                 os.path.join(place, name))
                if made >= count:
                    return made
    return made


def copy_one(source, target):
    """Copy one file or link, if it is small; 1 if it was."""
    info = os.lstat(source)
    if stat.S_ISLNK(info.st_mode):
        os.symlink(os.readlink(source), target)
    elif stat.S_ISREG(info.st_mode) and info.st_size <= LARGEST:
        shutil.copyfile(source, target)
        os.chmod(target, stat.S_IMODE(info.st_mode) | 0o400)
        os.utime(target, ns=(info.st_atime_ns, info.st_mtime_ns))
    else:
        return 0
    return 1


def make_odd(top):
    """Every kind of name, size, file and mode."""
    os.makedirs(top)
    rng = random.Random(9)
    folder = top.encode()
    names = [s.encode() for s in ODD_NAMES] + ODD_BYTES
    for name in names:
        with open(os.path.join(folder, name), 'wb') as out:
            out.write(name)
    for size in SIZES:
        with open(f'{top}/size-{size}', 'wb') as out:
            out.write(rng.randbytes(size))
    for mode in (0o400, 0o444, 0o600, 0o755, 0o777, 0o4755, 0o2755, 0o6711):
        with open(f'{top}/mode-{mode:o}', 'wb') as out:
            out.write(b'x')
        os.chmod(f'{top}/mode-{mode:o}', mode)
    for mode in (0o1777, 0o2755, 0o700, 0o555):
        os.mkdir(f'{top}/dir-{mode:o}')
        os.chmod(f'{top}/dir-{mode:o}', mode)
    os.symlink('size-512', f'{top}/link')
    os.symlink('nowhere/at/all', f'{top}/dangling')
    os.symlink('/etc/passwd', f'{top}/absolute')
    os.symlink('x' * 4000, f'{top}/long-link')
    os.symlink('.', f'{top}/loop')
    os.mkfifo(f'{top}/fifo')
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(top, os.O_RDONLY)
        listener.bind(f'/proc/self/fd/{here}/socket')
        os.close(here)
    os.link(f'{top}/size-513', f'{top}/hard-link')
    with open(f'{top}/sparse', 'wb') as out:
        out.truncate((4 << 30) + 4096)
        out.seek(1 << 20)
        out.write(b'island')
    deep = top
    for _ in range(40):
        deep += '/deep'
        os.mkdir(deep)
    with open(f'{deep}/bottom', 'wb') as out:
        out.write(b'bottom')


def make_many(top, count):
    """At least `count` small files, half of them in one directory."""
    rng = random.Random(10)
    made = 0
    number = 0
    while made < max(count, 2000):
        big = number == 0
        folder = f'{top}/{number:04}'
        os.makedirs(folder)
        for index in range(max(count // 2, 1000) if big else 25):
            with open(f'{folder}/file-{index:05}', 'wb') as out:
                out.write(rng.randbytes(rng.randrange(200)))
            made += 1
        number += 1
        made += 1
