"use strict";

const { ControlError } = require("./control");
const { Database, Sandbox } = require("./database");
const { findProgram } = require("./program");
const { Server, start } = require("./server");

module.exports = { ControlError, Database, Sandbox, Server, findProgram, start };
