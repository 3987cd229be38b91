# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual machine with shares, and the line to the program inside.

Knows how to start QEMU, how to talk to obey.py, and how to tell a guest
that hangs from one that died.  What is run in it is decided elsewhere.
"""
import json
import os
import shutil
import socket
import subprocess
import time


ALARMS = ('panic', 'BUG:', 'Oops', 'WARNING:', 'blocked for more',
          'Out of memory')


class GuestGone(Exception):
    """The guest hangs or ended; the lines say how."""

    def __init__(self, lines):
        super().__init__(lines[0])
        self.lines = lines


class Machine:
    """One running QEMU.  `shares` are (settings, host directory) pairs."""

    def __init__(self, options, directory, shares, model):
        self.directory = directory
        self.console = os.path.join(directory, 'console.log')
        self.errors = os.path.join(directory, 'qemu.log')
        self.process = None
        self.rest = b''
        os.makedirs(directory, exist_ok=True)
        # A path in a build tree may be longer than a socket's name can be
        self.listener = socket.socket(socket.AF_UNIX)
        address = f'\0guest-tests-{os.getpid()}-{model}'
        self.listener.bind(address)
        self.listener.listen(1)
        self.listener.settimeout(10)
        command = command_line(options, shares, address[1:], self.console)
        command = wrapped(command, privileged(model, options))
        if options.descriptors:
            command = ['prlimit', f'--nofile={options.descriptors}'] + command
        with open(os.path.join(directory, 'command'), 'w',
                  encoding='utf-8') as out:
            out.write(' '.join(command) + '\n')
        with open(self.errors, 'wb') as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.line, _ = self.listener.accept()
        except OSError:
            self.stop()
            raise GuestGone(['QEMU did not start'] + tail(self.errors)) \
                from None
        finally:
            self.listener.close()

    def send(self, message):
        """Send the guest one message."""
        try:
            self.line.sendall(json.dumps(message).encode() + b'\n')
        except OSError as error:
            raise GuestGone(self.last_words(f'no connection: {error}')) \
                from error

    def receive(self, timeout):
        """The guest's next message, or GuestGone after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while b'\n' not in self.rest:
            self.line.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                data = self.line.recv(1 << 20)
            except (TimeoutError, socket.timeout):
                raise GuestGone(self.last_words(
                    f'no answer for {timeout} seconds')) from None
            except OSError as error:
                raise GuestGone(self.last_words(str(error))) from error
            if not data:
                raise GuestGone(self.last_words('QEMU ended'))
            self.rest += data
        text, self.rest = self.rest.split(b'\n', 1)
        return json.loads(text)

    def last_words(self, what):
        """What is known about the guest's end."""
        try:
            status = self.process.wait(timeout=2)
            what += f'; QEMU exited with status {status}'
        except subprocess.TimeoutExpired:
            what += '; QEMU still runs'
        return [what] + ['qemu: ' + s for s in tail(self.errors, 5)] + \
            ['console: ' + s for s in self.alarms() + tail(self.console, 12)]

    def alarms(self):
        """Console lines in which the guest's kernel says what is wrong."""
        return [s for s in tail(self.console, 200)
                if any(word in s for word in ALARMS)][:6]

    def stop(self):
        """End it, at once; QEMU's exit status."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()

    def finish(self):
        """Let the guest power off; lines that say what went wrong."""
        self.send({'end': True})
        try:
            status = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            words = self.last_words('the guest did not power off')
            self.stop()
            return words
        if status:
            return self.last_words('after power-off')
        return []


def privileged(model, options):
    """Whether this model's server is to run with root's rights."""
    if os.getuid() != 0:
        return False
    return model != 'none' or options.none_as_root


def wrapped(command, keep_rights):
    """The command, to end with this program, and maybe without root's rights.

    The directories are root's own then, as a user's would be the user's.
    """
    if not shutil.which('setpriv'):
        return command
    wrapper = ['setpriv', '--pdeathsig', 'KILL']
    if os.getuid() == 0 and not keep_rights:
        wrapper += ['--bounding-set=-all', '--inh-caps=-all',
                    '--no-new-privs']
    return wrapper + command


def command_line(options, shares, address, console):
    """All of QEMU's arguments."""
    command = [
        options.qemu, '-nodefaults', '-no-user-config', '-display', 'none',
        '-no-reboot', '-m', '1536', *options.accel,
        '-kernel', options.kernel, '-initrd', options.initrd, '-append',
        'console=ttyS0 quiet loglevel=4 panic=-1 random.trust_cpu=on '
        'guest.root=/dev/vda guest.init=/sbin/guest-init',
        '-chardev', f'file,id=console,path={console}',
        '-serial', 'chardev:console',
        '-device', 'virtio-serial-pci',
        '-chardev', f'socket,id=tests,path={address},abstract=on',
        '-device', 'virtserialport,chardev=tests,name=tests']
    for image, mode in ((options.root, 'readonly=on'),
                        (options.tests, 'readonly=on'),
                        (options.scratch, 'cache=unsafe')):
        if image:
            command += ['-drive', f'file={image},format=raw,if=virtio,{mode}']
    for number, (settings, directory) in enumerate(shares):
        more = ',readonly=on' if settings['where'] == 'readonly' else ''
        command += [
            '-fsdev', f'local,id=fs{number},path={directory},'
            f'security_model={settings["model"]}{more}',
            '-device', f'virtio-9p-pci,fsdev=fs{number},'
            f'mount_tag={settings["tag"]}']
    return command + options.qemu_option


def tail(path, count=12):
    """The last lines of a text file."""
    try:
        with open(path, 'rb') as source:
            source.seek(max(0, os.path.getsize(path) - 65536))
            text = source.read().decode(errors='replace')
    except OSError:
        return []
    return [s for s in text.replace('\r', '').splitlines() if s][-count:]
