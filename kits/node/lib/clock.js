// The clock of a server or sandbox. It follows the system's clock until a test changes it.
"use strict";

class Clock {
  #control;

  constructor(control) {
    this.#control = control;
  }

  // Returns `now`, `now_ms`, `frozen` and `offset_ms`.
  state() {
    return this.#control.get("clock");
  }

  // Returns the server's time.
  async now() {
    return new Date((await this.state()).now_ms);
  }

  // Stops the clock; at this time, if one is given.
  async freeze(at) {
    await this.#control.post(["clock"], { freeze: true });
    if (at !== undefined) {
      await this.set(at);
    }
  }

  // Lets a stopped clock run on from its time.
  async unfreeze() {
    await this.#control.post(["clock"], { freeze: false });
  }

  // Sets the time: a Date, a text, or milliseconds since 1970.
  async set(time) {
    await this.#control.post(["clock"], { set: new Date(time).toISOString() });
  }

  // Moves the clock by these parts, back if they are negative: `advance({ hours: 1 })`.
  async advance({ days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 }) {
    const by = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
    await this.#control.post(["clock"], { advance_ms: Math.round(by) });
  }

  // Follows the system's clock again.
  async follow() {
    await this.#control.post(["clock"], { follow: true });
  }
}

module.exports = { Clock };
