// What Node had when helenus was written, and has no longer.
"use strict";

process.EventEmitter = require("node:events").EventEmitter;
