// Finds the program `thriftstore`.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

// Where a package of one platform contains the program; see `build`.
const IN_PACKAGE = path.join(__dirname, "..", "program", "thriftstore");

function isProgram(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

// Returns the path of the program: $THRIFTSTORE, else that of this package, else one on the PATH.
function findProgram(environment = process.env, inPackage = IN_PACKAGE) {
  const named = environment.THRIFTSTORE;
  if (named) {
    if (!isProgram(named)) {
      throw new Error(`$THRIFTSTORE is ${named}, which is no executable file`);
    }
    return path.resolve(named);
  }
  const folders = (environment.PATH || "").split(path.delimiter).filter(Boolean);
  const candidates = [inPackage, ...folders.map((folder) => path.join(folder, "thriftstore"))];
  const found = candidates.find(isProgram);
  if (!found) {
    throw new Error(
      "there is no program thriftstore: the variable THRIFTSTORE is not set, the package contains none " +
        `(${inPackage}), and neither does the PATH (${environment.PATH}). Build it with ./serve, ` +
        "or install the package of this platform",
    );
  }
  return found;
}

module.exports = { findProgram };
