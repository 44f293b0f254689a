package thriftstore

import (
	"errors"
	"fmt"
	"strings"
)

// Upstream has the addresses of a real server, such as "cassandra:9160" and "cassandra:9042". One of them suffices.
type Upstream struct {
	Thrift, Native string
}

// Recorder is a process "thriftstore record" before a real server. It stops when the test binary ends, too.
type Recorder struct {
	// The addresses for the application; empty for a server that was not given.
	Thrift, Native string

	process *process
}

const recorded = "listening for recorded clients on "

// NewRecorder starts a recorder, and waits until it accepts connections. The file must not exist. Options are [Redact]
// and [Arguments].
func NewRecorder(file string, upstream Upstream, list ...Option) (*Recorder, error) {
	r := &Recorder{process: &process{}}
	arguments := []string{"record", "--to", file}
	var addresses []expected
	for _, port := range []struct {
		upstream string
		address  *string
	}{{upstream.Thrift, &r.Thrift}, {upstream.Native, &r.Native}} {
		if port.upstream != "" {
			arguments = append(arguments, "--listen", "127.0.0.1:0", "--upstream", port.upstream)
			addresses = append(addresses, expected{recorded, port.address})
		}
	}
	if len(addresses) == 0 {
		return nil, errors.New("give the address of a server: Thrift, Native, or both")
	}
	arguments = append(arguments, optionsOf(list).arguments...)
	if err := r.process.start(arguments, addresses); err != nil {
		return nil, err
	}
	return r, nil
}

// Redact replaces values, keys or names by hashes: "values", "keys", "names". It is for recorders.
func Redact(roles ...string) Option {
	return Arguments("--redact", strings.Join(roles, ","))
}

// Close closes the file. It returns the lines that say how much was recorded, and an error if recording had ended before.
func (r *Recorder) Close() ([]string, error) {
	r.process.stop()
	var lines []string
	for _, line := range r.process.output() {
		if !strings.HasPrefix(line, recorded) {
			lines = append(lines, line)
		}
	}
	if status := r.process.command.ProcessState.ExitCode(); status != 0 {
		return lines, fmt.Errorf("the recording ended early:\n%s", strings.Join(r.process.log.since(0), ""))
	}
	return lines, nil
}
