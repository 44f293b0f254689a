"""A part of a worker's data: partitions that only this worker writes, so that the model knows what is in them."""

import time
from collections import deque

from faulty_socket import NotSent, Refused, Unanswered

# More columns or rows than any read returns.
ALL = 1000
HISTORY = 12
READ_TRIES = 50


class Difference(Exception):
    """The server's answer is not possible."""


class Part:
    """Subclasses have a `name`, `keys` and `partitions` by key, and the methods `write(key)` and `readers()`."""

    # Makes the form of a read from live values.
    project = staticmethod(dict)

    def __init__(self, worker):
        self.worker, self.chance, self.clients, self.server = worker, worker.chance, worker.clients, worker.server
        self.history = {}

    def step(self):
        key = self.chance.choice(self.keys)
        self.clients.pin()
        if self.chance.random() < 0.5 and self.partitions[key].accepts_writes(self.server.run, time.time()):
            self.write(key)
        else:
            self.check(key)

    def read_copy(self, key):
        """Reads a partition from the server of a backup."""
        return self.read_native(key)

    def check_all(self):
        for key in self.keys:
            self.check(key)

    def check(self, key):
        """Reads a partition in one of the protocols and compares it with the model."""
        for _ in range(READ_TRIES):
            self.clients.pin()
            reader = self.chance.choice(self.readers())
            sent_at = time.time()
            try:
                found = reader(key)
            except (NotSent, Unanswered):
                time.sleep(0.05)
                continue
            except Refused as error:
                raise self.difference(key, f"{reader.__name__} was refused: {error}") from error
            return self.compare(key, found, (sent_at, time.time()), reader.__name__)
        raise self.difference(key, f"no answer to {READ_TRIES} reads")

    def compare(self, key, found, times, how):
        partition = self.partitions[key]
        self.worker.count("compared")
        if not partition.check(found, times, self.clients.run, **self.projection()):
            expected = partition.expected(times, **self.projection())
            raise self.difference(key, f"{how}: {differences(expected, found)}")

    def projection(self):
        return {"project": self.project}

    def apply(self, key, mutation, send, ttls, description):
        """Sends a write and applies it to the model."""
        partition, sent_at = self.partitions[key], time.time()
        outcome = "answered"
        self.clients.fault = self.worker.fault()
        try:
            send()
            answered_at = time.time()
        except NotSent:
            outcome = "not sent"
        except Unanswered as error:
            outcome = f"unanswered ({error})"
            answered_at = time.time() + 60
        except Refused as error:
            raise self.difference(key, f"a write was refused: {error}: {description}") from error
        self.note(key, f"{description}: {outcome}, run {self.clients.run}")
        if outcome == "not sent":
            self.worker.count("not sent")
            return
        if ttls:
            mutation.set_expiry(sent_at, answered_at, ttls)
        if outcome == "answered":
            partition.apply(mutation)
            self.worker.count("acknowledged writes")
        else:
            partition.add_unanswered(mutation, self.clients.run, time.time())
            self.worker.count("unanswered writes")

    def note(self, key, text):
        self.history.setdefault(key, deque(maxlen=HISTORY)).append(f"{time.time():.3f} {text}")

    def difference(self, key, text):
        history = "\n    ".join(self.history.get(key, ()))
        partition = getattr(self, "partitions", {}).get(key)
        unanswered = len(partition.unanswered) if partition else 0
        return Difference(f"{self.name}, {key}: {text}\n  {unanswered} unanswered; the last writes:\n    {history}")


def differences(expected, found):
    """The first differences between two dictionaries, without what both have."""
    lines = []
    for path in sorted({*expected, *found}, key=repr):
        if expected.get(path) != found.get(path) or (path in expected) != (path in found):
            lines.append(f"{path}: expected {shown(expected, path)}, found {shown(found, path)}")
    return "; ".join(lines[:8]) + (f"; {len(lines) - 8} more" if len(lines) > 8 else "")


def shown(values, path):
    return f"{values[path]!r:.60}" if path in values else "nothing"
