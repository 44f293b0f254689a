"""What pycassa reports for every fault of the server."""

import pytest
from pycassa.cassandra.ttypes import InvalidRequestException
from pycassa.columnfamily import ColumnFamily
from pycassa.pool import AllServersUnavailable, ConnectionPool, MaximumRetryException
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException

TIMEOUT_S = 0.4


@pytest.fixture(scope="session")
def thriftstore_options():
    return {"compat": "1.2"}


@pytest.fixture
def family(thriftstore):
    """A column family with the rows `one` and `two`. pycassa does not try again, and has one connection."""
    for found in families(thriftstore, max_retries=0):
        yield found


@pytest.fixture
def patient_family(thriftstore):
    """The same, but pycassa tries again twice."""
    for found in families(thriftstore, max_retries=2):
        yield found


def families(server, **options):
    pool = ConnectionPool("Keyspace1", [server.thrift], pool_size=1, timeout=TIMEOUT_S, **options)
    family = ColumnFamily(pool, "Standard2")
    for key in ("one", "two"):
        family.insert(key, {"c": key})
    yield family
    pool.dispose()


def write(family):
    family.insert("one", {"c": "new"})


def value(family):
    return family.get("one")["c"]


ERRORS = [
    ("unavailable", MaximumRetryException, "UnavailableException"),
    ("timed_out", MaximumRetryException, "TimedOutException"),
    ("invalid_request", InvalidRequestException, "a fault that a test has set"),
    # These are no exceptions of batch_mutate and get_slice.
    ("not_found", TApplicationException, "not found"),
    ("schema_disagreement", MaximumRetryException, "UnavailableException"),
    ("authentication", TApplicationException, "a fault that a test has set"),
    ("authorization", TApplicationException, "a fault that a test has set"),
    ("overloaded", MaximumRetryException, "UnavailableException"),
    ("internal", TApplicationException, "a fault that a test has set"),
]


@pytest.mark.parametrize("applied", [False, True])
@pytest.mark.parametrize("error, exception, text", ERRORS)
def test_an_error_of_a_write(family, faults, error, exception, text, applied):
    with faults.add(operation="write", key="one", error=error, applied=applied):
        with pytest.raises(exception, match=text):
            write(family)
        family.insert("two", {"c": "new"})
    assert value(family) == ("new" if applied else "one")


@pytest.mark.parametrize("error, exception, text", ERRORS)
def test_an_error_of_a_read(family, faults, error, exception, text):
    with faults.add(method="get_slice", error=error):
        with pytest.raises(exception, match=text):
            value(family)
    assert value(family) == "one"


def test_pycassa_tries_again_after_a_time_out(patient_family, faults):
    with faults.add(operation="write", error="timed_out", applied=True, times=2) as lost:
        write(patient_family)
    assert lost.hits == 2
    assert value(patient_family) == "new"


def test_a_counter_that_timed_out_is_added_once(thriftstore, faults):
    """pycassa does not try again to add to a counter, because both tries may be applied."""
    thriftstore.cql(
        "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"
        "CREATE TABLE shop.visits (key text, column1 text, value counter, PRIMARY KEY (key, column1))"
        " WITH COMPACT STORAGE"
    )
    pool = ConnectionPool("shop", [thriftstore.thrift], max_retries=2)
    visits = ColumnFamily(pool, "visits")
    with faults.add(method="add", error="timed_out", applied=True, times=1):
        with pytest.raises(MaximumRetryException, match="TimedOutException"):
            visits.add("front", "page")
    assert visits.get("front") == {"page": 1}
    pool.dispose()


LOST = [
    ("none", MaximumRetryException, "timed out"),
    ("closed", MaximumRetryException, "TTransportException"),
    ("half", MaximumRetryException, "TTransportException"),
    ("rubbish", TProtocolException, "Bad version"),
]


@pytest.mark.parametrize("reply, exception, text", LOST)
def test_a_lost_reply(family, faults, reply, exception, text):
    with faults.add(operation="write", reply=reply):
        with pytest.raises(exception, match=text):
            write(family)


@pytest.mark.parametrize("reply", ["none", "closed", "half"])
def test_pycassa_tries_again_after_a_lost_reply(patient_family, faults, reply):
    with faults.add(operation="write", reply=reply, times=1) as lost:
        write(patient_family)
    assert lost.hits == 1
    assert value(patient_family) == "new"


@pytest.mark.parametrize("reply", ["closed_after", "trickle"])
def test_a_reply_that_arrives(family, faults, reply):
    with faults.add(operation="write", reply=reply) as fault:
        write(family)
    assert fault.hits == 1


def test_after_a_closed_connection_the_next_request_fails(family, faults):
    with faults.add(method="get_slice", reply="closed_after", times=1):
        assert value(family) == "one"
    with pytest.raises(MaximumRetryException, match="TTransportException"):
        value(family)
    assert value(family) == "one"


def test_a_second_reply_answers_the_next_request(family, faults):
    """pycassa does not compare numbers of replies, so it returns the wrong row."""
    with faults.add(method="get_slice", key="one", reply="twice", times=1):
        assert family.get("one") == {"c": "one"}
    assert family.get("two") == {"c": "one"}


def test_a_delay(family, faults):
    with faults.add(method="get_slice", delay_ms=[20, 40]) as slow:
        assert value(family) == "one"
    assert slow.hits == 1
    with faults.add(method="get_slice", delay_ms=2000):
        with pytest.raises(MaximumRetryException, match="timed out"):
            value(family)


def test_refused_connections(family, thriftstore):
    with thriftstore.refuse_connections():
        with pytest.raises(AllServersUnavailable):
            ConnectionPool("Keyspace1", [thriftstore.thrift], timeout=TIMEOUT_S)
        # An open connection stays open.
        assert value(family) == "one"
    ConnectionPool("Keyspace1", [thriftstore.thrift], timeout=TIMEOUT_S).dispose()


def test_a_restart(family, thriftstore):
    thriftstore.restart()
    with pytest.raises(MaximumRetryException, match="TTransportException|error"):
        write(family)
    write(family)
    assert value(family) == "new"


def test_a_fault_of_one_in_two_requests(family, faults):
    def failed():
        found = []
        with faults.add(method="get_slice", error="invalid_request", probability=0.5, seed=7):
            for _ in range(20):
                try:
                    value(family)
                    found.append(False)
                except InvalidRequestException:
                    found.append(True)
        return found

    first = failed()
    assert 0 < sum(first) < 20
    assert failed() == first
