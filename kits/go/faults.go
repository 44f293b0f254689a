package thriftstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// Condition says which requests of clients are meant: those that match all fields that are not empty.
type Condition struct {
	// Protocol is "thrift" or "native".
	Protocol string `json:"protocol,omitempty"`
	// Generation is the API generation of a Thrift call: "with_text_paths" (0.3), "with_keyspace" (0.4 to 0.6) or
	// "after_set_keyspace" (0.7 on).
	Generation string `json:"generation,omitempty"`
	// Connection is the number of the connection, as requests show it.
	Connection int64 `json:"connection,omitempty"`
	// Method is the Thrift method, or "QUERY", "PREPARE", "EXECUTE" or "BATCH".
	Method string `json:"method,omitempty"`
	// Statement is the first word of a CQL 3 statement, such as "SELECT"; "OTHER" for schema changes.
	Statement string `json:"statement,omitempty"`
	// Operation is what the request does with rows.
	Operation    Operation `json:"operation,omitempty"`
	Keyspace     string    `json:"keyspace,omitempty"`
	ColumnFamily string    `json:"column_family,omitempty"`
	// Key is the row key, as UTF-8 or in the text of its type, such as "42".
	Key string `json:"key,omitempty"`
	// Consistency is the level, such as "QUORUM".
	Consistency string `json:"consistency,omitempty"`
}

// Operation is what a request does with rows.
type Operation string

// The operations.
const (
	Read     Operation = "read"
	Scan     Operation = "scan"
	Write    Operation = "write"
	Truncate Operation = "truncate"
)

// FaultError is the error that a rule gives to clients. Each protocol and generation of the API has its own form of it.
type FaultError string

// The errors.
const (
	Unavailable        FaultError = "unavailable"
	TimedOut           FaultError = "timed_out"
	InvalidRequest     FaultError = "invalid_request"
	NotFound           FaultError = "not_found"
	SchemaDisagreement FaultError = "schema_disagreement"
	Authentication     FaultError = "authentication"
	Authorization      FaultError = "authorization"
	Overloaded         FaultError = "overloaded"
	Internal           FaultError = "internal"
)

// FaultReply is what happens to the reply of a request that is carried out.
type FaultReply string

// What happens to replies.
const (
	// NoReply sends no reply. The connection stays open.
	NoReply FaultReply = "none"
	// Closed closes the connection instead of a reply.
	Closed FaultReply = "closed"
	// Half closes the connection after half of the reply.
	Half FaultReply = "half"
	// ClosedAfter closes the connection after the reply.
	ClosedAfter FaultReply = "closed_after"
	// Rubbish sends garbage of the reply's length. The frame header stays.
	Rubbish FaultReply = "rubbish"
	// Twice sends the reply twice.
	Twice FaultReply = "twice"
	// Trickle sends the reply at one byte per 10 milliseconds.
	Trickle FaultReply = "trickle"
)

// Rule is a rule of faults: which requests it is for, and what happens to them.
type Rule struct {
	// When is the condition. The empty one is met by all requests.
	When Condition
	// Delay delays the requests. With DelayMost the delay is random, between Delay and DelayMost.
	Delay, DelayMost time.Duration
	// Error is the error that the client gets. The request is not carried out, unless Applied is true.
	Error FaultError
	// Text is the text of the error.
	Text string
	// Applied says that the request is carried out before it gets the error.
	Applied bool
	// Reply is what happens to the reply of the request, which is carried out.
	Reply FaultReply
	// Skip is the number of requests that are left alone first.
	Skip int
	// Times is how often the rule has an effect; 0 means no limit.
	Times int
	// Probability is that of an effect, from 0 to 1; 0 means 1. The same Seed has the same effects again.
	Probability float64
	Seed        uint64
}

// MarshalJSON returns the rule as the control port reads it.
func (r Rule) MarshalJSON() ([]byte, error) {
	fields := object{"when": r.When}
	add := func(field string, isGiven bool, value any) {
		if isGiven {
			fields[field] = value
		}
	}
	add("delay_ms", r.Delay > 0, r.Delay.Milliseconds())
	add("delay_ms", r.DelayMost > 0, []int64{r.Delay.Milliseconds(), r.DelayMost.Milliseconds()})
	add("error", r.Error != "", r.Error)
	add("text", r.Text != "", r.Text)
	add("applied", r.Applied, true)
	add("reply", r.Reply != "", r.Reply)
	add("skip", r.Skip != 0, r.Skip)
	add("times", r.Times != 0, r.Times)
	add("probability", r.Probability != 0, r.Probability)
	add("seed", r.Seed != 0, r.Seed)
	return json.Marshal(fields)
}

// Fault is a rule that was set.
type Fault struct {
	Name     string
	database *Database
}

var faults atomic.Int64

// Fault sets a rule. It is removed at the end of the test, or by [Fault.Remove].
func (d *Database) Fault(rule Rule) *Fault {
	d.tb.Helper()
	return d.NamedFault(fmt.Sprintf("fault-%d", faults.Add(1)), rule)
}

// NamedFault sets a rule under a name. It replaces one of this name.
func (d *Database) NamedFault(name string, rule Rule) *Fault {
	d.tb.Helper()
	d.must(http.MethodPut, "/faults/"+name, rule, nil)
	fault := &Fault{Name: name, database: d}
	d.tb.Cleanup(fault.Remove)
	return fault
}

type faultState struct {
	Name string
	Met  int
	Hits int
}

func (d *Database) faultStates() []faultState {
	d.tb.Helper()
	var reply struct{ Faults []faultState }
	d.must(http.MethodGet, "/faults", nil, &reply)
	return reply.Faults
}

// Faults returns the names of the rules that are set.
func (d *Database) Faults() []string {
	d.tb.Helper()
	names := []string{}
	for _, state := range d.faultStates() {
		names = append(names, state.Name)
	}
	return names
}

func (f *Fault) state() faultState {
	f.database.tb.Helper()
	for _, state := range f.database.faultStates() {
		if state.Name == f.Name {
			return state
		}
	}
	f.database.tb.Fatalf("thriftstore: there is no rule %s: it was removed, or the database was reset", f.Name)
	return faultState{}
}

// Met returns how many requests have met the condition of the rule.
func (f *Fault) Met() int {
	f.database.tb.Helper()
	return f.state().Met
}

// Hits returns on how many requests the rule has had an effect.
func (f *Fault) Hits() int {
	f.database.tb.Helper()
	return f.state().Hits
}

// Remove removes the rule. It does nothing if the rule was removed before.
func (f *Fault) Remove() {
	f.database.tb.Helper()
	err := f.database.Call(http.MethodDelete, "/faults/"+f.Name, nil, nil)
	var refused *Error
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return
	}
	f.database.check("remove a fault", err)
}
