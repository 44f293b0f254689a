"""What a server must have: rows of one writer each, whose cells are changed in the order of their timestamps."""

import threading
import time
from dataclasses import dataclass

# The seconds by which a server may let a cell expire earlier or later than its time to live, after its acknowledgement. Times
# to live are whole seconds on the server's side.
EXPIRY_SLACK_S = 2.5
FOREVER = float("inf")


@dataclass
class Cell:
    value: bytes
    # The cell is there before the first time, and gone after the second one.
    expires_after: float = FOREVER
    expired_at: float = FOREVER


class Row:
    """A row. Only its writer changes it; others read it while no write is on its way."""

    def __init__(self, family, key):
        self.family, self.key = family, key
        self.cells = {}
        # Values that were there once, by their name.
        self.gone = {}
        self.version, self.is_busy = 0, False
        # Whether the table has a static column, which came with 2.0.
        self.has_static = False
        # Whether each write of CQL names its timestamp.
        self.is_stamped = True
        self.lock = threading.Lock()

    def begin(self):
        with self.lock:
            self.is_busy = True

    def end(self, changes, began):
        """Applies changes that are acknowledged: a name with a value, or None, and the seconds after which it expires."""
        now = time.time()
        with self.lock:
            for name, value, ttl in changes:
                if value is None:
                    for gone in [each for each in self.cells if each[: len(name)] == name]:
                        self.gone.setdefault(gone, set()).add(self.cells.pop(gone).value)
                    continue
                if name in self.cells:
                    self.gone.setdefault(name, set()).add(self.cells[name].value)
                cell = Cell(value)
                if ttl:
                    cell = Cell(value, began + ttl - 1.2, now + ttl + EXPIRY_SLACK_S)
                self.cells[name] = cell
            self.version, self.is_busy = self.version + 1, False

    def seen(self):
        """The version and the cells, if no write is on its way."""
        with self.lock:
            return None if self.is_busy else (self.version, dict(self.cells))

    def differences(self, cells, found, began, ended):
        """What a read from `began` to `ended` shows that it must not: pairs of a kind and a text."""
        wrong = []
        for name in cells.keys() | found.keys():
            cell, value = cells.get(name), found.get(name)
            is_expected = cell is not None and ended < cell.expires_after
            is_allowed = cell is not None and began < cell.expired_at
            where = f"{self.family} {self.key} {b'/'.join(name).decode()}"
            if value is None:
                if is_expected:
                    wrong.append(("lost", f"{where}: {cell.value} is not there"))
            elif cell is None or (value == cell.value and not is_allowed):
                wrong.append(("resurrected", f"{where}: {value} is there again"))
            elif value != cell.value:
                was = value in self.gone.get(name, ())
                wrong.append(("lost", f"{where}: {value} instead of {cell.value}{', an older value' if was else ''}"))
        return wrong


class Counter:
    """A counter, with the additions that are acknowledged, and those whose outcome is not known."""

    def __init__(self, family, key, name):
        self.family, self.key, self.name = family, key, name
        self.added = self.unknown = 0

    def difference(self, total):
        if self.added <= total <= self.added + self.unknown:
            return None
        return f"{self.family} {self.key} {b'/'.join(self.name).decode()}: {total}, not {self.added} (+{self.unknown})"


class Tally:
    """What the run has found."""

    def __init__(self):
        self.lock = threading.Lock()
        self.writes = self.reads = self.cells = self.unknown = 0
        self.found = {"lost": [], "resurrected": [], "counter": []}
        self.pauses = []

    def add(self, kind, text):
        with self.lock:
            self.found[kind].append(text)
            if len(self.found[kind]) <= 20:
                print(f"  {kind}: {text}", flush=True)

    def check(self, row, found, began, ended, cells):
        for kind, text in row.differences(cells, found, began, ended):
            self.add(kind, text)
        with self.lock:
            self.reads += 1
            self.cells += len(found)

    def pause(self, began, ended):
        if ended - began > 0.05:
            with self.lock:
                self.pauses.append((began, ended))
