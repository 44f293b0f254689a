//go:build line_2_1

package main

import (
	"time"

	"library/cassandra"
)

func (l *library) later() {
	l.counters()
	l.compareAndSet()
	l.newReads()
}

func (l *library) cas(value string, expected ...string) []string {
	keepers := []*cassandra.Column{}
	for _, each := range expected {
		keepers = append(keepers, text("keeper", each))
	}
	update := []*cassandra.Column{column("keeper", []byte(value), time.Now().UnixMicro())}
	result := got(l.client.Cas(ctx, []byte("desk"), "Books", keepers, update,
		cassandra.ConsistencyLevel_SERIAL, cassandra.ConsistencyLevel_QUORUM))
	if result.Success {
		return nil
	}
	return pairs(result.CurrentValues)
}

func (l *library) compareAndSet() {
	done := []string(nil)
	check("the first", l.cas("ada"), done)
	check("comes first", l.cas("bob"), []string{"keeper=ada"})
	check("not if another is there", l.cas("bob", "eve"), []string{"keeper=ada"})
	check("but if she is", l.cas("bob", "ada"), done)
	desk := got(l.client.GetSlice(ctx, []byte("desk"), books, all, one))
	check("so it is him", columns(desk), []string{"keeper=bob"})
}

func (l *library) newReads() {
	c := l.client
	letters := []*cassandra.Mutation{}
	for _, letter := range "abcdefgh" {
		letters = append(letters, write(text(string(letter), "")))
	}
	batch := map[string]changes{"abc": {"Books": letters}, "xyz": {"Books": {write(text("shelf", "z"))}}}
	must(c.AtomicBatchMutate(ctx, batch, one))

	slice := func(start, finish string) *cassandra.ColumnSlice {
		return &cassandra.ColumnSlice{Start: []byte(start), Finish: []byte(finish)}
	}
	several := cassandra.NewMultiSliceRequest()
	several.Key, several.ColumnParent, several.Count = []byte("abc"), books, 10
	several.ColumnSlices = []*cassandra.ColumnSlice{slice("b", "d"), slice("c", "e"), slice("h", "")}
	check("several ranges", columns(got(c.GetMultiSlice(ctx, several))), []string{"b=", "c=", "d=", "e=", "h="})

	paged := got(c.GetPagedSlice(ctx, "Books", rows("abc", "abc", 4), []byte("c"), one))
	check("one row", len(paged), 1)
	check("from a column on", columns(paged[0].Columns), []string{"c=", "d=", "e=", "f="})

	filtered := rows("", "", 100)
	filtered.RowFilter = []*cassandra.IndexExpression{expression("shelf", cassandra.IndexOperator_EQ, []byte("z"))}
	found := got(c.GetRangeSlices(ctx, books, all, filtered, one))
	check("a filter", len(found), 1)
	check("finds", string(found[0].Key), "xyz")
}
