package thriftstore

import (
	"net/http"
	"time"
)

// Clock is the clock of a database. Times to live, now() and the timestamps that the server sets follow it.
type Clock struct {
	database *Database
}

// Clock returns the clock of the database.
func (d *Database) Clock() Clock {
	return Clock{d}
}

type clockState struct {
	NowMS  int64 `json:"now_ms"`
	Frozen bool  `json:"frozen"`
}

func (c Clock) state() clockState {
	c.database.tb.Helper()
	var state clockState
	c.database.must(http.MethodGet, "/clock", nil, &state)
	return state
}

func (c Clock) change(change object) {
	c.database.tb.Helper()
	c.database.must(http.MethodPost, "/clock", change, nil)
}

// Now returns the time, in milliseconds.
func (c Clock) Now() time.Time {
	c.database.tb.Helper()
	return time.UnixMilli(c.state().NowMS)
}

// IsFrozen returns whether the clock is stopped.
func (c Clock) IsFrozen() bool {
	c.database.tb.Helper()
	return c.state().Frozen
}

// Freeze stops the clock.
func (c Clock) Freeze() {
	c.database.tb.Helper()
	c.change(object{"freeze": true})
}

// Unfreeze lets a stopped clock run on from its time.
func (c Clock) Unfreeze() {
	c.database.tb.Helper()
	c.change(object{"freeze": false})
}

// Set sets the time. A stopped clock stays stopped.
func (c Clock) Set(t time.Time) {
	c.database.tb.Helper()
	c.change(object{"set": t.UTC().Format("2006-01-02T15:04:05.000Z")})
}

// Advance moves the time, backwards if the duration is negative. A stopped clock stays stopped.
func (c Clock) Advance(d time.Duration) {
	c.database.tb.Helper()
	c.change(object{"advance_ms": d.Milliseconds()})
}

// Follow follows the system's clock again.
func (c Clock) Follow() {
	c.database.tb.Helper()
	c.change(object{"follow": true})
}
