# SPDX-License-Identifier: GPL-2.0-or-later
"""Results, written as TAP (https://testanything.org) as they come in."""
import threading


class Tap:
    """Numbers and prints the results of several threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.count = 0
        self.failed = []
        self.skipped = 0
        self.times = []

    def report(self, title, result, detail, seconds):
        """Print one result with the lines that explain it."""
        with self.lock:
            self.count += 1
            self.times.append((seconds, title))
            if result == 'skip':
                self.skipped += 1
                print(f'ok {self.count} - {title} # SKIP {detail[0]}',
                      flush=True)
                return
            if result != 'ok':
                self.failed.append(title)
            print(f'{result} {self.count} - {title}')
            for text in detail:
                print('#   ' + text)
            print(end='', flush=True)

    def note(self, text):
        """Print a comment."""
        with self.lock:
            print('# ' + text, flush=True)

    def finish(self, verbose):
        """Print the plan and the sums; the exit status."""
        print(f'1..{self.count}')
        if verbose:
            for seconds, title in sorted(self.times, reverse=True)[:25]:
                print(f'# {seconds:6.1f} s  {title}')
        passed = self.count - len(self.failed) - self.skipped
        print(f'# {passed} passed, {len(self.failed)} failed, '
              f'{self.skipped} skipped')
        return 1 if self.failed or not self.count else 0
