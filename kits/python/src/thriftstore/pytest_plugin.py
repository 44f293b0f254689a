"""Fixtures for pytest.

Override `thriftstore_options` to start the server in another way, and `thriftstore_schema` to load what all tests need.
"""

import pytest

from .database import Database
from .server import start

# The fixtures of databases whose log and requests the report of a failed test shows.
FIXTURES = ("thriftstore", "thriftstore_sandbox", "_thriftstore_database")


@pytest.fixture(scope="session")
def thriftstore_options():
    """The arguments of `thriftstore.start`, as a dictionary."""
    return {}


@pytest.fixture(scope="session")
def thriftstore_server(thriftstore_options):
    """A server for the test run; with pytest-xdist, for each of its processes."""
    with start(**thriftstore_options) as server:
        yield server


@pytest.fixture(scope="session")
def thriftstore_schema(thriftstore_server):
    """Does nothing. What an override does to the server is part of the state with which each test begins."""


@pytest.fixture(scope="session")
def _thriftstore_start(thriftstore_server, thriftstore_schema):
    thriftstore_server.mark_start()
    return thriftstore_server


@pytest.fixture
def thriftstore(_thriftstore_start):
    """The server, in the state of the start."""
    _thriftstore_start.reset()
    return _thriftstore_start


@pytest.fixture
def thriftstore_sandbox(_thriftstore_start):
    """A database for this test only, with its own addresses, in the state of the start."""
    with _thriftstore_start.sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def _thriftstore_database(request):
    name = "thriftstore_sandbox" if "thriftstore_sandbox" in request.fixturenames else "thriftstore"
    return request.getfixturevalue(name)


@pytest.fixture
def faults(_thriftstore_database):
    """The faults of the test's sandbox, else of the server: `faults.add(method="insert", error="timed_out")`."""
    return _thriftstore_database.faults


@pytest.fixture
def clock(_thriftstore_database):
    """The clock of the test's sandbox, else of the server."""
    return _thriftstore_database.clock


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the server's log and the last requests to the report of a failed test."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for database in _databases_of(item):
            report.sections.extend(database.report())


def _databases_of(item):
    """Returns the databases that a test uses: through fixtures, or through ThriftstoreTestCase."""
    arguments = getattr(item, "funcargs", {})
    values = [arguments.get(name) for name in FIXTURES]
    # pytest 4.6, the last one for Python 2.7, has the TestCase in another attribute.
    for attribute in ("instance", "_testcase"):
        values.append(getattr(getattr(item, attribute, None), "thriftstore", None))
    found = []
    for value in values:
        if isinstance(value, Database) and value not in found:
            found.append(value)
    return found
