"""Recordings of what tests ask, and their replay."""

import socket
import struct

import pytest

import thriftstore

SHOP = b"""
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
"""


@pytest.fixture
def shop(tmp_path):
    """A file with the schema of the application."""
    path = tmp_path / "shop.cql"
    path.write_bytes(SHOP)
    return path


@pytest.fixture
def old_server(shop):
    """The server that the application has used so far."""
    with thriftstore.start(compat="1.2", load=shop) as server:
        yield server


def use_keyspace(address, keyspace):
    """Calls set_keyspace as a generated client does, and returns the type of the reply."""
    name, keyspace = b"set_keyspace", keyspace.encode()
    call = struct.pack(">II", 0x80010001, len(name)) + name + struct.pack(">I", 1)
    call += struct.pack(">bhI", 11, 1, len(keyspace)) + keyspace + b"\0"
    host, port = address.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=10)
    connection.sendall(struct.pack(">I", len(call)) + call)
    size = struct.unpack(">I", received(connection, 4))[0]
    reply = received(connection, size)
    connection.close()
    return bytearray(reply)[3]


def received(connection, size):
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        assert part, "the connection was closed"
        found += part
    return found


def test_a_recording_is_answered_the_same(old_server, shop, tmp_path):
    file = tmp_path / "suite.rec"
    with thriftstore.record(file, thrift=old_server.thrift) as recorder:
        assert recorder.native is None
        assert use_keyspace(recorder.thrift, "shop") == 2
        said = recorder.stop()
    assert said[0].startswith("recorded 1 calls of 1 connections in ")
    report = thriftstore.replay(file, compat="1.2", load=shop, fail_on="text")
    assert (report.verdict, report.calls["equal"], report.causes) == ("same", 1, [])


def test_differences_are_raised_with_their_reproduction(old_server, tmp_path):
    file = tmp_path / "suite.rec"
    with thriftstore.record(file, thrift=old_server.thrift, native=old_server.native) as recorder:
        use_keyspace(recorder.thrift, "shop")
    # Without the schema.
    with pytest.raises(thriftstore.ReplayDiffers, match="set_keyspace") as error:
        thriftstore.replay(file, compat="1.2", fail_on="exception")
    assert error.value.report.calls["exception"] == 1
    assert error.value.report.causes[0]["methods"] == [{"name": "set_keyspace", "calls": 1}]
    report = thriftstore.replay(file, compat="1.2", fail_on=None)
    assert report.verdict == "differs"


def test_replay_to_a_server_that_runs(old_server, tmp_path):
    file = tmp_path / "suite.rec"
    with thriftstore.record(file, thrift=old_server.thrift, redact=["values", "keys"]) as recorder:
        use_keyspace(recorder.thrift, "shop")
    report = thriftstore.replay(file, arguments=["--against", old_server.thrift])
    assert report.verdict == "same"


def test_what_cannot_begin_is_said(old_server, tmp_path):
    file = tmp_path / "suite.rec"
    file.write_bytes(b"")
    with pytest.raises(thriftstore.StartError, match="suite.rec"):
        thriftstore.record(file, thrift=old_server.thrift)
    with pytest.raises(ValueError, match="address"):
        thriftstore.record(tmp_path / "other.rec")
    with pytest.raises(thriftstore.ReplayFailed, match="nowhere.rec"):
        thriftstore.replay(tmp_path / "nowhere.rec")
