package behaviour

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"thriftstore.dev/thriftstore"
)

// useKeyspace calls set_keyspace as a generated client does, and returns the type of the reply.
func useKeyspace(t *testing.T, address, keyspace string) byte {
	t.Helper()
	var call bytes.Buffer
	text := func(text string) {
		_ = binary.Write(&call, binary.BigEndian, uint32(len(text)))
		call.WriteString(text)
	}
	call.Write([]byte{0x80, 1, 0, 1})
	text("set_keyspace")
	call.Write([]byte{0, 0, 0, 1, 11, 0, 1})
	text(keyspace)
	call.WriteByte(0)
	connection, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = connection.Write(append(binary.BigEndian.AppendUint32(nil, uint32(call.Len())), call.Bytes()...))
	reply := make([]byte, 8)
	if _, err := io.ReadFull(connection, reply); err != nil {
		t.Fatal(err)
	}
	return reply[7]
}

// record records one call to a server with the keyspace shop.
func record(t *testing.T, options ...thriftstore.Option) (file string, server *thriftstore.Database) {
	t.Helper()
	old := newServer(t, thriftstore.Compat("1.2"), thriftstore.Load("shop.cql")).Database(t)
	file = filepath.Join(t.TempDir(), "suite.rec")
	recorder, err := thriftstore.NewRecorder(file, thriftstore.Upstream{Thrift: old.Thrift, Native: old.Native}, options...)
	if err != nil {
		t.Fatal(err)
	}
	if recorder.Native == recorder.Thrift || useKeyspace(t, recorder.Thrift, "shop") != 2 {
		t.Fatal("the recorder does not answer as the server")
	}
	lines, err := recorder.Close()
	if err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "recorded 1 calls of 1 connections in ") {
		t.Fatal(lines, err)
	}
	return file, old
}

func TestRecordingIsAnsweredTheSame(t *testing.T) {
	file, old := record(t)
	report := thriftstore.CheckReplay(t, file, "text", thriftstore.Compat("1.2"), thriftstore.Load("shop.cql"))
	if report.Verdict != "same" || report.Calls["equal"] != 1 || len(report.Causes) != 0 {
		t.Fatal(report)
	}
	thriftstore.CheckReplay(t, file, "text", thriftstore.Arguments("--against", old.Thrift))
}

func TestReplayReportsDifferences(t *testing.T) {
	file, _ := record(t, thriftstore.Redact("values", "keys"))
	// Without the schema.
	report, err := thriftstore.Replay(file, thriftstore.Compat("1.2"))
	if err != nil {
		t.Fatal(err)
	}
	if report.Verdict != "differs" || report.Differs("data") || !report.Differs("exception") || !report.Differs("text") {
		t.Fatal(report)
	}
	if len(report.Causes) != 1 || !strings.Contains(report.Text, "set_keyspace") {
		t.Fatal(report)
	}
}

func TestRecorderAndReplayThatCannotBegin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "there.rec")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := thriftstore.NewRecorder(file, thriftstore.Upstream{Thrift: "127.0.0.1:9160"})
	if err == nil || !strings.Contains(err.Error(), "there.rec") {
		t.Fatal(err)
	}
	if _, err := thriftstore.NewRecorder(file, thriftstore.Upstream{}); err == nil {
		t.Fatal("a recorder without a server")
	}
	_, err = thriftstore.Replay("nowhere.rec")
	if err == nil || !strings.Contains(err.Error(), "nowhere.rec") {
		t.Fatal(err)
	}
}
