"""Calls that are like recorded ones, and not the same: what a recording holds, mixed and bent."""

from wire import binary, raw

NUMBERS = [-1, 0, 1, 2, 3, 5, 7, 10, 100, 1000]
# Cells that live less long than this expire at different moments on two servers.
TTL_LEAST_S = 1000
ABOUT_THE_SERVER = ("system_", "describe_", "set_", "no_such", "login", "truncate", "execute", "prepare", "trace")


def is_data_call(method):
    return not method.startswith(ABOUT_THE_SERVER)


class Mixer:
    """Makes calls. Each value may be replaced by another that stood in the same place of the same method."""

    def __init__(self, chance, calls):
        self.chance = chance
        self.calls = [call for call in calls if is_data_call(call["m"])]
        self.seen = {}
        for call in self.calls:
            self._note({"s": call["a"]}, call["m"])

    def call(self):
        """One call. None of its cells expire soon."""
        while True:
            like = self.chance.choice(self.calls)
            arguments = self._bend({"s": like["a"]}, like["m"], is_whole=True)["s"]
            if not any(map(expires_soon, arguments.values())):
                return like["m"], arguments

    def _note(self, value, place):
        self.seen.setdefault(place, []).append(value)
        for inner, at in parts(value, place):
            self._note(inner, at)

    def _often(self, probability):
        return self.chance.random() < probability

    def _bend(self, value, place, is_whole=False):
        ((letter, held),) = value.items()
        others = self.seen[place]
        if letter in "tx":
            value = self.chance.choice(others) if self._often(0.12) else value
            return self._bend_bytes(value) if self._often(0.03) else value
        if letter in "il":
            value = self.chance.choice(others) if self._often(0.12) else value
            return {letter: self.chance.choice(NUMBERS)} if self._often(0.05) else value
        if letter == "b":
            return {"b": held ^ self._often(0.06)}
        if not is_whole and self._often(0.05):
            value = self.chance.choice(others)
            ((letter, held),) = value.items()
        if letter == "s":
            return {"s": self._bend_fields(held, place)}
        if letter == "M":
            return {"M": [*held[:2], self._bend_pairs(held[2], place)]}
        if letter in "LS":
            return {letter: [held[0], self._bend_items(held[1], place)]}
        return value

    def _bend_fields(self, fields, place):
        bent = {number: self._bend(value, f"{place}/{number}") for number, value in fields.items()}
        if self._often(0.04):
            more = self.chance.choice(self.seen[place])["s"]
            missing = [number for number in more if number not in bent]
            bent |= {number: more[number] for number in missing[:1]}
        return bent

    def _bend_pairs(self, pairs, place):
        bent = {}
        for key, value in pairs:
            key = self._bend(key, f"{place}/k")
            bent.setdefault(raw(key), [key, self._bend(value, f"{place}/v")])
        return list(bent.values())

    def _bend_items(self, items, place):
        items = [self._bend(item, f"{place}/*") for item in items]
        if items and self._often(0.05):
            items.pop(self.chance.randrange(len(items)))
        if items and self._often(0.05):
            items.insert(self.chance.randrange(len(items) + 1), self.chance.choice(items))
        if self._often(0.04) and self.seen.get(f"{place}/*"):
            items.append(self.chance.choice(self.seen[f"{place}/*"]))
        return items

    def _bend_bytes(self, value):
        old, chance = raw(value), self.chance
        at = chance.randrange(len(old)) if old else 0
        bent = chance.choice(
            [
                b"",
                old + chance.randbytes(1),
                old[:-1],
                old[1:],
                old[:at] + chance.randbytes(1) + old[at + 1 :],
                chance.randbytes(chance.choice([1, 2, 4, 8, 16])),
                old + old,
            ]
        )
        return binary(bent)


def parts(value, place):
    """What a value is made of, with the places."""
    ((letter, held),) = value.items()
    if letter == "s":
        return [(inner, f"{place}/{number}") for number, inner in held.items()]
    if letter in "LS":
        return [(inner, f"{place}/*") for inner in held[1]]
    if letter == "M":
        return [(inner, f"{place}/{of}") for pair in held[2] for inner, of in zip(pair, "kv")]
    return []


def expires_soon(value):
    """Whether a column in a value has a short time to live. A SliceRange has a number in that place, too, and `reversed` before it."""
    fields = value.get("s", {})
    ttl_s = fields.get("4", {}).get("i", 0)
    if "1" in fields and "b" not in fields.get("3", {}) and 0 < ttl_s < TTL_LEAST_S:
        return True
    return any(expires_soon(inner) for inner, _ in parts(value, ""))
