#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's side: mounts the shares, runs the checks it is told to run.

Talks to the host in lines of JSON through a virtio serial port.  The host
says {"mount": {...}, "now": time}, {"run": name, ...}, {"script": text} or
{"end": true}; the answer to each is one line with "result".  A script is for
benchmarks, which have no checks: bash runs it.  While a check runs it may send
{"host": script}, which the host answers at once with {"status": ...,
"output": ...}.
Each check runs in a process of its own, so that it leaves nothing open.
No check lives here.
"""
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))

import check    # noqa: E402 pylint: disable=wrong-import-position

PORT = '/dev/vport0p1'


class Line:
    """The connection to the host."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.rest = b''

    def send(self, message):
        """Send one message."""
        data = json.dumps(message).encode() + b'\n'
        while data:
            data = data[os.write(self.descriptor, data):]

    def receive(self):
        """Wait for one message."""
        while b'\n' not in self.rest:
            data = os.read(self.descriptor, 65536)
            if not data:
                raise EOFError('the host closed the line')
            self.rest += data
        line, self.rest = self.rest.split(b'\n', 1)
        return json.loads(line)

    def ask_host(self, directory, script):
        """Have the host run a script in its view of a directory."""
        self.send({'host': script, 'dir': directory})
        answer = self.receive()
        return answer['status'], answer['output']


def host_script(line, settings, name):
    """The function that a check calls to have the host do something."""
    def run(script):
        if settings['local']:
            done = subprocess.run(
                ['bash', '-euc', script], text=True, check=False,
                cwd=os.path.join(settings['backing'], name),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            status, output = done.returncode, done.stdout
        else:
            status, output = line.ask_host(name, script)
        if status:
            raise RuntimeError(f'host: {script!r} failed: {output}')
        return output
    return run


def kernel_lines(since):
    """What the kernel said since a time (of time.monotonic())."""
    done = subprocess.run(['dmesg', '--level=emerg,alert,crit,err,warn'],
                          capture_output=True, text=True, check=False)
    lines = []
    for text in done.stdout.splitlines():
        try:
            stamp = float(text[1:].split(']', 1)[0])
        except ValueError:
            continue
        if stamp >= since:
            lines.append('kernel: ' + text)
    return lines[:12]


def outcome(function, place):
    """Run a check: its result and the lines that explain it."""
    try:
        function(place)
        return 'ok', []
    except check.Skip as reason:
        return 'skip', [str(reason)]
    except check.Failure as failure:
        return 'not ok', str(failure).splitlines()
    except BaseException as error:      # whatever it is, it is this check's
        where = traceback.extract_tb(error.__traceback__)
        own = [f for f in where if '/checks/' in f.filename] or where
        return 'not ok', [f'{type(error).__name__}: {error}',
                          f'at {own[-1].line!r}, line {own[-1].lineno}']


def run_in_child(line, order):
    """Run one check in a child process, which reports for itself."""
    settings = order['settings']
    module, name = order['run'].split('.')
    function = getattr(importlib.import_module('checks.' + module), name)
    began = time.monotonic()
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        try:
            os.killpg(child, signal.SIGKILL)    # what the check left running
        except ProcessLookupError:
            pass
        return status
    os.setsid()
    os.chdir('/')
    directory = os.path.join(settings['root'], order['directory'])
    place = check.Place(settings, directory,
                        host_script(line, settings, order['directory']))
    result, detail = outcome(function, place)
    if result == 'not ok':
        detail += kernel_lines(began)
    line.send({'result': result, 'detail': detail,
               'seconds': time.monotonic() - began})
    sys.stdout.flush()
    os._exit(0)


def run(line, order):
    """Run one check and see that something is answered."""
    settings = order['settings']
    if settings['local']:
        os.makedirs(os.path.join(settings['backing'], order['directory']))
    status = run_in_child(line, order)
    if status:
        line.send({'result': 'not ok', 'seconds': 0, 'detail':
                   [f'the check\'s process died, wait status {status}']})
    if settings['local']:
        shutil.rmtree(os.path.join(settings['backing'], order['directory']),
                      ignore_errors=True)


def mount(settings):
    """Mount one share, or prepare a local directory in its stead."""
    os.makedirs(settings['root'], exist_ok=True)
    if not settings['local']:
        return [check.mount_command(settings['tag'], settings['root'],
                                    settings['cache'], settings['msize'])]
    commands = []
    if not os.path.ismount('/scratch'):
        commands.append(['mount', '/dev/vdc', '/scratch'])
    backing = settings['backing']
    commands.append(['mkdir', '-p', backing])
    commands.append(['mount', '--bind', backing, settings['root']])
    if settings['where'] == 'readonly':
        commands.append(['mount', '-o', 'remount,bind,ro', settings['root']])
    return commands


def run_commands(commands):
    """Run commands until one fails; a message for the host."""
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            return {'result': 'not ok',
                    'detail': [' '.join(command), done.stderr.strip()]}
    return {'result': 'ok', 'detail': []}


def run_script(text):
    """What a script of the host printed, and its status."""
    done = subprocess.run(['bash', '-euc', text], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    return {'result': 'not ok' if done.returncode else 'ok',
            'output': done.stdout, 'errors': done.stderr}


def main():
    """Do what the host says until it says that it is over."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    line = Line(os.open(PORT, os.O_RDWR))
    os.umask(0o022)
    line.send({'result': 'ok', 'kernel': os.uname().release})
    while True:
        order = line.receive()
        if 'mount' in order:
            # Times come from both kernels, and programs compare them
            time.clock_settime(time.CLOCK_REALTIME, order['now'])
            line.send(run_commands(mount(order['mount'])))
        elif 'run' in order:
            run(line, order)
        elif 'script' in order:
            line.send(run_script(order['script']))
        else:
            return


if __name__ == '__main__':
    main()
