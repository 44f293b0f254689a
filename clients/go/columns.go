package main

import (
	"strconv"
	"strings"
	"time"

	"blog/gen-go/cassandra"
)

// mutations is a batch: row key, then column family, then what to write there.
type mutations map[string]map[string][]*cassandra.Mutation

func (m mutations) write(key, columnFamily string, entry *cassandra.ColumnOrSuperColumn) {
	if m[key] == nil {
		m[key] = make(map[string][]*cassandra.Mutation)
	}
	m[key][columnFamily] = append(m[key][columnFamily], &cassandra.Mutation{ColumnOrSupercolumn: entry})
}

func first(count int32) *cassandra.SlicePredicate {
	return slice(false, count)
}

func last(count int32) *cassandra.SlicePredicate {
	return slice(true, count)
}

func slice(reversed bool, count int32) *cassandra.SlicePredicate {
	// An empty start and an empty finish leave both ends open.
	return &cassandra.SlicePredicate{SliceRange: &cassandra.SliceRange{Reversed: reversed, Count: count}}
}

func columns(moment time.Time, fields []Field) []*cassandra.Column {
	var columns []*cassandra.Column
	for _, field := range fields {
		columns = append(columns, column([]byte(field.Name), field.Value, moment))
	}
	return columns
}

// Of two values written to one column, the one with the greater timestamp stays.
func column(name []byte, value string, moment time.Time) *cassandra.Column {
	return &cassandra.Column{Name: name, Value: []byte(value), Timestamp: moment.UnixMicro()}
}

func postOf(entry []*cassandra.ColumnOrSuperColumn) Post {
	fields := make(map[string]string)
	for _, field := range entry {
		fields[string(field.Column.Name)] = string(field.Column.Value)
	}
	return Post{
		Slug:   fields["slug"],
		Title:  fields["title"],
		Body:   fields["body"],
		Author: fields["author"],
		Tags:   splitTags(fields["tags"]),
		Time:   parseSeconds(fields["pubDate"]),
	}
}

func commentOf(superColumn *cassandra.SuperColumn) Comment {
	fields := make(map[string]string)
	for _, column := range superColumn.Columns {
		fields[string(column.Name)] = string(column.Value)
	}
	return Comment{
		Commenter: fields["commenter"],
		Email:     fields["email"],
		Text:      fields["comment"],
		Time:      parseSeconds(fields["commentTime"]),
	}
}

func splitTags(tags string) []string {
	return strings.FieldsFunc(tags, func(r rune) bool { return r == ',' })
}

// parseSeconds reads a time that this program wrote; anything else counts as 1970.
func parseSeconds(text string) time.Time {
	seconds, _ := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0)
}
