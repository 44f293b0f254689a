//go:build line_1_0

package main

func (l *library) later() {
	l.counters()
}
