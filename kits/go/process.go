package thriftstore

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
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

// expected is an address that the program prints when it listens: the words before it, and where to store it.
type expected struct {
	words   string
	address *string
}

// process is a running program that listens.
type process struct {
	command *exec.Cmd
	pipe    io.WriteCloser
	ended   chan struct{}
	log     serverLog

	mutex sync.Mutex
	// The lines that the program has printed.
	printed []string
	// Has an element after a line was printed.
	news chan struct{}

	thrift, native, control string
}

// startProcess starts "thriftstore serve".
func startProcess(o options) (*process, error) {
	arguments := append(strings.Fields("serve --ephemeral --thrift 127.0.0.1:0 --cql 127.0.0.1:0 --control 127.0.0.1:0"),
		o.arguments...)
	p := &process{}
	return p, p.start(arguments, []expected{
		{"listening for Thrift clients on ", &p.thrift},
		{"listening for CQL clients on ", &p.native},
		{"listening for control clients on ", &p.control},
	})
}

// start starts the program, and waits until it has printed the expected addresses.
func (p *process) start(arguments []string, addresses []expected) error {
	program, err := findProgram()
	if err != nil {
		return err
	}
	p.command = exec.Command(program, arguments...)
	if runtime.GOOS != "windows" {
		p.command = exec.Command("sh", append([]string{"-c", watched, "sh", program}, arguments...)...)
	}
	p.ended, p.news = make(chan struct{}), make(chan struct{}, 1)
	if p.pipe, err = p.command.StdinPipe(); err != nil {
		return err
	}
	output, err := p.command.StdoutPipe()
	if err != nil {
		return err
	}
	errors, err := p.command.StderrPipe()
	if err != nil {
		return err
	}
	if err := p.command.Start(); err != nil {
		return err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.follow(output)
	}()
	go func() {
		p.log.follow(errors)
		<-read
		// The process ends when it is waited for, after its output was read.
		_ = p.command.Wait()
		close(p.ended)
	}()
	if err := p.waitUntilReady(addresses); err != nil {
		p.stop()
		return fmt.Errorf("%w: %s %s\n%s", err, program, strings.Join(arguments, " "),
			strings.Join(p.log.since(p.log.number()-linesOfErrors), ""))
	}
	return nil
}

func (p *process) follow(output io.Reader) {
	scanner := bufio.NewScanner(output)
	for scanner.Scan() {
		p.mutex.Lock()
		p.printed = append(p.printed, scanner.Text())
		p.mutex.Unlock()
		select {
		case p.news <- struct{}{}:
		default:
		}
	}
}

// output returns the lines that the program has printed.
func (p *process) output() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.printed[:len(p.printed):len(p.printed)]
}

// waitUntilReady waits for the lines that have the addresses.
func (p *process) waitUntilReady(addresses []expected) error {
	limit := time.After(startLimit)
	for {
		if readAddresses(p.output(), addresses) {
			return nil
		}
		select {
		case <-p.news:
		case <-p.ended:
			return fmt.Errorf("the program has ended")
		case <-limit:
			return fmt.Errorf("the program is not ready after %s", startLimit)
		}
	}
}

// readAddresses returns whether the lines have all addresses. Lines with the same words are in the order of the addresses.
func readAddresses(lines []string, addresses []expected) bool {
	missing := append([]expected(nil), addresses...)
	for _, line := range lines {
		for i, next := range missing {
			if found, is := strings.CutPrefix(line, next.words); is {
				address, _, _ := strings.Cut(found, ",")
				*next.address = strings.TrimSpace(address)
				missing = append(missing[:i], missing[i+1:]...)
				break
			}
		}
	}
	return len(missing) == 0
}

func (p *process) isRunning() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// stop ends the watcher, then the program.
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
