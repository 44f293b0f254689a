"""Counters: exact sums, with the increments that got no answer as what may be in them or not."""

import struct
import time

import structs
from cql import Statement, batch
from faulty_socket import NotSent, Refused, Unanswered
from model import Counters, Increment
from part import Part
from rows import CL, everything
from thrift_client import columns_of

NAMES = [f"count{number}".encode() for number in range(5)]
ROWS = 8


class CounterRows(Part):
    name = "Live.Counters"
    keyspace, family = "Live", "Counters"
    schema = Statement('CREATE TABLE "Live"."Counters" (key blob, column1 blob, value counter, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE')

    def __init__(self, worker):
        super().__init__(worker)
        self.keys = [f"c{worker.number}-{number}".encode() for number in range(ROWS)]
        self.partitions = {key: Counters() for key in self.keys}

    def write(self, key):
        amounts = {name: self.chance.randrange(-1000, 100_000) for name in self.chance.sample(NAMES, self.chance.choice([1, 1, 3]))}
        senders = [self.native]
        if self.server.has_release("0.8"):
            senders += [self.modern] * 2
        if self.server.has_release("1.2"):
            senders.append(self.cql3)
        sender = self.chance.choice(senders)
        increment = Increment(amounts)
        self.apply(key, increment, sender(key, amounts), {}, f"{sender.__name__} {amounts}")

    def modern(self, key, amounts):
        row, parent = structs.blob(key), structs.column_parent(self.family)
        if len(amounts) == 1:
            ((name, amount),) = amounts.items()
            arguments = {"1": row, "2": parent, "3": structs.counter_column(name, amount), "4": CL}
            return lambda: self.clients.modern("add", arguments, self.keyspace)
        mutations = [structs.struct(f1=structs.struct(f3=structs.counter_column(*each))) for each in amounts.items()]
        of_family = {"M": ["t", "L", [[structs.text(self.family), structs.items("s", mutations)]]]}
        arguments = {"1": {"M": ["t", "M", [[row, of_family]]]}, "2": CL}
        return lambda: self.clients.modern("batch_mutate", arguments, self.keyspace)

    def statement(self, key, amounts):
        text = 'UPDATE "Live"."Counters" SET value = value + ? WHERE key = ? AND column1 = ?'
        parts = [Statement(text, ("counter", amount), ("blob", key), ("blob", name)) for name, amount in amounts.items()]
        return parts[0] if len(parts) == 1 else batch(parts, "COUNTER")

    def native(self, key, amounts):
        statement = self.statement(key, amounts)
        return lambda: self.clients.native(statement)

    def cql3(self, key, amounts):
        statement = self.statement(key, amounts)
        return lambda: self.clients.cql3(statement, self.keyspace)

    def projection(self):
        return {}

    def readers(self):
        readers = [self.read_native]
        if self.server.has_release("0.8"):
            readers.append(self.read_modern)
        return readers

    def read_native(self, key, version=None):
        statement = Statement('SELECT column1, value FROM "Live"."Counters" WHERE key = ?', ("blob", key))
        return {name: struct.unpack(">q", value)[0] for name, value in self.clients.native(statement, version=version)}

    def read_modern(self, key):
        arguments = {"1": structs.blob(key), "2": structs.column_parent(self.family), "3": everything(), "4": CL}
        return columns_of(self.clients.modern("get_slice", arguments, self.keyspace))
