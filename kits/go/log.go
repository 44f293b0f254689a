package thriftstore

import (
	"bufio"
	"io"
	"sync"
)

const logLinesMax = 2000

// serverLog has the last lines of the log of a server.
type serverLog struct {
	mutex sync.Mutex
	lines []string
	count int
}

// follow adds all lines until the end of the stream.
func (l *serverLog) follow(stream io.Reader) {
	reader := bufio.NewReader(stream)
	for {
		line, err := reader.ReadString('\n')
		if line != "" {
			l.add(line)
		}
		if err != nil {
			return
		}
	}
}

func (l *serverLog) add(line string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.lines) == logLinesMax {
		l.lines = append(l.lines[:0:0], l.lines[1:]...)
	}
	l.lines = append(l.lines, line)
	l.count++
}

// number returns the number of lines so far.
func (l *serverLog) number() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.count
}

// since returns the lines after the first ones, as far as they are still here.
func (l *serverLog) since(skipped int) []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	forgotten := l.count - len(l.lines)
	first := min(max(skipped-forgotten, 0), len(l.lines))
	return append([]string(nil), l.lines[first:]...)
}
