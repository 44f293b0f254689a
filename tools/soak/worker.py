"""A worker: a thread that reads and writes its own partitions in all protocols, and compares what it reads."""

import random
import threading
import time
import traceback

from client import Clients
from counters import CounterRows
from faulty_socket import FAULTS, NotSent, Refused, Unanswered
from families import Families
from journal import Journal
from part import Difference
from rows import StandardRows, SuperRows
from tables import Tables

WEIGHTS = [5, 2, 2, 4, 2, 1]


class Worker(threading.Thread):
    def __init__(self, number, soak):
        super().__init__(name=f"worker {number}", daemon=True)
        self.number, self.soak = number, soak
        self.chance = random.Random(f"{soak.options.seed} {number}")
        self.server, self.calls, self.counts = soak.server, soak.calls, soak.counts
        self.clients = Clients(self.server, self.chance, self.calls)
        self.last_timestamp = 0
        self.schema_rate = soak.options.schema_rate
        self.parts = [StandardRows(self), SuperRows(self), CounterRows(self), Tables(self), Families(self), Journal(self)]
        self.checked_run = 0

    def run(self):
        while not self.is_ending():
            self.soak.gate.enter()
            try:
                self.step()
            except Difference as difference:
                self.soak.report_difference(f"worker {self.number}: {difference}")
            except (NotSent, Unanswered):
                time.sleep(0.02)
            except Exception:
                self.soak.report_difference(f"worker {self.number} failed:\n{traceback.format_exc()}")
            finally:
                self.soak.gate.leave()
            self.soak.throttle(self.number)

    def step(self):
        if self.checked_run != self.server.run and self.server.is_up.is_set():
            run = self.server.run
            self.check_all()
            self.checked_run = run
            self.count("complete comparisons after a start")
            return
        if self.chance.random() < 0.002:
            return self.scan()
        self.chance.choices(self.parts, WEIGHTS)[0].step()

    def check_all(self):
        for part in self.parts:
            part.check_all()

    def scan(self):
        part = self.parts[0]
        self.clients.pin()
        sent_at = time.time()
        rows = part.scan()
        times = sent_at, time.time()
        for key, found in rows.items():
            part.compare(key, found, times, "scan")

    def timestamp(self):
        """A timestamp that is later than all before."""
        self.last_timestamp = max(self.last_timestamp + 1, time.time_ns() // 1000)
        return self.last_timestamp

    def value(self):
        chance = self.chance
        size = chance.choices([chance.randrange(100), chance.randrange(8000), chance.randrange(100_000)], [880, 100, 20])[0]
        return chance.randbytes(size)

    def fault(self):
        return self.chance.choice(FAULTS) if self.chance.random() < self.soak.options.fault_rate else None

    def count(self, what):
        self.counts[what] += 1

    def is_ending(self):
        return self.soak.is_ending.is_set()
