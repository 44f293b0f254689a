//go:build !line_0_7

package main

import (
	"fmt"

	"library/cassandra"
)

func stamp(timestamp int64) *int64 {
	return &timestamp
}

func replicateOnce(definition *cassandra.KsDef) {
	definition.StrategyOptions = map[string]string{"replication_factor": "1"}
}

func (l *library) counters() {
	c := l.client
	family := cassandra.NewCfDef()
	family.Keyspace, family.Name, family.ComparatorType = l.keyspace, "Visits", "UTF8Type"
	family.DefaultValidationClass = pointer("CounterColumnType")
	got(c.SystemAddColumnFamily(ctx, family))

	visits, read := parent("Visits"), path("Visits", nil, "read")
	must(c.Add(ctx, dune, visits, &cassandra.CounterColumn{Name: []byte("read"), Value: 5}, one))
	must(c.Add(ctx, dune, visits, &cassandra.CounterColumn{Name: []byte("read"), Value: -2}, one))
	check("a sum", got(c.Get(ctx, dune, read, one)).CounterColumn.Value, int64(3))
	add := func(name string, by int64) *cassandra.Mutation {
		entry := &cassandra.CounterColumn{Name: []byte(name), Value: by}
		return &cassandra.Mutation{ColumnOrSupercolumn: &cassandra.ColumnOrSuperColumn{CounterColumn: entry}}
	}
	must(c.BatchMutate(ctx, map[string]changes{"dune": {"Visits": {add("read", 10), add("lent", 1)}}}, one))
	sums := []string{}
	for _, entry := range got(c.GetSlice(ctx, dune, visits, all, one)) {
		sums = append(sums, fmt.Sprintf("%s=%d", entry.CounterColumn.Name, entry.CounterColumn.Value))
	}
	check("two sums", sums, []string{"lent=1", "read=13"})
	must(c.RemoveCounter(ctx, dune, read, one))
	refused("a counter that is gone", isNotFound, failure(c.Get(ctx, dune, read, one)))
	refused("to write what counts", isInvalid, c.Insert(ctx, dune, visits, text("read", "1"), one))
}
