package main

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"time"

	"library/cassandra"
)

type library struct {
	line     string
	client   *cassandra.CassandraClient
	keyspace string
	expires  time.Time
}

func newLibrary(line string, client *cassandra.CassandraClient) *library {
	return &library{line: line, client: client, keyspace: fmt.Sprintf("Library%x", rand.Int63n(1<<48))}
}

func (l *library) run() {
	l.createSchema()
	l.columns()
	l.batch()
	l.slices()
	l.scan()
	l.index()
	l.superColumns()
	l.mistakes()
	l.later()
	l.expired()
	l.changeSchema()
}

func (l *library) createSchema() {
	c := l.client
	check("the version has three parts", len(strings.Split(got(c.DescribeVersion(ctx)), ".")), 3)
	check("the cluster has a name", got(c.DescribeClusterName(ctx)) != "", true)
	refused("no keyspace yet", isInvalid, failure(c.GetSlice(ctx, dune, books, all, one)))

	family := cassandra.NewCfDef()
	family.Keyspace, family.Name, family.ComparatorType = l.keyspace, "Books", "UTF8Type"
	family.DefaultValidationClass = pointer("UTF8Type")
	family.ColumnMetadata = []*cassandra.ColumnDef{
		{
			Name: []byte("shelf"), ValidationClass: "UTF8Type",
			IndexType: pointer(cassandra.IndexType_KEYS), IndexName: pointer("by_shelf"),
		},
		{Name: []byte("year"), ValidationClass: "LongType"},
	}
	super := cassandra.NewCfDef()
	super.Keyspace, super.Name, super.ColumnType, super.ComparatorType = l.keyspace, "Loans", "Super", "LongType"
	super.SubcomparatorType = pointer("UTF8Type")
	definition := cassandra.NewKsDef()
	definition.Name, definition.StrategyClass = l.keyspace, "org.apache.cassandra.locator.SimpleStrategy"
	definition.CfDefs = []*cassandra.CfDef{family, super}
	replicateOnce(definition)
	check("the schema has a version", got(c.SystemAddKeyspace(ctx, definition)) != "", true)
	refused("the keyspace is there", isInvalid, failure(c.SystemAddKeyspace(ctx, definition)))

	must(c.SetKeyspace(ctx, l.keyspace))
	check("the column families", len(got(c.DescribeKeyspace(ctx, l.keyspace)).CfDefs), 2)
	check("a comparator", l.family("Books").ComparatorType, "org.apache.cassandra.db.marshal.UTF8Type")
	check("another", l.family("Loans").GetSubcomparatorType(), "org.apache.cassandra.db.marshal.UTF8Type")
	check("the type", l.family("Loans").ColumnType, "Super")
	indexes := []string{}
	for _, column := range l.family("Books").ColumnMetadata {
		if column.IsSetIndexType() {
			indexes = append(indexes, fmt.Sprintf("%s: %s", column.Name, column.GetIndexName()))
		}
	}
	check("the index", indexes, []string{"shelf: by_shelf"})
	isOurs := func(each *cassandra.KsDef) bool { return each.Name == l.keyspace }
	check("among the keyspaces", slices.ContainsFunc(got(c.DescribeKeyspaces(ctx)), isOurs), true)
}

func (l *library) family(name string) *cassandra.CfDef {
	for _, family := range got(l.client.DescribeKeyspace(ctx, l.keyspace)).CfDefs {
		if family.Name == name {
			return family
		}
	}
	panic("there is no column family " + name)
}

func (l *library) get(key, family, column string) *cassandra.Column {
	return got(l.client.Get(ctx, []byte(key), path(family, nil, column), one)).Column
}

func (l *library) columns() {
	c := l.client
	dunes := []*cassandra.Column{
		text("title", "Dune"), text("author", "Herbert"), text("shelf", "c"), column("year", long(1965), 10),
	}
	for _, each := range dunes {
		must(c.Insert(ctx, dune, books, each, one))
	}
	must(c.Insert(ctx, dune, books, column("title", []byte("an older title"), 9), one))
	title := l.get("dune", "Books", "title")
	check("the newer of two writes", []any{pair(title), title.GetTimestamp()}, []any{"title=Dune", int64(10)})
	check("has no end", title.IsSetTTL(), false)
	refused("no such column", isNotFound, failure(c.Get(ctx, dune, path("Books", nil, "isbn"), one)))
	note := text("note", "wet")
	note.TTL = pointer(int32(2))
	must(c.Insert(ctx, dune, books, note, one))
	l.expires = time.Now().Add(3200 * time.Millisecond)
	note = l.get("dune", "Books", "note")
	check("a time to live", []any{pair(note), note.GetTTL()}, []any{"note=wet", int32(2)})
}

func book(number int) string {
	return fmt.Sprintf("book%02d", number)
}

func booksFrom(first, step int) []string {
	found := []string{}
	for number := first; number < 20; number += step {
		found = append(found, book(number))
	}
	return found
}

func (l *library) batch() {
	deletion := &cassandra.Deletion{Timestamp: stamp(11), Predicate: names("author")}
	batch := map[string]changes{"dune": {"Books": {{Deletion: deletion}}}}
	for number := range 20 {
		batch[book(number)] = changes{"Books": {
			write(text("title", fmt.Sprint("Book ", number))),
			write(text("shelf", "ab"[number%2:][:1])),
			write(column("year", long(int64(1900+number)), 10)),
		}}
	}
	must(l.client.BatchMutate(ctx, batch, one))
}

func (l *library) slices() {
	c := l.client
	slice := func(predicate *cassandra.SlicePredicate) []string {
		return columns(got(c.GetSlice(ctx, []byte("book03"), books, predicate, one)))
	}
	found := columns(got(c.GetSlice(ctx, dune, books, names("title", "author", "shelf"), one)))
	check("by names", found, []string{"shelf=c", "title=Dune"})
	check("all", slice(all), []string{"shelf=b", "title=Book 3", "year=" + string(long(1903))})
	check("a range", slice(between([]byte("shelf"), []byte("title"), false, 100)), []string{"shelf=b", "title=Book 3"})
	check("backwards", slice(between([]byte("u"), nil, true, 1)), []string{"title=Book 3"})
	check("a count", got(c.GetCount(ctx, []byte("book03"), books, all, one)), int32(3))
	keys := [][]byte{[]byte("book01"), []byte("nobody")}
	rows := got(c.MultigetSlice(ctx, keys, books, names("title"), one))
	check("rows", [][]string{columns(rows["book01"]), columns(rows["nobody"])}, [][]string{{"title=Book 1"}, {}})
	check("of every key", len(rows), 2)
	counts := got(c.MultigetCount(ctx, keys, books, all, one))
	check("counts of rows", counts, map[string]int32{"book01": 3, "nobody": 0})
}

func (l *library) scan() {
	seen := []string{}
	for start := ""; ; start = seen[len(seen)-1] {
		before := len(seen)
		for _, row := range got(l.client.GetRangeSlices(ctx, books, names("title"), rows(start, "", 7), one)) {
			if string(row.Key) != start {
				seen = append(seen, string(row.Key))
			}
		}
		if len(seen) == before {
			break
		}
	}
	slices.Sort(seen)
	check("every row once", seen, append(booksFrom(0, 1), "dune"))
}

func (l *library) those(expressions ...*cassandra.IndexExpression) ([]string, error) {
	clause := &cassandra.IndexClause{Expressions: expressions, Count: 100}
	rows, err := l.client.GetIndexedSlices(ctx, books, clause, names("title"), one)
	found := []string{}
	for _, row := range rows {
		found = append(found, string(row.Key))
	}
	slices.Sort(found)
	return found, err
}

func (l *library) index() {
	c := l.client
	shelf := expression("shelf", cassandra.IndexOperator_EQ, []byte("a"))
	year := expression("year", cassandra.IndexOperator_GTE, long(1910))
	check("a shelf", got(l.those(shelf)), booksFrom(0, 2))
	check("its later years", got(l.those(shelf, year)), booksFrom(10, 2))
	must(c.Insert(ctx, []byte("book12"), books, column("shelf", []byte("c"), 11), one))
	must(c.Remove(ctx, []byte("book14"), path("Books", nil, ""), 11, one))
	check("after changes", got(l.those(shelf, year)), []string{"book10", "book16", "book18"})
	refused("without an index", isInvalid, failure(l.those(year)))
}

func (l *library) superColumns() {
	c := l.client
	loan := func(year int64, columns ...*cassandra.Column) *cassandra.Mutation {
		entry := &cassandra.SuperColumn{Name: long(year), Columns: columns}
		return &cassandra.Mutation{ColumnOrSupercolumn: &cassandra.ColumnOrSuperColumn{SuperColumn: entry}}
	}
	mutations := []*cassandra.Mutation{
		loan(2010, text("who", "ada"), text("until", "may")), loan(2009, text("who", "bob")), loan(-1, text("who", "cyd")),
	}
	must(c.BatchMutate(ctx, map[string]changes{"dune": {"Loans": mutations}}, one))
	must(c.Insert(ctx, dune, within("Loans", long(2009)), text("until", "june"), one))
	check("super columns", superColumns(got(c.GetSlice(ctx, dune, loans, all, one))), []string{
		"-1 [who=cyd]", "2009 [until=june who=bob]", "2010 [until=may who=ada]",
	})
	found := columns(got(c.GetSlice(ctx, dune, within("Loans", long(2010)), all, one)))
	check("the columns of one", found, []string{"until=may", "who=ada"})
	who := got(c.Get(ctx, dune, path("Loans", long(2009), "who"), one))
	check("one of them", pair(who.Column), "who=bob")
	must(c.Remove(ctx, dune, path("Loans", long(2010), "until"), 11, one))
	must(c.Remove(ctx, dune, path("Loans", long(-1), ""), 11, one))
	found = superColumns(got(c.GetSlice(ctx, dune, loans, between(nil, nil, true, 100), one)))
	check("after removals, backwards", found, []string{"2010 [who=ada]", "2009 [until=june who=bob]"})
	check("a count", got(c.GetCount(ctx, dune, loans, all, one)), int32(2))
	check("a count of one", got(c.GetCount(ctx, dune, within("Loans", long(2009)), all, one)), int32(2))
}

func (l *library) mistakes() {
	insert := func(key string, parent *cassandra.ColumnParent, name, value string) error {
		return l.client.Insert(ctx, []byte(key), parent, text(name, value), one)
	}
	refused("three bytes are no long", isInvalid, insert("k", books, "year", "abc"))
	refused("no such column family", isInvalid, insert("k", parent("Nowhere"), "a", "b"))
	refused("no super column", isInvalid, insert("k", loans, "a", "b"))
	refused("no key", isInvalid, insert("", books, "a", "b"))
	refused("no such keyspace", isInvalid, l.client.SetKeyspace(ctx, "Nowhere"))
}

func (l *library) expired() {
	time.Sleep(time.Until(l.expires))
	refused("what has expired", isNotFound, failure(l.client.Get(ctx, dune, path("Books", nil, "note"), one)))
	check("is not counted", got(l.client.GetCount(ctx, dune, books, all, one)), int32(3))
}

func (l *library) changeSchema() {
	c := l.client
	family := l.family("Books")
	family.Comment = pointer("all of them")
	got(c.SystemUpdateColumnFamily(ctx, family))
	family = l.family("Books")
	check("an update", []any{family.GetComment(), len(family.ColumnMetadata)}, []any{"all of them", 2})
	must(c.Truncate(ctx, "Books"))
	check("no rows", len(got(c.GetRangeSlices(ctx, books, all, rows("", "", 100), one))), 0)
	check("others have theirs", got(c.GetCount(ctx, dune, loans, all, one)), int32(2))
	got(c.SystemDropColumnFamily(ctx, "Loans"))
	refused("a column family that is gone", isInvalid, failure(c.GetCount(ctx, dune, loans, all, one)))
	got(c.SystemDropKeyspace(ctx, l.keyspace))
	refused("a keyspace that is gone", isNotFound, failure(c.DescribeKeyspace(ctx, l.keyspace)))
}
