// Requests to the control port: JSON over HTTP.
"use strict";

const http = require("node:http");

// Longer than the five seconds for which a reset waits for running requests.
const TIMEOUT_MS = 60000;

// The control port refused a request. The message is the server's.
class ControlError extends Error {
  constructor(message, status) {
    super(message);
    this.name = "ControlError";
    this.status = status;
  }
}

// The control port of a server, or the part of it that belongs to a sandbox.
class Control {
  constructor(address, prefix = []) {
    this.address = address;
    this.prefix = prefix;
  }

  ofSandbox(name) {
    return new Control(this.address, ["sandboxes", name]);
  }

  get(...path) {
    return this.send("GET", path);
  }

  put(path, body) {
    return this.send("PUT", path, body);
  }

  post(path, body) {
    return this.send("POST", path, body);
  }

  delete(...path) {
    return this.send("DELETE", path);
  }

  // Sends a request and returns its reply. The body is sent as JSON unless it is a text or a buffer.
  async send(method, path, body, contentType = "application/json") {
    const isText = typeof body === "string" || Buffer.isBuffer(body);
    const bytes = body === undefined || isText ? body : JSON.stringify(body);
    const [status, text] = await this.#exchange(method, [...this.prefix, ...path], bytes, contentType);
    if (status >= 400) {
      throw new ControlError(sentenceOf(text), status);
    }
    return JSON.parse(text);
  }

  #exchange(method, path, body, contentType) {
    return new Promise((resolve, reject) => {
      const fail = (error) =>
        reject(new ControlError(`no reply from the control port ${this.address}: ${error.message}`));
      const url = `http://${this.address}/${path.map(encodeURIComponent).join("/")}`;
      // Without an agent no idle connection keeps the process of the tests.
      const options = { method, agent: false, timeout: TIMEOUT_MS, headers: { "Content-Type": contentType } };
      const request = http.request(url, options, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part) => (text += part));
        response.on("end", () => resolve([response.statusCode, text]));
        response.on("error", fail);
      });
      request.on("timeout", () => request.destroy(new Error("it took too long")));
      request.on("error", fail);
      request.end(body);
    });
  }
}

function sentenceOf(text) {
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return text;
  }
}

module.exports = { Control, ControlError };
