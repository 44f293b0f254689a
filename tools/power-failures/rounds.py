"""The rounds: clients write, the power fails, the file system and the server recover, and all contents are compared."""

import argparse
import atexit
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from disk import Disk, DiskFile
from server import Ended, Server
from workload import Client, Difference, Writer

ROOT = Path(__file__).resolve().parent.parent.parent
DISK_BYTES = 96 << 20
# Rounds on one file system. Then the disk is made anew, so that a defect is not hidden by the state before it.
ROUNDS_OF_DISK = 20
WRITERS = 3
# Writes of the disk and seconds until the power fails, after a random time.
WRITES_MAX = 12
SYNC_MAX_S = 2
CONFIGURATION = """<Storage>
  <ClusterName>power failures</ClusterName>
  <Keyspaces/>
  <CommitLogSync>batch</CommitLogSync>
  <CommitLogSyncBatchWindowInMS>0.5</CommitLogSyncBatchWindowInMS>
</Storage>
"""


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(map(str, command))} failed: {done.stderr.strip()}")
    return done.stdout.strip()


class Machine:
    """A loop device with ext4 on a disk that loses power."""

    def __init__(self, folder, block_size):
        self.folder, self.block_size, self.loop = folder, block_size, None
        self.mount = folder / "mounted"
        (folder / "fuse").mkdir()
        self.mount.mkdir()
        self.disk = Disk(DISK_BYTES)
        self.file = DiskFile(self.disk, folder / "fuse")

    def attach(self, is_new):
        if is_new:
            self.disk.clear()
        self.loop = run("losetup", "--find", "--show", self.file.path)
        if is_new:
            run("mkfs.ext4", "-q", "-b", self.block_size, self.loop)
        run("mount", self.loop, self.mount)

    def detach(self):
        run("umount", self.mount)
        run("losetup", "--detach", self.loop)
        self.loop = None

    def end(self):
        for command in (["umount", "-l", self.mount], ["losetup", "--detach", self.loop], ["umount", "-l", self.folder / "fuse"]):
            if command[-1]:
                subprocess.run(list(map(str, command)), capture_output=True)
        self.loop = None


class Rounds:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.chance = random.Random(options.seed)
        self.machine = Machine(folder, options.block_size)
        self.counts = dict.fromkeys(["rounds", "refused", "lost", "acknowledged", "sectors cached", "sectors lost"], 0)
        self.clients = self.server = None
        self.mean_s = options.seconds
        atexit.register(self.end)

    def end(self):
        """Leaves no process, mount or loop device behind."""
        if self.server and self.server.process.poll() is None:
            self.server.process.kill()
            self.server.process.wait()
        self.machine.end()

    def execute(self):
        began = time.monotonic()
        for number in range(self.options.rounds):
            if number % ROUNDS_OF_DISK == 0:
                self.clients = None
            self.round(number)
            if number % ROUNDS_OF_DISK == ROUNDS_OF_DISK - 1 or number + 1 == self.options.rounds:
                print(f"{time.monotonic() - began:.0f} s: {self.text()}", flush=True)

    def text(self):
        return ", ".join(f"{name} {count}" for name, count in self.counts.items())

    def round(self, number):
        machine = self.machine
        machine.attach(is_new=self.clients is None)
        if self.clients is None:
            kinds = [Writer] * WRITERS + [Client]
            self.clients = [kind(at, random.Random(self.chance.random()), [None]) for at, kind in enumerate(kinds)]
        server = Server(self.options.program, self.folder, machine.mount / "data", cache_mb=2)
        server.config.write_text(CONFIGURATION)
        self.server = server
        if self.check(number, server):
            self.write_until_the_power_fails(server)
        machine.detach()
        cached, lost = machine.disk.return_power(self.chance)
        self.counts["sectors cached"] += cached
        self.counts["sectors lost"] += lost
        self.counts["rounds"] += 1

    def check(self, number, server):
        """Starts the server and compares its contents. Returns whether they are as expected."""
        try:
            server.start()
            for client in self.clients:
                client.check(server.native_port)
            return True
        except Ended as error:
            self.counts["refused"] += 1
            what = f"{error}\n" + "".join((self.folder / "server.log").read_text().splitlines(True)[-4:])
        except Difference as error:
            self.counts["lost"] += 1
            what = str(error)
        if server.process.poll() is None:
            server.kill()
        kept = self.folder / f"round-{number}"
        shutil.copytree(self.machine.mount / "data", kept)
        print(f"round {number}: {what}\nthe data directory is kept in {kept}", flush=True)
        self.clients = None
        return False

    def write_until_the_power_fails(self, server):
        self.clients = [client.started_again(server.native_port) for client in self.clients]
        for client in self.clients:
            client.start()
        time.sleep(self.chance.expovariate(1 / self.mean_s))
        # Half of the failures come between the writes of a sync, where the disk has something to lose.
        writes = self.chance.choice([0, self.chance.randrange(WRITES_MAX)])
        self.machine.disk.cut_power(writes, SYNC_MAX_S)
        server.kill()
        for client in self.clients:
            client.join()
            self.counts["acknowledged"] += client.acknowledged


def main(usage):
    parser = argparse.ArgumentParser(prog="tools/power-failures/run", description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--block-size", type=int, choices=[1024, 2048, 4096], default=1024, help="of the file system")
    parser.add_argument("--seconds", type=float, default=0.4, help="mean time between a start and the power failure")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="of the random choices; printed")
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/thriftstore")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="power-failures-"))
    print(f"seed {options.seed}, directory {folder}, blocks of {options.block_size} bytes", flush=True)
    rounds = Rounds(options, folder)
    try:
        rounds.execute()
    except KeyboardInterrupt:
        print(f"ended early: {rounds.text()}")
    rounds.end()
    if rounds.counts["refused"] or rounds.counts["lost"]:
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(__doc__))
