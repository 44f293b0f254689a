"""The clock of a server."""

import calendar
from datetime import datetime, timedelta


class Clock(object):
    """The clock of a server or sandbox. It follows the system's clock until a test changes it."""

    def __init__(self, control):
        self._control = control

    def now(self):
        """Returns the server's time, as seconds since 1970."""
        return self.state()["now_ms"] / 1000.0

    def state(self):
        """Returns a dictionary with `now`, `now_ms`, `frozen` and `offset_ms`."""
        return self._control.get("clock")

    def freeze(self, at=None):
        """Stops the clock; at this time, if one is given."""
        self._control.post("clock", freeze=True)
        if at is not None:
            self.set(at)

    def unfreeze(self):
        """Lets a stopped clock run on from its time."""
        self._control.post("clock", freeze=False)

    def set(self, time):
        """Sets the time: a datetime, in UTC if it has no time zone; a text; or seconds since 1970."""
        self._control.post("clock", set=_text(time))

    def advance(self, seconds=0, **more):
        """Moves the clock by seconds and by what timedelta accepts: `advance(hours=1)`. Negative: back."""
        by = timedelta(seconds=seconds, **more)
        self._control.post("clock", advance_ms=int(round(by.total_seconds() * 1000)))

    def follow(self):
        """Follows the system's clock again."""
        self._control.post("clock", follow=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.follow()


def _text(time):
    if isinstance(time, (int, float)):
        time = datetime(1970, 1, 1) + timedelta(seconds=time)
    if not isinstance(time, datetime):
        return time
    seconds = calendar.timegm(time.utctimetuple())
    whole = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    return "%s.%03dZ" % (whole.strftime("%Y-%m-%dT%H:%M:%S"), time.microsecond // 1000)
