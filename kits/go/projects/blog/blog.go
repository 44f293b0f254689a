// Package blog is a blog of 2010 on generated Thrift code of Cassandra 0.6.
package blog

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"time"

	"projects/cassandra"

	"github.com/apache/thrift/lib/go/thrift"
)

const (
	keyspace = "BloggyAppy"
	one      = cassandra.ConsistencyLevel_ONE
	tries    = 3
	// limit is how long the blog waits for a reply.
	limit = 300 * time.Millisecond
	// stepsTo1970 counts the steps of 100 ns of a version 1 UUID from 1582 to 1970.
	stepsTo1970 = 0x01b21dd213814000
)

var ctx = context.Background()

// Blog stores posts by slug, a row of posts for each tag, and comments in a super column family.
type Blog struct {
	transport thrift.TTransport
	client    *cassandra.CassandraClient
}

// Open connects to a server.
func Open(address string) (*Blog, error) {
	configuration := &thrift.TConfiguration{ConnectTimeout: limit, SocketTimeout: limit}
	transport := thrift.NewTFramedTransportConf(thrift.NewTSocketConf(address, configuration), configuration)
	if err := transport.Open(); err != nil {
		return nil, err
	}
	client := cassandra.NewCassandraClientFactory(transport, thrift.NewTBinaryProtocolFactoryConf(configuration))
	return &Blog{transport, client}, nil
}

// Close closes the connection.
func (b *Blog) Close() {
	b.transport.Close()
}

// Publish writes a post and adds it to the row of its tag.
func (b *Blog) Publish(slug, title, tag string, at time.Time) error {
	path := &cassandra.ColumnPath{ColumnFamily: "BlogEntries", Column: []byte("title")}
	if err := b.client.Insert(ctx, keyspace, slug, path, []byte(title), at.UnixMicro(), one); err != nil {
		return err
	}
	path = &cassandra.ColumnPath{ColumnFamily: "TaggedPosts", Column: timeUUID(at, slug)}
	return b.client.Insert(ctx, keyspace, tag, path, []byte(slug), at.UnixMicro(), one)
}

// Title returns the title of a post.
func (b *Blog) Title(slug string) (string, error) {
	path := &cassandra.ColumnPath{ColumnFamily: "BlogEntries", Column: []byte("title")}
	found, err := b.client.Get(ctx, keyspace, slug, path, one)
	if err != nil {
		return "", err
	}
	return string(found.Column.Value), nil
}

// Tagged returns the slugs of the posts with a tag, newest first.
func (b *Blog) Tagged(tag string) ([]string, error) {
	all := &cassandra.SlicePredicate{SliceRange: &cassandra.SliceRange{Reversed: true, Count: 100}}
	found, err := b.client.GetSlice(ctx, keyspace, tag, &cassandra.ColumnParent{ColumnFamily: "TaggedPosts"}, all, one)
	slugs := []string{}
	for _, entry := range found {
		slugs = append(slugs, string(entry.Column.Value))
	}
	return slugs, err
}

// Comment adds a comment. A write that has timed out may be applied, so it is repeated under the same name: the comment
// is never there twice.
func (b *Blog) Comment(slug, author, text string, at time.Time) error {
	comment := &cassandra.SuperColumn{Name: timeUUID(at, author+text), Columns: []*cassandra.Column{
		{Name: []byte("comment"), Value: []byte(text), Timestamp: at.UnixMicro()},
		{Name: []byte("commenter"), Value: []byte(author), Timestamp: at.UnixMicro()},
	}}
	mutation := &cassandra.Mutation{ColumnOrSupercolumn: &cassandra.ColumnOrSuperColumn{SuperColumn: comment}}
	batch := map[string]map[string][]*cassandra.Mutation{slug: {"Comments": {mutation}}}
	for try := 1; ; try++ {
		err := b.client.BatchMutate(ctx, keyspace, batch, one)
		var timedOut *cassandra.TimedOutException
		if !errors.As(err, &timedOut) || try == tries {
			return err
		}
	}
}

// Comments returns the comments on a post, oldest first, in the form "Ada: It does."
func (b *Blog) Comments(slug string) ([]string, error) {
	all := &cassandra.SlicePredicate{SliceRange: &cassandra.SliceRange{Count: 100}}
	found, err := b.client.GetSlice(ctx, keyspace, slug, &cassandra.ColumnParent{ColumnFamily: "Comments"}, all, one)
	comments := []string{}
	for _, entry := range found {
		columns := entry.SuperColumn.Columns
		comments = append(comments, string(columns[1].Value)+": "+string(columns[0].Value))
	}
	return comments, err
}

// timeUUID returns a version 1 UUID of a time. The rest of it is a hash of the text, so the same event has the same
// name, however often it is written.
func timeUUID(at time.Time, text string) []byte {
	steps := uint64(at.UnixMilli())*10_000 + stepsTo1970
	uuid := binary.BigEndian.AppendUint32(nil, uint32(steps))
	uuid = binary.BigEndian.AppendUint16(uuid, uint16(steps>>32))
	uuid = binary.BigEndian.AppendUint16(uuid, 0x1000|uint16(steps>>48)&0x0fff)
	hash := fnv.New64()
	hash.Write([]byte(text))
	uuid = hash.Sum(uuid)
	uuid[8] = 0x80 | uuid[8]&0x3f
	return uuid
}
