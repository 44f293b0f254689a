package blog

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"projects/cassandra"

	"thriftstore.dev/thriftstore"
)

func open(t *testing.T, store *thriftstore.Database) *Blog {
	t.Helper()
	blog, err := Open(store.Thrift)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(blog.Close)
	return blog
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, find func(string) ([]string, error), key string, expected ...string) {
	t.Helper()
	found, err := find(key)
	if err != nil || !slices.Equal(found, expected) {
		t.Errorf("%s: %q instead of %q, error %v", key, found, expected, err)
	}
}

func TestTagsListPostsNewestFirst(t *testing.T) {
	blog := open(t, thriftstore.Start(t))
	for seconds, slug := range []string{"first", "second", "third"} {
		must(t, blog.Publish(slug, "The "+slug, "life", time.Unix(int64(seconds), 0)))
	}
	expect(t, blog.Tagged, "life", "third", "second", "first")
	if title, err := blog.Title("second"); title != "The second" {
		t.Error(title, err)
	}
}

func TestCommentsAreListedOldestFirst(t *testing.T) {
	blog := open(t, thriftstore.Start(t))
	must(t, blog.Comment("first", "Bob", "Does it?", time.Unix(2, 0)))
	must(t, blog.Comment("first", "Ada", "It works.", time.Unix(1, 0)))
	expect(t, blog.Comments, "first", "Ada: It works.", "Bob: Does it?")
}

func TestCommentIsWrittenOnceIfItsWriteTimesOutButIsApplied(t *testing.T) {
	store := thriftstore.Start(t)
	blog := open(t, store)
	comments := thriftstore.Condition{Operation: thriftstore.Write, ColumnFamily: "Comments", Key: "first"}
	lost := store.Fault(thriftstore.Rule{When: comments, Error: thriftstore.TimedOut, Applied: true, Times: 1})
	must(t, blog.Comment("first", "Ada", "It works.", time.Unix(1, 0)))
	expect(t, blog.Comments, "first", "Ada: It works.")
	if lost.Hits() != 1 {
		t.Error("the write has not timed out")
	}
	// The blog has sent the comment twice.
	store.Verify(thriftstore.Times(2, comments))
}

func TestCommentFailsIfAllWritesTimeOut(t *testing.T) {
	store := thriftstore.Start(t)
	blog := open(t, store)
	lost := store.Fault(thriftstore.Rule{When: thriftstore.Condition{Method: "batch_mutate"}, Error: thriftstore.TimedOut})
	var timedOut *cassandra.TimedOutException
	if err := blog.Comment("first", "Ada", "It works.", time.Unix(1, 0)); !errors.As(err, &timedOut) || lost.Hits() != 3 {
		t.Error(err)
	}
	lost.Remove()
	expect(t, blog.Comments, "first")
}

// Calls of 0.6 have no time to live, so a statement of CQL writes the row.
func TestRowIsNewForAnHour(t *testing.T) {
	store := thriftstore.Start(t, thriftstore.Load("marks.cql"))
	store.Clock().Freeze()
	store.LoadCQL("INSERT INTO marks.new (slug, mark) VALUES ('first', 'yes') USING TTL 3600;")
	blog := open(t, store)
	marks := func() int {
		t.Helper()
		all := &cassandra.SlicePredicate{SliceRange: &cassandra.SliceRange{Count: 100}}
		parent := &cassandra.ColumnParent{ColumnFamily: "new"}
		found, err := blog.client.GetSlice(ctx, "marks", "first", parent, all, one)
		must(t, err)
		return len(found)
	}
	store.Clock().Advance(59 * time.Minute)
	if marks() == 0 {
		t.Error("the mark has expired too early")
	}
	store.Clock().Advance(time.Minute)
	if marks() != 0 {
		t.Error("the mark has not expired")
	}
}

// Both tests write the same post at the same time.
func TestParallelTestsDoNotSeeEachOther(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	for _, title := range []string{"One", "Two"} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			blog := open(t, thriftstore.Sandbox(t))
			must(t, blog.Publish("post", title, "life", time.Unix(1, 0)))
			both.Done()
			both.Wait()
			if found, err := blog.Title("post"); found != title {
				t.Error(found, err)
			}
			expect(t, blog.Tagged, "life", "post")
		})
	}
}
