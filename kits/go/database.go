package thriftstore

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Database is the database of a test: the server itself or a sandbox in it. Its methods end the test if they fail, so
// call them in the goroutine of the test. [Database.Call] returns errors instead.
type Database struct {
	// Thrift is the address for Thrift clients, such as 127.0.0.1:40813.
	Thrift string
	// Native is the address for clients of the native protocol.
	Native string

	tb      testing.TB
	control *control
	server  *Server
	sandbox string
	logged  int
}

// object is the body of a request.
type object map[string]any

// Call sends any request to the control port of the database, such as "POST", "/reset", with a body that is encoded as
// JSON. The reply is decoded into a pointer. Both may be nil. A refusal is an [*Error].
func (d *Database) Call(method, path string, body, reply any) error {
	return d.control.call(method, path, body, reply)
}

func (d *Database) must(method, path string, body, reply any) {
	d.tb.Helper()
	d.check(method+" "+path, d.control.call(method, path, body, reply))
}

func (d *Database) check(what string, err error) {
	d.tb.Helper()
	if err != nil {
		d.tb.Fatalf("thriftstore: %s: %v", what, err)
	}
}

// Reset returns to the state at the start: rows, schema and users. It removes faults and forgets requests.
func (d *Database) Reset() {
	d.tb.Helper()
	d.must(http.MethodPost, "/reset", object{"what": "everything"}, nil)
}

// ResetData removes all rows. Schema and users stay.
func (d *Database) ResetData() {
	d.tb.Helper()
	d.must(http.MethodPost, "/reset", object{"what": "data"}, nil)
}

// ResetFaults removes all faults, forgets the requests, and accepts connections again.
func (d *Database) ResetFaults() {
	d.tb.Helper()
	d.must(http.MethodPost, "/reset", object{"what": "faults"}, nil)
}

// Snapshot takes a snapshot of rows, schema and users. It replaces one of this name.
func (d *Database) Snapshot(name string) {
	d.tb.Helper()
	d.must(http.MethodPut, "/snapshots/"+name, nil, nil)
}

// Restore returns to a snapshot.
func (d *Database) Restore(name string) {
	d.tb.Helper()
	d.must(http.MethodPost, "/snapshots/"+name+"/restore", nil, nil)
}

// DeleteSnapshot deletes a snapshot.
func (d *Database) DeleteSnapshot(name string) {
	d.tb.Helper()
	d.must(http.MethodDelete, "/snapshots/"+name, nil, nil)
}

// Snapshots returns the names of the snapshots.
func (d *Database) Snapshots() []string {
	d.tb.Helper()
	var reply struct{ Snapshots []struct{ Name string } }
	d.must(http.MethodGet, "/snapshots", nil, &reply)
	names := []string{}
	for _, snapshot := range reply.Snapshots {
		names = append(names, snapshot.Name)
	}
	return names
}

// LoadCQL runs statements, one after another.
func (d *Database) LoadCQL(statements string) {
	d.tb.Helper()
	d.check("load", d.control.send(http.MethodPost, "/load", "text/x-cql", []byte(statements), nil))
}

// LoadJSON writes rows in the form of [Database.Dump].
func (d *Database) LoadJSON(rows []byte) {
	d.tb.Helper()
	d.check("load", d.control.send(http.MethodPost, "/load", "application/json", rows, nil))
}

// LoadCassandraCLI runs a script of cassandra-cli.
func (d *Database) LoadCassandraCLI(script string) {
	d.tb.Helper()
	d.check("load", d.control.send(http.MethodPost, "/load", "text/x-cassandra-cli", []byte(script), nil))
}

// LoadFile loads a file: CQL if its name ends with .cql, a script of cassandra-cli if it ends with .cli, rows if it ends
// with .json.
func (d *Database) LoadFile(file string) {
	d.tb.Helper()
	content, err := os.ReadFile(file)
	d.check("load", err)
	switch strings.ToLower(filepath.Ext(file)) {
	case ".cql":
		d.LoadCQL(string(content))
	case ".cli":
		d.LoadCassandraCLI(string(content))
	case ".json":
		d.LoadJSON(content)
	default:
		d.tb.Fatalf("thriftstore: cannot load %s: its name must end with .cql, .cli or .json", file)
	}
}

// Dump returns all rows as JSON.
func (d *Database) Dump() []byte {
	d.tb.Helper()
	var rows []byte
	d.check("dump", d.control.send(http.MethodGet, "/dump", "", nil, &rows))
	return rows
}

// Restart closes all connections of clients and forgets prepared statements, as a restart does.
func (d *Database) Restart() {
	d.tb.Helper()
	d.must(http.MethodPost, "/restart", nil, nil)
}

// RefuseConnections closes new connections of clients at once. Open ones stay open. The result accepts connections
// again, which the end of the test does in any case.
func (d *Database) RefuseConnections() (accept func()) {
	d.tb.Helper()
	refuse := func(refuse bool) {
		d.tb.Helper()
		d.must(http.MethodPost, "/connections", object{"refuse": refuse}, nil)
	}
	refuse(true)
	accept = func() { refuse(false) }
	d.tb.Cleanup(accept)
	return accept
}
