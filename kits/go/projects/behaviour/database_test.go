package behaviour

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"thriftstore.dev/thriftstore"
)

const change = "UPDATE shop.carts SET items = 'coffee' WHERE id = 1;"

func start(t *testing.T) *thriftstore.Database {
	t.Helper()
	return thriftstore.Start(t, thriftstore.Load("shop.cql"))
}

func hasTea(store *thriftstore.Database) bool {
	return strings.Contains(string(store.Dump()), "tea")
}

func TestEachTestStartsWithLoadedRows(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			store := start(t)
			if !hasTea(store) {
				t.Fatal("the loaded row is missing")
			}
			store.LoadCQL("DROP TABLE shop.carts;")
			if hasTea(store) {
				t.Fatal("the table was not dropped")
			}
		})
	}
}

func TestResets(t *testing.T) {
	store := start(t)
	store.ResetData()
	if hasTea(store) {
		t.Error("the rows were not removed")
	}
	store.LoadCQL(change)
	store.Reset()
	if !hasTea(store) {
		t.Error("the rows of the start are missing")
	}
	store.Fault(thriftstore.Rule{Error: thriftstore.Internal})
	store.ResetFaults()
	if len(store.Faults()) != 0 {
		t.Error("the rule was not removed")
	}
}

func TestSnapshotsAreRestored(t *testing.T) {
	store := start(t)
	store.Snapshot("tea")
	store.LoadCQL(change)
	store.Restore("tea")
	if !hasTea(store) {
		t.Error("the row of the snapshot is missing")
	}
	if names := store.Snapshots(); !slices.Equal(names, []string{"tea"}) {
		t.Error(names)
	}
	store.DeleteSnapshot("tea")
	if names := store.Snapshots(); len(names) != 0 {
		t.Error(names)
	}
}

func TestDumpsAreLoadedAgain(t *testing.T) {
	store := start(t)
	dump := store.Dump()
	file := filepath.Join(t.TempDir(), "rows.json")
	if err := os.WriteFile(file, dump, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, load := range []func(){func() { store.LoadJSON(dump) }, func() { store.LoadFile(file) }} {
		store.ResetData()
		load()
		if again := store.Dump(); string(again) != string(dump) {
			t.Errorf("%s instead of %s", again, dump)
		}
	}
	store.LoadCQL("DROP KEYSPACE shop;")
	store.LoadFile("shop.cql")
	if !hasTea(store) {
		t.Error("the row of the file is missing")
	}
}

func TestErrorsHaveTheSentenceOfTheServer(t *testing.T) {
	store := start(t)
	err := store.Call(http.MethodPost, "/snapshots/nothing/restore", nil, nil)
	var refused *thriftstore.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusNotFound || !strings.Contains(err.Error(), "nothing") {
		t.Error(err)
	}
}

func TestClockIsMoved(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			clock := start(t).Clock()
			if clock.IsFrozen() || time.Since(clock.Now()).Abs() > time.Minute {
				t.Fatal("the clock does not follow the system's:", clock.Now())
			}
			begin := time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC)
			clock.Freeze()
			clock.Set(begin)
			clock.Advance(24 * time.Hour)
			if now := clock.Now(); !clock.IsFrozen() || !now.Equal(begin.AddDate(0, 0, 1)) {
				t.Error(now)
			}
			clock.Unfreeze()
			if clock.IsFrozen() {
				t.Error("the clock is still stopped")
			}
			clock.Follow()
			if time.Since(clock.Now()).Abs() > time.Minute {
				t.Error(clock.Now())
			}
			clock.Freeze()
			clock.Set(begin)
		})
	}
}

func TestRulesHaveAllFields(t *testing.T) {
	store := start(t)
	rule := thriftstore.Rule{
		When: thriftstore.Condition{
			Protocol: "thrift", Method: "insert", Operation: thriftstore.Write, Keyspace: "BloggyAppy",
			ColumnFamily: "Authors", Key: "ada", Consistency: "ONE",
		},
		Delay: 5 * time.Millisecond, DelayMost: 10 * time.Millisecond, Error: thriftstore.TimedOut, Text: "lost",
		Applied: true, Skip: 1, Times: 2, Probability: 0.5, Seed: 7,
	}
	fault := store.NamedFault("all", rule)
	if fault.Met() != 0 || fault.Hits() != 0 {
		t.Error("there were no requests")
	}
	var reply struct {
		Faults []struct{ Rule map[string]any }
	}
	if err := store.Call(http.MethodGet, "/faults", nil, &reply); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"when", "delay_ms", "error", "text", "applied", "skip", "times", "probability", "seed"} {
		if reply.Faults[0].Rule[field] == nil {
			t.Errorf("the server has no %s", field)
		}
	}
	fault.Remove()
	fault.Remove()
	statement := thriftstore.Condition{Protocol: "native", Statement: "SELECT"}
	store.Fault(thriftstore.Rule{When: statement, Reply: thriftstore.Half})
	if names := store.Faults(); len(names) != 1 {
		t.Error(names)
	}
}

func TestFaultsEndWithTheirTest(t *testing.T) {
	store := start(t)
	t.Run("inner", func(t *testing.T) {
		store.Server().Database(t).Fault(thriftstore.Rule{Error: thriftstore.Internal})
		if names := store.Faults(); len(names) != 1 {
			t.Error(names)
		}
	})
	if names := store.Faults(); len(names) != 0 {
		t.Error(names)
	}
}

// isClosed returns whether the server closes the connection.
func isClosed(t *testing.T, connection net.Conn) bool {
	t.Helper()
	if err := connection.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err := connection.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

func TestConnectionsAreRefusedAndClosed(t *testing.T) {
	store := start(t)
	open := dial(t, store.Thrift)
	accept := store.RefuseConnections()
	if !isClosed(t, dial(t, store.Thrift)) {
		t.Error("the connection was accepted")
	}
	accept()
	store.Restart()
	if !isClosed(t, open) {
		t.Error("the connection is still open")
	}
}
