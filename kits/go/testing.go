package thriftstore

import (
	"fmt"
	"strings"
	"testing"
)

const requestsOfReport = 20

// Start gives the test the database of a server, in the state of its start and with the system's time. All tests with
// the same options share the server. If the test fails, its last requests and the server's log are printed.
//
// Two tests cannot use the same server at the same time: parallel tests use [Sandbox].
func Start(tb testing.TB, list ...Option) *Database {
	tb.Helper()
	server, err := sharedServer(list)
	if err != nil {
		tb.Fatalf("thriftstore: %v", err)
	}
	if other := server.take(tb.Name()); other != "" {
		tb.Fatalf("thriftstore: %s uses the same server at the same time: use a sandbox for each test, or do not run"+
			" them in parallel", other)
	}
	database := server.Database(tb)
	tb.Cleanup(func() {
		database.report()
		server.giveBack()
	})
	database.Reset()
	database.Clock().Follow()
	return database
}

// Sandbox gives the test a database of its own, with its own ports, in the process of the shared server and in the
// state of the server's start. If the test fails, its last requests and the server's log are printed.
func Sandbox(tb testing.TB, list ...Option) *Database {
	tb.Helper()
	server, err := sharedServer(list)
	if err != nil {
		tb.Fatalf("thriftstore: %v", err)
	}
	return server.Sandbox(tb)
}

// Server returns the server of the database.
func (d *Database) Server() *Server {
	return d.server
}

// report logs what the server did during a failed test. In sandboxes the lines may be those of other tests.
func (d *Database) report() {
	if !d.tb.Failed() {
		return
	}
	var text strings.Builder
	text.WriteString("thriftstore during this test\n-- log\n")
	text.WriteString(strings.Join(d.server.process.log.since(d.logged), ""))
	text.WriteString("-- last requests\n")
	var reply requestList
	if err := d.Call("POST", "/requests/find", object{"when": Condition{}, "last": requestsOfReport}, &reply); err != nil {
		fmt.Fprintln(&text, err)
	}
	for _, request := range reply.Requests {
		fmt.Fprintln(&text, request)
	}
	d.tb.Log(text.String())
}
