"""Replays recordings, to find differences between two servers."""

import json
import os
import shutil
import subprocess
import tempfile

from .program import find_program

REPORT = "report.json"


class ReplayDiffers(AssertionError):
    """Answers differ from the recorded ones. The text is the report; `report` has its fields."""

    def __init__(self, report):
        message = "answers differ from the recorded ones\n" + report.text
        super(ReplayDiffers, self).__init__(_native(message))
        self.report = report


class ReplayFailed(Exception):
    """The replay did not end. The text is what the program said."""


class Report(object):
    """What a replay has found.

    verdict: "same", "differs", "incomplete" if writes did not reach the server, or "nothing" if no answers were compared
    calls: counts of calls by what they are, such as "total", "compared" and "data"
    causes: the differences, grouped by cause, as dictionaries
    fields: all fields of the report
    text: the report for a reader
    """

    def __init__(self, fields, text):
        self.fields = fields
        self.verdict, self.calls, self.causes = fields["verdict"], fields["calls"], fields["causes"]
        self.text = text


def replay(file, compat=(), config=None, load=(), fail_on="data", arguments=(), program=None):
    """Replays a recording to a server in memory, and returns the report.

    file: a recording of `record`, or a file of JSON lines
    compat, config, load: what the server had when the recording began; without config and load it begins empty
    fail_on: raise ReplayDiffers if there are differences in "data", "exception" (or data) or "text" (or any); or None
    arguments: further arguments of `thriftstore replay`, such as ["--against", "cassandra:9160"]
    program: the path of the program, instead of the one that `find_program` finds
    """
    scratch = tempfile.mkdtemp(prefix="thriftstore-")
    try:
        command = [program or find_program(), "replay", str(file), "--report", "json"]
        command += ["--report-to", os.path.join(scratch, REPORT)]
        options = {"--config": config, "--compat": compat, "--load": load, "--fail-on": fail_on}
        for option, values in sorted(options.items()):
            for value in _listed(values):
                command += [option, str(value)]
        return _run(command + list(arguments), os.path.join(scratch, REPORT))
    finally:
        shutil.rmtree(scratch)


def _run(command, written):
    # Python 2.7 has no subprocess.run.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = [stream.decode("utf-8", "replace") for stream in process.communicate()]
    if not os.path.exists(written):
        raise ReplayFailed(_native(errors))
    text = output.split("\nThe report is in ")[0]
    with open(written, "rb") as file:
        report = Report(json.loads(file.read().decode("utf-8")), text)
    if process.returncode != 0:
        raise ReplayDiffers(report)
    return report


def _native(text):
    """Returns a text that `str` accepts: that of Python 2 accepts bytes only."""
    return text.encode("utf-8") if str is bytes else text


def _listed(value):
    if value is None:
        return []
    return value if isinstance(value, (list, tuple)) else [value]
