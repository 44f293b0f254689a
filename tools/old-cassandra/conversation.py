"""A conversation: the calls that make its keyspace, and the calls that are compared."""

import json
from dataclasses import dataclass

# The keyspace's name in calls. Each time a conversation is played another name of the same length takes its place.
KEYSPACE = "keyspace_0000000"


@dataclass
class Conversation:
    topic: str
    makes: list
    calls: list

    def with_calls(self, calls):
        """The same with fewer calls, and without the column families that none of them names."""
        return Conversation(self.topic, _only_named(self.makes, calls), calls)


def keyspace_name(number):
    return f"keyspace_{number:07d}"


def renamed(value, old, new):
    """A value with one text replaced by another wherever it occurs."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: renamed(each, old, new) for key, each in value.items()}
    return [renamed(each, old, new) for each in value] if isinstance(value, list) else value


def _only_named(makes, calls):
    spoken = json.dumps(calls, ensure_ascii=False)
    return [_with_families_in(make, spoken) for make in makes]


def _with_families_in(make, spoken):
    if make["m"] != "system_add_keyspace":
        return make
    fields = make["a"]["1"]["s"]
    letter, families = fields.get("5", {"L": ["s", []]})["L"]
    named = [each for each in families if json.dumps(each["s"]["2"], ensure_ascii=False) in spoken]
    return {**make, "a": {"1": {"s": {**fields, "5": {"L": [letter, named]}}}}}
