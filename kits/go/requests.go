package thriftstore

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Request is a request of a client that has ended.
type Request struct {
	// Number counts all requests since the start.
	Number int64 `json:"number"`
	// Protocol is "thrift" or "native".
	Protocol string `json:"protocol"`
	// Method is the Thrift method, or the opcode of the native protocol.
	Method      string `json:"method"`
	Statement   string `json:"statement"`
	Keyspace    string `json:"keyspace"`
	Consistency string `json:"consistency"`
	// Connection is the number of the connection.
	Connection int64 `json:"connection"`
	// Arguments are those of the request in readable form, as JSON.
	Arguments json.RawMessage `json:"arguments"`
	// Rows is what the request did with rows: the first sixteen.
	Rows []RequestRow `json:"rows"`
	// Error is the text of the error, if the request failed.
	Error string `json:"error"`
	// Faults are the names of the rules that had an effect.
	Faults []string `json:"faults"`
	// Micros is the time that the request took, in microseconds.
	Micros int64 `json:"micros"`
}

// RequestRow is what a request did with one row, or with a range of rows, which has no key.
type RequestRow struct {
	Operation    Operation `json:"operation"`
	ColumnFamily string    `json:"column_family"`
	Key          string    `json:"key"`
}

// String returns the row in the form "write Carts[1]".
func (r RequestRow) String() string {
	if r.Key == "" {
		return fmt.Sprintf("%s %s", r.Operation, r.ColumnFamily)
	}
	return fmt.Sprintf("%s %s[%s]", r.Operation, r.ColumnFamily, r.Key)
}

// String returns the request on one line.
func (r Request) String() string {
	words := []string{fmt.Sprint(r.Number), r.Protocol, r.Method}
	for _, word := range []string{r.Statement, r.Keyspace, r.Consistency} {
		if word != "" {
			words = append(words, word)
		}
	}
	words = append(words, fmt.Sprintf("%v %d us", r.Rows, r.Micros))
	if r.Error != "" {
		words = append(words, "error: "+r.Error)
	}
	if len(r.Faults) > 0 {
		words = append(words, fmt.Sprintf("faults: %v", r.Faults))
	}
	return strings.Join(words, " ")
}

type requestList struct {
	Requests []Request `json:"requests"`
}

// Requests returns the last 100 requests of clients, oldest first.
func (d *Database) Requests() []Request {
	d.tb.Helper()
	var reply requestList
	d.must(http.MethodGet, "/requests", nil, &reply)
	return reply.Requests
}

// Find returns the last requests that meet the condition, oldest first: at most last of them.
func (d *Database) Find(condition Condition, last int) []Request {
	d.tb.Helper()
	var reply requestList
	d.must(http.MethodPost, "/requests/find", object{"when": condition, "last": last}, &reply)
	return reply.Requests
}

// Expectation is what a test expects of the requests: see [Some], [Times] and [None].
type Expectation struct {
	When  Condition `json:"when"`
	Times *int      `json:"times,omitempty"`
}

// Some expects at least one request that meets the condition.
func Some(condition Condition) Expectation {
	return Expectation{When: condition}
}

// Times expects this number of requests that meet the condition.
func Times(times int, condition Condition) Expectation {
	return Expectation{When: condition, Times: &times}
}

// None expects no request that meets the condition.
func None(condition Condition) Expectation {
	return Times(0, condition)
}

// Verify compares the requests with what is expected. Differences are errors of the test.
func (d *Database) Verify(expected ...Expectation) {
	d.tb.Helper()
	d.verify(expected, false)
}

// VerifyInOrder compares the requests, and the order of the first request that meets each condition.
func (d *Database) VerifyInOrder(expected ...Expectation) {
	d.tb.Helper()
	d.verify(expected, true)
}

func (d *Database) verify(expected []Expectation, inOrder bool) {
	d.tb.Helper()
	var reply struct {
		Verified    bool     `json:"verified"`
		Differences []string `json:"differences"`
	}
	d.must(http.MethodPost, "/requests/verify", object{"requests": expected, "in_order": inOrder}, &reply)
	if !reply.Verified {
		d.tb.Errorf("thriftstore: the requests are not as expected: %s", strings.Join(reply.Differences, "; "))
	}
}
