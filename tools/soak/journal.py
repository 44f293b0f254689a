"""A journal: each worker inserts consecutive numbers, so that a backup under load can be compared.

A backup is a state that existed, so of the numbers of one worker it has the first ones without a gap. Numbers that were
acknowledged before the backup began are in it, and numbers that were sent after it ended are not.
"""

import struct
import time

from cql import Statement
from faulty_socket import NotSent, Refused, Unanswered
from part import Part

BUCKET = 500


class Journal(Part):
    name = "Live.Journal"
    schema = Statement('CREATE TABLE "Live".journal (worker int, bucket int, number int, padding text, PRIMARY KEY ((worker, bucket), number))')

    def __init__(self, worker):
        super().__init__(worker)
        self.sent = self.acknowledged = 0
        # Numbers whose insert was not sent or not answered: these may be missing.
        self.maybe = set()

    def step(self):
        number = self.sent + 1
        text = 'INSERT INTO "Live".journal (worker, bucket, number, padding) VALUES (?, ?, ?, ?)'
        values = [("int", self.worker.number), ("int", number // BUCKET), ("int", number), ("text", "x" * self.chance.randrange(300))]
        self.sent = number
        self.clients.fault = self.worker.fault()
        try:
            self.clients.native(Statement(text, *values))
            self.acknowledged = number
        except (NotSent, Unanswered):
            self.maybe.add(number)
        except Refused as error:
            raise self.difference("journal", f"{number} was refused: {error}") from error

    def check_all(self):
        while True:
            try:
                found = self.numbers(self.clients.native, self.sent)
                break
            except (NotSent, Unanswered):
                time.sleep(0.05)
        self.check_numbers(found, self.acknowledged, self.sent)

    def numbers(self, query, most):
        """The numbers in the last two buckets, if `most` was the last number."""
        found = []
        for bucket in (most // BUCKET - 1, most // BUCKET):
            where = [("int", self.worker.number), ("int", bucket)]
            rows = query(Statement('SELECT number FROM "Live".journal WHERE worker = ? AND bucket = ?', *where), 100)
            found += [struct.unpack(">i", row[0])[0] for row in rows]
        return found

    def check_numbers(self, found, least, most):
        """Compares these with the numbers that must be there, up to `least`, and those that may be, up to `most`."""
        self.worker.count("compared")
        first, last = max(1, (most // BUCKET - 1) * BUCKET), max([least, *found])
        missing = sorted(set(range(first, last + 1)) - set(found) - self.maybe)
        if missing or last > most:
            text = f"missing {missing[:10]}, last {last}; acknowledged {least}, sent {most}"
            raise self.difference("journal", text)
