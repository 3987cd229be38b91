# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmark scripts share: how results are shown and kept.

Results are lists of dicts.  A script calls save() with its results and a
figure; it has printed its table by then, row by row, which is its progress.
"""
import functools
import json
import os
import platform
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# A script that writes files must not litter the repository
sys.dont_write_bytecode = True


def build_dir():
    """Where built things are: $BUILD, else what ./configure was told."""
    path = os.environ.get('BUILD')
    if not path:
        path = output('bash', '-c', '. scripts/lib.sh; echo "$BUILD"')
    return os.path.join(TOP, path)


def say(*words):
    """A message that is no result."""
    print('9p:', *words, file=sys.stderr, flush=True)


def tool(*command):
    """Run a program of this project that prepares something."""
    result = subprocess.run(command, check=False, cwd=TOP, stdout=sys.stderr,
                            stdin=subprocess.DEVNULL)
    if result.returncode:
        sys.exit(f'{os.path.basename(sys.argv[0])}: {command[0]} failed')


def output(*command):
    """What a program of this project prints."""
    return subprocess.run(command, check=True, cwd=TOP,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


@functools.lru_cache
def built(target):
    """The path of a target of the main build, built when it is not."""
    tool('scripts/setup')
    tool('scripts/qemu-build', 'main', target)
    return os.path.join(build_dir(), 'out', target)


def qemu(name):
    """A QEMU binary: a path, 'main' (this server) or 'original' (QEMU's)."""
    if name == 'main':
        return built('qemu-system-x86_64')
    if name == 'original':
        tool('scripts/setup')
        tool('scripts/qemu-build', 'original', 'qemu-system-x86_64')
        return os.path.join(build_dir(), 'out-original/qemu-system-x86_64')
    if not os.access(name, os.X_OK):
        sys.exit(f"{os.path.basename(sys.argv[0])}: '{name}' is no program")
    return os.path.abspath(name)


def number(text):
    """A number where it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def tsv(lines):
    """Rows of tab-separated values as dicts; those with # are left out."""
    names = None
    for line in lines:
        fields = line.rstrip('\n').split('\t')
        if names is None:
            names = fields
        elif not line.startswith('#'):
            yield dict(zip(names, map(number, fields)))


def human(ns):
    """Nanoseconds for people."""
    for limit, unit in ((1e3, 'ns'), (1e6, 'us'), (1e9, 'ms')):
        if abs(ns) < limit:
            scaled = ns / (limit / 1e3)
            return f'{scaled:.{0 if unit == "ns" else 1}f} {unit}'
    return f'{ns / 1e9:.2f} s'


def line(widths, *cells):
    """One line of a table; a negative width means left-aligned."""
    print(' '.join(f'{cell:<{-w}}' if w < 0 else f'{cell:>{w}}'
                   for w, cell in zip(widths, map(str, cells))), flush=True)


def file_system(path):
    """Of a directory: tmpfs, ext4 and so on; "-" of "-"."""
    if path == '-':
        return path
    found = subprocess.run(['findmnt', '-n', '-o', 'FSTYPE', '-T', path],
                           check=False, stdout=subprocess.PIPE, text=True)
    return (found.stdout.split() or ['?'])[-1]


def machine():
    """What was measured on."""
    model = ''
    with open('/proc/cpuinfo', encoding='ascii', errors='replace') as info:
        for text in info:
            if text.startswith('model name'):
                model = text.split(':', 1)[1].strip()
                break
    return {'cpus': os.cpu_count(), 'model': model,
            'kernel': platform.release(),
            'load': os.getloadavg(),
            'time': time.strftime('%Y-%m-%d %H:%M:%S')}


def pyplot():
    """matplotlib, for files only."""
    os.environ.setdefault('MPLCONFIGDIR', os.path.join(build_dir(), 'bench'))
    try:
        # pylint: disable=import-outside-toplevel
        import matplotlib
        matplotlib.use('Agg')
        from matplotlib import pyplot as plt
    except ImportError:
        tool('scripts/packages', 'bench')
        return pyplot()
    return plt


def save(name, results, figure=None, **more):
    """Keep results in BUILD/bench/NAME.json, and their plot next to it."""
    directory = os.path.join(build_dir(), 'bench')
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, name)
    with open(f'{path}.json', 'w', encoding='utf-8') as out:
        json.dump({'machine': machine(), **more, 'results': results}, out,
                  indent=1)
        out.write('\n')
    if figure:
        figure.savefig(f'{path}.svg', bbox_inches='tight')
    kept = os.path.relpath(path)
    say(f'results: {kept}.json' + (f', {kept}.svg' if figure else ''))
