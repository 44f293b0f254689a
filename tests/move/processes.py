"""The processes of a move: the old server, the new one, and the proxy. Each can be killed and started again."""

import re
import shutil
import signal
import socket
import subprocess
import time

from releases import Release
from servers import CONFIG, HOST, with_data_in_memory

START_MAX_S = 180


class Process:
    """A process that listens at a port."""

    def __init__(self, name, command, folder, port):
        self.name, self.command, self.folder, self.port = name, [str(part) for part in command], folder, port
        self.process = None

    def start(self):
        with open(self.folder / f"{self.name}.log", "a") as log:
            self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        end = time.monotonic() + START_MAX_S
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection((HOST, self.port), timeout=5).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"the {self.name} does not listen at {self.port}: see {self.folder}/{self.name}.log")

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


def old_server(version, folder, ports):
    """A Cassandra whose acknowledged writes survive a kill: its log is synced before the answer."""
    release = Release(version)
    release.fetch()
    home = folder / "old"
    home.mkdir()
    release.configure(home, ports[0], "Murmur3Partitioner")
    # Each write waits for the disk.
    with_data_in_memory(home / "data")
    yaml = home / "conf" / "cassandra.yaml"
    text = yaml.read_text().replace("commitlog_sync: periodic", "commitlog_sync: batch")
    text = text.replace("commitlog_sync_period_in_ms: 10000", "commitlog_sync_batch_window_in_ms: 2")
    # A machine that also runs the clients needs more time.
    yaml.write_text(re.sub(r"(request_timeout_in_ms): \d+", r"\1: 10000", text))
    process = Process("old", release.command(home), folder, ports[0])
    process.native_port = ports[3]
    process.data = (home / "data").resolve()
    return process


def new_server(program, folder, ports):
    named = "<Partitioner>org.apache.cassandra.dht.Murmur3Partitioner</Partitioner>"
    config = folder / "storage-conf.xml"
    config.write_text(re.sub(r"<Partitioner>.*</Partitioner>", named, CONFIG.read_text()))
    command = [program, "serve", "--config", config, "--data-dir", folder / "new", "--no-busy-poll"]
    command += ["--thrift", f"{HOST}:{ports[0]}", "--cql", f"{HOST}:{ports[1]}", "--compat", "2.1"]
    process = Process("new", command, folder, ports[0])
    process.native_port = ports[1]
    return process


def proxy(program, folder, ports):
    command = [program, "move", "start", folder / "moving", "--listen", f"{HOST}:{ports[0]}", "--timeout-ms", "2000"]
    command += ["--listen-cql", f"{HOST}:{ports[1]}"]
    return Process("proxy", command, folder, ports[0])


class Step:
    """A command of the move."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def start(self, name, *arguments):
        command = [self.program, "move", name, self.folder / "moving", *arguments]
        return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, name, *arguments):
        """Whether it succeeded, and what it has printed."""
        process = self.start(name, *arguments)
        text = process.communicate()[0]
        with open(self.folder / "steps.log", "a") as log:
            log.write(f"{time.strftime('%T')} {name} {' '.join(arguments)}: status {process.returncode}\n{text}\n")
        return process.returncode == 0, text

    def must(self, name, *arguments):
        succeeded, text = self.run(name, *arguments)
        if not succeeded:
            raise SystemExit(f"move {name} has failed:\n{text}")
        return text


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
