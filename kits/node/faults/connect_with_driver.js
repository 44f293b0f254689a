// Connects to the server whose address is the argument.
"use strict";

const { Client } = require("cassandra-driver");

const client = new Client({
  contactPoints: [process.argv[2]],
  localDataCenter: "datacenter1",
  socketOptions: { connectTimeout: 300 },
});
client.connect().then(
  () => process.exit(),
  (error) => {
    console.log(error.message);
    process.exit(1);
  },
);
