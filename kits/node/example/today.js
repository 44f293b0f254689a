// What Node had when helenus was written, and no longer has.
"use strict";

process.EventEmitter = require("node:events").EventEmitter;
