// Package gocql tests what Apache's Go driver, which was gocql, reports for each fault.
package gocql

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"thriftstore.dev/thriftstore"
)

// limit is how long the driver waits for a reply.
const limit = 300 * time.Millisecond

var (
	writes = thriftstore.Condition{Operation: thriftstore.Write, ColumnFamily: "carts"}
	reads  = thriftstore.Condition{Operation: thriftstore.Read, ColumnFamily: "carts"}
)

// open creates a session with one connection, which does not send requests again.
func open(store *thriftstore.Database) (*gocql.Session, error) {
	cluster := gocql.NewCluster(store.Native)
	cluster.NumConns = 1
	cluster.Timeout = limit
	cluster.ReconnectInterval = 50 * time.Millisecond
	cluster.DisableInitialHostLookup = true
	return cluster.CreateSession()
}

func start(t *testing.T) (*thriftstore.Database, *gocql.Session) {
	t.Helper()
	store := thriftstore.Start(t, thriftstore.Load("shop.cql"))
	session, err := open(store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return store, session
}

func write(session *gocql.Session) error {
	return session.Query("INSERT INTO shop.carts (id, items) VALUES (2, 'milk')").Exec()
}

func read(session *gocql.Session) (items string, err error) {
	err = session.Query("SELECT items FROM shop.carts WHERE id = 2").Scan(&items)
	return items, err
}

// stored returns what is stored, as soon as the driver is connected again; at most after ten seconds.
func stored(t *testing.T, session *gocql.Session) string {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		items, err := read(session)
		if err == nil || errors.Is(err, gocql.ErrNotFound) {
			return items
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gocql.ErrConnectionClosed)
}

// isLost reports whether a request failed because its connection was closed before it was sent, while it was sent, or while its
// reply was awaited. While the driver closes a connection, it reports a cancelled context, or the error of a socket that the
// server or the driver has closed.
func isLost(err error) bool {
	socketErrors := []error{context.Canceled, gocql.ErrNoConnections, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE}
	return isClosed(err) || slices.ContainsFunc(socketErrors, func(each error) bool { return errors.Is(err, each) })
}

func TestErrors(t *testing.T) {
	for _, each := range []struct {
		fault       thriftstore.FaultError
		write, read int
	}{
		{thriftstore.Unavailable, gocql.ErrCodeUnavailable, gocql.ErrCodeUnavailable},
		{thriftstore.TimedOut, gocql.ErrCodeWriteTimeout, gocql.ErrCodeReadTimeout},
		{thriftstore.InvalidRequest, gocql.ErrCodeInvalid, gocql.ErrCodeInvalid},
		{thriftstore.NotFound, gocql.ErrCodeServer, gocql.ErrCodeServer},
		{thriftstore.SchemaDisagreement, gocql.ErrCodeServer, gocql.ErrCodeServer},
		{thriftstore.Authentication, gocql.ErrCodeCredentials, gocql.ErrCodeCredentials},
		{thriftstore.Authorization, gocql.ErrCodeUnauthorized, gocql.ErrCodeUnauthorized},
		{thriftstore.Overloaded, gocql.ErrCodeOverloaded, gocql.ErrCodeOverloaded},
		{thriftstore.Internal, gocql.ErrCodeServer, gocql.ErrCodeServer},
	} {
		t.Run(string(each.fault), func(t *testing.T) {
			store, session := start(t)
			expect := func(err error, code int) {
				t.Helper()
				var reported gocql.RequestError
				if !errors.As(err, &reported) || reported.Code() != code {
					t.Errorf("found %T %v instead of code %x", err, err, code)
				}
			}
			fault := store.Fault(thriftstore.Rule{When: writes, Error: each.fault})
			expect(write(session), each.write)
			fault.Remove()
			if items := stored(t, session); items != "" {
				t.Error("the write was applied")
			}
			fault = store.Fault(thriftstore.Rule{When: writes, Error: each.fault, Applied: true})
			expect(write(session), each.write)
			fault.Remove()
			if items := stored(t, session); items != "milk" {
				t.Error("the write was not applied")
			}
			store.Fault(thriftstore.Rule{When: reads, Error: each.fault})
			_, err := read(session)
			expect(err, each.read)
		})
	}
}

func TestReplies(t *testing.T) {
	isNothing := func(err error) bool { return err == nil }
	isTimeout := func(err error) bool { return errors.Is(err, gocql.ErrTimeoutNoResponse) }
	isProtocol := func(err error) bool { return errors.As(err, new(gocql.ErrProtocol)) }
	for _, each := range []struct {
		reply      thriftstore.FaultReply
		isExpected func(error) bool
	}{
		{thriftstore.NoReply, isTimeout},
		{thriftstore.Closed, isClosed},
		{thriftstore.Half, isClosed},
		{thriftstore.ClosedAfter, isNothing},
		{thriftstore.Rubbish, isProtocol},
		{thriftstore.Twice, isNothing},
		{thriftstore.Trickle, isNothing},
	} {
		t.Run(string(each.reply), func(t *testing.T) {
			store, session := start(t)
			store.Fault(thriftstore.Rule{When: writes, Reply: each.reply, Times: 1})
			if err := write(session); !each.isExpected(err) {
				t.Errorf("found %T %v", err, err)
			}
			if items := stored(t, session); items != "milk" {
				t.Error("the write was not applied")
			}
		})
	}
}

func TestDelays(t *testing.T) {
	store, session := start(t)
	slow := store.Fault(thriftstore.Rule{When: writes, Delay: 100 * time.Millisecond})
	begin := time.Now()
	if err := write(session); err != nil || time.Since(begin) < 100*time.Millisecond {
		t.Error("the reply was not delayed:", err)
	}
	slow.Remove()
	slower := store.Fault(thriftstore.Rule{When: reads, Delay: 5 * limit})
	if _, err := read(session); !errors.Is(err, gocql.ErrTimeoutNoResponse) {
		t.Error(err)
	}
	slower.Remove()
	if items := stored(t, session); items != "milk" {
		t.Error(items)
	}
}

func TestARestartClosesConnections(t *testing.T) {
	store, session := start(t)
	if err := write(session); err != nil {
		t.Fatal(err)
	}
	store.Restart()
	// There is no error if the driver has connected again meanwhile.
	if _, err := read(session); err != nil && !isLost(err) {
		t.Errorf("found %T %v", err, err)
	}
	// The driver usually connects again within ReconnectInterval, but sometimes keeps a host without connections, so a new
	// session reads.
	again, err := open(store)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if items := stored(t, again); items != "milk" {
		t.Error(items)
	}
}

func TestNewConnectionsAreRefused(t *testing.T) {
	store, session := start(t)
	accept := store.RefuseConnections()
	if err := write(session); err != nil {
		t.Error(err)
	}
	if other, err := open(store); err == nil {
		other.Close()
		t.Error("a session was created")
	}
	accept()
	other, err := open(store)
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
}
