"""Draws the results as SVG: plots.py DIRECTORY, which has results.json and gets a plot for each topic."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
# The same results give the same file.
matplotlib.rcParams |= {"svg.hashsalt": "compare-speed", "svg.fonttype": "none", "font.size": 9}
from matplotlib import pyplot  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
from results import Results  # noqa: E402

# Readable on white and on dark pages, which both show the plot's own background.
COLOURS = {"thriftstore": "#0b6e4f", "do-nothing server": "#8a8f98"}
OTHERS = ["#c1440e", "#8338ec", "#1d4ed8"]
LABELS = {"connections": "connections", "native": "connections", "values": "bytes of a value", "data": "data / memory"}


def colour(name, known):
    if name not in known:
        known[name] = COLOURS.get(name) or OTHERS[len([one for one in known if one not in COLOURS]) % len(OTHERS)]
    return known[name]


def lines(topic, figures, path):
    """One column of plots for each case: the rate, and below it p50 and p99."""
    cases, known = list(dict.fromkeys(one["case"] for one in figures)), {}
    has_times = any("p99_ms" in one for one in figures)
    rows = 2 if has_times else 1
    figure, axes = pyplot.subplots(rows, len(cases), figsize=(2.9 * len(cases), 2.6 * rows), squeeze=False, sharex=True)
    for column, case in enumerate(cases):
        for server in dict.fromkeys(one["server"] for one in figures):
            points = [one for one in figures if one["server"] == server and one["case"] == case]
            xs, look = [one["x"] for one in points], {"color": colour(server, known), "marker": ".", "linewidth": 1.2}
            axes[0][column].plot(xs, [one["rate"] for one in points], label=server, **look)
            axes[0][column].fill_between(
                xs, [one["lowest"] for one in points], [one["highest"] for one in points], color=look["color"], alpha=0.15, linewidth=0
            )
            if has_times:
                axes[1][column].plot(xs, [one["p50_ms"] for one in points], **look)
                axes[1][column].plot(xs, [one["p99_ms"] for one in points], linestyle=":", **look)
        axes[0][column].set_title(case)
        for row in range(rows):
            axes[row][column].set_xscale("log", base=10 if topic == "values" else 2)
            if topic != "values":
                axes[row][column].set_xticks(xs, [f"{x:g}" for x in xs])
            axes[row][column].grid(alpha=0.25)
        axes[0][column].set_ylim(bottom=0)
        axes[rows - 1][column].set_xlabel(LABELS[topic])
    if has_times:
        axes[1][0].set_ylabel("ms: p50, p99 dotted")
        for column in range(len(cases)):
            axes[1][column].set_yscale("log")
    axes[0][0].set_ylabel("calls per second")
    save(figure, axes[0][0].get_legend_handles_labels(), path)


def bars(figures, path):
    """One plot for each case, a bar for each server."""
    # Of thriftstore only, for the goals.
    figures = [one for one in figures if one["case"] not in ("exact start", "idle before the first request")]
    cases, known = list(dict.fromkeys(one["case"] for one in figures)), {}
    units = {"start": "start to first answer, s", "idle": "memory when idle, MB", "loaded": "memory after the load, MB"}
    figure, axes = pyplot.subplots(1, len(cases), figsize=(3.4 * len(cases), 2.2), squeeze=False)
    for column, case in enumerate(cases):
        points = [one for one in figures if one["case"] == case]
        names = [one["server"] for one in points]
        drawn = axes[0][column].barh(names, [one["rate"] for one in points], color=[colour(name, known) for name in names])
        labels = [f"{one['rate']:,.0f}" if one["rate"] >= 100 else f"{one['rate']:.3g}" for one in points]
        axes[0][column].bar_label(drawn, labels, padding=2)
        axes[0][column].set_title(units.get(case, f"{case}, s"))
        axes[0][column].invert_yaxis()
        axes[0][column].margins(x=0.3)
    save(figure, None, path)


def save(figure, legend, path):
    if legend and legend[0]:
        figure.legend(*legend, loc="lower center", ncols=4, frameon=False)
    figure.tight_layout(rect=(0, 0.06 if legend else 0, 1, 1))
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    print(path)


def main():
    out = Path(sys.argv[1])
    results = Results(out / "results.json")
    for topic, figures in results.held["topics"].items():
        if figures:
            (lines if topic in LABELS else lambda _, *rest: bars(*rest))(topic, figures, out / f"speed-{topic}.svg")


if __name__ == "__main__":
    main()
