package main

import (
	"fmt"
	"math/big"
	"net"
	"reflect"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"gopkg.in/inf.v0"
)

type address struct {
	Street string `cql:"street"`
	Number int    `cql:"number"`
}

// A column of `everything` with the value that each driver writes: as a literal of CQL, and as one of Go.
type column struct {
	name, kind, literal string
	value               any
}

func parsed[T any](value T, isOne bool) T {
	if !isOne {
		fail("no value: %v", value)
	}
	return value
}

func uuid(text string) gocql.UUID {
	value, err := gocql.ParseUUID(text)
	must(text, err)
	return value
}

var everything = []column{
	{"a_ascii", "ascii", "'thrift'", "thrift"},
	{"a_bigint", "bigint", "-9007199254740993", int64(-9007199254740993)},
	{"a_blob", "blob", "0x00ff10", []byte{0, 0xff, 0x10}},
	{"a_boolean", "boolean", "true", true},
	{"a_date", "date", "'2009-08-01'", time.Date(2009, 8, 1, 0, 0, 0, 0, time.UTC)},
	{"a_decimal", "decimal", "-12345678901234567890.123", parsed(new(inf.Dec).SetString("-12345678901234567890.123"))},
	{"a_double", "double", "2.5", 2.5},
	{"a_float", "float", "-0.25", float32(-0.25)},
	{"an_inet", "inet", "'192.0.2.7'", net.ParseIP("192.0.2.7")},
	{"an_int", "int", "2147483647", 2147483647},
	{"a_smallint", "smallint", "-12345", int16(-12345)},
	{"a_text", "text", "'Grüße, 世界'", "Grüße, 世界"},
	{"a_time", "time", "'12:34:56.789012345'",
		12*time.Hour + 34*time.Minute + 56*time.Second + 789012345*time.Nanosecond},
	{"a_timestamp", "timestamp", "1249084800123", time.UnixMilli(1249084800123).UTC()},
	{"a_timeuuid", "timeuuid", "7ea23a00-7e40-11de-8a39-0800200c9a66", uuid("7ea23a00-7e40-11de-8a39-0800200c9a66")},
	{"a_tinyint", "tinyint", "-7", int8(-7)},
	{"a_uuid", "uuid", "f81d4fae-7dec-41d0-a765-00a0c91e6bf6", uuid("f81d4fae-7dec-41d0-a765-00a0c91e6bf6")},
	{"a_varint", "varint", "123456789012345678901234567890",
		parsed(new(big.Int).SetString("123456789012345678901234567890", 10))},
	{"a_list", "list<int>", "[3, 1, 2]", []int{3, 1, 2}},
	{"a_set", "set<text>", "{'b', 'a'}", []string{"a", "b"}},
	{"a_map", "map<text, int>", "{'x': 1, 'y': -2}", map[string]int{"x": 1, "y": -2}},
	{"a_frozen", "frozen<list<text>>", "['p', 'q']", []string{"p", "q"}},
	{"a_tuple", "frozen<tuple<int, text>>", "(5, 'five')", []any{5, "five"}},
	{"an_address", "frozen<address>", "{street: 'Main', number: 12}", address{"Main", 12}},
}

// joined is what each of the columns says of itself, between commas.
func joined(columns []column, say func(column) string) string {
	var parts []string
	for _, column := range columns {
		parts = append(parts, say(column))
	}
	return strings.Join(parts, ", ")
}

func (c column) named() string { return c.name }

// marker is where the driver wants a value. A tuple is as many values as it has elements.
func (c column) marker() string {
	if _, isTuple := c.value.([]any); isTuple {
		return "(?, ?)"
	}
	return "?"
}

// insert is the statement that writes these columns of a row.
func insert(columns []column, id string, say func(column) string) string {
	return fmt.Sprintf("INSERT INTO everything (id, %s) VALUES (%s, %s) USING TIMESTAMP %d",
		joined(columns, column.named), id, joined(columns, say), timestamp)
}

// A place to scan a column into, which knows nothing from a value of zero.
type place struct{ pointer reflect.Value }

func placeFor(value any) place {
	kind := reflect.TypeOf(value)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	return place{reflect.New(reflect.PointerTo(kind))}
}

func (p place) String() string {
	found := p.pointer.Elem()
	if found.IsNil() {
		return "null"
	}
	if text, is := found.Interface().(fmt.Stringer); is {
		return text.String()
	}
	return fmt.Sprint(found.Elem().Interface())
}

// row scans a row of `everything`. The driver takes a tuple apart.
func row(session *gocql.Session, id int) map[string]string {
	var places, targets []any
	into := func(value any) place {
		one := placeFor(value)
		targets = append(targets, one.pointer.Interface())
		return one
	}
	for _, column := range everything {
		if elements, isTuple := column.value.([]any); isTuple {
			var several []place
			for _, element := range elements {
				several = append(several, into(element))
			}
			places = append(places, several)
		} else {
			places = append(places, into(column.value))
		}
	}
	err := session.Query("SELECT "+joined(everything, column.named)+" FROM everything WHERE id = ?", id).Scan(targets...)
	must("a row of everything", err)
	found := map[string]string{}
	for at, column := range everything {
		found[column.name] = fmt.Sprint(places[at])
	}
	return found
}

func (s scenario) types() {
	s.run(insert(everything, "1", func(c column) string { return c.literal }))
	values, nothing, unset := []any{2}, []any{3}, []any{2}
	var whole []column
	for at, column := range everything {
		if elements, isTuple := column.value.([]any); isTuple {
			values = append(values, elements...)
			continue // It would be a tuple of two nulls.
		}
		whole = append(whole, column)
		values = append(values, column.value)
		unset = append(unset, gocql.UnsetValue)
		nothing = append(nothing, []any{nil, gocql.UnsetValue}[at%2])
	}
	s.run(insert(everything, "?", column.marker), values...)
	s.run(insert(whole, "?", column.marker), nothing...)
	s.run(insert(whole, "?", column.marker), unset...)
	for id, what := range []string{"", "literal", "value, which one that is not set leaves as it is"} {
		if id > 0 {
			found := row(s.Session, id)
			for _, column := range everything {
				same(column.name+" as a "+what, column.value, found[column.name])
			}
		}
	}
	for name, found := range row(s.Session, 3) {
		same(name+" without a value", true, found == "null" || found == "[null null]")
	}
}

// olderVersions reads the same with the versions before the newest.
func (s scenario) olderVersions() {
	for _, version := range []int{3, 4} {
		config := cluster()
		config.ProtoVersion = version
		config.Keyspace = keyspace
		session := connect(config)
		for _, name := range []string{"a_varint", "a_list", "a_map", "an_address", "a_timestamp", "a_tuple"} {
			same(fmt.Sprintf("%s in version %d", name, version), row(s.Session, 1)[name], row(session, 2)[name])
		}
		session.Close()
	}
}
