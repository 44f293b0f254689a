// The command line of the blog.

"use strict";

const { once } = require("node:events");
const { parseArgs } = require("node:util");
const thrift = require("thrift");

const Cassandra = require("../gen-nodejs/Cassandra");
const { InvalidRequestException } = require("../gen-nodejs/cassandra-0.6_types");
const { Blog } = require("./blog");
const { Failure, commands } = require("./commands");

const USAGE = `usage: blog [--host HOST] [--port PORT] [--framed] [--time SECONDS] COMMAND

  seed                               write the sample authors, posts and comments
  front                              the last ten posts
  post SLUG                          one post and its comments
  tag TAG                            the posts with this tag, newest first
  author NAME                        the profile of an author
  write SLUG TITLE AUTHOR TAGS TEXT  publish a post; commas separate the tags
  comment SLUG NAME EMAIL TEXT       comment on a post

The default server is 127.0.0.1:9160. --time is the Unix time of
what \`write\` and \`comment\` add; without it, that is now.`;

class UsageError extends Error {}

function commandLine() {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      host: { type: "string", default: "127.0.0.1" },
      port: { type: "string", default: "9160" },
      framed: { type: "boolean", default: false },
      time: { type: "string" },
    },
  });
  const [name, ...operands] = positionals;
  const command = Object.hasOwn(commands, name) ? commands[name] : null;
  // The first parameter of a command is what it works with, the others are its operands.
  if (command?.length !== operands.length + 1) {
    throw new UsageError();
  }
  return { options, command, operands };
}

async function connect({ host, port, framed }) {
  const connection = thrift.createConnection(host, Number(port), {
    transport: framed ? thrift.TFramedTransport : thrift.TBufferedTransport,
    protocol: thrift.TBinaryProtocol,
    timeout: 10_000,
  });
  try {
    await once(connection, "connect");
  } catch {
    throw new Failure(`cannot reach a server at ${host}:${port}`);
  }
  return connection;
}

// Rejects when the connection breaks: the Thrift library would leave a call under way waiting forever.
async function broken(connection) {
  await Promise.race([once(connection, "close"), once(connection, "timeout")]);
  throw new Error("the connection broke");
}

async function main() {
  const { options, command, operands } = commandLine();
  const connection = await connect(options);
  const blog = new Blog(thrift.createClient(Cassandra, connection));
  const now = options.time ? Number(options.time) * 1000 : Date.now();
  console.log(await Promise.race([command({ blog, now }, ...operands), broken(connection)]));
  connection.end();
}

function explain(error) {
  if (error instanceof Failure) {
    return error.message;
  }
  if (error instanceof InvalidRequestException) {
    return `the server refused: ${error.why}`;
  }
  return `the server did not answer: ${error}`;
}

main().catch((error) => {
  if (error instanceof UsageError || error.code?.startsWith("ERR_PARSE_ARGS")) {
    console.error(USAGE);
    process.exit(2);
  }
  console.error(`blog: ${explain(error)}`);
  process.exit(1);
});
