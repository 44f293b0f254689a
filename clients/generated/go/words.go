package main

import (
	"encoding/binary"
	"fmt"

	"library/cassandra"
)

// Short words for the client's long ones.

const one = cassandra.ConsistencyLevel_ONE

var (
	books = parent("Books")
	loans = parent("Loans")
	all   = between(nil, nil, false, 100)
	dune  = []byte("dune")
)

type changes = map[string][]*cassandra.Mutation

func long(number int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(number))
}

func pointer[T any](value T) *T {
	return &value
}

func parent(family string) *cassandra.ColumnParent {
	return &cassandra.ColumnParent{ColumnFamily: family}
}

func within(family string, superColumn []byte) *cassandra.ColumnParent {
	return &cassandra.ColumnParent{ColumnFamily: family, SuperColumn: superColumn}
}

func path(family string, superColumn []byte, column string) *cassandra.ColumnPath {
	path := &cassandra.ColumnPath{ColumnFamily: family, SuperColumn: superColumn}
	if column != "" {
		path.Column = []byte(column)
	}
	return path
}

func names(names ...string) *cassandra.SlicePredicate {
	predicate := &cassandra.SlicePredicate{}
	for _, name := range names {
		predicate.ColumnNames = append(predicate.ColumnNames, []byte(name))
	}
	return predicate
}

func between(start, finish []byte, reversed bool, count int32) *cassandra.SlicePredicate {
	slice := &cassandra.SliceRange{Start: start, Finish: finish, Reversed: reversed, Count: count}
	return &cassandra.SlicePredicate{SliceRange: slice}
}

func rows(start, end string, count int32) *cassandra.KeyRange {
	return &cassandra.KeyRange{StartKey: []byte(start), EndKey: []byte(end), Count: count}
}

func expression(name string, op cassandra.IndexOperator, value []byte) *cassandra.IndexExpression {
	return &cassandra.IndexExpression{ColumnName: []byte(name), Op: op, Value: value}
}

func column(name string, value []byte, timestamp int64) *cassandra.Column {
	return &cassandra.Column{Name: []byte(name), Value: value, Timestamp: stamp(timestamp)}
}

func text(name, value string) *cassandra.Column {
	return column(name, []byte(value), 10)
}

func write(column *cassandra.Column) *cassandra.Mutation {
	return &cassandra.Mutation{ColumnOrSupercolumn: &cassandra.ColumnOrSuperColumn{Column: column}}
}

func pair(column *cassandra.Column) string {
	return fmt.Sprintf("%s=%s", column.Name, column.Value)
}

func pairs(columns []*cassandra.Column) []string {
	found := []string{}
	for _, column := range columns {
		found = append(found, pair(column))
	}
	return found
}

// columns has name=value for each, in their order.
func columns(entries []*cassandra.ColumnOrSuperColumn) []string {
	found := []string{}
	for _, entry := range entries {
		found = append(found, pair(entry.Column))
	}
	return found
}

// superColumns has number[name=value ...] for each, in their order.
func superColumns(entries []*cassandra.ColumnOrSuperColumn) []string {
	found := []string{}
	for _, entry := range entries {
		year := int64(binary.BigEndian.Uint64(entry.SuperColumn.Name))
		found = append(found, fmt.Sprint(year, pairs(entry.SuperColumn.Columns)))
	}
	return found
}
