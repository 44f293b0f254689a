"""What is measured. Each topic is a function of the options that returns figures."""

import os
import random
import subprocess
import time
import urllib.request
from pathlib import Path

import load
from results import figure
from servers import OURS, Cassandra, Cassandra5, Nothing, Ours, call, create_keyspace, first_answer
from wire import Connection

THRIFT_OPERATIONS = ["insert", "read", "slice", "batch"]
OLD_RELEASES = {"0.7.10": 24300, "2.1.22": 24320}
NATIVE_PORT = 24340
ROWS = ["--rows", 10_000, "--columns", 20]


def alternating(servers, rounds, measure):
    """Measures each server in each round, in another order each time. Returns the rounds of each server by name."""
    found = {server.name: [] for server in servers}
    for _ in range(rounds):
        for server in random.sample(servers, len(servers)):
            found[server.name].append(measure(server))
    return found


def storing_servers(options):
    return [Ours(options.program), *(Cassandra(*each) for each in OLD_RELEASES.items())]


def warm_up(options, server, more=()):
    """Fills the rows, and lets the compilers of Java finish."""
    load.thrift(options.program, server, "insert", 16, 1, ["--populate", *ROWS])
    for operation in THRIFT_OPERATIONS:
        load.thrift(options.program, server, operation, 16, 1 if options.quick else 8, [*ROWS, *more])


def connections(options):
    counts, rounds, seconds = ([1, 16], 1, 0.3) if options.quick else ([1, 4, 16, 64, 256], 3, 2)
    servers, figures = [Nothing(options.program), *storing_servers(options)], []
    try:
        for server in servers:
            warm_up(options, server)
        for count in counts:
            for operation in THRIFT_OPERATIONS:
                measure = lambda server: load.thrift(options.program, server, operation, count, seconds, ROWS)
                for name, found in alternating(servers, rounds, measure).items():
                    figures.append(shown(figure(name, operation, count, found)))
    finally:
        for server in servers:
            server.stop()
    return figures


def native(options):
    counts, rounds, seconds = ([1, 16], 1, 0.3) if options.quick else ([1, 4, 16, 64], 3, 2)
    servers, figures = [Ours(options.program), Cassandra5(NATIVE_PORT)], []
    try:
        for server in servers:
            for _ in range(1 if options.quick else 8):
                load.native(options.program, server, 16, 32, 1)
        for pipeline in (1, 32):
            for count in counts:
                measure = lambda server: load.native(options.program, server, count, pipeline, seconds)
                found = alternating(servers, rounds, measure)
                for name, of_server in found.items():
                    for statement in ("insert", "select"):
                        of_statement = [one[statement, "server"] for one in of_server]
                        figures.append(shown(figure(name, f"{statement}, {pipeline} in flight", count, of_statement)))
    finally:
        for server in servers:
            server.stop()
    return figures


def values(options):
    sizes, rounds, seconds = ([10, 10_000], 1, 0.3) if options.quick else ([10, 100, 1_000, 10_000, 100_000, 1_000_000], 2, 2)
    servers, figures = storing_servers(options), []
    try:
        for server in servers:
            warm_up(options, server)
        for size in sizes:
            # Few rows of large values, so that the data stays in memory.
            rows = ["--rows", max(20, min(2_000, 20_000_000 // size)), "--columns", 1, "--value-size", size]
            for server in servers:
                load.thrift(options.program, server, "insert", 16, 0.1, ["--populate", *rows])
            for operation in ("insert", "read"):
                measure = lambda server: load.thrift(options.program, server, operation, 16, seconds, rows)
                for name, found in alternating(servers, rounds, measure).items():
                    figures.append(shown(figure(name, operation, size, found)))
    finally:
        for server in servers:
            server.stop()
    return figures


class MemoryLimit:
    """A control group that limits the memory of a process and of the operating system's cache of its files."""

    def __init__(self, megabytes, process):
        old = Path("/sys/fs/cgroup/memory")
        self.group = (old if old.exists() else Path("/sys/fs/cgroup")) / f"compare-speed-{os.getpid()}"
        self.group.mkdir()
        (self.group / ("memory.limit_in_bytes" if old.exists() else "memory.max")).write_text(str(megabytes << 20))
        (self.group / "cgroup.procs").write_text(str(process.pid))

    def remove(self):
        self.group.rmdir()


def data(options):
    """Data of 1/4 to 4 times the memory of the server, in rows of 4 KB."""
    if os.geteuid() != 0:
        print("skipped: only root can limit memory")
        return []
    memory_mb, parts, seconds = (256, [0.25], 0.5) if options.quick else (512, [0.25, 0.5, 1, 2, 4], 8)
    figures = []
    for part in parts:
        server = Ours(options.program, ["--cache-mb", str(memory_mb // 8)])
        limit = MemoryLimit(memory_mb, server.process)
        try:
            rows = ["--rows", int(memory_mb * part * 2**20 / 4000), "--columns", 5, "--value-size", 800]
            load.thrift(options.program, server, "batch", 16, 0.1, ["--populate", *rows])
            for operation in ("read", "insert"):
                found = load.thrift(options.program, server, operation, 16, seconds, rows)
                figures.append(shown(figure(server.name, operation, part, [found])))
        finally:
            server.stop()
            limit.remove()
    return figures


def start(options):
    """Seconds to the first answer, and memory in MB, as rates of the cases `start`, `idle` and `loaded`."""
    makers = [lambda: Ours(options.program)]
    makers += [lambda version=version, port=port: Cassandra(version, port) for version, port in OLD_RELEASES.items()]
    figures = []
    for make in makers:
        starts, idle, loaded = [], [], []
        for at in range(1 if options.quick else 3):
            began = time.time()
            server = make()
            try:
                starts.append({"rate": server.start_s or first_answer(server.thrift, began)})
                time.sleep(2)
                idle.append({"rate": server.memory_mb()})
                if at == 0:
                    load.thrift(options.program, server, "insert", 16, 1 if options.quick else 5, ["--populate", *ROWS])
                    loaded.append({"rate": server.memory_mb()})
            finally:
                server.stop()
        for case, found in (("start", starts), ("idle", idle), ("loaded", loaded)):
            figures.append(shown(figure(server.name, case, 0, found)))
    if not options.quick:
        figures += start_exactly(options)
    return figures


def start_exactly(options):
    """The start of thriftstore by a tool without Python's own time (tools/measure-start), and its memory before the first
    request."""
    tool = Path(__file__).resolve().parents[1] / "measure-start"
    text = subprocess.run([tool, options.program, "21"], check=True, capture_output=True, text=True).stdout
    milliseconds = float(text.splitlines()[0].split(":")[1].split()[0])
    server = Ours(options.program)
    try:
        time.sleep(2)
        megabytes = server.memory_mb()
    finally:
        server.stop()
    return [
        shown(figure(OURS, "exact start", 0, [{"rate": milliseconds / 1000}])),
        shown(figure(OURS, "idle before the first request", 0, [{"rate": megabytes}])),
    ]


def suites(options):
    """Seconds of a suite of tests, each on an empty column family: by a reset where the server has one, otherwise by a
    dropped keyspace."""
    tests = 5 if options.quick else 30
    servers = [Ours(options.program, ["--ephemeral", "--control", "127.0.0.1:0"])]
    servers += [Cassandra(*each) for each in OLD_RELEASES.items()]
    figures = []
    try:
        for name, found in alternating(servers, 1 if options.quick else 3, lambda server: run_suite(server, tests)).items():
            figures.append(shown(figure(name, f"{tests} tests", 0, found)))
    finally:
        for server in servers:
            server.stop()
    return figures


def run_suite(server, tests):
    port = int(server.thrift.rsplit(":", 1)[1])
    began = time.time()
    for _ in range(tests):
        create_keyspace(port, "Suite", ["Posts", "Comments"])
        connection = Connection("127.0.0.1", port)
        connection.call("set_keyspace", {"1": {"t": "Suite"}})
        for at in range(20):
            write_and_read(connection, at)
        if isinstance(server, Ours):
            urllib.request.urlopen(f"http://{server.control}/reset", data=b'{"what": "everything"}').close()
        else:
            call(port, "system_drop_keyspace", {"1": {"t": "Suite"}})
    return {"rate": time.time() - began}


def write_and_read(connection, at):
    key, column = {"t": f"key{at}"}, {"1": {"t": "title"}, "2": {"t": f"post {at}"}, "3": {"l": at + 1}}
    parent, path = {"3": {"t": "Posts"}}, {"3": {"t": "Posts"}, "5": {"t": "title"}}
    written = connection.call("insert", {"1": key, "2": {"s": parent}, "3": {"s": column}, "4": {"i": 1}})
    read = connection.call("get", {"1": key, "2": {"s": path}, "3": {"i": 1}})
    if written[0] != "reply" or written[1] or read[0] != "reply" or "0" not in map(str, read[1]):
        raise SystemExit(f"a test failed: {written} {read}")


def shown(found):
    times = "".join(f"  {name[:3]} {found[name]:.2f} ms" for name in ("p50_ms", "p99_ms") if name in found)
    print(f"{found['server']:20} {found['case']:22} {found['x']:>9}  {found['rate']:12,.3f}{times}", flush=True)
    return found


ALL = {"connections": connections, "native": native, "values": values, "data": data, "start": start, "suites": suites}
