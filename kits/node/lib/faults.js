// Faults: what happens to some requests of clients. docs/testing.md describes the fields of a rule.
"use strict";

// What a rule does. All other fields are conditions.
const EFFECTS = new Map(
  Object.entries({
    delayMs: "delay_ms",
    error: "error",
    text: "text",
    applied: "applied",
    reply: "reply",
    skip: "skip",
    times: "times",
    probability: "probability",
    seed: "seed",
  }),
);

class Faults {
  #control;
  #made = 0;

  constructor(control) {
    this.#control = control;
  }

  // Sets a rule, and replaces one of this name. Returns it.
  async set(name, rule) {
    await this.#control.put(["faults", name], bodyOf(rule));
    return new Fault(this, name);
  }

  // Sets a rule under a new name.
  add(rule) {
    this.#made += 1;
    return this.set(`fault-${this.#made}`, rule);
  }

  // Calls a function while a rule is set. Returns what the function returns.
  async during(rule, action) {
    const fault = await this.add(rule);
    try {
      return await action(fault);
    } finally {
      await fault.end();
    }
  }

  // Returns the rules with `name`, `rule`, `met` and `hits`.
  async list() {
    return (await this.#control.get("faults")).faults;
  }

  async remove(name) {
    await this.#control.delete("faults", name);
  }

  // Removes all rules, forgets the requests, and accepts connections again.
  async clear() {
    await this.#control.post(["reset"], { what: "faults" });
  }
}

// A rule that was set. Its counts can still be read after its end.
class Fault {
  #faults;
  #last = { met: 0, hits: 0 };

  constructor(faults, name) {
    this.#faults = faults;
    this.name = name;
  }

  // Returns on how many requests the rule has had an effect.
  async hits() {
    await this.#look();
    return this.#last.hits;
  }

  // Returns how many requests have met the condition.
  async met() {
    await this.#look();
    return this.#last.met;
  }

  async remove() {
    await this.#look();
    await this.#faults.remove(this.name);
  }

  // Removes the rule if it is still set: the test may have reset the server.
  async end() {
    if (await this.#look()) {
      await this.#faults.remove(this.name);
    }
  }

  async #look() {
    const found = (await this.#faults.list()).find((rule) => rule.name === this.name);
    this.#last = found ?? this.#last;
    return found !== undefined;
  }
}

function bodyOf(rule) {
  const body = {};
  const when = conditionOf(rule, (name) => !EFFECTS.has(name));
  for (const [name, field] of EFFECTS) {
    if (rule[name] !== undefined) {
      body[field] = rule[name];
    }
  }
  return Object.keys(when).length > 0 ? { ...body, when } : body;
}

// Returns a condition with the names of fields as the server has them.
function conditionOf(fields, isCondition = () => true) {
  const given = Object.entries(fields).filter(([name, value]) => value !== undefined && isCondition(name));
  return Object.fromEntries(given.map(([name, value]) => [name === "columnFamily" ? "column_family" : name, value]));
}

module.exports = { Faults, conditionOf };
