# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's own command line: what it refuses, how, and what it takes.

No guest runs here.
"""
import os
import subprocess

FSDEV = '-fsdev local,id=f,path=DIR,security_model=none'
DEVICE = '-device virtio-9p-pci,fsdev=f,mount_tag='

# Name, arguments, a word that tells what is wrong
REFUSED = (
    ('no_path', '-fsdev local,id=f,security_model=none', 'path'),
    ('missing_path',
     f'-fsdev local,id=f,path=DIR/none,security_model=none {DEVICE}t',
     'DIR/none'),
    ('path_is_a_file',
     f'-fsdev local,id=f,path=DIR/file,security_model=none {DEVICE}t',
     'DIR/file'),
    ('virtfs_missing_path',
     '-virtfs local,path=DIR/none,mount_tag=t,security_model=none',
     'DIR/none'),
    ('virtfs_without_tag', '-virtfs local,path=DIR,security_model=none',
     'mount_tag'),
    ('device_without_tag', f'{FSDEV} -device virtio-9p-pci,fsdev=f',
     'mount_tag'),
    ('tag_of_32_bytes', f'{FSDEV} {DEVICE}{"t" * 32}', '32'),
    ('unknown_option', f'{FSDEV},bogus=1', 'bogus'),
    ('unknown_model', '-fsdev local,id=f,path=DIR,security_model=bogus',
     'bogus'),
    ('no_model', '-fsdev local,id=f,path=DIR', 'security_model'),
    ('unknown_driver', '-fsdev bogus,id=f,path=DIR,security_model=none',
     'bogus'),
    ('unknown_multidevs', f'{FSDEV},multidevs=bogus', 'bogus'),
    ('no_id', '-fsdev local,path=DIR,security_model=none', 'id'),
    ('same_id_twice', f'{FSDEV} {FSDEV}', 'Duplicate'),
    ('device_without_fsdev', f'{DEVICE}t', 'fsdev'),
    ('fmode_without_mapping', f'{FSDEV},fmode=0600', 'fmode'))

ACCEPTED = (
    ('tag_of_31_bytes', f'{FSDEV} {DEVICE}{"t" * 31}'),
    ('virtfs', '-virtfs local,path=DIR,mount_tag=t,security_model=none'),
    ('two_shares_of_one_directory',
     f'{FSDEV} {DEVICE}t -fsdev local,id=g,path=DIR,security_model=none '
     '-device virtio-9p-pci,fsdev=g,mount_tag=u'),
    ('readonly', f'{FSDEV},readonly=on {DEVICE}t'),
    ('path_with_comma',
     f'-fsdev local,id=f,path=DIR/with,,comma,security_model=none {DEVICE}t'),
    ('synth', f'-fsdev synth,id=f {DEVICE}t'))
QUIT = '{"execute": "qmp_capabilities"} {"execute": "quit"}\n'


def start(options, directory, arguments):
    """Start QEMU and tell it to end; its exit status and messages."""
    words = [word.replace('DIR', directory) for word in arguments.split(' ')]
    try:
        done = subprocess.run(
            [options.qemu, '-nodefaults', '-no-user-config', '-display',
             'none', '-S', '-qmp', 'stdio', *words], input=QUIT, text=True,
            errors='replace', stdout=subprocess.DEVNULL, timeout=60,
            stderr=subprocess.PIPE, check=False)
    except subprocess.TimeoutExpired:
        return None, ['no end after 60 seconds']
    return done.returncode, done.stderr.strip().splitlines()


def expect(tap, title, good, wanted, got):
    """Report one result."""
    status, lines = got
    detail = [] if good else [f'expected {wanted}, got exit status {status}']
    tap.report(title, 'ok' if good else 'not ok',
               detail + [f'qemu: {text}' for text in lines if not good], 0)


def run(options, tap, only):
    """Run what --only asks for."""
    directory = os.path.join(options.work, 'cmdline')
    os.makedirs(os.path.join(directory, 'with,comma'), exist_ok=True)
    with open(os.path.join(directory, 'file'), 'w', encoding='utf-8'):
        pass
    for name, arguments, word in REFUSED:
        if f'command-line {name}' in only:
            status, lines = start(options, directory, arguments)
            word = word.replace('DIR', directory)
            expect(tap, f'command-line {name}', status == 1 and
                   len(lines) == 1 and word in lines[0],
                   f"exit status 1 and one line with '{word}'",
                   (status, lines))
    for name, arguments in ACCEPTED:
        if f'command-line {name}' in only:
            status, lines = start(options, directory, arguments)
            expect(tap, f'command-line {name}', status == 0 and not lines,
                   'a quiet start and end', (status, lines))


def titles(options):
    """The titles of all checks here that --only does not exclude."""
    if options.local:
        return []
    names = [row[0] for row in REFUSED + ACCEPTED]
    return [f'command-line {name}' for name in names
            if not options.only or
            options.only.search(f'command-line {name}')]
