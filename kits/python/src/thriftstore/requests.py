"""The requests that clients have sent."""


class Requests(object):
    """The last requests of clients, each a dictionary. Conditions are those of faults: `find(method="insert")`."""

    def __init__(self, control):
        self._control = control

    def last(self, count=100):
        """Returns the last requests, the oldest first."""
        return self.find(count)

    def find(self, last=100, **condition):
        """Returns the last requests that meet a condition, the oldest first."""
        return self._control.post("requests", "find", when=condition, last=last)["requests"]

    def verify(self, times=None, **condition):
        """Raises an AssertionError unless so many requests meet the condition; without `times`, at least one."""
        self._verify([_expectation(condition, times)], False)

    def verify_in_order(self, *conditions):
        """Raises an AssertionError unless requests meet the conditions (dictionaries) in this order."""
        self._verify([_expectation(condition, None) for condition in conditions], True)

    def _verify(self, expected, in_order):
        found = self._control.post("requests", "verify", requests=expected, in_order=in_order)
        if not found["verified"]:
            raise AssertionError("%s of %r" % ("; ".join(found["differences"]), expected))


def _expectation(condition, times):
    expectation = {"when": condition}
    if times is not None:
        expectation["times"] = times
    return expectation


def line_of(request):
    """Returns a request as a line of text."""
    words = ["%(number)d %(protocol)s %(method)s" % request]
    for name in ("keyspace", "statement", "consistency"):
        if request.get(name):
            words.append(request[name])
    for row in request.get("rows", ()):
        words.append(
            "%s[%s]" % (row["column_family"], row["key"] if row.get("key") is not None else "...")
        )
    words.append("%d us" % request["micros"])
    if request.get("faults"):
        words.append("faults: " + ", ".join(request["faults"]))
    if request.get("error"):
        words.append("error: " + request["error"])
    return "  ".join(words)
