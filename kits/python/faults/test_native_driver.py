"""What the DataStax driver for Python reports for every fault of the server."""

import time

import pytest
from cassandra import (
    DriverException,
    InvalidRequest,
    OperationTimedOut,
    ReadTimeout,
    Unauthorized,
    Unavailable,
    WriteTimeout,
)
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.connection import ConnectionException
from cassandra.policies import ConstantReconnectionPolicy, FallthroughRetryPolicy, RoundRobinPolicy
from cassandra.protocol import BadCredentials, OverloadedErrorMessage, ServerError

TIMEOUT_S = 0.5
SCHEMA = """
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TABLE shop.carts (id int PRIMARY KEY, items text);
INSERT INTO shop.carts (id, items) VALUES (1, 'tea');
"""


@pytest.fixture(scope="session")
def thriftstore_schema(thriftstore_server):
    thriftstore_server.cql(SCHEMA)


def cluster_of(server):
    """The driver does not try again, and connects again soon."""
    profile = ExecutionProfile(
        request_timeout=TIMEOUT_S,
        retry_policy=FallthroughRetryPolicy(),
        load_balancing_policy=RoundRobinPolicy(),
    )
    return Cluster(
        [server.native_host],
        port=server.native_port,
        connect_timeout=TIMEOUT_S,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        reconnection_policy=ConstantReconnectionPolicy(0.05, None),
    )


@pytest.fixture
def session(thriftstore):
    with cluster_of(thriftstore) as cluster:
        yield cluster.connect()


def write(session):
    session.execute("INSERT INTO shop.carts (id, items) VALUES (1, 'coffee')")


def read(session):
    return session.execute("SELECT items FROM shop.carts WHERE id = 1").one().items


def written(server):
    """Returns the value in the database, without the driver, whose connection may be closed."""
    cells = server.dump()["column_families"][0]["rows"][0]["cells"]
    return [cell["value"] for cell in cells if cell["value"] not in ("", {"hex": ""})][0]


ERRORS = [
    ("unavailable", Unavailable, Unavailable),
    ("timed_out", WriteTimeout, ReadTimeout),
    ("invalid_request", InvalidRequest, InvalidRequest),
    # The native protocol has no such errors.
    ("not_found", ServerError, ServerError),
    ("schema_disagreement", ServerError, ServerError),
    ("authentication", BadCredentials, BadCredentials),
    ("authorization", Unauthorized, Unauthorized),
    ("overloaded", OverloadedErrorMessage, OverloadedErrorMessage),
    ("internal", ServerError, ServerError),
]


@pytest.mark.parametrize("applied", [False, True])
@pytest.mark.parametrize("error, of_write, of_read", ERRORS)
def test_an_error(session, faults, thriftstore, error, of_write, of_read, applied):
    with faults.add(statement="INSERT", error=error, applied=applied):
        with pytest.raises(
            of_write, match="not found" if error == "not_found" else "a fault that a test has set"
        ):
            write(session)
    assert written(thriftstore) == ("coffee" if applied else "tea")
    with faults.add(statement="SELECT", column_family="carts", error=error):
        with pytest.raises(of_read):
            read(session)


def test_the_fields_of_a_time_out(session, faults):
    with faults.add(column_family="carts", key="1", error="timed_out", text="on purpose"):
        with pytest.raises(WriteTimeout, match="on purpose") as error:
            write(session)
    assert error.value.received_responses == 0
    assert error.value.required_responses == 1


@pytest.mark.parametrize(
    "reply, exception",
    [
        ("none", OperationTimedOut),
        ("trickle", OperationTimedOut),
        ("closed", ConnectionException),
        ("half", ConnectionException),
        ("rubbish", DriverException),
    ],
)
def test_a_lost_reply(session, faults, thriftstore, reply, exception):
    with faults.add(operation="write", reply=reply) as lost:
        with pytest.raises(exception):
            write(session)
    assert lost.hits == 1
    assert written(thriftstore) == "coffee"


@pytest.mark.parametrize("reply", ["twice", "closed_after"])
def test_a_reply_that_arrives(session, faults, reply):
    with faults.add(statement="SELECT", column_family="carts", reply=reply) as fault:
        assert read(session) == "tea"
    assert fault.hits == 1


def test_a_second_reply_is_ignored(session, faults):
    with faults.add(statement="SELECT", column_family="carts", reply="twice", times=1):
        assert read(session) == "tea"
    write(session)
    assert read(session) == "coffee"


def test_a_delay(session, faults):
    with faults.add(operation="read", delay_ms=[20, 40]) as slow:
        assert read(session) == "tea"
    assert slow.hits == 1
    with faults.add(operation="read", delay_ms=2000):
        with pytest.raises(OperationTimedOut):
            read(session)


def test_refused_connections(session, thriftstore):
    with thriftstore.refuse_connections():
        with pytest.raises(NoHostAvailable):
            cluster_of(thriftstore).connect()
        # An open connection stays open.
        assert read(session) == "tea"


def test_the_driver_connects_again_after_a_restart(session, thriftstore):
    prepared = session.prepare("INSERT INTO shop.carts (id, items) VALUES (?, 'coffee')")
    thriftstore.restart()
    with pytest.raises((NoHostAvailable, ConnectionException)):
        write(session)
    deadline = time.time() + 10
    while time.time() < deadline:
        try:
            # The driver prepares the forgotten statement again.
            session.execute(prepared, [1])
            break
        except (NoHostAvailable, ConnectionException):
            time.sleep(0.02)
    assert read(session) == "coffee"
