package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"blog/gen-go/cassandra"
)

const (
	keyspace = "BloggyAppy"
	one      = cassandra.ConsistencyLevel_ONE

	// everyPost is the row of TaggedPosts that lists every post, tagged or not.
	everyPost = "__notag__"
)

type Post struct {
	Slug, Title, Body, Author string
	Tags                      []string
	Time                      time.Time
}

type Comment struct {
	Commenter, Email, Text string
	Time                   time.Time
}

// Field is a column whose name and value are texts.
type Field struct {
	Name, Value string
}

// Blog is what the pages need, on top of a generated Cassandra client. Each section below is one column
// family; read them to learn the data model.
type Blog struct {
	client cassandra.Cassandra
}

// Authors: one row per author, under the full name. Its columns are whatever that author tells.

func (b *Blog) SaveAuthor(ctx context.Context, name string, profile []Field, moment time.Time) error {
	for _, field := range profile {
		path := &cassandra.ColumnPath{ColumnFamily: "Authors", Column: []byte(field.Name)}
		err := b.client.Insert(ctx, keyspace, name, path, []byte(field.Value), moment.UnixMicro(), one)
		if err != nil {
			return err
		}
	}
	return nil
}

// Author returns the profile, sorted by field as the server keeps it; empty if there is no such author.
func (b *Blog) Author(ctx context.Context, name string) ([]Field, error) {
	entries, err := b.slice(ctx, "Authors", name, first(100))
	var profile []Field
	for _, entry := range entries {
		profile = append(profile, Field{string(entry.Column.Name), string(entry.Column.Value)})
	}
	return profile, err
}

// BlogEntries: one row per post, under its slug.

// Publish writes the entry and lists it under its tags: one batch that touches several rows.
func (b *Blog) Publish(ctx context.Context, post Post) error {
	entry := columns(post.Time, []Field{
		{"slug", post.Slug},
		{"title", post.Title},
		{"body", post.Body},
		{"author", post.Author},
		{"tags", strings.Join(post.Tags, ",")},
		{"pubDate", strconv.FormatInt(post.Time.Unix(), 10)},
	})
	listed := column(timeUUID(post.Time, post.Slug), post.Slug, post.Time)

	batch := make(mutations)
	for _, column := range entry {
		batch.write(post.Slug, "BlogEntries", &cassandra.ColumnOrSuperColumn{Column: column})
	}
	for _, tag := range append([]string{everyPost}, post.Tags...) {
		batch.write(tag, "TaggedPosts", &cassandra.ColumnOrSuperColumn{Column: listed})
	}
	return b.client.BatchMutate(ctx, keyspace, batch, one)
}

// Posts returns the entries of these slugs in this order, without those that do not exist.
func (b *Blog) Posts(ctx context.Context, slugs []string) ([]Post, error) {
	parent := &cassandra.ColumnParent{ColumnFamily: "BlogEntries"}
	rows, err := b.client.MultigetSlice(ctx, keyspace, slugs, parent, first(100), one)
	var posts []Post
	for _, slug := range slugs {
		if entry := rows[slug]; len(entry) > 0 {
			posts = append(posts, postOf(entry))
		}
	}
	return posts, err
}

// TaggedPosts: one row per tag, and one for every post. Names are time UUIDs, values are slugs.

func (b *Blog) LatestPosts(ctx context.Context, count int32) ([]Post, error) {
	return b.listed(ctx, everyPost, last(count))
}

// PostsTagged returns them newest first, and not more than a hundred.
func (b *Blog) PostsTagged(ctx context.Context, tag string) ([]Post, error) {
	return b.listed(ctx, tag, last(100))
}

func (b *Blog) listed(ctx context.Context, tag string, predicate *cassandra.SlicePredicate) ([]Post, error) {
	entries, err := b.slice(ctx, "TaggedPosts", tag, predicate)
	if err != nil {
		return nil, err
	}
	var slugs []string
	for _, entry := range entries {
		slugs = append(slugs, string(entry.Column.Value))
	}
	return b.Posts(ctx, slugs)
}

// Comments: one row per post, under its slug. Each comment is a super column named by a time UUID.

func (b *Blog) AddComment(ctx context.Context, slug string, comment Comment) error {
	superColumn := &cassandra.SuperColumn{
		Name: timeUUID(comment.Time, comment.Commenter+comment.Text),
		Columns: columns(comment.Time, []Field{
			{"commenter", comment.Commenter},
			{"email", comment.Email},
			{"comment", comment.Text},
			{"commentTime", strconv.FormatInt(comment.Time.Unix(), 10)},
		}),
	}
	batch := make(mutations)
	batch.write(slug, "Comments", &cassandra.ColumnOrSuperColumn{SuperColumn: superColumn})
	return b.client.BatchMutate(ctx, keyspace, batch, one)
}

// Comments returns them oldest first.
func (b *Blog) Comments(ctx context.Context, slug string) ([]Comment, error) {
	entries, err := b.slice(ctx, "Comments", slug, first(100))
	var comments []Comment
	for _, entry := range entries {
		comments = append(comments, commentOf(entry.SuperColumn))
	}
	return comments, err
}

func (b *Blog) slice(
	ctx context.Context, columnFamily, key string, predicate *cassandra.SlicePredicate,
) ([]*cassandra.ColumnOrSuperColumn, error) {
	parent := &cassandra.ColumnParent{ColumnFamily: columnFamily}
	return b.client.GetSlice(ctx, keyspace, key, parent, predicate, one)
}
