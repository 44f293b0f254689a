"""The servers that are compared. Each has a name, a process, and addresses for Thrift and the native protocol."""

import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HOME / "tools/old-cassandra"))

from releases import TARGET, Release  # noqa: E402
from wire import Connection  # noqa: E402

OURS, NOTHING = "thriftstore", "do-nothing server"
CONFIGURATION = """<Storage>
  <ClusterName>measured</ClusterName>
  <Keyspaces><Keyspace Name="Keyspace1"><ColumnFamily Name="Standard1" CompareWith="BytesType"/></Keyspace></Keyspaces>
</Storage>
"""
PIPES = {"stdout": subprocess.PIPE, "text": True}
START_MAX_S = 120


def line_with(process, words):
    line = next((line for line in process.stdout if words in line), None)
    if line is None:
        raise SystemExit(f"{process.args[0]} ended without {words!r}")
    return line


def drain(process):
    """Discards the further output of a program, so that it does not block."""
    subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)


class Server:
    """A running server. `thrift` and `native` are addresses, or None; `dialect` is the API generation of its calls."""

    name = thrift = native = None
    dialect = "0.7"
    # The seconds from the start to the first answer, if they were measured before the keyspace was created.
    start_s = None

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def memory_mb(self):
        """Resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


class Ours(Server):
    """thriftstore on an empty data directory, with its defaults."""

    name = OURS

    def __init__(self, program, more=()):
        self.folder = Path(tempfile.mkdtemp(prefix="compare-speed"))
        conf = self.folder / "storage-conf.xml"
        conf.write_text(CONFIGURATION)
        self.command = [program, "serve", "--config", conf, "--thrift", "127.0.0.1:0", "--cql", "127.0.0.1:0", *more]
        if "--ephemeral" not in more:
            self.command += ["--data-dir", self.folder / "data"]
        self.process = subprocess.Popen(self.command, stderr=subprocess.DEVNULL, **PIPES)
        self.thrift = line_with(self.process, "Thrift clients").split()[-1]
        self.native = line_with(self.process, "CQL clients").split()[-1]
        self.control = line_with(self.process, "control clients").split()[-1] if "--control" in more else None


class Nothing(Server):
    """A server that reads each call and answers with a constant: the limit of the machine and of the load tool."""

    name = NOTHING

    def __init__(self, program):
        self.folder = Path(tempfile.mkdtemp(prefix="compare-speed"))
        # Like thriftstore it keeps a processor awake between requests.
        command = [program, "stress", "do-nothing-server", "--busy-poll"]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **PIPES)
        self.thrift = line_with(self.process, ":").split()[-1]


class Cassandra(Server):
    """A real Cassandra 0.7 to 2.1 with a heap of 1 GB."""

    def __init__(self, version, port):
        self.name = f"Cassandra {version}"
        release = Release(version)
        release.fetch()
        self.folder = TARGET / f"compared-{version}"
        release.configure(self.folder, port, "RandomPartitioner")
        command = [re.sub(r"^(-Xm[sx]).*", r"\g<1>1g", word) for word in release.command(self.folder)]
        self.began = time.time()
        self.process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.STDOUT, **PIPES)
        line_with(self.process, "istening for thrift clients")
        drain(self.process)
        self.thrift, self.native = f"127.0.0.1:{port}", None
        self.start_s = first_answer(self.thrift, self.began)
        create_keyspace(port, "Keyspace1", ["Standard1"])


class Cassandra5(Server):
    """Cassandra 5.0 with a heap of 1 GB: one node of the ring that the tests use."""

    name = "Cassandra 5.0"

    def __init__(self, port):
        self.folder = Path(tempfile.mkdtemp(prefix="compare-speed"))
        self.ring = [HOME / "tests/cluster/ring"]
        self.began = time.time()
        start = [*self.ring, "start", "--dir", self.folder, "--nodes", "1", "--port", str(port), "--fast"]
        found = subprocess.run(start, check=True, stdout=subprocess.PIPE, text=True)
        self.native = found.stdout.strip().splitlines()[-1].split(",")[0]
        status = subprocess.run([*self.ring, "status", "--dir", self.folder], check=True, stdout=subprocess.PIPE, text=True)
        self.process = type("Process", (), {"pid": int(re.search(r"process (\d+)", status.stdout).group(1))})

    def stop(self):
        subprocess.run([*self.ring, "stop", "--dir", self.folder], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)


def call(port, method, fields):
    """Calls a Thrift method, and returns the reply's fields."""
    kind, reply = Connection("127.0.0.1", port).call(method, fields)
    if kind != "reply" or any(number != "0" for number in map(str, reply)):
        raise SystemExit(f"{method} of the server at port {port} failed: {reply}")
    return reply


def create_keyspace(port, keyspace, families):
    """Creates a keyspace by Thrift: 0.7 needs the replication factor as a field, later releases as an option."""
    defined = [{"s": family_of(keyspace, name)} for name in families]
    fields = {"1": {"t": keyspace}, "2": {"t": "org.apache.cassandra.locator.SimpleStrategy"}}
    fields |= {"3": {"M": ["t", "t", [[{"t": "replication_factor"}, {"t": "1"}]]]}, "4": {"i": 1}, "5": {"L": ["s", defined]}}
    call(port, "system_add_keyspace", {"1": {"s": fields}})


def family_of(keyspace, name):
    return {"1": {"t": keyspace}, "2": {"t": name}, "5": {"t": "BytesType"}}


def first_answer(address, began):
    """The seconds from `began` until the server answers a call."""
    host, port = address.rsplit(":", 1)
    while time.time() - began < START_MAX_S:
        try:
            with socket.create_connection((host, int(port)), 1):
                pass
            call(int(port), "describe_version", {})
            return time.time() - began
        except OSError:
            time.sleep(0.002)
    raise SystemExit(f"no answer from {address}")
