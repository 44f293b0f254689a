"""The process of a server or a recorder."""

import os
import subprocess
import sys
import tempfile
import time

# How long a server may take until it listens, and until it has stopped.
START_S = 10
STOP_S = 5

# The names of a server's addresses, and what it prints before each of them.
SERVER_ADDRESSES = (
    ("thrift", "listening for Thrift clients on "),
    ("native", "listening for CQL clients on "),
    ("control", "listening for control clients on "),
)

# Ends the server when standard input ends. That happens when the process of the tests ends, even by SIGKILL.
WATCHER = 'cat >/dev/null; kill "$1" 2>/dev/null'

LAST_LINES = 20


class StartError(Exception):
    """The program did not start. The text has the last lines of its log."""


class Process(object):
    """A running program that listens. Its log is a temporary file, so it never waits for a reader.

    expected: names of addresses, and the words before each of them in the output, in the order of the output
    """

    def __init__(self, command, environment, expected=SERVER_ADDRESSES):
        self._expected = expected
        self._owner = os.getpid()
        self._output = tempfile.NamedTemporaryFile(prefix="thriftstore-", suffix=".out")
        self._log = tempfile.NamedTemporaryFile(prefix="thriftstore-", suffix=".log")
        self._server = self._start(command, environment)
        self._watcher = subprocess.Popen(
            ["/bin/sh", "-c", WATCHER, "sh", str(self._server.pid)],
            stdin=subprocess.PIPE,
            close_fds=True,
            **_own_session()
        )
        try:
            self.addresses = self._wait_for_addresses(command[0])
        except BaseException:
            self.stop()
            raise

    def _start(self, command, environment):
        with open(os.devnull) as nothing:
            try:
                return subprocess.Popen(
                    command,
                    stdin=nothing,
                    stdout=self._output,
                    stderr=self._log,
                    env=environment,
                    close_fds=True,
                    **_own_session()
                )
            except OSError as error:
                raise StartError("cannot run %s: %s" % (command[0], error.strerror))

    def _wait_for_addresses(self, program):
        deadline = time.time() + START_S
        while True:
            exited = self._server.poll() is not None
            found = _addresses(self.output(), self._expected)
            if len(found) == len(self._expected):
                return found
            if exited or time.time() > deadline:
                reason = (
                    "exited with status %s" % self._server.returncode
                    if exited
                    else "does not listen after %d s" % START_S
                )
                lines = self.log().splitlines()[-LAST_LINES:]
                raise StartError("%s %s. Its log:\n%s" % (program, reason, "\n".join(lines)))
            time.sleep(0.005)

    @property
    def pid(self):
        return self._server.pid

    def is_running(self):
        return self._server.poll() is None

    def output(self):
        """Returns what the program has printed."""
        return self._read(self._output, 0)

    def status(self):
        """Returns the exit status of the program, None while it runs."""
        return self._server.poll()

    def log_size(self):
        """Returns a position in the log, for `log`."""
        return os.fstat(self._log.fileno()).st_size

    def log(self, since=0):
        """Returns the text of the log from this position."""
        return self._read(self._log, since)

    def stop(self):
        """Stops the server, by force if it does not stop within five seconds."""
        # A forked process has a copy of this object, and not the server.
        if os.getpid() != self._owner:
            return
        # The watcher first: after the server has ended, its number may belong to another process.
        if self._watcher.poll() is None:
            self._watcher.kill()
        self._watcher.stdin.close()
        self._watcher.wait()
        if self.is_running():
            self._server.terminate()
            deadline = time.time() + STOP_S
            while self.is_running() and time.time() < deadline:
                time.sleep(0.005)
        if self.is_running():
            self._server.kill()
        self._server.wait()

    @staticmethod
    def _read(file, since):
        # Opened again, because the server writes at the position of `file`.
        with open(file.name, "rb") as copy:
            copy.seek(since)
            return copy.read().decode("utf-8", "replace")


def _own_session():
    """Keeps Ctrl-C from the server: the tests still use it while they end."""
    if sys.version_info[0] == 2:
        return {"preexec_fn": os.setsid}
    return {"start_new_session": True}


def _addresses(output, expected):
    found, missing = {}, list(expected)
    # The last line may be incomplete.
    for line in output.split("\n")[:-1]:
        for name, words in missing:
            if line.startswith(words):
                found[name] = line[len(words) :].split(",")[0].strip()
                missing.remove((name, words))
                break
    return found
