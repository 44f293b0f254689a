"""Imports directories of an old Cassandra by thriftstore, serves the result, and compares its rows with the old server's."""

import subprocess
import types

from servers import HOST, Server
from sstable_session import Session

CONFIG = """<Storage>
  <ClusterName>compared</ClusterName>
  <Partitioner>org.apache.cassandra.dht.{}</Partitioner>
</Storage>
"""
SHOWN_MAX = 6
IMPORT_MAX_S = 600


class Import:
    """The target of an import: a folder with thriftstore's data. It serves at `port`."""

    def __init__(self, program, folder, port, line, partitioner):
        self.program, self.folder, self.port, self.line = program, folder, port, line
        self.server = None
        folder.mkdir(parents=True)
        (folder / "storage-conf.xml").write_text(CONFIG.format(partitioner))

    def _serve(self):
        command = [self.program, "serve", "--config", self.folder / "storage-conf.xml", "--data-dir", self.folder / "data"]
        command += ["--thrift", f"{HOST}:{self.port}", "--cql", f"{HOST}:{self.port + 3}"]
        command += ["--compat", ".".join(map(str, min(self.line, (2, 1))))]
        self.server = Server(command, self.folder, (self.port, self.port + 3)).wait()
        release = types.SimpleNamespace(line=self.line)
        return Session(types.SimpleNamespace(address=HOST, port=self.port, release=release))

    def stop(self):
        if self.server:
            self.server.stop()
        self.server = None

    def run(self, directories):
        """Imports directories, each that of a node. Returns what thriftstore printed, and whether it succeeded."""
        command = [self.program, "import", "--to", f"data:{self.folder / 'data'}"]
        command += ["--config", self.folder / "storage-conf.xml"]
        for each in directories:
            command += ["--from", each]
        ran = subprocess.run(["nice", *map(str, command)], capture_output=True, text=True, timeout=IMPORT_MAX_S)
        return ran.stdout + ran.stderr, ran.returncode == 0

    def differences(self, answers):
        """The rows that differ from the old server's, as lines. `answers` has rows by keyspace and column family, and the
        rows of SELECT by table."""
        rows, selected = answers
        session = self._serve()
        found, count = [], 0
        for keyspace, families in rows.items():
            for family, expected in families.items():
                ours = live(session.rows(keyspace, family))
                theirs = live(expected)
                count += len(theirs)
                found += [f"{keyspace}.{family} {line}" for line in _between(ours, theirs)]
        for table, expected in selected.items():
            ours = session.selected(table)
            count += len(expected)
            if ours != expected:
                found.append(f"{table}: {_first_difference(ours, expected)}")
        return found, count


def live(rows):
    """Rows by their keys. Rows with nothing live are listed for as long as a server has their tombstones."""
    return {row["key"]: row for row in rows if any(row.get(kind) for kind in KINDS)}


KINDS = ("columns", "super_columns", "counter_columns", "counter_super_columns")


def _between(ours, theirs):
    if list(ours) != list(theirs):
        if set(ours) == set(theirs):
            yield f"rows in another order: {list(ours)[:SHOWN_MAX]} instead of {list(theirs)[:SHOWN_MAX]}"
        else:
            missing = [key for key in theirs if key not in ours][:SHOWN_MAX]
            yield f"rows {missing} are missing, {[key for key in ours if key not in theirs][:SHOWN_MAX]} are too many"
    for key in theirs:
        if key in ours and ours[key] != theirs[key]:
            for kind in KINDS:
                difference = _first_difference(ours[key].get(kind, []), theirs[key].get(kind, []))
                if difference:
                    yield f"row {key}: {difference}"


def _first_difference(ours, theirs):
    for one, other in zip(ours, theirs):
        if one != other:
            return f"{str(one)[:200]} instead of {str(other)[:200]}"
    if len(ours) != len(theirs):
        return f"{len(ours)} instead of {len(theirs)} columns, beginning with {str((ours + theirs)[min(len(ours), len(theirs))])[:200]}"
    return ""
