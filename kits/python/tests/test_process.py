"""Start and end of a server's process."""

import os
import signal
import subprocess
import sys
import time

import pytest

import thriftstore

KILLED = """
import os, signal, sys, thriftstore
server = thriftstore.start()
sys.stdout.write("%d\\n" % server.pid)
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""

FORKED = """
import os, sys, thriftstore
server = thriftstore.start()
child = os.fork()
if child == 0:
    sys.exit()
os.waitpid(child, 0)
assert server.is_running()
server.reset()
"""


def is_running(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def has_ended(pid):
    deadline = time.time() + 10
    while is_running(pid) and time.time() < deadline:
        time.sleep(0.01)
    return not is_running(pid)


def test_addresses_of_a_server():
    with thriftstore.start() as server:
        assert server.thrift == "%s:%d" % (server.thrift_host, server.thrift_port)
        assert server.native == "%s:%d" % (server.native_host, server.native_port)
        assert server.thrift_port != server.native_port
        pid = server.pid
        assert is_running(pid)
    assert not is_running(pid)


def test_a_server_ends_when_the_tests_are_killed():
    tests = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE)
    pid = int(tests.stdout.readline())
    assert tests.wait() == -signal.SIGKILL
    assert has_ended(pid)


def test_a_server_ends_with_the_process_that_forgets_it():
    code = "import thriftstore; print(thriftstore.start().pid)"
    pid = int(subprocess.check_output([sys.executable, "-c", code]))
    assert has_ended(pid)


def test_the_end_of_a_forked_process_does_not_end_the_server():
    subprocess.check_call([sys.executable, "-c", FORKED])


def test_a_server_that_exits_at_the_start():
    with pytest.raises(thriftstore.StartError) as error:
        thriftstore.start(config="/nowhere/storage-conf.xml")
    assert "exited with status" in str(error.value)
    assert "/nowhere/storage-conf.xml" in str(error.value)


def test_a_program_that_does_not_listen(monkeypatch):
    monkeypatch.setattr("thriftstore.process.START_S", 0.2)
    silent = os.path.join(os.path.dirname(os.path.abspath(__file__)), "silent")
    with pytest.raises(thriftstore.StartError, match="does not listen after"):
        thriftstore.start(program=silent)


def test_a_fixed_address():
    with thriftstore.start() as first:
        thrift, native = first.thrift, first.native
    with thriftstore.start(thrift=thrift, native=native) as second:
        assert (second.thrift, second.native) == (thrift, native)


def test_the_log_from_a_position():
    with thriftstore.start(log="info,requests=debug") as server:
        assert "thriftstore" in server.log()
        before = server.log_size()
        assert server.log(before) == ""
    assert "stopping" in server.log(before)


def test_arguments_of_the_program(tmp_path):
    schema = tmp_path / "shop.cql"
    schema.write_bytes(
        b"CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"
        b"CREATE TABLE shop.carts (id int PRIMARY KEY, items text);"
        b"INSERT INTO shop.carts (id, items) VALUES (1, 'tea');"
    )
    with thriftstore.start(
        compat=["0.6", "1.2"], load=schema, arguments=["--cluster-name", "Shop"]
    ) as server:
        assert [family["name"] for family in server.dump()["column_families"]] == ["carts"]
        server.reset_data()
        assert server.dump()["column_families"] == []
        server.reset()
        assert [family["name"] for family in server.dump()["column_families"]] == ["carts"]
