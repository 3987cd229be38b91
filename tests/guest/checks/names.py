# SPDX-License-Identifier: GPL-2.0-or-later
"""Names and paths: long, odd, deep; and links."""
import errno
import os
import stat

from check import check, content, equal, refused, true

ODD = [b'a' * 255, b'\xc3\xa9' * 127, b'\xff\xfe', b'\x01\x7f', b' ', b'\n',
       b'a\\b', b'"', b"'", b'...', b'..a', b'-rf', b'*', b'%s%n', b'a:b',
       b'\xf0\x9f\x98\x80', b'half\xc3', b'trailing ', b'trailing.']


@check()
def odd_bytes(place):
    """Any bytes but / and NUL make a name, up to 255 of them."""
    top = os.fsencode(place.dir)
    for name in ODD:
        path = os.path.join(top, name)
        with open(path, 'xb') as out:
            out.write(name)
        equal(content(path), name, f'content of {name!r}')
    equal(sorted(os.listdir(top)), sorted(ODD), 'names listed')
    for name in ODD:
        os.rename(os.path.join(top, name), os.path.join(top, b'x'))
        os.rename(os.path.join(top, b'x'), os.path.join(top, name))
    listed = place.host("python3 -c 'import os; "
                        "print(sorted(os.listdir(b\".\")))'")
    equal(listed.strip(), repr(sorted(ODD)), 'names on the host')
    for name in ODD:
        os.unlink(os.path.join(top, name))
    equal(os.listdir(top), [], 'names at last')


@check()
def too_long(place):
    """A name of 256 bytes is refused by everything that takes one."""
    name = place.path('n' * 256)
    place.file('f')
    for call in (os.stat, os.mkdir, os.unlink, os.rmdir, os.mkfifo,
                 os.readlink, os.listdir):
        refused(errno.ENAMETOOLONG, call, name)
    refused(errno.ENAMETOOLONG, os.open, name, os.O_CREAT | os.O_WRONLY)
    refused(errno.ENAMETOOLONG, os.symlink, 'x', name)
    refused(errno.ENAMETOOLONG, os.link, place.path('f'), name)
    refused(errno.ENAMETOOLONG, os.rename, place.path('f'), name)
    equal(os.listdir(place.dir), ['f'], 'names')


@check()
def longest_everywhere(place):
    """Names of 255 bytes work as file, directory, link, fifo, in rename."""
    names = [place.path(c * 255) for c in 'abcde']
    os.mkdir(names[0])
    os.symlink('x' * 255, names[1])
    os.mkfifo(names[2])
    with open(os.path.join(names[0], 'i' * 255), 'wb') as out:
        out.write(b'inner')
    os.rename(names[0], names[3])
    equal(content(os.path.join(names[3], 'i' * 255)), b'inner', 'content')
    equal(os.readlink(names[1]), 'x' * 255, 'target')
    os.link(os.path.join(names[3], 'i' * 255), names[4])
    equal(os.stat(names[4]).st_nlink, 2, 'links')
    equal(sorted(os.listdir(place.dir)), [c * 255 for c in 'bcde'], 'names')


@check(timeout=180)
def path_longer_than_4096(place):
    """Down a path of 5000 bytes everything works, step by step."""
    start = os.open(place.dir, os.O_RDONLY)
    here = os.dup(start)
    depth = 25
    for number in range(depth):
        name = f'{number:03}' + 'd' * 197
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    fd = os.open('bottom', os.O_CREAT | os.O_RDWR, 0o644, dir_fd=here)
    os.write(fd, b'deep')
    os.fchmod(fd, 0o640)
    os.setxattr(fd, 'user.depth', b'25')
    os.close(fd)
    os.rename('bottom', 'renamed', src_dir_fd=here, dst_dir_fd=here)
    os.symlink('renamed', 'link', dir_fd=here)
    os.link('renamed', 'hard', src_dir_fd=here, dst_dir_fd=here)
    info = os.stat('link', dir_fd=here)
    equal((info.st_size, info.st_mode, info.st_nlink), (4, 0o100640, 2),
          'attributes at the bottom')
    equal(sorted(os.listdir(here)), ['hard', 'link', 'renamed'], 'names')
    os.rename(f'000{"d" * 197}', 'top', src_dir_fd=start, dst_dir_fd=start)
    fd = os.open('hard', os.O_RDONLY, dir_fd=here)
    equal(os.read(fd, 10), b'deep', 'content after the top was renamed')
    os.close(fd)
    up = os.stat('..', dir_fd=here)
    true(stat.S_ISDIR(up.st_mode), 'there is a directory above')
    equal(place.host('find top -name hard | wc -c').strip(),
          str(3 + 201 * (depth - 1) + 6), 'length of the path on the host')
    import shutil
    shutil.rmtree(place.path('top'))


@check()
def dots(place):
    """"." and ".." are what they are everywhere, and cannot be replaced."""
    os.mkdir(place.path('d'))
    os.mkdir(place.path('d', 'e'))
    equal(os.stat(place.path('d', 'e', '..')).st_ino,
          os.stat(place.path('d')).st_ino, 'inode of d/e/..')
    equal(os.stat(place.path('d', '.')).st_ino,
          os.stat(place.path('d')).st_ino, 'inode of d/.')
    refused(errno.EINVAL, os.rmdir, place.path('d', '.'))
    refused((errno.ENOTEMPTY, errno.EEXIST), os.rmdir, place.path('d', '..'))
    refused(errno.EEXIST, os.mkdir, place.path('d', '.'))
    refused(errno.EEXIST, os.mkdir, place.path('d', '..'))
    refused((errno.EBUSY, errno.EINVAL), os.rename, place.path('d', '.'),
            place.path('x'))
    above = os.stat(os.path.join(place.root, '..'))
    true(above.st_dev != os.stat(place.root).st_dev,
         '".." at the root of the share leads out of it')


@check()
def trailing_slash(place):
    """A slash at the end wants a directory."""
    place.file('f')
    os.mkdir(place.path('d'))
    refused(errno.ENOTDIR, os.stat, place.path('f') + '/')
    refused(errno.EISDIR, os.open, place.path('new') + '/',
            os.O_CREAT | os.O_WRONLY)
    refused(errno.ENOTDIR, os.unlink, place.path('f') + '/')
    os.stat(place.path('d') + '/')
    os.mkdir(place.path('e') + '/')
    os.rmdir(place.path('e') + '/')


@check()
def symbolic_links(place):
    """Links keep their target to the byte, and lead where they say."""
    place.file('f', b'data')
    targets = ['f', 'nowhere', '/etc/hostname', '.', '..', 'x' * 4095,
               'with space', './/f', 'd/../f']
    for number, target in enumerate(targets):
        path = place.path(f'l{number}')
        os.symlink(target, path)
        equal(os.readlink(path), target, 'target')
        info = os.lstat(path)
        equal(stat.S_IFMT(info.st_mode), stat.S_IFLNK, 'kind')
        equal(info.st_size, len(target), 'size')
    equal(content(place.path('l0')), b'data', 'content through a link')
    refused(errno.ENOENT, os.stat, place.path('l1'))
    refused(errno.EEXIST, os.symlink, 'x', place.path('l0'))
    refused(errno.ENOENT, os.symlink, '', place.path('empty'))
    refused(errno.EINVAL, os.readlink, place.path('f'))
    equal(place.host('readlink l5').strip(), 'x' * 4095, 'target on host')
    with open(place.path('l1'), 'wb') as out:
        out.write(b'made')
    equal(content(place.path('nowhere')), b'made', 'made through the link')
    os.unlink(place.path('l0'))
    equal(content(place.path('f')), b'data', 'target when the link is gone')


@check()
def links_made_on_host(place):
    """Links that the host made are links here."""
    place.host('echo data > f; ln -s f rel; ln -s "$PWD/f" abs; ln -s no dang')
    equal(os.readlink(place.path('rel')), 'f', 'relative target')
    true(os.readlink(place.path('abs')).endswith('/f'), 'absolute target')
    equal(os.readlink(place.path('dang')), 'no', 'dangling target')
    equal(content(place.path('rel')), b'data\n', 'content')
    kinds = {e.name: e.is_symlink() for e in os.scandir(place.dir)}
    equal(kinds, {'f': False, 'rel': True, 'abs': True, 'dang': True},
          'which are links')


@check()
def hard_links(place):
    """All names of a file are the same file."""
    path = place.file('f', b'data')
    os.mkdir(place.path('d'))
    os.link(path, place.path('g'))
    os.link(path, place.path('d', 'h'))
    infos = [os.stat(place.path(*n)) for n in (['f'], ['g'], ['d', 'h'])]
    equal({i.st_ino for i in infos}, {infos[0].st_ino}, 'inodes')
    if place.sees_host():
        equal([i.st_nlink for i in infos], [3, 3, 3], 'links')
    with open(place.path('g'), 'ab') as out:
        out.write(b'+more')
    place.remount()
    equal(content(place.path('d', 'h')), b'data+more', 'content')
    os.chmod(place.path('d', 'h'), 0o600)
    place.remount()
    equal(os.stat(path).st_mode, 0o100600, 'mode')
    os.unlink(path)
    equal(os.stat(place.path('g')).st_nlink, 2, 'links after unlink')
    equal(content(place.path('g')), b'data+more', 'content after unlink')
    equal(place.host('stat -c %h g').strip(), '2', 'links on host')


@check()
def hard_links_refused(place):
    """No link to a directory, over a name, or from nothing."""
    place.file('f')
    place.file('g')
    os.mkdir(place.path('d'))
    refused(errno.EPERM, os.link, place.path('d'), place.path('e'))
    refused(errno.EEXIST, os.link, place.path('f'), place.path('g'))
    refused(errno.ENOENT, os.link, place.path('x'), place.path('y'))
    os.symlink('f', place.path('l'))
    os.link(place.path('l'), place.path('m'), follow_symlinks=False)
    equal(os.readlink(place.path('m')), 'f', 'target of a linked link')


@check()
def not_there(place):
    """Names that are not there say so, and can be made afterwards."""
    for call in (os.stat, os.lstat, os.unlink, os.rmdir, os.listdir,
                 os.readlink, os.listxattr):
        refused(errno.ENOENT, call, place.path('x'))
    refused(errno.ENOENT, os.chmod, place.path('x'), 0o600)
    refused(errno.ENOENT, os.truncate, place.path('x'), 1)
    refused(errno.ENOENT, os.rename, place.path('x'), place.path('y'))
    place.file('x', b'now')
    equal(content(place.path('x')), b'now', 'content')
    os.unlink(place.path('x'))
    refused(errno.ENOENT, os.stat, place.path('x'))
    os.mkdir(place.path('x'))
    equal(stat.S_IFMT(os.stat(place.path('x')).st_mode), stat.S_IFDIR,
          'kind after file, nothing, directory')
