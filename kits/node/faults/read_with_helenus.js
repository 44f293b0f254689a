// Reads a column of the server whose address is the argument.
"use strict";

process.EventEmitter = require("node:events").EventEmitter;
const helenus = require("helenus");

const pool = new helenus.ConnectionPool({ hosts: [process.argv[2]], keyspace: "Keyspace1", timeout: 2000 });
pool.connect((refusal, keyspace) => {
  keyspace.get("Standard2", (missing, family) => {
    family.get("k", (error, row) => {
      console.log(error ? `error ${error.message}` : `found ${row.get("c").value}`);
      process.exit();
    });
  });
});
