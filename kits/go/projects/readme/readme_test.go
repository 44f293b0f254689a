package readme

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"projects/blog"

	"thriftstore.dev/thriftstore"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, address string) *blog.Blog {
	t.Helper()
	blog, err := blog.Open(address)
	must(t, err)
	t.Cleanup(blog.Close)
	return blog
}

func TestCart(t *testing.T) {
	store := thriftstore.Start(t, thriftstore.Load("shop.cql"))
	shop := NewShop(store.Native) // such as 127.0.0.1:40813; Thrift clients connect to store.Thrift
	if items := shop.Items(1); items != "tea" {
		t.Error(items)
	}
}

func TestWhatADatabaseCanDo(t *testing.T) {
	store := thriftstore.Start(t, thriftstore.Load("shop.cql"))
	store.Snapshot("loaded")                                                // and Restore, Snapshots, DeleteSnapshot
	store.LoadCQL("INSERT INTO shop.carts (id, items) VALUES (2, 'milk');") // and LoadFile(name), LoadJSON(rows)
	rows := store.Dump()                                                    // JSON, which LoadJSON reads
	store.Clock().Freeze()                                                  // and Unfreeze, Set(time), Follow, Now, IsFrozen
	store.Clock().Advance(time.Hour)
	store.Reset()                       // and ResetData, ResetFaults
	store.Restart()                     // closes all connections
	accept := store.RefuseConnections() // until accept() or the end of the test

	accept()
	if !strings.Contains(string(rows), "milk") || strings.Contains(string(store.Dump()), "milk") {
		t.Errorf("the row must be in %s, but no longer in the database", rows)
	}
}

func TestFaultsAndRequests(t *testing.T) {
	store := thriftstore.Start(t)
	blog := open(t, store.Thrift)
	comments := thriftstore.Condition{Operation: thriftstore.Write, ColumnFamily: "Comments", Key: "first"}
	lost := store.Fault(thriftstore.Rule{When: comments, Error: thriftstore.TimedOut, Applied: true, Times: 1})
	must(t, blog.Comment("first", "Ada", "It works.", time.Unix(1, 0)))
	fmt.Println(lost.Hits())

	if lost.Hits() != 1 {
		t.Error("the write has not timed out")
	}
	store.Verify(thriftstore.Times(2, comments)) // and VerifyInOrder, Some, None
	last := store.Requests()                     // or Find(condition, 10)

	if len(last) < 2 {
		t.Error(last)
	}
}

func runTests(t *testing.T, address string) {
	t.Helper()
	must(t, open(t, address).Comment("first", "Ada", "It works.", time.Unix(1, 0)))
}

func TestRecord(t *testing.T) {
	cassandra := thriftstore.Start(t, thriftstore.Compat("1.2")).Thrift
	recorder, err := thriftstore.NewRecorder("suite.rec", thriftstore.Upstream{Thrift: cassandra})
	must(t, err)
	runTests(t, recorder.Thrift)
	recorder.Close()
}

func TestRecordedAnswers(t *testing.T) {
	thriftstore.CheckReplay(t, "suite.rec", "data", thriftstore.Compat("1.2"))
}
