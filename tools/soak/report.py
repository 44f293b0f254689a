"""Progress once a minute, the summary at the end, and samples of memory and descriptors."""

import time

from server import size_of

EVERY_S = 60
SAMPLE_S = 10


class Report:
    def __init__(self, soak):
        self.soak = soak
        self.next_at = soak.began + min(EVERY_S, soak.options.duration / 3)
        self.next_sample = soak.began

    def step(self):
        now, soak = time.time(), self.soak
        if now >= self.next_sample:
            usage = soak.server.usage()
            if usage:
                with open(soak.folder / "samples.csv", "a") as file:
                    file.write(",".join(map(str, [round(now - soak.began), soak.server.run, *usage, size_of(soak.server.data)])) + "\n")
            self.next_sample = now + SAMPLE_S
        if now >= self.next_at:
            self.next_at = now + EVERY_S
            self.line(now)

    def line(self, now):
        soak = self.soak
        usage = soak.server.usage() or (0, 0, 0)
        elapsed = now - soak.began
        calls = ", ".join(f"{name} {count}" for name, count in sorted(soak.calls.items()))
        print(f"{elapsed:6.0f} s, {max(0, soak.options.duration - elapsed):6.0f} s left; run {soak.server.run}, "
              f"{soak.counts['kills']} kills, {soak.counts['schema changes']} schema changes, "
              f"{soak.counts['compared']} comparisons; {usage[0] >> 20} MiB, {usage[1]} descriptors, {usage[2]} threads, "
              f"directory {size_of(soak.server.data) >> 20} MiB; calls {sum(soak.calls.values())}: {calls}", flush=True)

    def end(self):
        soak = self.soak
        print()
        for name, count in sorted(soak.calls.items()):
            print(f"{count:10} calls: {name}")
        for name, count in sorted(soak.counts.items()):
            print(f"{count:10} {name}")
        print(f"{len(soak.differences):10} differences")
