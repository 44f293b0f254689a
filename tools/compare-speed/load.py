"""The load tool, which is the same for all servers: `thriftstore stress`."""

import json
import subprocess


def run(program, words):
    command = [str(word) for word in [program, "stress", *words]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def thrift(program, server, operation, connections, seconds, more=()):
    """One round of a Thrift operation."""
    words = ["--json", "--dialect", server.dialect, "--operation", operation, "--connections", connections]
    return thrift_round(run(program, [*words, "--seconds", seconds, *more, server.thrift]))


def thrift_round(reply):
    if reply["failed"] or reply["connections_lost"]:
        raise SystemExit(f"calls failed: {reply['failures']}, {reply['connections_lost']} connections were lost")
    calls = reply["calls"].values()
    p50, p99 = (max(call[name] for call in calls) / 1000 for name in ("p50_us", "p99_us"))
    return {"rate": reply["ops_per_second"], "p50_ms": p50, "p99_ms": p99}


def native(program, server, connections, pipeline, seconds):
    """One round of INSERT and of SELECT, and those of a do-nothing server beside it."""
    words = ["native", "--json", "--against", server.native, "--connections", connections, "--pipeline", pipeline]
    return native_rounds(run(program, [*words, "--rounds", 1, "--seconds", seconds]))


def native_rounds(reply):
    found = {}
    for statement, both in reply.items():
        if both["server"]["failed"]:
            raise SystemExit(f"{both['server']['failed']} statements failed")
        for side in ("server", "do_nothing"):
            one = both[side]
            times = {name: one[f"{name[:3]}_us"] / 1000 for name in ("p50_ms", "p99_ms")}
            found[statement, side] = {"rate": one["ops_per_second"], **times}
    return found
