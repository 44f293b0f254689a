"""The run: workers, and a director that kills and restarts the server, breaks connections, and makes backups."""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from backups import Backups
from counters import CounterRows
from cql import Statement
from faults import Strangers
from journal import Journal
from native_client import NativeConnection
from part import Difference
from report import Report
from sabotage import KINDS, Sabotage
from server import HOST, MODERN_RELEASES, OLD_RELEASES, Ended, Server
from worker import Worker

ROOT = Path(__file__).resolve().parent.parent.parent
KEYSPACE = "CREATE KEYSPACE \"Live\" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
UNITS = {"s": 1, "m": 60, "h": 3600}


class Gate:
    """Lets workers make steps, or holds all of them between two steps."""

    def __init__(self):
        self.condition, self.inside, self.is_closed = threading.Condition(), 0, False

    def enter(self):
        with self.condition:
            self.condition.wait_for(lambda: not self.is_closed)
            self.inside += 1

    def leave(self):
        with self.condition:
            self.inside -= 1
            self.condition.notify_all()

    @contextmanager
    def closed(self):
        with self.condition:
            self.is_closed = True
            self.condition.wait_for(lambda: self.inside == 0)
        try:
            yield
        finally:
            with self.condition:
                self.is_closed = False
                self.condition.notify_all()


class Soak:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.calls, self.counts, self.counts_of_restored = Counter(), Counter(), Counter()
        self.gate, self.is_ending = Gate(), threading.Event()
        self.differences, self.lock = [], threading.Lock()
        self.chance = random.Random(options.seed)
        ports = (options.port, options.port + 1) if options.port else (0, 0)
        self.server = Server(options.program, folder, folder / "data", ports)
        self.began = time.time()
        self.workers = []

    def report_difference(self, text):
        with self.lock:
            self.differences.append(text)
            print(f"\nDIFFERENCE, seed {self.options.seed}, after {time.time() - self.began:.0f} s, run {self.server.run}, "
                  f"compat {self.server.old_release} and {self.server.modern_release}\n{text}\n", flush=True)
        self.is_ending.set()

    def throttle(self, number):
        """Waits so that all workers together make about `rate` steps per second."""
        time.sleep(random.random() * 2 * self.options.workers / self.options.rate)

    def create_schema(self):
        connection = NativeConnection(HOST, self.server.native_port, 4)
        for statement in (Statement(KEYSPACE), CounterRows.schema, Journal.schema):
            connection.query(statement.text)
        connection.close()

    def execute(self):
        """Runs until the time is over or a difference is found. Returns the status."""
        self.server.start()
        self.create_schema()
        self.workers = [Worker(number, self) for number in range(self.options.workers)]
        report = Report(self)
        for worker in self.workers:
            worker.start()
        director = Director(self)
        try:
            while not self.is_ending.wait(0.1) and time.time() - self.began < self.options.duration:
                self.server.check()
                director.step()
                report.step()
            if not self.differences:
                director.final_comparison()
        except (Difference, Ended) as error:
            self.report_difference(str(error))
        except Exception:
            self.report_difference(f"the director failed:\n{traceback.format_exc()}")
        self.is_ending.set()
        for worker in self.workers:
            worker.join(30)
        report.end()
        if self.server.process.poll() is None:
            self.server.kill()
        return 1 if self.differences else 0


class Director:
    """Decides what happens to the server, and when.

    Kills come in storms. Between two storms the server runs for a longer time, so that growth of its memory shows."""

    def __init__(self, soak):
        self.soak, self.chance, self.options = soak, soak.chance, soak.options
        self.backups, self.strangers = Backups(soak), Strangers(soak)
        self.sabotage = Sabotage(soak, self.options.sabotage) if self.options.sabotage else None
        self.next_restart = time.time() + self.pause(self.options.kill_every)
        self.next_backup = time.time() + self.pause(self.options.backup_every)

    def pause(self, mean):
        return mean * self.chance.uniform(0.3, 1.7)

    def is_calm(self, at):
        """Whether it is a time without kills: the second part of each period."""
        return (at - self.soak.began) % self.options.period > self.options.period * 0.4

    def step(self):
        now = time.time()
        self.strangers.step()
        if self.sabotage:
            self.sabotage.step()
        if now > self.next_backup:
            self.backups.make(is_quiet=self.backups.count % 2 == 0)
            self.next_backup = time.time() + self.pause(self.options.backup_every)
        if now > self.next_restart:
            if not self.is_calm(now):
                self.restart()
            self.next_restart = time.time() + self.pause(self.options.kill_every)

    def restart(self):
        """Kills or stops the server under load, and starts it with the behaviour of other releases."""
        soak = self.soak
        if self.chance.random() < 0.7:
            soak.server.kill()
            soak.counts["kills"] += 1
        else:
            soak.server.stop()
            soak.counts["clean restarts"] += 1
        began = time.monotonic()
        soak.server.start(self.chance.choice(OLD_RELEASES), self.chance.choice(MODERN_RELEASES))
        soak.longest_start = max(getattr(soak, "longest_start", 0), time.monotonic() - began)

    def final_comparison(self):
        """Restarts the server a last time and compares everything."""
        self.restart()
        end = time.monotonic() + 120
        while any(worker.checked_run != self.soak.server.run for worker in self.soak.workers):
            if self.soak.differences:
                return
            if time.monotonic() > end:
                raise Difference("the last comparison did not end within 120 s")
            time.sleep(0.05)


def duration(text):
    """Seconds of a text such as 30s, 5m or 2h."""
    if text[-1] in UNITS:
        return float(text[:-1]) * UNITS[text[-1]]
    return float(text)


def arguments():
    parser = argparse.ArgumentParser(prog="tools/soak/run", description=__doc__)
    parser.add_argument("--duration", type=duration, default="30s", help="such as 30s, 5m or 2h")
    parser.add_argument("--seed", type=int, default=None, help="of all random choices; printed if it is left out")
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/thriftstore")
    parser.add_argument("--directory", type=Path, help="where data and logs are stored; must not exist. It is kept after a difference")
    parser.add_argument("--rate", type=float, default=400, help="steps of all workers per second, about")
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--port", type=int, help="the first of two ports; free ones without it")
    parser.add_argument("--kill-every", type=duration, default=None, help="mean time between restarts in a storm")
    parser.add_argument("--backup-every", type=duration, default=None, help="mean time between backups")
    parser.add_argument("--period", type=duration, default=None, help="time of a storm of kills and the calm after it")
    parser.add_argument("--fault-rate", type=float, default=0.02, help="part of the writes whose connection is broken")
    parser.add_argument("--schema-rate", type=float, default=0.01, help="part of the steps on a table that change its schema")
    parser.add_argument("--sabotage", choices=KINDS, help="falsify the data, to see that the difference is found")
    options = parser.parse_args()
    options.seed = random.randrange(2**32) if options.seed is None else options.seed
    options.period = options.period or max(min(18 * 60, options.duration), 10)
    options.kill_every = options.kill_every or min(25, options.duration / 8)
    options.backup_every = options.backup_every or min(150, options.duration / 5)
    return options


def main():
    options = arguments()
    folder = options.directory or Path(tempfile.mkdtemp(prefix="soak-"))
    if options.directory:
        folder.mkdir(parents=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    print(f"seed {options.seed}, directory {folder}, program {options.program}", flush=True)
    soak = Soak(options, folder)
    status = soak.execute()
    if status:
        print(f"the directory {folder} is kept")
    elif not options.directory:
        shutil.rmtree(folder)
    return status
