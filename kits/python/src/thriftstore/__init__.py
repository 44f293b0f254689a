"""A server in memory for tests of applications written for Thrift-era Cassandra.

    with thriftstore.start() as server:
        connect_the_application_to(server.thrift)

`record` puts a recorder before a real Cassandra, and `replay` compares the recorded answers with those of a server in
memory.

`thriftstore.pytest_plugin` has the fixtures of pytest, `ThriftstoreTestCase` is for unittest.
"""

from .control import ControlError
from .database import Database, Sandbox
from .process import StartError
from .program import ProgramNotFound, find_program
from .recording import Recorder, RecordingError, record
from .replay import ReplayDiffers, ReplayFailed, Report, replay
from .server import Server, start
from .testcase import ThriftstoreTestCase

__all__ = [
    "ControlError",
    "Database",
    "ProgramNotFound",
    "Recorder",
    "RecordingError",
    "ReplayDiffers",
    "ReplayFailed",
    "Report",
    "Sandbox",
    "Server",
    "StartError",
    "ThriftstoreTestCase",
    "find_program",
    "record",
    "replay",
    "start",
]
