"use strict";

const { ControlError } = require("./control");
const { Database, Sandbox } = require("./database");
const { findProgram } = require("./program");
const { Recorder, record } = require("./recording");
const { ReplayDiffers, replay } = require("./replay");
const { Server, start } = require("./server");

module.exports = {
  ControlError,
  Database,
  Recorder,
  ReplayDiffers,
  Sandbox,
  Server,
  findProgram,
  record,
  replay,
  start,
};
