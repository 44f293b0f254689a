"""cqlsh in a terminal of its own, as one who types would see it."""

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
# Where it keeps its history, and what scripts and COPY read and write.
HOME = HERE / 'build'
PROMPT = re.compile(r'(?:\S+@)?cqlsh(?::\w+)?> $|^ +\.\.\. $|---MORE---$', re.MULTILINE)
PATIENCE_S = 60


def environment():
    return {**os.environ, 'TERM': 'dumb', 'HOME': str(HOME), 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC'}


def run_once(*arguments, text=None):
    """A cqlsh without a terminal: its status, and what it writes."""
    done = subprocess.run([CQLSH, '--no-color', *arguments], env=environment(), cwd=HOME, input=text, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S)
    return done.returncode, done.stdout


class Shell:
    """What is typed comes back as an echo, before its answer; a prompt ends both."""

    def __init__(self, *arguments):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(HOME)
            os.execve(CQLSH, [str(CQLSH), '--no-color', '--tty', *arguments], environment())
        # So wide that nothing is wrapped.
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 200, 1000, 0, 0))
        self.prompt = ''
        self.banner = self.read_to(PROMPT)

    def read_to(self, end):
        """All that is written until the text ends with this, or cqlsh is gone; without the prompt."""
        text, patience = '', time.monotonic() + PATIENCE_S
        while not (found := end.search(text)):
            if not select.select([self.terminal], [], [], max(0, patience - time.monotonic()))[0]:
                raise AssertionError(f'cqlsh says nothing more after {text!r}')
            try:
                text += os.read(self.terminal, 65536).decode(errors='backslashreplace').replace('\r\n', '\n')
            except OSError:
                # That is how a terminal ends whose program has.
                self.prompt = ''
                return text
        self.prompt = found.group()
        return text[:found.start()]

    def type(self, line):
        """The answer to a line, without trailing blanks."""
        os.write(self.terminal, f'{line}\n'.encode())
        text = self.read_to(PROMPT)
        _, _, answer = text.partition('\n')
        return '\n'.join(part.rstrip() for part in answer.split('\n')).strip('\n')

    def complete(self, beginning, presses=1):
        """What is there after a press of the tabulator, or two for a list; the line is then wiped out."""
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
