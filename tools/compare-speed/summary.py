"""The goals, and tables of the results in Markdown."""

from servers import NOTHING, OURS

PROCESSORS = "processors"
CASSANDRA, NATIVE = "Cassandra 2.1.22", "Cassandra 5.0"
OPERATIONS = ("insert", "read", "slice", "batch")
AT = 16


def goals(results):
    """Rows of a table: the goal, the figure or None, and whether it is met."""
    rows = []
    for operation in OPERATIONS:
        found = ratio(results, "connections", operation, AT, NOTHING)
        rows.append((f"{operation}: 0.85 of the do-nothing server", found, found is not None and found >= 0.85))
    for operation in OPERATIONS:
        found = ratio(results, "connections", operation, AT, CASSANDRA)
        rows.append((f"{operation}: 3 times {CASSANDRA}", found, found is not None and found >= 3))
    for statement in ("insert", "select"):
        for pipeline in (1, 32):
            found = ratio(results, "native", f"{statement}, {pipeline} in flight", AT, NATIVE)
            rows.append((f"native {statement}, {pipeline} in flight: 3 times {NATIVE}", found, found is not None and found >= 3))
    for case, goal, most in (("exact start", "start in 0.030 s", 0.030), ("idle before the first request", "idle memory of 25 MB", 25)):
        found = results.rate("start", OURS, case, 0)
        rows.append((goal, found, found is not None and found < most))
    return rows


def ratio(results, topic, case, x, other):
    ours, theirs = results.rate(topic, OURS, case, x), results.rate(topic, other, case, x)
    return None if ours is None or not theirs else ours / theirs


def markdown(results):
    machine = results.held["machine"]
    lines = [f"{machine.get('version')}, on {machine.get(PROCESSORS)} processors: {machine.get('model')}", ""]
    lines += ["| goal, with 16 connections | measured | |", "|---|---:|---|"]
    for goal, found, is_met in goals(results):
        if found is None:
            lines.append(f"| {goal} | not measured | |")
            continue
        measured = f"{found:.3f}" if found < 1 else f"{found:.1f}"
        lines.append(f"| {goal} | {measured} | {'met' if is_met else '**missed**'} |")
    for topic, figures in results.held["topics"].items():
        lines += ["", f"### {topic}", "", "| server | case | x | rate | lowest - highest | p50 ms | p99 ms |"]
        lines.append("|---|---|---:|---:|---|---:|---:|")
        for one in figures:
            times = [f"{one[name]:.2f}" if name in one else "" for name in ("p50_ms", "p99_ms")]
            spread = f"{number(one['lowest'])} - {number(one['highest'])}"
            cells = [one["server"], one["case"], f"{one['x']:g}", number(one["rate"]), spread, *times]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
