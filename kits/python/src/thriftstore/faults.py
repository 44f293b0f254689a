"""Faults: what happens to some requests of clients."""

# What a rule does. All other keywords are conditions.
EFFECTS = (
    "delay_ms",
    "error",
    "text",
    "applied",
    "reply",
    "skip",
    "times",
    "probability",
    "seed",
)


class Faults(object):
    """The rules of a server or sandbox.

    A rule has conditions (protocol, generation, connection, method, statement, operation, keyspace, column_family, key,
    consistency) and effects: delay_ms (a number, or minimum and maximum), error, text, applied, reply, skip, times,
    probability, seed. docs/testing.md describes them.
    """

    def __init__(self, control):
        self._control = control
        self._made = 0

    def set(self, name, **rule):
        """Sets a rule, and replaces one of this name. Returns it."""
        self._control.put("faults", name, **_body(rule))
        return Fault(self, name)

    def add(self, **rule):
        """Sets a rule under a new name. In a `with` statement, the rule is removed at the end of the block."""
        self._made += 1
        return self.set("fault-%d" % self._made, **rule)

    __call__ = add

    def list(self):
        """Returns the rules as dictionaries with `name`, `rule`, `met` and `hits`."""
        return self._control.get("faults")["faults"]

    def remove(self, name):
        self._control.delete("faults", name)

    def clear(self):
        """Removes all rules, forgets the requests, and accepts connections again."""
        self._control.post("reset", what="faults")

    def refuse_connections(self):
        """Closes new connections of clients at once. A `with` statement accepts them again at the end of the block."""
        self._control.post("connections", refuse=True)
        return RefusedConnections(self)

    def accept_connections(self):
        self._control.post("connections", refuse=False)


class Fault(object):
    """A rule that was set. Its counts can still be read after the end of its block."""

    def __init__(self, faults, name):
        self._faults = faults
        self._last = {"met": 0, "hits": 0}
        self.name = name

    @property
    def hits(self):
        """On how many requests the rule has had an effect."""
        return self._state()["hits"]

    @property
    def met(self):
        """How many requests have met the condition."""
        return self._state()["met"]

    def _state(self):
        for rule in self._faults.list():
            if rule["name"] == self.name:
                self._last = rule
        return self._last

    def remove(self):
        self._state()
        self._faults.remove(self.name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        # The block may have removed it, or reset the server.
        if any(rule["name"] == self.name for rule in self._faults.list()):
            self.remove()


class RefusedConnections(object):
    """Ends the refusal of connections at the end of a block."""

    def __init__(self, faults):
        self._faults = faults

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._faults.accept_connections()


def _body(rule):
    body = {name: value for name, value in rule.items() if name in EFFECTS}
    when = {name: value for name, value in rule.items() if name not in EFFECTS}
    if when:
        body["when"] = when
    return body
