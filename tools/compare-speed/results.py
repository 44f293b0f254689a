"""The results of a run: for each topic a list of figures, stored as JSON."""

import json
import os
import platform
import statistics
import subprocess
from pathlib import Path


def figure(server, case, x, rounds):
    """A figure of a server: the median of each measured number of its rounds, and the lowest and highest rate.

    `case` is what was done, as "insert"; `x` is what varies, as the number of connections; each of `rounds` has the keys
    `rate`, and `p50_ms` and `p99_ms` where they were measured."""
    rates = [one["rate"] for one in rounds]
    found = {"server": server, "case": case, "x": x, "rounds": len(rounds)}
    found |= {"rate": statistics.median(rates), "lowest": min(rates), "highest": max(rates)}
    for name in ("p50_ms", "p99_ms"):
        if all(name in one for one in rounds):
            found[name] = statistics.median(one[name] for one in rounds)
    return found


class Results:
    """The results of the topics that have been measured, in a file."""

    def __init__(self, path):
        self.path = Path(path)
        self.held = json.loads(self.path.read_text()) if self.path.exists() else {"machine": {}, "topics": {}}

    def describe_machine(self, program):
        """Records where and what is measured."""
        info = Path("/proc/cpuinfo")
        models = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
        self.held["machine"] = {
            "processors": os.cpu_count(),
            "model": models[0] if models else platform.processor(),
            "system": platform.platform(),
            "load_before": os.getloadavg()[0],
            "version": version,
        }

    def replace(self, topic, figures):
        """Stores the figures of a topic at once, so that an interrupted run loses nothing."""
        self.held["topics"][topic] = figures
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.held, indent=1))
        part.rename(self.path)

    def topic(self, name):
        return self.held["topics"].get(name, [])

    def rate(self, topic, server, case, x):
        """The median rate of a figure; None if it was not measured."""
        for one in self.topic(topic):
            if (one["server"], one["case"], one["x"]) == (server, case, x):
                return one["rate"]
        return None
