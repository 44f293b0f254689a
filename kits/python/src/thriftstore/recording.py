"""Records what tests ask of a real Cassandra."""

import atexit
import os

from .process import Process
from .program import find_program

WORDS = "listening for recorded clients on "


class RecordingError(Exception):
    """The recording ended before the recorder was stopped. The text has the recorder's log."""


class Recorder(object):
    """A recorder before a server. It stops at the end of a `with` statement, by `stop`, and when the tests end.

    thrift, native: addresses for the application, None for a server that was not given
    """

    def __init__(self, process):
        self._process = process
        self.thrift = process.addresses.get("thrift")
        self.native = process.addresses.get("native")
        atexit.register(process.stop)

    def stop(self):
        """Closes the file. Returns the lines that say how much was recorded, and what was not.

        Raises RecordingError if recording had stopped, for example because the disk was full.
        """
        self._process.stop()
        if self._process.status() != 0:
            raise RecordingError(self._process.log())
        return [line for line in self._process.output().splitlines() if not line.startswith(WORDS)]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.stop()
        else:
            self._process.stop()


def record(file, thrift=None, native=None, redact=(), arguments=(), program=None):
    """Starts a recorder before a real server, and returns when it listens.

    file: the recording, which must not exist
    thrift, native: the server's addresses, such as "cassandra:9160" and "cassandra:9042"; one of them suffices
    redact: what is replaced by hashes: "values", "keys", "names", or several of them
    arguments: further arguments of `thriftstore record`
    program: the path of the program, instead of the one that `find_program` finds
    """
    servers = (("thrift", thrift), ("native", native))
    upstreams = [(name, address) for name, address in servers if address]
    if not upstreams:
        raise ValueError("give the address of a server: thrift, native, or both")
    command = [program or find_program(), "record", "--to", str(file)]
    for _, address in upstreams:
        command += ["--listen", "127.0.0.1:0", "--upstream", address]
    if redact:
        roles = redact if isinstance(redact, (list, tuple)) else [redact]
        command += ["--redact", ",".join(roles)]
    command += arguments
    return Recorder(Process(command, dict(os.environ), [(name, WORDS) for name, _ in upstreams]))
