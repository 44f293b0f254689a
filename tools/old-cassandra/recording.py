"""Writes what an old server answered as a recording (see tests/recordings/README.md)."""

import json

import answers

CONFIGS = {"RandomPartitioner": "storage-conf.xml", "Murmur3Partitioner": "storage-conf-murmur3.xml"}


class Recording:
    """The lines of a recording. A call is added in three steps: before it is sent, with its answer, and when it is known
    whether it is kept."""

    def __init__(self, folder, version, topic, partitioner):
        compat = ".".join(version.split(".")[:2])
        self.path, self.lines = folder / f"{compat}-{topic}.jsonl", []
        self.header = {
            "corpus": self.path.stem,
            "recorded_from": f"Cassandra {version}",
            "config": CONFIGS[partitioner],
            "partitioner": partitioner,
            "framed": True,
            "compat": compat,
        }
        self.connection = None

    def begin(self, call, side):
        self.call, self.side, self.settings = call, side, dict(side.settings)

    def answered(self, answer):
        self.answer, self.answered_on = answer, self.side.connections_made

    def keep(self):
        """Adds the last call. If it went over a new connection, what sets that one's keyspace comes first. A call whose answer
        has a timestamp of the server's clock is left out."""
        if answers.has_clock(self.answer):
            return
        connection = self.answered_on
        if connection != self.connection:
            for method, arguments in self.settings.items():
                self._add(method, arguments, ["reply", {}], connection)
            self.connection = connection
        answer = self.answer
        if self.call["m"].startswith("system_") and not answers.is_error(answer):
            answer = ["any reply", {}]
        self._add(self.call["m"], self.call["a"], answer, connection)

    def _add(self, method, arguments, answer, connection):
        self.lines.append({"m": method, "a": arguments, "r": answer, "c": connection})

    def write(self):
        lines = [self.header, *self.lines]
        self.path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
