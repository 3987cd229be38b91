# SPDX-License-Identifier: GPL-2.0-or-later
"""stress-ng's file-system stressors, each for a short time and verified.

Left out: what needs ioctls, extents, fallocate, leases or io_uring, which
9p does not have.
"""
from check import check, Failure, Skip

import subprocess

STRESSORS = '''access chdir chmod chown close copy-file dentry dir dirdeep
    dirmany dup fcntl filename flock fstat getdent hdd io iomix link
    locka lockf lockofd metamix mknod open readahead rename revio
    seek sparsematrix splice symlink sync-file touch unlink utime
    xattr'''.split()
NOT_IMPLEMENTED = (3, 4)
MAKES_THOUSANDS = ('link', 'symlink')   # in each round, whatever the timeout


def stress(place, name):
    """Run one stressor."""
    seconds = 30 if place.slow else 2
    count = 100000 if place.slow else 400
    done = subprocess.run(
        ['stress-ng', '--temp-path', place.dir, '--verify', '--oomable',
         '--timeout', str(seconds), '--' + name, '2',
         f'--{name}-ops', str(count)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors='replace', check=False)
    lines = [text for text in done.stdout.splitlines()
             if 'fail' in text or 'error' in text] or \
        done.stdout.splitlines()[-6:]
    if done.returncode in NOT_IMPLEMENTED:
        raise Skip(' '.join(lines)[:200])
    if done.returncode:
        raise Failure(f'stress-ng --{name}: exit status {done.returncode}\n' +
                      '\n'.join(lines[:8]))


def define(name):
    """Make the check of one stressor."""
    def run(place):
        stress(place, name)
    run.__name__ = name.replace('-', '_')
    run.__doc__ = f'stress-ng --{name} finds nothing wrong.'
    globals()[run.__name__] = check(share_of=4,
                                    slow=name in MAKES_THOUSANDS,
                                    timeout=240)(run)


for stressor in STRESSORS:
    define(stressor)
