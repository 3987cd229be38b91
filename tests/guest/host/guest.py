# SPDX-License-Identifier: GPL-2.0-or-later
"""One model's checks, run in a guest that is started again when it is lost.

Owns the directories of the host that are shared, and runs the scripts that
checks want run on the host.
"""
import os
import shutil
import subprocess
import threading
import time

import plan
import vm

BOOT_TIMEOUT = 180


class Guest(threading.Thread):
    """Runs a list of planned checks; reports each to `tap`."""

    def __init__(self, options, model, planned, all_mounts, tap):
        super().__init__(name=model, daemon=True)
        self.options = options
        self.model = model
        self.planned = list(planned)
        used = {id(settings) for _, _, settings in planned}
        self.mounts = [s for s in all_mounts if id(s) in used]
        self.tap = tap
        self.machine = None
        self.boots = 0
        self.work = os.path.join(options.work, model)
        self.shares = os.path.join(self.work, 'shares')

    def run(self):
        """Run them all, whatever the guest does."""
        remove(self.work)
        for settings in self.mounts:
            os.makedirs(os.path.join(self.shares, settings['mount']))
        while self.planned:
            title = f'{self.model}: guest starts and mounts'
            try:
                self.boot()
                while self.planned:
                    title, name, settings = self.planned.pop(0)
                    self.run_one(title, name, settings)
                self.end()
            except vm.GuestGone as gone:
                self.tap.report(title, 'not ok', gone.lines, 0)
                if self.machine:
                    self.machine.stop()
                if 'starts' in title:
                    return
        remove(self.work)

    def boot(self):
        """Start the guest and mount everything in it."""
        self.boots += 1
        began = time.monotonic()
        directory = os.path.join(self.options.work, 'logs',
                                 f'{self.model}-{self.boots}')
        shares = [] if self.options.local else [
            (s, os.path.join(self.shares, s['mount'])) for s in self.mounts]
        self.machine = vm.Machine(self.options, directory, shares, self.model)
        hello = self.machine.receive(BOOT_TIMEOUT)
        self.tap.note(f'{self.model}: Linux {hello["kernel"]} started in '
                      f'{time.monotonic() - began:.0f} s')
        for settings in self.mounts:
            self.machine.send({'mount': settings, 'now': time.time()})
            answer = self.machine.receive(60)
            if answer['result'] != 'ok':
                raise vm.GuestGone(['cannot mount'] + answer['detail'])

    def end(self):
        """Power the guest off."""
        lines = self.machine.finish()
        if lines:
            self.tap.report(f'{self.model}: guest powers off', 'not ok',
                            lines, 0)

    def run_one(self, title, name, settings):
        """Run one check and report it."""
        directory = f'{name}-{self.boots}'
        here = os.path.join(self.shares, settings['mount'])
        if not self.options.local:
            os.makedirs(os.path.join(here, directory))
        function = self.options.registry[name]
        self.machine.send({'run': name, 'directory': directory,
                           'settings': settings})
        answer = self.wait(here, function.needs['timeout'] *
                           self.options.patience)
        self.tap.report(title, answer['result'], answer['detail'],
                        answer['seconds'])
        remove(os.path.join(here, directory))

    def wait(self, here, timeout):
        """Wait for a check's result, doing what it wants done meanwhile."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.machine.receive(
                max(1, int(deadline - time.monotonic())))
            if 'host' not in message:
                return message
            self.machine.send(self.script(
                message['host'], os.path.join(here, message['dir'])))

    def script(self, text, directory):
        """Run a script of a check in a shared directory of the host."""
        environment = dict(os.environ, TREE=self.options.tree, LC_ALL='C',
                           INSIDE=os.path.join(plan.HERE, 'inside'))
        try:
            done = subprocess.run(
                ['bash', '-euc', text], cwd=directory, env=environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=100, check=False)
        except subprocess.TimeoutExpired:
            return {'status': 1, 'output': 'took longer than 100 seconds'}
        return {'status': done.returncode,
                'output': done.stdout.decode(errors='replace')}


def remove(path):
    """Remove a tree, whatever modes its directories have."""
    if os.getuid() != 0 and os.path.isdir(path):
        subprocess.run(['chmod', '-R', 'u+rwX', path], check=False,
                       stderr=subprocess.DEVNULL)
    subprocess.run(['rm', '-rf', path], check=False)
    shutil.rmtree(path, ignore_errors=True)
