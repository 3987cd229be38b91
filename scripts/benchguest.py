# SPDX-License-Identifier: GPL-2.0-or-later
"""A Linux guest for benchmarks, which runs shell scripts.

It is the one of tests/guest, with a share for each directory.
"""
import argparse
import os
import signal
import sys
import tarfile

import benchlib as lib

sys.path.insert(0, os.path.join(lib.TOP, 'tests/guest/host'))
import vm       # noqa: E402 pylint: disable=wrong-import-position

BOOT_TIMEOUT = 300
# What is mounted, made and running has to go, however a script ends
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def guest_files():
    """What a guest boots, made when it is not there."""
    directory = os.path.join(lib.build_dir(), 'guest')
    lib.tool('scripts/guest-kernel')
    lib.tool('tests/guest/mkroot', directory)
    return directory


def accelerator(qemu):
    """Options of QEMU, and what to call it."""
    accel = lib.output('scripts/accel', qemu)
    if accel == 'kvm':
        return 'KVM', ['-accel', accel, '-cpu', 'host', '-smp', '2']
    # Emulated CPUs that wait for each other are slower than one alone
    return 'TCG', ['-accel', accel, '-cpu', 'max', '-smp', '1']


class Guest:
    """A running guest.  `shares` are pairs of mount tag and directory."""

    def __init__(self, name, qemu, shares, model='none'):
        files = guest_files()
        work = os.path.join(lib.build_dir(), 'bench', f'guest-{name}')
        os.makedirs(work, exist_ok=True)
        tests = os.path.join(work, 'tests.tar')
        with tarfile.open(tests, 'w') as out:
            for part in ('inside', 'checks'):
                out.add(os.path.join(lib.TOP, 'tests/guest', part), part)
        self.accel, accel = accelerator(qemu)
        options = argparse.Namespace(
            qemu=qemu, accel=accel, kernel=f'{files}/vmlinuz',
            initrd=f'{files}/initrd', root=f'{files}/root.img', tests=tests,
            scratch=None, descriptors=None, none_as_root=True,
            qemu_option=['-name', 'bench,debug-threads=on'])
        settings = [({'where': 'bench', 'model': model, 'tag': tag}, path)
                    for tag, path in shares]
        self.machine = None
        try:
            self.machine = vm.Machine(options, work, settings, name)
            self.kernel = self.machine.receive(BOOT_TIMEOUT)['kernel']
        except vm.GuestGone as gone:
            self.fail(gone.lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.machine.stop()

    def fail(self, lines):
        """Give up."""
        if self.machine:
            self.machine.stop()
        sys.exit('\n'.join(['the guest fails:'] + lines))

    def run(self, script, timeout=1800):
        """Run a shell script; what it printed."""
        try:
            self.machine.send({'script': script})
            answer = self.machine.receive(timeout)
        except vm.GuestGone as gone:
            self.fail(gone.lines)
        if answer['result'] != 'ok':
            self.fail([script, answer['output'], answer['errors']])
        return answer['output']

    def cpu(self):
        """CPU seconds of QEMU so far: main loop, workers, virtual CPUs."""
        spent = {'main': 0, 'workers': 0, 'vcpu': 0}
        pid = self.machine.process.pid
        for thread in os.listdir(f'/proc/{pid}/task'):
            try:
                with open(f'/proc/{pid}/task/{thread}/stat',
                          encoding='ascii') as stat:
                    name, rest = stat.read().split('(', 1)[1].rsplit(')', 1)
            except FileNotFoundError:
                continue
            kind = ('main' if int(thread) == pid else
                    'vcpu' if name.startswith('CPU') else 'workers')
            fields = rest.split()
            spent[kind] += ((int(fields[11]) + int(fields[12])) /
                            os.sysconf('SC_CLK_TCK'))
        return spent
