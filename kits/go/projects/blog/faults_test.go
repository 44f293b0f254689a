package blog

import (
	"errors"
	"testing"
	"time"

	"projects/cassandra"

	"github.com/apache/thrift/lib/go/thrift"
	"thriftstore.dev/thriftstore"
)

var (
	writes = thriftstore.Condition{Operation: thriftstore.Write, ColumnFamily: "BlogEntries"}
	reads  = thriftstore.Condition{Operation: thriftstore.Read, ColumnFamily: "BlogEntries"}
)

// kind returns the type of the exception that generated code reports.
func kind(err error) string {
	var transport thrift.TTransportException
	var protocol thrift.TProtocolException
	var application thrift.TApplicationException
	switch {
	case err == nil:
		return "nothing"
	case errors.As(err, new(*cassandra.UnavailableException)):
		return "UnavailableException"
	case errors.As(err, new(*cassandra.TimedOutException)):
		return "TimedOutException"
	case errors.As(err, new(*cassandra.InvalidRequestException)):
		return "InvalidRequestException"
	case errors.As(err, new(*cassandra.NotFoundException)):
		return "NotFoundException"
	case errors.As(err, &application):
		return "TApplicationException"
	case errors.As(err, &transport) && transport.TypeId() == thrift.TIMED_OUT:
		return "TTransportException, timeout"
	case errors.As(err, &transport):
		return "TTransportException"
	case errors.As(err, &protocol):
		return "TProtocolException"
	default:
		return err.Error()
	}
}

func write(blog *Blog) string {
	return kind(blog.Publish("post", "A title", "life", time.Unix(1, 0)))
}

func read(blog *Blog) string {
	_, err := blog.Title("post")
	return kind(err)
}

func same(t *testing.T, found, expected string) {
	t.Helper()
	if found != expected {
		t.Errorf("found %s instead of %s", found, expected)
	}
}

func TestErrors(t *testing.T) {
	for _, each := range []struct {
		fault       thriftstore.FaultError
		write, read string
	}{
		{thriftstore.Unavailable, "UnavailableException", "UnavailableException"},
		{thriftstore.TimedOut, "TimedOutException", "TimedOutException"},
		{thriftstore.InvalidRequest, "InvalidRequestException", "InvalidRequestException"},
		{thriftstore.NotFound, "TApplicationException", "NotFoundException"},
		{thriftstore.SchemaDisagreement, "UnavailableException", "UnavailableException"},
		{thriftstore.Authentication, "TApplicationException", "TApplicationException"},
		{thriftstore.Authorization, "TApplicationException", "TApplicationException"},
		{thriftstore.Overloaded, "UnavailableException", "UnavailableException"},
		{thriftstore.Internal, "TApplicationException", "TApplicationException"},
	} {
		t.Run(string(each.fault), func(t *testing.T) {
			store := thriftstore.Start(t)
			blog := open(t, store)
			fault := store.Fault(thriftstore.Rule{When: writes, Error: each.fault})
			same(t, write(blog), each.write)
			fault.Remove()
			same(t, read(blog), "NotFoundException")

			fault = store.Fault(thriftstore.Rule{When: writes, Error: each.fault, Applied: true})
			same(t, write(blog), each.write)
			fault.Remove()
			same(t, read(blog), "nothing")

			fault = store.Fault(thriftstore.Rule{When: reads, Error: each.fault})
			same(t, read(blog), each.read)
			fault.Remove()
			same(t, read(blog), "nothing")
		})
	}
}

func TestReplies(t *testing.T) {
	const timeout, transport = "TTransportException, timeout", "TTransportException"
	for _, each := range []struct {
		reply thriftstore.FaultReply
		// What is reported for the write, and for the next two requests over the same connection.
		write, second, third string
	}{
		{thriftstore.NoReply, timeout, "nothing", "nothing"},
		{thriftstore.Closed, transport, transport, transport},
		{thriftstore.Half, transport, transport, transport},
		{thriftstore.ClosedAfter, "nothing", transport, transport},
		// The client still waits for a part of the garbage when it reads the next reply.
		{thriftstore.Rubbish, "TProtocolException", timeout, "nothing"},
		// The second reply is read as that of the next request.
		{thriftstore.Twice, "nothing", "TApplicationException", timeout},
		{thriftstore.Trickle, "nothing", "nothing", "nothing"},
	} {
		t.Run(string(each.reply), func(t *testing.T) {
			store := thriftstore.Start(t)
			blog := open(t, store)
			store.Fault(thriftstore.Rule{When: writes, Reply: each.reply, Times: 1})
			path := &cassandra.ColumnPath{ColumnFamily: "BlogEntries", Column: []byte("title")}
			same(t, kind(blog.client.Insert(ctx, keyspace, "post", path, []byte("A title"), 1, one)), each.write)
			same(t, read(blog), each.second)
			same(t, read(blog), each.third)
			if title, err := open(t, store).Title("post"); title != "A title" {
				t.Error("the write was not applied:", err)
			}
		})
	}
}

func TestDelays(t *testing.T) {
	store := thriftstore.Start(t)
	blog := open(t, store)
	same(t, write(blog), "nothing")
	slow := store.Fault(thriftstore.Rule{When: reads, Delay: 100 * time.Millisecond})
	begin := time.Now()
	same(t, read(blog), "nothing")
	if time.Since(begin) < 100*time.Millisecond {
		t.Error("the reply was not delayed")
	}
	slow.Remove()
	store.Fault(thriftstore.Rule{When: reads, Delay: 5 * limit})
	same(t, read(blog), "TTransportException, timeout")
}

func TestRestart(t *testing.T) {
	store := thriftstore.Start(t)
	blog := open(t, store)
	same(t, write(blog), "nothing")
	store.Restart()
	same(t, read(blog), "TTransportException")
	same(t, read(open(t, store)), "nothing")
}

func TestNewConnectionsAreRefused(t *testing.T) {
	store := thriftstore.Start(t)
	blog := open(t, store)
	// After the first reply the server has certainly accepted the connection.
	same(t, write(blog), "nothing")
	accept := store.RefuseConnections()
	same(t, write(blog), "nothing")
	// The system accepts the connection, and the server closes it.
	same(t, read(open(t, store)), "TTransportException")
	accept()
	same(t, read(open(t, store)), "nothing")
}
