"""The reference model: what a partition, a counter or a batch may contain.

A request that was answered has been applied, or not, as its answer says. A request without an answer (the server was
killed, the connection was cut) may have been applied, and may still be applied later, as long as the server that got
it is running. So each partition has its *certain* mutations and its *unanswered* ones:

    certain:     insert a=1 @10     delete b @12
    unanswered:  insert b=2 @15 (run 3), insert c=3 @16 (run 3)

    possible contents:  {a=1}   {a=1, b=2}   {a=1, c=3}   {a=1, b=2, c=3}

A mutation is applied as a whole or not at all, so a read that shows half of it matches none of the possible contents
and is a difference. A read that matches narrows the possibilities: a mutation that is in all contents that match
becomes certain, and one that is in none of them is forgotten, if no server can apply it any more.

Mutations are merged by their timestamps, as in Cassandra, so their order does not matter. All timestamps of a
partition are different.
"""

from itertools import combinations
from typing import NamedTuple

# More unanswered mutations than this are not collected: a partition that has so many is only read.
UNANSWERED_MAX = 4
# A server that runs on has given up a request of a closed connection after this time.
SETTLED_AFTER_S = 60
# The server computes the end of a cell's life in whole seconds.
EXPIRY_SLACK_S = 1
# Cells that expire during a read are tried with and without, in all combinations of their times up to this number.
EXPIRING_MAX = 6


class Cell(NamedTuple):
    timestamp: int
    value: object
    # The times between which the cell expires, in seconds since 1970, or none.
    expires: tuple | None = None


class Mutation:
    """Cells and deletions that are applied together.

    `cells` has cells by their paths: (name,), (super column, name), or (clustering key, column, element). A deletion
    of a prefix of these paths deletes all that is older."""

    def __init__(self, cells=None, deletions=None):
        self.cells = cells or {}
        self.deletions = deletions or {}
        # The run of the server that got it, and when, if it is unanswered.
        self.run = self.unanswered_at = None
        # Whether the server chose the timestamp. If it may still apply it, later writes could be older.
        self.has_server_time = False

    def set_expiry(self, sent_at, answered_at, ttls):
        """Computes when the cells with a time to live expire. `ttls` has seconds by paths."""
        for path, ttl_s in ttls.items():
            times = int(sent_at) + ttl_s - EXPIRY_SLACK_S, int(answered_at) + ttl_s + EXPIRY_SLACK_S
            self.cells[path] = self.cells[path]._replace(expires=times)


class Uncertain:
    """Something with unanswered changes, each of which may have been applied."""

    def __init__(self):
        self.unanswered = []

    def add_unanswered(self, change, run, now):
        change.run, change.unanswered_at = run, now
        self.unanswered.append(change)

    def accepts_writes(self, run, now):
        if any(getattr(each, "has_server_time", False) and not is_settled(each, run, now) for each in self.unanswered):
            return False
        return len(self.unanswered) < UNANSWERED_MAX

    def has_running(self, run, now):
        """Whether a server may still apply one of the changes."""
        return any(not is_settled(change, run, now) for change in self.unanswered)

    def observe(self, is_match, run, now):
        """Compares a read with everything that is possible, and learns from it. `is_match` gets a list of changes.
        Returns whether something matches. `run` and `now` are those when the read was sent."""
        subsets = [set(each) for size in range(len(self.unanswered) + 1) for each in combinations(self.unanswered, size)]
        matching = [subset for subset in subsets if is_match([each for each in self.unanswered if each in subset])]
        if not matching:
            return False
        for change in list(self.unanswered):
            if all(change in subset for subset in matching):
                self.unanswered.remove(change)
                self.apply(change)
            elif is_settled(change, run, now) and not any(change in subset for subset in matching):
                self.unanswered.remove(change)
        return True


def is_settled(change, run, now):
    return change.run != run or now - change.unanswered_at > SETTLED_AFTER_S


class Partition(Uncertain):
    def __init__(self):
        super().__init__()
        self.cells, self.deletions = {}, {}

    def apply(self, mutation):
        merge(self.cells, self.deletions, mutation)

    def timestamp_of(self, path):
        """The timestamp of the newest certain cell of a path, deleted or not, or 0."""
        cell = self.cells.get(path)
        deleted = (self.deletions.get(path[:length], 0) for length in range(len(path) + 1))
        return max(cell.timestamp if cell else 0, *deleted)

    def check(self, observed, times, run, project=dict):
        """Compares a read with what is possible. `times` are those when the read was sent and answered. `project` makes
        the form of the read from the live values by their paths."""
        return self.observe(lambda changes: self._matches(observed, changes, times, project), run, times[0])

    def is_possible(self, observed, times, project=dict):
        """The same, but learns nothing: for reads of a copy."""
        subsets = (each for size in range(len(self.unanswered) + 1) for each in combinations(self.unanswered, size))
        return any(self._matches(observed, changes, times, project) for changes in subsets)

    def expected(self, times, project=dict):
        """One of the possible contents, for reports: with the certain mutations only."""
        live, maybe = self._live([], times)
        return project(live | maybe)

    def _matches(self, observed, changes, times, project):
        live, maybe = self._live(changes, times)
        if not maybe:
            return project(live) == observed
        ends = sorted({self_expiry for self_expiry in maybe_ends(maybe)})[:EXPIRING_MAX]
        for size in range(len(ends) + 1):
            for kept in combinations(ends, size):
                cells = {path: cell.value for path, cell in maybe.items() if cell.expires in kept}
                if project(live | cells) == observed:
                    return True
        return False

    def _live(self, changes, times):
        """The values that must be there, and the cells that may have expired."""
        cells, deletions = self.cells, self.deletions
        if changes:
            cells, deletions = dict(cells), dict(deletions)
            for mutation in changes:
                merge(cells, deletions, mutation)
        live, maybe = {}, {}
        sent_at, answered_at = times
        for path, cell in cells.items():
            if cell.value is None or any(deletions.get(path[:length], 0) >= cell.timestamp for length in range(len(path) + 1)):
                continue
            if cell.expires is None or answered_at < cell.expires[0]:
                live[path] = cell.value
            elif sent_at < cell.expires[1]:
                maybe[path] = cell
        return live, maybe


def maybe_ends(maybe):
    return (cell.expires for cell in maybe.values())


def merge(cells, deletions, mutation):
    for path, cell in mutation.cells.items():
        if path not in cells or cells[path].timestamp < cell.timestamp:
            cells[path] = cell
    for prefix, timestamp in mutation.deletions.items():
        deletions[prefix] = max(deletions.get(prefix, 0), timestamp)


class Increment:
    def __init__(self, amounts):
        self.amounts = amounts
        self.run = self.unanswered_at = None


class Counters(Uncertain):
    """The counters of a row: exact sums, and increments that may be in them."""

    def __init__(self):
        super().__init__()
        self.sums = {}

    def apply(self, increment):
        self.sums = self._with([increment])

    def check(self, observed, times, run):
        return self.observe(lambda changes: self._with(changes) == observed, run, times[0])

    def is_possible(self, observed, _times):
        subsets = (each for size in range(len(self.unanswered) + 1) for each in combinations(self.unanswered, size))
        return any(self._with(changes) == observed for changes in subsets)

    def expected(self, _times):
        return dict(self.sums)

    def _with(self, increments):
        sums = dict(self.sums)
        for increment in increments:
            for name, amount in increment.amounts.items():
                sums[name] = sums.get(name, 0) + amount
        return sums
