// Command blog is the blog of the 2009 article, on a generated Cassandra 0.6 client.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"blog/gen-go/cassandra"

	"github.com/apache/thrift/lib/go/thrift"
)

const usage = `usage: blog [--host HOST] [--port PORT] [--framed] [--time SECONDS] COMMAND

  seed                               write the sample authors, posts and comments
  front                              the last ten posts
  post SLUG                          one post and its comments
  tag TAG                            the posts with this tag, newest first
  author NAME                        the profile of an author
  write SLUG TITLE AUTHOR TAGS TEXT  publish a post; commas separate the tags
  comment SLUG NAME EMAIL TEXT       comment on a post

The default server is 127.0.0.1:9160. --time is the Unix time of
what "write" and "comment" add; without it, that is now.`

type options struct {
	address  string
	framed   bool
	now      time.Time
	command  command
	operands []string
}

func main() {
	page, err := run(parseCommandLine())
	if err != nil {
		fmt.Fprintln(os.Stderr, "blog:", explain(err))
		os.Exit(1)
	}
	fmt.Println(page)
}

func parseCommandLine() options {
	flag.Usage = func() { fmt.Fprintln(os.Stderr, usage) }
	host := flag.String("host", "127.0.0.1", "")
	port := flag.Uint("port", 9160, "")
	framed := flag.Bool("framed", false, "")
	now := time.Now()
	flag.Func("time", "", func(text string) error {
		seconds, err := strconv.ParseInt(text, 10, 64)
		now = time.Unix(seconds, 0)
		return err
	})
	words := parseInterspersed()

	if len(words) == 0 || !commands[words[0]].takes(words[1:]) {
		flag.Usage()
		os.Exit(2)
	}
	address := fmt.Sprintf("%s:%d", *host, *port)
	return options{address, *framed, now, commands[words[0]], words[1:]}
}

// parseInterspersed returns the words of the command line. The flag package stops at the first of them; here
// options may follow it.
func parseInterspersed() []string {
	var words []string
	flag.Parse()
	for flag.NArg() > 0 {
		words = append(words, flag.Arg(0))
		flag.CommandLine.Parse(flag.Args()[1:])
	}
	return words
}

func run(options options) (string, error) {
	client, err := connect(options)
	if err != nil {
		return "", err
	}
	return options.command.run(app{&Blog{client}, options.now}, context.Background(), options.operands)
}

func connect(options options) (cassandra.Cassandra, error) {
	limits := &thrift.TConfiguration{ConnectTimeout: 10 * time.Second, SocketTimeout: 10 * time.Second}
	socket := thrift.NewTSocketConf(options.address, limits)
	var transport thrift.TTransport = thrift.NewTBufferedTransport(socket, 4096)
	if options.framed {
		transport = thrift.NewTFramedTransportConf(socket, limits)
	}
	if err := transport.Open(); err != nil {
		return nil, failure("cannot reach a server at " + options.address)
	}
	protocol := thrift.NewTBinaryProtocolConf(transport, limits)
	return cassandra.NewCassandraClient(thrift.NewTStandardClient(protocol, protocol)), nil
}

func explain(err error) string {
	var failure failure
	var refusal *cassandra.InvalidRequestException
	switch {
	case errors.As(err, &failure):
		return failure.Error()
	case errors.As(err, &refusal):
		return "the server refused: " + refusal.Why
	default:
		return fmt.Sprintf("the server did not answer: %v", err)
	}
}
