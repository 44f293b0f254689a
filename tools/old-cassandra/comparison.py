"""Plays conversations to both servers and collects what differs."""

import answers
import known
from conversation import KEYSPACE, keyspace_name, renamed
from guesses import guesses
from shrink import shrink
from side import ANY_ERROR

# A conversation ends after this many differences that no pattern explains: what follows often has the same cause.
UNKNOWN_MAX = 2
# So often a conversation is played again to see a difference again.
REPEATED = 20
NOT_REPEATED = "Not seen again when the same calls were played to new keyspaces: a slow answer, or a schema change under way."


class NotMade(Exception):
    """What a conversation begins with is refused."""

    def __init__(self, found):
        super().__init__("what a conversation begins with is refused")
        self.found = found


class Comparison:
    def __init__(self, real, ours, line, patterns):
        self.real, self.ours, self.line, self.patterns = real, ours, line, patterns
        self.direct = [each for each in patterns if "before" not in each.expressions]
        self.played, self.keyspaces = 0, 0
        self.reasons, self.unknown = {}, []

    def converse(self, conversation, report, recording=None):
        """Plays a conversation, and shrinks what differs. Calls `report` with each difference that has no known reason. Returns
        whether the old server still makes keyspaces."""
        try:
            self._play(conversation, report, recording)
        except NotMade as error:
            if error.found.real == ANY_ERROR:
                return False
            self.played += 1
            self.unknown.append(error.found)
            report(conversation, error.found)
        return True

    def keyspace(self, conversation, recording=None):
        """A new keyspace for a conversation, to be used in a `with`."""
        return _Keyspace(self, conversation, recording)

    def _play(self, conversation, report, recording):
        unknown_before = len(self.unknown)
        with self.keyspace(conversation, recording) as keyspace:
            for at, call in enumerate(conversation.calls):
                real, ours = keyspace.play(call)
                self.played += 1
                kind = answers.difference(call, real, ours)
                reason = None
                if kind:
                    reason = self._judge(conversation, at, known.Found(kind, [], call, real, ours), report, keyspace)
                if recording and reason is None:
                    recording.keep()
                if kind and kind != "text" and answers.is_write(call):
                    break  # From here on their data differ.
                if len(self.unknown) >= unknown_before + UNKNOWN_MAX:
                    break

    def _judge(self, conversation, at, found, report, keyspace):
        """The reason of a difference. One without a known reason is reported."""
        reason = known.reason_of(self.direct, found, self.line)
        if reason is None:
            found = self._shrunk(conversation, conversation.calls[: at + 1], found)
            keyspace.resume()
            reason = known.reason_of(self.patterns, found, self.line) if found else NOT_REPEATED
        if reason is None:
            self.unknown.append(found)
            report(conversation, found)
            return None
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        return reason

    def _shrunk(self, conversation, calls, found):
        """The same difference after the fewest calls, or None if it is not seen again."""
        wanted = _likeness(found)

        def replay(some):
            with self.keyspace(conversation.with_calls(some)) as keyspace:
                for call in some:
                    real, ours = keyspace.play(call)
            return known.Found(answers.difference(some[-1], real, ours), some[:-1], some[-1], real, ours)

        def has_reason(some):
            fewer = known.Found(found.kind, some[:-1], *_parts(found))
            return known.reason_of(self.patterns, fewer, self.line) is not None

        def is_shown(some):
            # A difference that needs no calls before has a reason of its own, which is not the reason of this one.
            again = replay(some)
            return _likeness(again) == wanted and known.reason_of(self.direct, again, self.line) is None

        if not any(is_shown(calls) for _ in range(REPEATED)):
            return None
        shrunk = shrink(calls, is_shown, is_enough=has_reason, guesses=guesses(calls, conversation.makes))
        again = replay(shrunk)
        return again if _likeness(again) == wanted else None


def _parts(found):
    return found.call, found.real, found.ours


def _likeness(found):
    """What has to stay the same while a conversation shrinks: the kind of the difference, and the errors."""
    errors = [
        answers.comparable(found.call, each) if answers.is_error(each) else None for each in (found.real, found.ours)
    ]
    return found.kind, errors


class _Keyspace:
    """A new keyspace on both servers, made as a conversation begins and dropped at its end."""

    def __init__(self, comparison, conversation, recording=None):
        self.comparison, self.recording = comparison, recording
        self.makes = conversation.makes
        comparison.keyspaces += 1
        self.name = keyspace_name(comparison.keyspaces)
        self.settings = {}

    def __enter__(self):
        self.sides = (self.comparison.real, self.comparison.ours)
        for side in self.sides:
            side.begin()
        for make in self.makes:
            real, ours = self.play(make)
            if self.recording:
                self.recording.keep()
            kind = answers.difference(make, real, ours)
            if kind or answers.is_error(real):
                raise NotMade(known.Found(kind or "text", [], make, real, ours))
        return self

    def __exit__(self, *_):
        for side in self.sides:
            side.play({"m": "system_drop_keyspace", "a": {"1": {"t": self.name}}})
            side.begin()

    def play(self, call, is_lost=False):
        """Both answers, with the keyspace's name as it is in conversations. With `is_lost` the second server does not get the
        call, and the answer is the first one's."""
        sent = renamed(call, KEYSPACE, self.name)
        if self.recording:
            self.recording.begin(sent, self.sides[0])
        real = self.sides[0].play(sent)
        ours = real if is_lost else self.sides[1].play(sent)
        if self.recording:
            self.recording.answered(real)
        self.settings = dict(self.sides[0].settings)
        return tuple(renamed(answer, self.name, KEYSPACE) for answer in (real, ours))

    def resume(self):
        """Goes on after other conversations were played."""
        for side in self.sides:
            side.settings = dict(self.settings)
