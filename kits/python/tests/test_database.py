"""Reset, snapshots, data, clock, faults and requests, without a client library."""

import json
from datetime import datetime, timedelta

import pytest

import thriftstore as kit

SHOP = """
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TABLE shop.carts (id int PRIMARY KEY, items text);
"""


def insert(database, key, more=""):
    database.cql("INSERT INTO shop.carts (id, items) VALUES (%d, 'tea')%s" % (key, more))


def keys(database):
    families = database.dump()["column_families"]
    return sorted(int(row["key"]["hex"], 16) for family in families for row in family["rows"])


@pytest.fixture(scope="session")
def thriftstore_schema(thriftstore_server):
    thriftstore_server.cql(SHOP)
    insert(thriftstore_server, 1)


@pytest.fixture(params=["server", "sandbox"])
def database(request):
    """The same tests for a server and for a sandbox."""
    return request.getfixturevalue(
        "thriftstore" if request.param == "server" else "thriftstore_sandbox"
    )


@pytest.mark.parametrize("test", ["first", "second"])
def test_each_test_begins_with_the_schema_and_its_rows(database, test):
    assert keys(database) == [1]
    insert(database, 2)
    database.cql("DROP KEYSPACE shop") if test == "second" else None


def test_reset_of_data(database):
    database.reset_data()
    assert keys(database) == []
    insert(database, 7)
    assert keys(database) == [7]


def test_snapshots(database):
    insert(database, 2)
    database.snapshot("two")
    insert(database, 3)
    database.restore("two")
    assert keys(database) == [1, 2]
    assert [snapshot["name"] for snapshot in database.snapshots()] == ["two"]
    database.delete_snapshot("two")
    assert database.snapshots() == []
    with pytest.raises(kit.ControlError, match="two"):
        database.restore("two")


def test_a_reset_deletes_later_snapshots(database):
    database.snapshot()
    database.reset()
    assert database.snapshots() == []


def test_a_dump_is_loaded_again(database):
    dump = database.dump()
    database.reset_data()
    assert database.write(dump)["rows"] == 1
    assert database.dump() == dump


def test_files(database, tmp_path):
    rows = tmp_path / "rows.json"
    rows.write_bytes(json.dumps(database.dump()).encode("utf-8"))
    database.reset_data()
    database.load(str(rows))
    more = tmp_path / "more.cql"
    more.write_bytes(b"INSERT INTO shop.carts (id, items) VALUES (5, 'caf\xc3\xa9')")
    database.load(str(more))
    assert keys(database) == [1, 5]
    with pytest.raises(ValueError, match="extension"):
        database.load("rows.txt")


def test_the_server_s_sentence_is_the_error(database):
    with pytest.raises(kit.ControlError, match="nowhere") as error:
        database.cql("INSERT INTO nowhere.carts (id) VALUES (1)")
    assert error.value.status == 400


def test_a_clock_that_is_stopped_and_moved(database):
    database.clock.freeze(at=datetime(2012, 1, 1))
    assert database.clock.state()["now"] == "2012-01-01T00:00:00.000Z"
    insert(database, 2, " USING TTL 3600")
    database.clock.advance(minutes=59)
    assert len(live(database)) == 2
    database.clock.advance(timedelta(minutes=1).total_seconds())
    assert len(live(database)) == 1
    database.clock.unfreeze()
    assert not database.clock.state()["frozen"]
    database.clock.set(1325376000.5)
    assert 0 <= database.clock.now() - 1325376000.5 < 60
    database.reset()
    assert database.clock.state()["offset_ms"] == 0


def live(database):
    """Returns the cells that have a value and have not expired."""
    now = database.clock.now()
    return [
        cell
        for family in database.dump()["column_families"]
        for row in family["rows"]
        for cell in row["cells"]
        if "value" in cell and cell["value"] != "" and cell.get("expires_at_s", now + 1) > now
    ]


def test_a_clock_for_a_block(database):
    with database.clock as clock:
        clock.freeze()
        clock.advance(days=-1)
        assert clock.state()["frozen"]
    assert database.clock.state()["offset_ms"] == 0


def test_faults_are_listed_and_removed(database):
    database.faults.set("lost", method="insert", key="ada", error="timed_out", applied=True)
    rule = database.faults.list()[0]
    assert (rule["name"], rule["hits"]) == ("lost", 0)
    assert rule["rule"]["when"] == {"method": "insert", "key": "ada"}
    assert (rule["rule"]["error"], rule["rule"]["applied"]) == ("timed_out", True)
    database.faults.remove("lost")
    assert database.faults.list() == []


def test_faults_for_a_block(database):
    with database.faults.add(delay_ms=[1, 5], probability=0.5, seed=7) as slow:
        with database.faults.add(reply="none", skip=1, times=2):
            assert len(database.faults.list()) == 2
        assert [rule["name"] for rule in database.faults.list()] == [slow.name]
        assert (slow.met, slow.hits) == (0, 0)
    assert database.faults.list() == []
    assert (slow.met, slow.hits) == (0, 0)


def test_a_reset_in_a_block_removes_its_fault(database):
    with database.faults.add(error="internal"):
        database.reset()
        assert database.faults.list() == []


def test_an_unknown_field_of_a_fault_is_an_error(database):
    with pytest.raises(kit.ControlError, match="colour"):
        database.faults.add(colour="red", error="internal")


def test_requests_of_a_database_without_clients(database):
    database.requests.verify(times=0, method="insert")
    assert database.requests.last() == []
    with pytest.raises(AssertionError, match="insert"):
        database.requests.verify(method="insert")


def test_sandboxes_are_separate(thriftstore):
    thriftstore.snapshot("with_one")
    with thriftstore.sandbox() as first, thriftstore.sandbox(
        "second", snapshot="with_one"
    ) as second:
        assert len({thriftstore.thrift, first.thrift, second.thrift}) == 3
        insert(first, 2)
        first.clock.freeze()
        first.faults.add(error="internal")
        assert (keys(first), keys(second), keys(thriftstore)) == ([1, 2], [1], [1])
        assert not second.clock.state()["frozen"]
        assert second.faults.list() == []
        assert {"second", first.name} == {sandbox["name"] for sandbox in thriftstore.sandboxes()}
        with pytest.raises(kit.ControlError, match="second"):
            thriftstore.sandbox("second")
    assert thriftstore.sandboxes() == []
