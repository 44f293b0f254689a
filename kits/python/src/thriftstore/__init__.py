"""A server in memory for tests of applications written for Thrift-era Cassandra.

    with thriftstore.start() as server:
        connect_the_application_to(server.thrift)

`thriftstore.pytest_plugin` has the fixtures of pytest, `ThriftstoreTestCase` is for unittest.
"""

from .control import ControlError
from .database import Database, Sandbox
from .process import StartError
from .program import ProgramNotFound, find_program
from .server import Server, start
from .testcase import ThriftstoreTestCase

__all__ = [
    "ControlError",
    "Database",
    "ProgramNotFound",
    "Sandbox",
    "Server",
    "StartError",
    "ThriftstoreTestCase",
    "find_program",
    "start",
]
