"""The command line of the blog."""

import argparse
import logging
import os
import sys
import time

from cassandra import Cassandra
from cassandra.ttypes import InvalidRequestException
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TFramedTransport, TTransportException

from .blog import Blog, NotOfTheBlog
from .commands import OPERANDS, Commands, Failure

USAGE = """blog [--host HOST] [--port PORT] [--framed] [--time SECONDS] COMMAND

  seed                               write the sample authors, posts and comments
  front                              the last ten posts
  post SLUG                          one post and its comments
  tag TAG                            the posts with this tag, newest first
  author NAME                        the profile of an author
  write SLUG TITLE AUTHOR TAGS TEXT  publish a post; commas separate the tags
  comment SLUG NAME EMAIL TEXT       comment on a post

The default server is 127.0.0.1:9160. --time is the Unix time of
what `write` and `comment` add; without it, that is now."""


def arguments():
    parser = argparse.ArgumentParser(prog="blog", usage=USAGE, add_help=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9160)
    parser.add_argument("--framed", action="store_true")
    parser.add_argument("--time", type=int, default=time.time())
    parser.add_argument("words", nargs="*")
    options = parser.parse_intermixed_args()
    command, *operands = options.words or [""]
    if OPERANDS.get(command) != len(operands):
        parser.print_usage(sys.stderr)
        sys.exit(2)
    return options, command, operands


def connect(options):
    socket = TSocket(options.host, options.port)
    socket.setTimeout(10_000)
    transport = TFramedTransport(socket) if options.framed else TBufferedTransport(socket)
    try:
        transport.open()
    except TTransportException:
        raise Failure(f"cannot reach a server at {options.host}:{options.port}") from None
    return Cassandra.Client(TBinaryProtocol(transport))


def main():
    logging.disable()  # the Thrift library logs what is reported here
    options, command, operands = arguments()
    try:
        commands = Commands(Blog(connect(options)), now=int(options.time * 1000))
        print(getattr(commands, command)(*operands), flush=True)
    except BrokenPipeError:
        # The reader has seen enough, as `head` does. Python must not write into the pipe again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (Failure, NotOfTheBlog) as failure:
        sys.exit(f"blog: {failure}")
    except InvalidRequestException as refusal:
        sys.exit(f"blog: the server refused: {refusal.why}")
    except TException as error:
        sys.exit(f"blog: the server did not answer: {error!r}")


main()
