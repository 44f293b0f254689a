package behaviour

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"thriftstore.dev/thriftstore"
)

// inner names the part of a test that runs in another process.
const inner = "KIT_TEST_INNER"

func runInner(test string) *exec.Cmd {
	command := exec.Command(os.Args[0], "-test.v", "-test.run", "^"+test+"$")
	command.Env = append(os.Environ(), inner+"=1")
	return command
}

func isInner() bool {
	return os.Getenv(inner) != ""
}

func accepts(address string) bool {
	connection, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		connection.Close()
	}
	return err == nil
}

func expectStop(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); accepts(address); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the server still runs")
		}
	}
}

func newServer(t *testing.T, options ...thriftstore.Option) *thriftstore.Server {
	t.Helper()
	server, err := thriftstore.NewServer(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func TestServerStopsWhenClosed(t *testing.T) {
	server := newServer(t, thriftstore.Compat("1.2"))
	if !accepts(server.ControlAddress()) || len(server.Log()) == 0 {
		t.Fatal("the server does not run")
	}
	server.Close()
	expectStop(t, server.ControlAddress())
}

func TestServerStopsWhenTheTestBinaryIsKilled(t *testing.T) {
	if isInner() {
		fmt.Println("address", newServer(t).ControlAddress())
		time.Sleep(time.Minute)
	}
	other := runInner(t.Name())
	output, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	address := ""
	for scanner := bufio.NewScanner(output); address == "" && scanner.Scan(); {
		address, _ = strings.CutPrefix(scanner.Text(), "address ")
		if !strings.HasPrefix(scanner.Text(), "address ") {
			address = ""
		}
	}
	if !accepts(address) {
		t.Fatal("the server does not run")
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	expectStop(t, address)
}

func TestErrorHasTheLogIfTheProgramEnds(t *testing.T) {
	_, err := thriftstore.NewServer(thriftstore.Config("missing.xml"))
	if err == nil || !strings.HasPrefix(err.Error(), "the program has ended: ") {
		t.Fatal(err)
	}
	if _, log, _ := strings.Cut(err.Error(), "\n"); !strings.Contains(log, "missing.xml") {
		t.Error(err)
	}
}

func TestProgramIsSearched(t *testing.T) {
	t.Setenv("THRIFTSTORE", "/nowhere/thriftstore")
	if _, err := thriftstore.NewServer(); err == nil || !strings.Contains(err.Error(), "/nowhere/thriftstore") {
		t.Error(err)
	}
	t.Setenv("THRIFTSTORE", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := thriftstore.NewServer(); err == nil || !strings.Contains(err.Error(), "THRIFTSTORE") {
		t.Error(err)
	}
}

func TestSandboxesAreSeparate(t *testing.T) {
	server := newServer(t, thriftstore.Load("shop.cql"))
	own := server.Database(t)
	own.LoadCQL(change)
	own.Snapshot("coffee")
	thrift := ""
	t.Run("inner", func(t *testing.T) {
		first, second := server.Sandbox(t), server.SandboxFrom(t, "coffee")
		if !hasTea(first) || hasTea(second) {
			t.Error("a sandbox has other rows")
		}
		first.ResetData()
		first.Clock().Freeze()
		if !strings.Contains(string(second.Dump()), "coffee") || second.Clock().IsFrozen() {
			t.Error("a sandbox was changed by another one")
		}
		if names, err := server.Sandboxes(); err != nil || len(names) != 2 {
			t.Error(names, err)
		}
		thrift = first.Thrift
		if !accepts(thrift) || !accepts(first.Native) {
			t.Error("the sandbox has no ports")
		}
	})
	if names, err := server.Sandboxes(); err != nil || len(names) != 0 {
		t.Error(names, err)
	}
	expectStop(t, thrift)
}

// describeVersion calls this method, with the binary protocol in a frame.
func describeVersion(t *testing.T, address string) {
	t.Helper()
	const name = "describe_version"
	call := binary.BigEndian.AppendUint32(nil, uint32(4+4+len(name)+4+1))
	call = binary.BigEndian.AppendUint32(call, 0x80010001)
	call = append(binary.BigEndian.AppendUint32(call, uint32(len(name))), name...)
	call = append(binary.BigEndian.AppendUint32(call, 1), 0)
	connection := dial(t, address)
	if _, err := connection.Write(call); err != nil {
		t.Fatal(err)
	}
	if _, err := connection.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
}

func TestFailureIsReported(t *testing.T) {
	if isInner() {
		for name, give := range map[string]func(testing.TB, ...thriftstore.Option) *thriftstore.Database{
			"server": thriftstore.Start, "sandbox": thriftstore.Sandbox,
		} {
			t.Run(name, func(t *testing.T) {
				describeVersion(t, give(t).Thrift)
				t.Error("on purpose")
			})
		}
		t.Run("passing", func(t *testing.T) { describeVersion(t, thriftstore.Start(t).Thrift) })
		return
	}
	output, err := runInner(t.Name()).CombinedOutput()
	if err == nil {
		t.Error("the inner tests passed")
	}
	for text, times := range map[string]int{"thriftstore during this test": 2, " thrift describe_version ": 2} {
		if strings.Count(string(output), text) != times {
			t.Errorf("not %d times %q:\n%s", times, text, output)
		}
	}
}

func TestDifferencesAreReported(t *testing.T) {
	insert := thriftstore.Condition{Method: "insert"}
	if isInner() {
		store := thriftstore.Start(t)
		store.Verify(thriftstore.None(insert))
		store.VerifyInOrder(thriftstore.Some(insert))
		return
	}
	output, err := runInner(t.Name()).CombinedOutput()
	if err == nil || !strings.Contains(string(output), "the requests are not as expected: expectation 1: no request") {
		t.Errorf("%s", output)
	}
}

func TestTwoTestsCannotUseTheSameServer(t *testing.T) {
	if isInner() {
		thriftstore.Start(t)
		t.Run("second", func(t *testing.T) { thriftstore.Start(t) })
		return
	}
	output, err := runInner(t.Name()).CombinedOutput()
	if err == nil || !strings.Contains(string(output), t.Name()+" uses the same server at the same time") {
		t.Errorf("%s", output)
	}
}
