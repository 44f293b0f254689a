package main

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

type scenario struct {
	*gocql.Session
	*listener
}

// run runs a statement that has to succeed. With values the driver prepares it.
func (s scenario) run(statement string, values ...any) {
	must(statement, s.Query(statement, values...).Exec())
}

// rows is every row of an answer, each as a text. The columns are in the order of their names.
func (s scenario) rows(statement string, values ...any) []string {
	found, err := s.Query(statement, values...).Iter().SliceMap()
	must(statement, err)
	texts := []string{}
	for _, row := range found {
		texts = append(texts, written(row))
	}
	return texts
}

func written(row map[string]any) string {
	var columns []string
	for name, value := range row {
		columns = append(columns, fmt.Sprintf("%s %v", name, value))
	}
	sort.Strings(columns)
	return strings.Join(columns, ", ")
}

func (s scenario) createSchema() {
	columns := joined(everything, func(c column) string { return c.name + " " + c.kind })
	for _, statement := range []string{
		"CREATE TYPE address (street text, number int)",
		"CREATE TABLE everything (id int PRIMARY KEY, " + columns + ")",
		"CREATE TABLE counts (id text PRIMARY KEY, n counter)",
		"CREATE TABLE posts (author text, year int, written timeuuid, title text, words map<text, int>, tags set<text>," +
			" drafts list<text>, motto text STATIC, PRIMARY KEY ((author, year), written))" +
			" WITH CLUSTERING ORDER BY (written DESC)",
		"CREATE TABLE numbers (part int, number int, square bigint, PRIMARY KEY (part, number))",
		"CREATE TABLE accounts (id int PRIMARY KEY, owner text, city text)",
		"CREATE INDEX by_city ON accounts (city)",
	} {
		s.run(statement)
	}
}

func (s scenario) metadata() *gocql.KeyspaceMetadata {
	found, err := s.KeyspaceMetadata(keyspace)
	must("the keyspace as the driver knows it", err)
	return found
}

func columnNames(columns []*gocql.ColumnMetadata) (found []string) {
	for _, column := range columns {
		found = append(found, column.Name)
	}
	return found
}

var driversTypes = map[string]gocql.Type{
	"ascii": gocql.TypeAscii, "bigint": gocql.TypeBigInt, "blob": gocql.TypeBlob, "boolean": gocql.TypeBoolean,
	"date": gocql.TypeDate, "decimal": gocql.TypeDecimal, "double": gocql.TypeDouble, "float": gocql.TypeFloat,
	"inet": gocql.TypeInet, "int": gocql.TypeInt, "smallint": gocql.TypeSmallInt, "text": gocql.TypeText,
	"time": gocql.TypeTime, "timestamp": gocql.TypeTimestamp, "timeuuid": gocql.TypeTimeUUID,
	"tinyint": gocql.TypeTinyInt, "uuid": gocql.TypeUUID, "varint": gocql.TypeVarint, "list": gocql.TypeList,
	"set": gocql.TypeSet, "map": gocql.TypeMap,
}

func (s scenario) schemaRead() {
	eventually("tables", "[accounts counts everything numbers posts]", func() any {
		found := []string{}
		for name := range s.metadata().Tables {
			found = append(found, name)
		}
		sort.Strings(found)
		return found
	})
	known := s.metadata()
	same("replication", true, strings.HasSuffix(known.StrategyClass, "SimpleStrategy"))
	table := known.Tables["everything"]
	for _, column := range everything {
		kind, _, _ := strings.Cut(column.kind, "<")
		if kind == "frozen" {
			continue // Some of these the driver does not make out.
		}
		found := table.Columns[column.name].Type.Type()
		if found == gocql.TypeVarchar { // Schemas before 3.0 make no difference.
			found = gocql.TypeText
		}
		same("the type of "+column.name, driversTypes[kind], found)
	}
	posts := known.Tables["posts"]
	same("the partition key", "[author year]", columnNames(posts.PartitionKey))
	same("the clustering", "[written]", columnNames(posts.ClusteringColumns))
	same("its order", gocql.DESC, posts.ClusteringColumns[0].Order)
	same("a static column", gocql.ColumnStatic, posts.Columns["motto"].Kind)
	same("a type", "[street number]", known.UserTypes["address"].FieldNames)
}

// A listener keeps what the driver has told of other sessions' changes.
type listener struct {
	lock sync.Mutex
	told []string
}

func (l *listener) tell(what string, values ...any) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.told = append(l.told, fmt.Sprintf(what, values...))
}

func (l *listener) heard(what string) {
	eventually("told: "+what, true, func() any {
		l.lock.Lock()
		defer l.lock.Unlock()
		for _, one := range l.told {
			if one == what {
				return true
			}
		}
		return l.told
	})
}

func (l *listener) OnKeyspaceCreated(e gocql.OnKeyspaceCreatedEvent) {
	l.tell("created keyspace %s", e.Keyspace.Name)
}

func (l *listener) OnKeyspaceUpdated(e gocql.OnKeyspaceUpdatedEvent) {
	l.tell("updated keyspace %s", e.New.Name)
}

func (l *listener) OnKeyspaceDropped(e gocql.OnKeyspaceDroppedEvent) {
	l.tell("dropped keyspace %s", e.Keyspace.Name)
}

func (l *listener) OnTableCreated(e gocql.OnTableCreatedEvent) {
	l.tell("created %s of %d columns", e.Table.Name, len(e.Table.Columns))
}

func (l *listener) OnTableUpdated(e gocql.OnTableUpdatedEvent) {
	l.tell("updated %s to %d columns", e.New.Name, len(e.New.Columns))
}

func (l *listener) OnTableDropped(e gocql.OnTableDroppedEvent) {
	l.tell("dropped %s", e.Table.Name)
}

func (l *listener) OnUserTypeCreated(e gocql.OnUserTypeCreatedEvent) {
	l.tell("created %s %v", e.UserType.Name, e.UserType.FieldNames)
}

func (l *listener) OnUserTypeUpdated(e gocql.OnUserTypeUpdatedEvent) {
	l.tell("updated %s %v", e.New.Name, e.New.FieldNames)
}

func (l *listener) OnUserTypeDropped(e gocql.OnUserTypeDroppedEvent) {
	l.tell("dropped %s", e.UserType.Name)
}

// schemaEvents changes the schema by another session. The driver reads it once a second, so each step waits for the
// one before.
func (s scenario) schemaEvents() {
	config := cluster()
	config.Keyspace = keyspace
	other := connect(config)
	defer other.Close()
	for _, step := range [][2]string{
		{"CREATE TABLE told (id int PRIMARY KEY, a text)", "created told of 2 columns"},
		{"ALTER TABLE told ADD b int", "updated told to 3 columns"},
		{"DROP TABLE told", "dropped told"},
		{"CREATE TYPE told_type (x int)", "created told_type [x]"},
		{"ALTER TYPE told_type ADD y int", "updated told_type [x y]"},
		{"DROP TYPE told_type", "dropped told_type"},
		{"CREATE KEYSPACE " + keyspace + "_told" + replication, "created keyspace " + keyspace + "_told"},
		{"DROP KEYSPACE " + keyspace + "_told", "dropped keyspace " + keyspace + "_told"},
	} {
		must(step[0], other.Query(step[0]).Exec())
		s.heard(step[1])
	}
}
