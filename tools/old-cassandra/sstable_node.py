"""A node of an old Cassandra whose files are kept: it is flushed and compacted as by nodetool, and stopped by SIGTERM."""

import re
import signal
import subprocess

from releases import THRIFT_TO, management_command
from servers import Server

SYNC_MS = 1000
# Rows of a few KB have several blocks of the column index, and commit logs fit in the repository.
SETTINGS = "column_index_size_in_kb: 4\n"
SETTINGS_FROM_1_1 = "commitlog_segment_size_in_mb: 4\n"
MANAGE_MAX_S = 300
# The formats of the release, and not of the one before it: `oa` and no `nb`, the numbers of SSTables are UUIDs.
SETTINGS_FROM_4_1 = "uuid_sstable_identifiers_enabled: true\n"
SETTINGS_FROM_5_0 = "storage_compatibility_mode: NONE\ndynamic_data_masking_enabled: true\n"
STOP_MAX_S = 60


def settings(line):
    more = ((SETTINGS_FROM_1_1, (1, 1)), (SETTINGS_FROM_4_1, (4, 1)), (SETTINGS_FROM_5_0, (5, 0)))
    return SETTINGS + "".join(each for each, since in more if line >= since)


class Node:
    """Runs in a folder with `data`, which has `data` and `commitlog`, and `conf`. It uses five ports from `port` on."""

    def __init__(self, release, folder, port, address="127.0.0.1", jmx_port=None):
        self.release, self.folder, self.port, self.address = release, folder, port, address
        self.jmx_port = jmx_port or port + 4
        self.server = None

    def configure(self, partitioner, more="", token=None):
        """Writes the configuration; what data there is stays. `token` is that of a node of a ring."""
        self.folder.mkdir(parents=True, exist_ok=True)
        more = settings(self.release.line) + more
        self.release.write_configuration(self.folder, self.port, partitioner, self.address, more)
        path = self.folder / "conf" / "cassandra.yaml"
        text = path.read_text().replace("commitlog_sync_period_in_ms: 10000", f"commitlog_sync_period_in_ms: {SYNC_MS}")
        if token is not None:
            text = re.sub("initial_token: .*", f'initial_token: "{token}"', text)
        # The files are read elsewhere: their configuration names no place of this machine.
        path.write_text(text.replace(str(self.folder / "data"), "."))

    def start(self):
        command = self.release.command(self.folder, self.jmx_port)
        first = self.port if self.release.line < THRIFT_TO else self.port + 3
        self.server = Server(command, self.folder, (first, self.port + 3), self.folder / "data", self.address).wait()
        return self

    def manage(self, operation, *texts):
        """Calls an operation of the server, as nodetool does."""
        command = ["nice", *management_command(self.jmx_port, operation, *texts)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=MANAGE_MAX_S)
        if ran.returncode:
            raise SystemExit(f"{operation} {' '.join(texts)} of {self.release.version}: {ran.stdout}{ran.stderr}")
        return ran.stdout

    def flush(self, keyspace):
        self.manage("forceKeyspaceFlush,forceTableFlush", keyspace)

    def compact(self, keyspace):
        self.manage("forceKeyspaceCompaction,forceTableCompaction", keyspace)

    def upgrade(self, keyspace):
        """Rewrites the SSTables of older releases."""
        self.manage("upgradeSSTables", keyspace)

    def snapshot(self, name, keyspace):
        """Takes a snapshot of a keyspace. 0.7 takes the keyspace first."""
        texts = (keyspace, name) if self.release.line < (0, 8) else (name, keyspace)
        self.manage("takeSnapshot", *texts)

    def stop(self):
        """Lets the server end as an operator does. Up to 2.2 it leaves the commit log as it is."""
        if self.server and self.server.is_alive():
            self.server.process.send_signal(signal.SIGTERM)
            try:
                self.server.process.wait(STOP_MAX_S)
            except subprocess.TimeoutExpired:
                self.kill()
        self.server = None

    def kill(self):
        if self.server:
            self.server.stop()
        self.server = None
