"""cqlsh in a terminal, as a user sees it."""

import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

HERE = pathlib.Path(__file__).parent.resolve()
CQLSH = pathlib.Path(sys.executable).with_name('cqlsh')
# The folder of its history, and of the files that scripts and COPY read and write.
HOME = HERE / 'build'
PROMPT = re.compile(r'(?:\S+@)?cqlsh(?::\w+)?> $|^ +\.\.\. $|---MORE---$', re.MULTILINE)
PATIENCE_S = 60


def environment():
    return {**os.environ, 'TERM': 'dumb', 'HOME': str(HOME), 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC'}


def run_once(*arguments, text=None):
    """Runs cqlsh without a terminal. Returns its status and its output."""
    done = subprocess.run([CQLSH, '--no-color', *arguments], env=environment(), cwd=HOME, input=text, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S)
    return done.returncode, done.stdout


class Shell:
    """The terminal echoes each line before the answer, and a prompt follows the answer."""

    def __init__(self, *arguments):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(HOME)
            os.execve(CQLSH, [str(CQLSH), '--no-color', '--tty', *arguments], environment())
        # The terminal is so wide that no line is wrapped.
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 200, 1000, 0, 0))
        self.prompt = ''
        self.banner = self.read_to(PROMPT)

    def read_to(self, end):
        """Returns the output until it ends with `end`, or until cqlsh exits, without the prompt."""
        text, patience = '', time.monotonic() + PATIENCE_S
        while not (found := end.search(text)):
            if not select.select([self.terminal], [], [], max(0, patience - time.monotonic()))[0]:
                raise AssertionError(f'cqlsh prints nothing after {text!r}')
            try:
                text += os.read(self.terminal, 65536).decode(errors='backslashreplace').replace('\r\n', '\n')
            except OSError:
                # Reading a terminal fails so when its program has ended.
                self.prompt = ''
                return text
        self.prompt = found.group()
        return text[:found.start()]

    def type(self, line):
        """Types a line. Returns the answer without trailing blanks."""
        os.write(self.terminal, f'{line}\n'.encode())
        text = self.read_to(PROMPT)
        _, _, answer = text.partition('\n')
        return '\n'.join(part.rstrip() for part in answer.split('\n')).strip('\n')

    def complete(self, beginning, presses=1):
        """Returns the line after the tab key, pressed once, or twice for a list. The line is then deleted."""
        os.write(self.terminal, beginning.encode() + b'\t' * presses)
        text, quiet_s = '', 0.5
        while select.select([self.terminal], [], [], quiet_s if text.startswith(beginning) else 5)[0]:
            text += os.read(self.terminal, 65536).decode().replace('\r', '').replace('\a', '')
        os.write(self.terminal, b'\x15\n')
        self.read_to(PROMPT)
        return text

    def end(self):
        os.write(self.terminal, b'exit\n')
        self.read_to(re.compile(r'(?!)'))
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
