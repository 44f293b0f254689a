"""Backups of the running server, each restored on a server of its own and compared."""

import shutil
import subprocess
import time

from client import Clients
from part import Difference, differences
from server import Server


class Backups:
    def __init__(self, soak):
        self.soak = soak
        self.count = 0

    def make(self, is_quiet):
        """Makes a backup and compares it. `is_quiet`: the workers wait meanwhile, so that all data can be compared.
        Otherwise they go on, and only their journals are compared."""
        self.count += 1
        folder = self.soak.folder / f"backup.{self.count}"
        target = folder / "data"
        folder.mkdir()
        if is_quiet:
            with self.soak.gate.closed():
                self._run(target)
                self._compare(folder, target, self._compare_all)
        else:
            least = [worker.parts[-1].acknowledged for worker in self.soak.workers]
            self._run(target)
            most = [worker.parts[-1].sent for worker in self.soak.workers]
            self._compare(folder, target, lambda clients: self._compare_journals(clients, least, most))
        shutil.rmtree(folder)
        self.soak.counts["backups, all data compared" if is_quiet else "backups under load, journals compared"] += 1

    def _run(self, target):
        command = [self.soak.options.program, "backup", "--data-dir", self.soak.server.data, target]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode:
            raise Difference(f"the backup failed: {done.stderr[-2000:]}")

    def _compare(self, folder, target, compare):
        server = Server(self.soak.options.program, folder, target)
        server.start()
        try:
            compare(Restored(server, self.soak))
            server.stop()
        except Difference as difference:
            raise Difference(f"in the restored backup {target}: {difference}") from None
        finally:
            if server.process.poll() is None:
                server.kill()

    def _compare_all(self, restored):
        for worker in self.soak.workers:
            for part in worker.parts[:-1]:
                if getattr(part, "exists", True):
                    restored.compare(part)
            self._compare_journal(restored, worker, worker.parts[-1].acknowledged, worker.parts[-1].sent)

    def _compare_journals(self, restored, least, most):
        for worker, its_least, its_most in zip(self.soak.workers, least, most):
            self._compare_journal(restored, worker, its_least, its_most)

    def _compare_journal(self, restored, worker, least, most):
        journal = worker.parts[-1]
        journal.check_numbers(journal.numbers(restored.clients.native, most), least, most)


class Restored:
    """The server of a restored backup, which is read through a part's own reads."""

    def __init__(self, server, soak):
        self.server, self.soak = server, soak
        self.clients = Clients(server, soak.chance, soak.counts_of_restored)

    def compare(self, part):
        self.clients.pin()
        clients, part.clients = part.clients, self.clients
        try:
            for key in part.keys:
                sent_at = time.time()
                found = part.read_copy(key)
                times = sent_at, time.time()
                partition = part.partitions[key]
                self.soak.counts["compared"] += 1
                if not partition.is_possible(found, times, **part.projection()):
                    raise part.difference(key, differences(partition.expected(times, **part.projection()), found))
        finally:
            part.clients = clients
