"""Delta debugging: the fewest calls, and the fewest things in each call, that still show a difference."""

import copy
import time

TRIALS_MAX = 250
SECONDS_MAX = 40


class Budget:
    """Counts trials and their time. When they are used up nothing is tried any more, and the best that was found stays."""

    def __init__(self, is_shown, trials_max):
        self._is_shown, self.left = is_shown, trials_max
        self.ends_at = time.monotonic() + SECONDS_MAX

    def is_shown(self, calls):
        if self.left <= 0 or time.monotonic() > self.ends_at:
            return False
        self.left -= 1
        return self._is_shown(calls)


def shrink(calls, is_shown, trials_max=TRIALS_MAX, is_enough=lambda calls: False, guesses=()):
    """The shortest calls found whose last one `is_shown` to be answered differently. The last call stays. If the fewest calls
    are enough, they are not made simpler. The first of the `guesses` of the calls before it that shows it is where shrinking begins."""
    budget = Budget(is_shown, trials_max)
    before, last = calls[:-1], calls[-1]
    before = next((guess for guess in guesses if budget.is_shown([*guess, last])), before)
    before = fewest(before, lambda some: budget.is_shown([*some, last]))
    fewer = [*before, last]
    return fewer if is_enough(fewer) else simplest(fewer, budget.is_shown)


def fewest(items, is_shown):
    """A subset, in order, of which no part can be left out (ddmin)."""
    if items and is_shown([]):
        return []
    count = 2
    while len(items) >= 2:
        size = -(-len(items) // count)
        chunks = [items[at : at + size] for at in range(0, len(items), size)]
        smaller = _smaller(chunks, is_shown)
        if smaller is not None:
            items, count = smaller, max(2, count - 1)
        elif size == 1:
            break
        else:
            count = min(len(items), count * 2)
    return items


def _smaller(chunks, is_shown):
    for at in range(len(chunks)):
        rest = [item for chunk in chunks[:at] + chunks[at + 1 :] for item in chunk]
        if rest and is_shown(rest):
            return rest
    return None


def simplest(calls, is_shown):
    """The same calls with fewer items in their lists and maps, and with fewer optional fields."""
    calls, at = list(calls), 0
    while at < len(calls):
        for simpler in simpler_calls(calls[at]):
            attempt = [*calls[:at], simpler, *calls[at + 1 :]]
            if is_shown(attempt):
                calls = attempt
                break
        else:
            at += 1
    return calls


def simpler_calls(call):
    """Copies of a call, each without one item of a list or a map."""
    for path in _item_paths(call["a"]):
        simpler = copy.deepcopy(call)
        held = simpler["a"]
        for step in path[:-1]:
            held = held[step]
        del held[path[-1]]
        yield simpler


def _item_paths(value, path=()):
    """The paths of all items, outer ones before inner ones."""
    if isinstance(value, dict):
        for key, held in value.items():
            if key in ("L", "S", "M") and isinstance(held, list):
                items = held[2] if key == "M" else held[1]
                at = (*path, key, 2 if key == "M" else 1)
                if len(items) > 1:
                    yield from ((*at, index) for index in range(len(items)))
                for index, item in enumerate(items):
                    yield from _item_paths(item, (*at, index))
            else:
                yield from _item_paths(held, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _item_paths(item, (*path, index))
