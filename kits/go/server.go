package thriftstore

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// Server is a process "thriftstore serve". Most tests use [Start] or [Sandbox] instead.
type Server struct {
	process   *process
	control   *control
	sandboxes atomic.Int64

	mutex sync.Mutex
	// The test that uses the server itself; empty if there is none.
	test string
}

var (
	sharedMutex sync.Mutex
	shared      = map[string]*Server{}
)

// NewServer starts a server of its own, and waits until it accepts connections: at most ten seconds.
func NewServer(list ...Option) (*Server, error) {
	process, err := startProcess(optionsOf(list))
	if err != nil {
		return nil, err
	}
	return &Server{process: process, control: newControl(process.control)}, nil
}

// sharedServer returns the server of this test binary with these options. Nothing stops it but the end of the binary.
func sharedServer(list []Option) (*Server, error) {
	sharedMutex.Lock()
	defer sharedMutex.Unlock()
	key := optionsOf(list).key()
	if server := shared[key]; server != nil && server.process.isRunning() {
		return server, nil
	}
	server, err := NewServer(list...)
	if err == nil {
		shared[key] = server
	}
	return server, err
}

// Close stops the server.
func (s *Server) Close() {
	s.process.stop()
}

// ControlAddress returns the address of the control port.
func (s *Server) ControlAddress() string {
	return s.process.control
}

// Log returns the last lines of the log.
func (s *Server) Log() []string {
	return s.process.log.since(0)
}

// Database returns the server's own database for a test, as it is: without a reset.
func (s *Server) Database(tb testing.TB) *Database {
	return &Database{
		Thrift: s.process.thrift, Native: s.process.native,
		tb: tb, control: s.control, server: s, logged: s.process.log.number(),
	}
}

// Sandbox creates a database of the test's own, in the state of the server's start. The end of the test removes it.
func (s *Server) Sandbox(tb testing.TB) *Database {
	tb.Helper()
	return s.sandbox(tb, object{})
}

// SandboxFrom creates a sandbox in the state of a snapshot of the server's own database.
func (s *Server) SandboxFrom(tb testing.TB, snapshot string) *Database {
	tb.Helper()
	return s.sandbox(tb, object{"from": snapshot})
}

func (s *Server) sandbox(tb testing.TB, body object) *Database {
	tb.Helper()
	name := fmt.Sprintf("sandbox-%d", s.sandboxes.Add(1))
	database := &Database{tb: tb, control: s.control, server: s, sandbox: name, logged: s.process.log.number()}
	var reply struct{ Thrift, Native string }
	database.must(http.MethodPut, "/sandboxes/"+name, body, &reply)
	database.Thrift, database.Native = reply.Thrift, reply.Native
	database.control = s.control.ofSandbox(name)
	tb.Cleanup(func() {
		database.report()
		if err := s.control.call(http.MethodDelete, "/sandboxes/"+name, nil, nil); err != nil {
			tb.Errorf("thriftstore: remove the sandbox: %v", err)
		}
	})
	return database
}

// Sandboxes returns the names of the sandboxes.
func (s *Server) Sandboxes() ([]string, error) {
	var reply struct{ Sandboxes []struct{ Name string } }
	err := s.control.call(http.MethodGet, "/sandboxes", nil, &reply)
	names := []string{}
	for _, sandbox := range reply.Sandboxes {
		names = append(names, sandbox.Name)
	}
	return names, err
}

// take reserves the server's own database for a test, and returns the test that has it already.
func (s *Server) take(test string) (other string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.test == "" {
		s.test = test
		return ""
	}
	return s.test
}

func (s *Server) giveBack() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.test = ""
}
