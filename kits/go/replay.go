package thriftstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Report is what a replay has found. docs/traffic.md describes the fields of the report as JSON.
type Report struct {
	// "same", "differs", or "nothing" if no answers were compared.
	Verdict string
	// Counts of calls by what they are, such as "total", "compared" and "data".
	Calls map[string]int
	// The differences, grouped by cause.
	Causes []map[string]any
	// The report for a reader.
	Text string `json:"-"`
}

// Differs returns whether there are differences of a kind or of a more serious one: "data", "exception" or "text".
func (r *Report) Differs(kind string) bool {
	differences := r.Calls["data"]
	if kind != "data" {
		differences += r.Calls["exception"]
	}
	if kind == "text" {
		differences += r.Calls["text"]
	}
	return differences > 0
}

// Replay replays a recording to a server in memory. Options describe what the server had when the recording began; without
// [Config] and [Load] it begins empty. Differences are no error.
func Replay(file string, list ...Option) (*Report, error) {
	program, err := findProgram()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "thriftstore-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	written := filepath.Join(folder, "report.json")
	arguments := append([]string{"replay", file, "--report", "json", "--report-to", written}, optionsOf(list).arguments...)
	var errors bytes.Buffer
	command := exec.Command(program, arguments...)
	command.Stderr = &errors
	output, failed := command.Output()
	fields, err := os.ReadFile(written)
	if failed != nil || err != nil {
		return nil, fmt.Errorf("the replay failed: %s", errors.String())
	}
	report := &Report{}
	report.Text, _, _ = strings.Cut(string(output), "\nThe report is in ")
	return report, json.Unmarshal(fields, report)
}

// CheckReplay replays a recording, and lets the test fail if there are differences of a kind, "data", "exception" or
// "text", or of a more serious one.
func CheckReplay(tb testing.TB, file, kind string, list ...Option) *Report {
	tb.Helper()
	report, err := Replay(file, list...)
	if err != nil {
		tb.Fatalf("thriftstore: %v", err)
	}
	if report.Differs(kind) {
		tb.Errorf("thriftstore: answers differ from the recorded ones\n%s", report.Text)
	}
	return report
}
