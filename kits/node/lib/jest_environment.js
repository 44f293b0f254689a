// Jest's environment of Node, which also informs `useThriftstore` when a test has failed.
"use strict";

const { TestEnvironment } = require("jest-environment-node");

const FAILED = Symbol.for("thriftstore.failed");

class ThriftstoreEnvironment extends TestEnvironment {
  handleTestEvent(event) {
    if (event.name === "test_start") {
      this.global[FAILED] = false;
    }
    if (event.name === "test_fn_failure") {
      this.global[FAILED] = true;
    }
  }
}

module.exports = ThriftstoreEnvironment;
