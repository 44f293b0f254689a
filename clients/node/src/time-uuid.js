// Version-1 UUIDs: the names that a column family of TimeUUIDType keeps in the order of time.

"use strict";

const { createHash } = require("node:crypto");

// These UUIDs count steps of 100 ns from the start of the Gregorian calendar. This is the count in 1970.
const STEPS_TO_1970 = 0x01b21dd213814000n;

// The name of what happened at `millis`. Where other UUIDs tell the machine that made them, these carry a
// hash of `text`: two events of the same moment get two names, and the same event gets the same name however
// often it is written.
function timeUuid(millis, text) {
  const steps = BigInt(millis) * 10_000n + STEPS_TO_1970;
  const uuid = Buffer.alloc(16);
  uuid.writeUInt32BE(Number(steps & 0xffffffffn), 0);
  uuid.writeUInt16BE(Number((steps >> 32n) & 0xffffn), 4);
  uuid.writeUInt16BE(0x1000 | Number((steps >> 48n) & 0x0fffn), 6);
  createHash("md5").update(text).digest().copy(uuid, 8, 8);
  uuid[8] = 0x80 | (uuid[8] & 0x3f);
  return uuid;
}

module.exports = { timeUuid };
