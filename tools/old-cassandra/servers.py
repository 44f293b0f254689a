"""Starts and ends the two servers that are compared."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from releases import TARGET, Release

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIG = ROOT / "tests" / "recordings" / "storage-conf.xml"
HOST = "127.0.0.1"
START_MAX_S = 300
MEMORY = Path("/dev/shm")


class Server:
    """A process that listens at two ports. Its log is written into `folder`, and `work` is its current directory."""

    def __init__(self, command, folder, ports, work=None, host=HOST):
        self.port, self.native_port = ports
        self.log, self.host = folder / "log", host
        with open(self.log, "w") as log:
            command = ["nice", *map(str, command)]
            self.process = subprocess.Popen(command, cwd=work or folder, stdout=log, stderr=log)

    def wait(self):
        """Waits until it answers."""
        for _ in range(START_MAX_S * 10):
            try:
                socket.create_connection((self.host, self.port)).close()
                return self
            except OSError:
                time.sleep(0.1)
            if self.process.poll() is not None:
                break
        self.stop()
        sys.exit(f"{self.process.args[1]} does not listen at {self.host}:{self.port}: see {self.log}")

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def free_ports(count):
    """Ports after one another that nobody listens at."""
    # Comparisons that start at the same time begin their search at different ports.
    for first in range(20000 + os.getpid() * 64 % 20000, 60000, count):
        probes = []
        try:
            for port in range(first, first + count):
                probe = socket.socket()
                probes.append(probe)
                probe.bind((HOST, port))
            return list(range(first, first + count))
        except OSError:
            continue
        finally:
            for probe in probes:
                probe.close()
    sys.exit("no free ports here")


def start_cassandra(version, partitioner):
    """Starts a release with empty data."""
    release = Release(version)
    release.fetch()
    ports = free_ports(4)
    folder = TARGET / f"{version}-compared"
    folder.mkdir(parents=True, exist_ok=True)
    with_data_in_memory(folder / "data")
    release.configure(folder, ports[0], partitioner)
    return Server(release.command(folder), folder, (ports[0], ports[3])).wait()


def with_data_in_memory(data):
    """Lets a folder be in memory, if the system has such a place: each change of the schema waits for the disk."""
    if data.is_symlink():
        shutil.rmtree(data.readlink(), ignore_errors=True)
        data.unlink()
    shutil.rmtree(data, ignore_errors=True)
    if MEMORY.is_dir():
        data.symlink_to(tempfile.mkdtemp(prefix="old-cassandra-", dir=MEMORY))


def start_thriftstore(program, release, partitioner, folder):
    """Starts thriftstore in a folder, with no keyspaces and the partitioner that the release has."""
    named = f"<Partitioner>org.apache.cassandra.dht.{partitioner}</Partitioner>"
    config = re.sub(r"<Partitioner>.*</Partitioner>", named, CONFIG.read_text())
    (folder / "storage-conf.xml").write_text(config)
    ports = free_ports(2)
    command = [program, "serve", "--config", folder / "storage-conf.xml", "--data-dir", folder / "data"]
    command += ["--thrift", f"{HOST}:{ports[0]}", "--cql", f"{HOST}:{ports[1]}"]
    line = Release(release).line
    command += ["--compat", ".".join(map(str, line))]
    if line >= (1, 2):
        command += ["--claim", release]
    return Server(command, folder, ports).wait()
