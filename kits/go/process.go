package thriftstore

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

const (
	startLimit    = 10 * time.Second
	stopLimit     = 5 * time.Second
	linesOfErrors = 20
)

// watched is a shell script that starts a watcher in the background, and then becomes the server with the same process
// id. The watcher reads from a pipe that the test binary holds. The system closes the pipe when the test binary is
// gone, also after SIGKILL, os.Exit or the panic of a test's time limit, and then the watcher kills the server. A line
// in the pipe ends the watcher. The data is in memory, so nothing is lost.
const watched = `exec 3<&0; (read -r _ <&3 || kill -9 $$) >/dev/null 2>&1 & exec "$@" 3<&- </dev/null`

// process is a running "thriftstore serve".
type process struct {
	command *exec.Cmd
	pipe    io.WriteCloser
	ended   chan struct{}
	log     serverLog

	thrift, native, control string
}

func startProcess(o options) (*process, error) {
	program, err := findProgram()
	if err != nil {
		return nil, err
	}
	arguments := append(strings.Fields("serve --ephemeral --thrift 127.0.0.1:0 --cql 127.0.0.1:0 --control 127.0.0.1:0"),
		o.arguments...)
	command := exec.Command(program, arguments...)
	if runtime.GOOS != "windows" {
		command = exec.Command("sh", append([]string{"-c", watched, "sh", program}, arguments...)...)
	}
	p := &process{command: command, ended: make(chan struct{})}
	if p.pipe, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	errors, err := command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(output)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	go func() {
		p.log.follow(errors)
		// The process ends when it is waited for, after its output was read.
		_ = command.Wait()
		close(p.ended)
	}()
	if err := p.waitUntilReady(lines); err != nil {
		p.stop()
		return nil, fmt.Errorf("%w: %s %s\n%s", err, program, strings.Join(arguments, " "),
			strings.Join(p.log.since(p.log.number()-linesOfErrors), ""))
	}
	return p, nil
}

// waitUntilReady reads the lines that have the addresses.
func (p *process) waitUntilReady(lines <-chan string) error {
	limit := time.After(startLimit)
	for p.thrift == "" || p.native == "" || p.control == "" {
		select {
		case line, open := <-lines:
			if !open {
				return fmt.Errorf("the server has ended")
			}
			p.readAddress(line)
		case <-limit:
			return fmt.Errorf("the server is not ready after %s", startLimit)
		}
	}
	go func() {
		for range lines {
			// The server prints no more, but it must never wait for a reader.
		}
	}()
	return nil
}

func (p *process) readAddress(line string) {
	for clients, address := range map[string]*string{"Thrift": &p.thrift, "CQL": &p.native, "control": &p.control} {
		if found, is := strings.CutPrefix(line, "listening for "+clients+" clients on "); is {
			*address = strings.TrimSpace(found)
		}
	}
}

func (p *process) isRunning() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// stop ends the watcher, then the server.
func (p *process) stop() {
	_, _ = io.WriteString(p.pipe, "\n")
	_ = p.command.Process.Signal(terminate)
	select {
	case <-p.ended:
	case <-time.After(stopLimit):
		_ = p.command.Process.Kill()
		<-p.ended
	}
}
