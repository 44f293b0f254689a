"""Changes of the schema that may get no answer."""

import time

from cql import Statement
from faulty_socket import NotSent, Refused, Unanswered
from part import Part

RETRY_AFTER_S = 30


class ChangingPart(Part):
    """A part whose table is created, altered, truncated and dropped. The table is used by this worker only, so the model
    knows what is in it. Subclasses have `name`, the methods `create`, `drop`, `truncate` and `alter`, and `exists`."""

    exists = False

    def step(self):
        if not self.exists:
            self.create()
        elif self.chance.random() < self.worker.schema_rate and not self.has_running():
            self.check_all()
            change = self.chance.choice([self.drop, self.truncate, self.alter, self.alter])
            change()
            self.check_all()
        else:
            super().step()

    def has_running(self):
        """Whether a server may still apply a write. It could land after a truncate, or in the next table of this name."""
        return any(each.has_running(self.server.run, time.time()) for each in self.partitions.values())

    def check_all(self):
        if self.exists:
            super().check_all()

    def change(self, description, senders, *expected_after_retry):
        """Changes the schema by one of the senders. Without an answer it is tried again, and then may be refused because
        it was done before; without such texts "unanswered" is returned instead."""
        has_retried = False
        while True:
            self.clients.pin()
            try:
                self.chance.choice(senders())()
                break
            except NotSent:
                continue
            except Unanswered:
                self.wait_for_next_run()
                if not expected_after_retry:
                    return "unanswered"
                has_retried = True
            except Refused as error:
                if not (has_retried and any(words in str(error) for words in expected_after_retry)):
                    raise self.difference("schema", f"{description} was refused: {error}") from error
                break
        self.worker.count("schema changes")
        self.note("schema", description)
        return "answered"

    def truncate(self):
        senders = lambda: [self.statement_sender(f"TRUNCATE {self.name}")] + self.truncate_calls()
        if self.change(f"TRUNCATE {self.name}", senders) == "unanswered" and not self.is_empty():
            # The server was killed before: all rows must be there. After it none may be.
            return
        self.clear()

    def truncate_calls(self):
        return []

    def is_empty(self):
        while True:
            try:
                return not self.clients.native(Statement(f"SELECT * FROM {self.name} LIMIT 10"))
            except (NotSent, Unanswered):
                time.sleep(0.05)

    def statement_sender(self, text):
        return lambda: self.clients.native(Statement(text))

    def wait_for_next_run(self):
        """A request without an answer has been given up when the server has been started again, or after a while."""
        run, end = self.clients.run, time.monotonic() + RETRY_AFTER_S
        while self.server.run == run and time.monotonic() < end and not self.worker.is_ending():
            time.sleep(0.05)
