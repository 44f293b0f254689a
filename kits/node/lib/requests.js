// The requests that clients have sent. Conditions are those of faults: `find({ method: "insert" })`.
"use strict";

const { conditionOf } = require("./faults");

class Requests {
  #control;

  constructor(control) {
    this.#control = control;
  }

  // Returns the last requests, the oldest first.
  last(count = 100) {
    return this.find({}, count);
  }

  // Returns the last requests that meet a condition, the oldest first.
  async find(condition, last = 100) {
    const body = { when: conditionOf(condition), last };
    return (await this.#control.post(["requests", "find"], body)).requests;
  }

  // Throws unless so many requests meet the condition; without `times`, at least one.
  async verify(condition, times) {
    await this.#verify([{ when: conditionOf(condition), times }], false);
  }

  // Throws unless requests meet the conditions in this order.
  async verifyInOrder(...conditions) {
    await this.#verify(
      conditions.map((condition) => ({ when: conditionOf(condition) })),
      true,
    );
  }

  async #verify(requests, inOrder) {
    const found = await this.#control.post(["requests", "verify"], { requests, in_order: inOrder });
    if (!found.verified) {
      throw new Error(`${found.differences.join("; ")} of ${JSON.stringify(requests)}`);
    }
  }
}

// Returns a request as a line of text.
function lineOf(request) {
  const words = [`${request.number} ${request.protocol} ${request.method}`];
  words.push(...[request.keyspace, request.statement, request.consistency].filter(Boolean));
  words.push(...(request.rows ?? []).map((row) => `${row.column_family}[${row.key ?? "..."}]`));
  words.push(`${request.micros} us`);
  if (request.faults?.length) {
    words.push(`faults: ${request.faults.join(", ")}`);
  }
  if (request.error) {
    words.push(`error: ${request.error}`);
  }
  return words.join("  ");
}

module.exports = { Requests, lineOf };
