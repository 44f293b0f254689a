"""The cases of `compare-sstables`. Each runs old servers and yields what to import: a name, the directories, the release line
and partitioner, what to define for old releases, and the answers of the server."""

import shutil
import struct
import time
from dataclasses import dataclass

import sstable_families as families
import sstable_writes as writes
import structs as s
from releases import Release
from sstable_maker import Maker
from sstable_node import Node
from sstable_session import Refused, Session

WIDE, WIDE_SUPERS, WIDE_SUBCOLUMNS, CHUNK = 100_000, 1500, 40, 1000
CHAIN = "0.7.10 0.8.10 1.0.12 1.1.12 1.2.15 2.0.17 2.1.22 2.2.19 3.0.29 3.11.19".split()
ALL = 5


@dataclass
class Made:
    """Directories with the answers of the server that wrote them."""

    what: str
    line: tuple
    partitioner: str
    directories: list
    answers: tuple


class Cases:
    """Makes the directories of a release in a folder. The servers use ports from `port` on."""

    def __init__(self, version, folder, port):
        self.release = Release(version)
        self.release.fetch()
        self.line, self.folder, self.port = self.release.line, folder, port
        self.usual = "RandomPartitioner" if self.line < (1, 2) else "Murmur3Partitioner"

    def node(self, name, partitioner=None, more="", release=None):
        node = Node(release or self.release, self.folder / name, self.port)
        node.configure(partitioner or self.usual, more)
        return node

    def _copied(self, node, name):
        """Copies the data directory: the server's own files may be changed while others are imported."""
        target = node.folder / "copies" / name / "data"
        shutil.copytree(node.folder / "data" / "data", target)
        return target

    def _loaded(self, node, partitioner):
        maker = Maker(node, partitioner)
        maker.connect()
        maker.define()
        return maker

    def _answers(self, maker):
        """The rows, without those that the keyspace `Alter` has from its earlier definitions."""
        rows, selected = maker.read()
        rows.pop("key_space_test", None)
        rows.pop("Alter", None)
        tables = [f"key_space_test.{table}" for table in selected]
        return rows, {table: maker.session.selected(table) for table in tables}

    def partitioners(self):
        """All writes, in three flushes, under each partitioner; then compacted."""
        found = [self.usual, "RandomPartitioner", "OrderPreservingPartitioner", "ByteOrderedPartitioner"]
        for partitioner in dict.fromkeys(found):
            if partitioner == "OrderPreservingPartitioner" and self.line >= (1, 2):
                # Its keys are texts, and those of the server's own tables are not.
                continue
            node = self.node(partitioner, partitioner)
            try:
                maker = self._loaded(node, partitioner)
                for when in (writes.FIRST, writes.SECOND, writes.LOG):
                    maker.write(when, keys_are_text=partitioner.startswith("OrderPreserving"))
                    maker.flush()
                maker.expire()
                answers = self._answers(maker)
                files = self._copied(node, "flushed")
                yield Made(f"all, {partitioner}", self.line, partitioner, [files], answers)
                for keyspace in maker.keyspaces():
                    node.compact(keyspace)
                answers = self._answers(maker)
                files = self._copied(node, "compacted")
                yield Made(f"all, {partitioner}, compacted", self.line, partitioner, [files], answers)
            finally:
                node.kill()

    def wide(self):
        """Rows of 100,000 columns and of 1,500 super columns, with deletions; flushed, then compacted."""
        defined = {"Wide": [families.Family("Wide", "Std", "LongType"), families.Family("Wide", "Sup", "LongType", "UTF8Type")]}
        compressor = families.compressed(self.line, "SnappyCompressor", 64)
        defined["Wide"].append(families.Family("Wide", "Std_Compressed", "LongType", more=compressor))
        node = self.node("wide")
        try:
            session = self._defined(node, defined)
            for half in (0, 1):
                for family in ("Std", "Std_Compressed"):
                    self._write_wide(session, family, half)
                self._write_wide_supers(session, half)
                node.flush("Wide")
            yield from self._flushed_and_compacted(node, session, "100,000 columns", defined)
        finally:
            node.kill()

    def _flushed_and_compacted(self, node, session, what, defined):
        """The only keyspace of a node, which is flushed, before and after a compaction."""
        [(keyspace, families)] = defined.items()
        for state in ("flushed", "compacted"):
            if state == "compacted":
                node.compact(keyspace)
            rows = {keyspace: {each.name: session.rows(keyspace, each.name) for each in families}}
            files = self._copied(node, state)
            yield Made(f"{what}, {state}", self.line, self.usual, [files], (rows, {}))

    def _defined(self, node, keyspaces, replicas=1):
        node.start()
        session = Session(node)
        for name, defined in keyspaces.items():
            keyspace = s.keyspace(name, [each.definition() for each in defined], self.line)
            if replicas > 1:
                keyspace["s"]["3"] = s.options({"replication_factor": str(replicas)})
            session.call("system_add_keyspace", keyspace)
        return session

    def _write_wide(self, session, family, half):
        for first in range(0, WIDE, CHUNK):
            mutations = []
            for number in range(first, first + CHUNK):
                name, key = struct.pack(">q", number * 3), b"value %d" % number
                if number % 2 == half:
                    mutations.append(s.struct(f1=s.struct(f1=s.column(name, key, writes.BASE + half))))
                elif half and number % 50 == 0:
                    deletion = s.deletion(writes.BASE + 5, None, s.names_predicate([name]))
                    mutations.append(s.struct(f2=deletion))
            session.mutate("Wide", family, b"row", mutations)

    def _write_wide_supers(self, session, half):
        for number in range(WIDE_SUPERS):
            holder = struct.pack(">q", number)
            if number % 100 == 7 and half:
                mutations = [s.struct(f2=s.deletion(writes.BASE + 5, holder))]
            else:
                names = range(half, WIDE_SUBCOLUMNS, 2)
                columns = [s.column(b"n%03d" % each, b"value %d" % each, writes.BASE + half) for each in names]
                mutations = [s.struct(f1=s.struct(f2=s.super_column(holder, columns)))]
            session.mutate("Wide", "Sup", b"row", mutations)

    def chunks(self):
        """Each compressor with chunks of other sizes, flushed twice and compacted."""
        if self.line < families.COMPRESSION_FROM:
            return
        names = ["SnappyCompressor", "DeflateCompressor", *(["LZ4Compressor"] if self.line >= families.LZ4_FROM else [])]
        defined = {"Chunks": []}
        for name in names:
            for size in (1, 2, 32, 256):
                more = families.compressed(self.line, name, size)
                defined["Chunks"].append(families.Family("Chunks", f"{name}_{size}", "UTF8Type", more=more))
        node = self.node("chunks")
        try:
            session = self._defined(node, defined)
            chance = writes.Writes(self.line).chance
            for half in (0, 1):
                for family in defined["Chunks"]:
                    for row in range(3):
                        columns = [
                            s.column(b"n%05d" % number, chance.randbytes(20) + b"same " * (number % 9), writes.BASE + half)
                            for number in range(half, 1500, 1 + row)
                        ]
                        mutations = [s.struct(f1=s.struct(f1=each)) for each in columns]
                        session.mutate("Chunks", family.name, b"row %d" % row, mutations)
                node.flush("Chunks")
            yield from self._flushed_and_compacted(node, session, "odd chunks", defined)
        finally:
            node.kill()

    def snapshots(self):
        """A snapshot is imported for itself, and so are the incremental backups beside it."""
        node = self.node("snapshots", more="incremental_backups: true\n" if self.line >= (0, 8) else "")
        try:
            maker = self._loaded(node, self.usual)
            maker.write(writes.FIRST)
            maker.expire()
            maker.flush()
            before = self._answers(maker)
            node.snapshot("before", "Cmp")
            maker.write(writes.SECOND)
            maker.expire()
            maker.flush()
            after = self._answers(maker)
            data = node.folder / "data" / "data" / "Cmp"
            only = lambda answers: ({"Cmp": answers[0]["Cmp"]}, {})  # noqa: E731
            found = [each for each in data.glob("**/snapshots/*") if each.is_dir()]
            snapshot = node.folder / "copies" / "snapshot"
            for each in found:
                family = each.parent.parent.name
                shutil.copytree(each, snapshot / "Cmp" / ("" if family == "Cmp" else family), dirs_exist_ok=True)
            system = [node.folder / "data" / "data" / name for name in ("system", "system_schema")]
            for each in system:
                if each.is_dir():
                    shutil.copytree(each, snapshot / each.name)
            yield Made("snapshot", self.line, self.usual, [snapshot], only(before))
            backups = list(data.glob("**/backups"))
            if backups:
                for each in backups:
                    family = each.parent.name
                    into = snapshot / "Cmp" / ("" if family == "Cmp" else family)
                    shutil.copytree(each, into, dirs_exist_ok=True)
                yield Made("snapshot and backups", self.line, self.usual, [snapshot], only(after))
            files = self._copied(node, "whole")
            yield Made("snapshots left out", self.line, self.usual, [files], after)
        finally:
            node.kill()

    def ring(self):
        """Counters and columns of three nodes with two replicas, each node's directory given. A node that was stopped misses
        writes."""
        if self.line < families.COUNTERS_FROM:
            return
        counted = [families.Family("Ring", "Ctr", "UTF8Type", is_counter=True), families.Family("Ring", "Std", "UTF8Type")]
        counted.append(families.Family("Ring", "CtrSup", "UTF8Type", "UTF8Type", is_counter=True))
        nodes = self._ring_nodes()
        try:
            first = self._defined(nodes[0], {"Ring": counted}, replicas=2)
            sessions = [first]
            for node in nodes[1:]:
                node.start()
                sessions.append(Session(node))
            wait_for_ring(first, len(nodes))
            for step in range(3):
                for number, session in enumerate(sessions):
                    session.use("Ring")
                    for key in range(12):
                        count(session, key, step, number)
                for node in nodes:
                    node.flush("Ring")
            rows = {"Ring": {each.name: sessions[0].rows("Ring", each.name, ALL) for each in counted}}
            files = [self._copied(node, "flushed") for node in nodes]
            yield Made("three nodes", self.line, self.usual, files, (rows, {}))
            for node in nodes:
                node.compact("Ring")
            files = [self._copied(node, "compacted") for node in nodes]
            yield Made("three nodes, compacted", self.line, self.usual, files, (rows, {}))
        finally:
            for node in nodes:
                node.kill()

    def _ring_nodes(self):
        nodes, whole = [], 2**127 if self.usual == "RandomPartitioner" else 2**64
        for number in range(3):
            address = f"127.0.0.{number + 1}"
            node = Node(self.release, self.folder / f"ring{number}", self.port, address, self.port + 4 + number)
            token = whole // 3 * number - (0 if self.usual == "RandomPartitioner" else 2**63 - 1)
            node.configure(self.usual, token=token)
            nodes.append(node)
        return nodes


def wait_for_ring(session, count):
    """Waits until all nodes have the schema."""
    for _ in range(120):
        versions = session.call("describe_schema_versions")["M"][2]
        if len(versions) == 1 and len(versions[0][1]["L"][1]) == count:
            return
        time.sleep(0.5)
    raise SystemExit(f"the nodes do not agree on a schema: {versions}")


def count(session, key, step, number):
    """Writes to a row through one node. A write that times out may count or not; the answers show which."""
    name = s.blob(b"key %d" % key)
    calls = [
        ("add", name, s.column_parent("Ctr"), s.counter_column(column, 10**step * (number + 1)))
        for column in (b"x", b"y")
    ]
    parent = s.column_parent("CtrSup", b"s%d" % (key % 2))
    calls.append(("add", name, parent, s.counter_column(b"z", number - 1)))
    column = s.column(b"c%d" % number, b"step %d" % step, writes.BASE + step)
    calls.append(("insert", name, s.column_parent("Std"), column))
    if key == 3 and step == 1 and number == 2:
        calls.append(("remove_counter", name, s.column_path("Ctr", None, b"y")))
    for each in calls:
        try:
            session.call(*each, s.i32(ALL))
        except Refused:
            continue


def chain(versions, folder, port):
    """One directory that goes through releases: each reads the files of those before and adds its own. The formats are
    mixed; then the server rewrites all (upgradesstables), which 2.0 and later need of their predecessor."""
    partitioner = "RandomPartitioner"
    previous = None
    for number, version in enumerate(versions):
        cases = Cases(version, folder, port)
        node = Node(cases.release, folder / "chain", port)
        node.configure(partitioner)
        try:
            maker = Maker(node, partitioner)
            maker.connect()
            if previous is None:
                maker.define()
                for when in (writes.FIRST, writes.SECOND):
                    maker.write(when)
                    maker.flush()
            maker.line, maker.has_cql = Release(versions[0]).line, False
            if cases.line >= families.COUNTERS_FROM and "Ctr" not in maker.names("Alter"):
                family = families.Family("Alter", "Ctr", "UTF8Type", is_counter=True)
                maker.session.use("Alter")
                maker.session.call("system_add_column_family", family.definition())
            write_step(maker, number, has_counters=cases.line >= families.COUNTERS_FROM)
            maker.expire()
            maker.flush()
            for what in ("mixed", "upgraded"):
                if what == "upgraded":
                    if cases.line < (1, 0):
                        continue
                    for keyspace in [*maker.keyspaces(), "system"]:
                        node.upgrade(keyspace)
                rows, _ = maker.read()
                target = folder / "copies" / f"{version}-{what}" / "data"
                shutil.copytree(node.folder / "data" / "data", target)
                yield Made(f"{'>'.join(versions[: number + 1])} {what}", cases.line, partitioner, [target], (rows, {}))
            node.manage("drain")
            previous = version
        finally:
            node.kill()


def write_step(maker, number, has_counters):
    w = writes.Writes((0, 7))
    at = 20000 + number
    for family in ("Del_Std", "Exp_Std", "Std_UTF8Type"):
        w.insert(0, family, b"step %d" % number, b"a", b"from step %d" % number, at)
        w.insert(0, family, b"all steps", b"n%d" % number, b"x", at)
        w.insert(0, family, b"all steps", b"same", b"step %d" % number, at)
        w.remove(0, family, b"all steps", at, name=b"n%d" % (number - 1))
        w.insert(0, family, b"all steps", b"ttl%d" % number, b"x", at, ttl=writes.YEARS)
    for family in ("Del_Sup", "Exp_Sup"):
        w.insert(0, family, b"all steps", b"n%d" % number, b"x", at, sup=b"s%d" % (number % 3))
        w.remove(0, family, b"all steps", at, sup=b"s%d" % ((number + 1) % 3))
    for op in w.batches[0]:
        maker.session.write(op)
    if has_counters:
        for key in (b"k1", b"k%d" % number):
            op = {"op": "add", "keyspace": "Alter", "cf": "Ctr", "key": key, "name": b"x", "amount": 10**number}
            maker.session.write(op)
