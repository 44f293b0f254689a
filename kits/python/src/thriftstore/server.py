"""A server for tests."""

import atexit
import itertools
import os

from .control import Control
from .database import START, Database, Sandbox
from .process import Process
from .program import find_program

ADDRESS = "127.0.0.1:0"


class Server(Database):
    """A process that serves a database in memory, and sandboxes. It stops at the end of a `with` statement, by `stop`,
    and when the process of the tests ends."""

    def __init__(self, process):
        self._process = process
        self.control = Control(process.addresses["control"])
        self._numbers = itertools.count(1)
        super(Server, self).__init__(
            self.control, process.addresses["thrift"], process.addresses["native"]
        )
        atexit.register(process.stop)

    @property
    def pid(self):
        return self._process.pid

    def is_running(self):
        return self._process.is_running()

    def sandbox(self, name=None, snapshot=None):
        """Creates a sandbox, in the state of the start or of a snapshot. A `with` statement deletes it at the end."""
        name = name or "test-%d-%d" % (os.getpid(), next(self._numbers))
        source = snapshot or (START if self._has_start else None)
        fields = {"from": source} if source else {}
        return Sandbox(self, name, self.control.send("PUT", ("sandboxes", name), fields))

    def sandboxes(self):
        """Returns the sandboxes as dictionaries with `name`, `thrift` and `native`."""
        return self.control.get("sandboxes")["sandboxes"]

    def log_size(self):
        """Returns a position in the log, for `log`."""
        return self._process.log_size()

    def log(self, since=0):
        """Returns the text of the server's log from this position."""
        return self._process.log(since)

    def stop(self):
        self._process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()


def start(
    config=None,
    compat=(),
    load=(),
    arguments=(),
    log=None,
    program=None,
    thrift=ADDRESS,
    native=ADDRESS,
):
    """Starts a server, and returns when it listens.

    config: path of a storage-conf.xml or cassandra.yaml; the default has the keyspaces BloggyAppy and Keyspace1
    compat: the release whose behaviour calls get, such as "1.2", or several
    load: a file or files that are loaded at the start (.cql, .cli, .json), or directories of data
    arguments: further arguments of `thriftstore serve`
    log: the filter of the log, such as "info,requests=debug", which logs each request
    program: the path of the program, instead of the one that `find_program` finds
    thrift, native: addresses for applications that have fixed ones, such as "127.0.0.1:9160"
    """
    command = [program or find_program(), "serve", "--ephemeral"]
    command += ["--thrift", thrift, "--cql", native, "--control", ADDRESS]
    if config is not None:
        command += ["--config", str(config)]
    for release in _listed(compat):
        command += ["--compat", release]
    for path in _listed(load):
        command += ["--load", str(path)]
    command += arguments
    environment = dict(os.environ)
    if log is not None:
        environment["THRIFTSTORE_LOG"] = log
    return Server(Process(command, environment))


def _listed(value):
    return value if isinstance(value, (list, tuple)) else [value]
