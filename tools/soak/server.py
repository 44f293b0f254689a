"""The server process: start, kill, stop, and what it uses."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

HOST = "127.0.0.1"
START_MAX_S = 120
STOP_MAX_S = 120
OLD_RELEASES = ["0.4", "0.5", "0.6"]
MODERN_RELEASES = ["0.7", "0.8", "1.0", "1.1", "1.2", "2.0", "2.1"]
CONFIGURATION = """<Storage>
  <ClusterName>soak</ClusterName>
  <Keyspaces>
    <Keyspace Name="Soak">
      <ColumnFamily Name="Standard1" CompareWith="BytesType"/>
      <ColumnFamily Name="Super1" ColumnType="Super" CompareWith="BytesType" CompareSubcolumnsWith="BytesType"/>
    </Keyspace>
  </Keyspaces>
  <Partitioner>org.apache.cassandra.dht.RandomPartitioner</Partitioner>
  <CommitLogSync>{sync}</CommitLogSync>
  <RpcTimeoutInMillis>10000</RpcTimeoutInMillis>
  <GCGraceSeconds>{gc_grace_s}</GCGraceSeconds>
</Storage>
"""


class Ended(Exception):
    """The server ended or did not start. The text says how."""


class Server:
    """A server on a data directory. It has the same ports after a restart if they are given."""

    def __init__(self, program, folder, data, ports=(0, 0), cache_mb=16):
        self.program, self.folder, self.data, self.ports, self.cache_mb = program, Path(folder), Path(data), ports, cache_mb
        self.folder.mkdir(parents=True, exist_ok=True)
        self.config = self.folder / "storage-conf.xml"
        self.config.write_text(CONFIGURATION.format(sync="periodic", gc_grace_s=864000))
        self.process, self.run, self.started_at = None, 0, 0
        self.old_release, self.modern_release = OLD_RELEASES[-1], MODERN_RELEASES[-1]
        self.thrift_port = self.native_port = None
        # Set while clients can connect.
        self.is_up = threading.Event()
        # Whether the next end of the process is intended.
        self.is_ending = False

    def start(self, old_release="0.6", modern_release="2.1"):
        self.old_release, self.modern_release = old_release, modern_release
        command = [self.program, "serve", "--config", self.config, "--data-dir", self.data, "--cache-mb", self.cache_mb]
        command += ["--thrift", f"{HOST}:{self.ports[0]}", "--cql", f"{HOST}:{self.ports[1]}", "--no-busy-poll"]
        command += ["--compat", old_release, "--compat", modern_release]
        self.run += 1
        addresses = self.folder / f"addresses.{self.run}"
        with open(addresses, "w") as output, open(self.folder / "server.log", "a") as log:
            self.process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=log)
        self._wait_until_it_listens(addresses)
        addresses.unlink()
        self.started_at, self.is_ending = time.time(), False
        self.is_up.set()

    def _wait_until_it_listens(self, addresses):
        end = time.monotonic() + START_MAX_S
        while time.monotonic() < end:
            lines = addresses.read_text().splitlines()
            if len(lines) >= 2 and addresses.read_text().endswith("\n"):
                ports = {line.split()[2]: int(line.rsplit(":", 1)[1]) for line in lines}
                self.thrift_port, self.native_port = ports["Thrift"], ports["CQL"]
                return
            if self.process.poll() is not None:
                raise Ended(f"the server did not start, its status is {self.process.returncode}: see {self.folder}/server.log")
            time.sleep(0.01)
        raise Ended(f"the server does not listen after {START_MAX_S} s: see {self.folder}/server.log")

    def has_release(self, least):
        return MODERN_RELEASES.index(self.modern_release) >= MODERN_RELEASES.index(least)

    def kill(self):
        """Ends the process as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self):
        """Ends the process in order."""
        self._end(signal.SIGTERM)
        if self.process.returncode != 0:
            raise Ended(f"the status of a server after SIGTERM is {self.process.returncode}: see {self.folder}/server.log")

    def _end(self, number):
        self.is_ending = True
        self.is_up.clear()
        self.process.send_signal(number)
        try:
            self.process.wait(timeout=STOP_MAX_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Ended(f"the server did not end within {STOP_MAX_S} s of signal {number}") from None

    def check(self):
        """Fails if the process has ended on its own."""
        if not self.is_ending and self.process and self.process.poll() is not None:
            raise Ended(f"the server ended with status {self.process.returncode}: see {self.folder}/server.log")

    def usage(self):
        """Resident memory in bytes, open descriptors and threads, or none while the server is down."""
        home = Path(f"/proc/{self.process.pid}")
        try:
            status = dict(line.split(":", 1) for line in (home / "status").read_text().splitlines())
            return int(status["VmRSS"].split()[0]) * 1024, len(os.listdir(home / "fd")), int(status["Threads"])
        except (OSError, KeyError):
            return None


def size_of(directory):
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                # What is allocated: the log is reserved in advance.
                total += os.stat(os.path.join(folder, name)).st_blocks * 512
            except OSError:
                continue
    return total
