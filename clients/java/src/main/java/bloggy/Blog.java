package bloggy;

import static bloggy.Columns.bytes;
import static bloggy.Columns.column;
import static bloggy.Columns.columns;
import static bloggy.Columns.fieldsOf;
import static bloggy.Columns.first;
import static bloggy.Columns.last;
import static bloggy.Columns.micros;
import static bloggy.Columns.text;
import static bloggy.Columns.write;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.cassandra.thrift.Cassandra;
import org.apache.cassandra.thrift.Column;
import org.apache.cassandra.thrift.ColumnOrSuperColumn;
import org.apache.cassandra.thrift.ColumnParent;
import org.apache.cassandra.thrift.ColumnPath;
import org.apache.cassandra.thrift.ConsistencyLevel;
import org.apache.cassandra.thrift.Mutation;
import org.apache.cassandra.thrift.SlicePredicate;
import org.apache.cassandra.thrift.SuperColumn;
import org.apache.thrift.TException;

/**
 * The blog as rows and columns: what the pages need, on top of a generated Cassandra client. Each section is
 * one column family; read this file to learn the data model.
 */
final class Blog {
    private static final String KEYSPACE = "BloggyAppy";
    private static final ConsistencyLevel ONE = ConsistencyLevel.ONE;

    /** The row of TaggedPosts that lists every post, tagged or not. */
    private static final String EVERY_POST = "__notag__";

    private final Cassandra.Iface client;

    Blog(Cassandra.Iface client) {
        this.client = client;
    }

    // Authors: one row per author, under the full name. Its columns are whatever that author tells.

    void saveAuthor(String name, Map<String, String> profile, Instant time) throws TException {
        for (var field : profile.entrySet()) {
            var path = new ColumnPath("Authors").setColumn(bytes(field.getKey()));
            client.insert(KEYSPACE, name, path, bytes(field.getValue()), micros(time), ONE);
        }
    }

    /** The profile, sorted by field as the server keeps it; empty if there is no such author. */
    Map<String, String> author(String name) throws TException {
        return fieldsOf(slice("Authors", name, first(100)));
    }

    // BlogEntries: one row per post, under its slug.

    /** Writes the entry and lists it under its tags: one batch that touches several rows. */
    void publish(Post post) throws TException {
        var entry = Map.of(
                "slug", post.slug(),
                "title", post.title(),
                "body", post.body(),
                "author", post.author(),
                "tags", String.join(",", post.tags()),
                "pubDate", Long.toString(post.time().getEpochSecond()));
        Column listed = column(TimeUuid.of(post.time(), post.slug()), post.slug(), post.time());

        var mutations = new HashMap<String, Map<String, List<Mutation>>>();
        mutations.put(post.slug(), new HashMap<>());
        mutations.get(post.slug()).put("BlogEntries", write(columns(entry, post.time())));
        Stream.concat(post.tags().stream(), Stream.of(EVERY_POST)).forEach(tag -> mutations
                .computeIfAbsent(tag, row -> new HashMap<>())
                .put("TaggedPosts", write(List.of(listed))));
        client.batch_mutate(KEYSPACE, mutations, ONE);
    }

    /** The entries of these slugs in this order, without those that do not exist. */
    List<Post> posts(List<String> slugs) throws TException {
        var parent = new ColumnParent("BlogEntries");
        var rows = client.multiget_slice(KEYSPACE, slugs, parent, first(100), ONE);
        return slugs.stream()
                .map(slug -> fieldsOf(rows.get(slug)))
                .filter(fields -> !fields.isEmpty())
                .map(Columns::postOf)
                .toList();
    }

    // TaggedPosts: one row per tag, and one for every post. Names are time UUIDs, values are slugs.

    List<Post> latestPosts(int count) throws TException {
        return posts(slugs(EVERY_POST, last(count)));
    }

    /** Newest first, and not more than a hundred. */
    List<Post> postsTagged(String tag) throws TException {
        return posts(slugs(tag, last(100)));
    }

    private List<String> slugs(String tag, SlicePredicate predicate) throws TException {
        return slice("TaggedPosts", tag, predicate).stream()
                .map(entry -> text(entry.getColumn().getValue()))
                .toList();
    }

    // Comments: one row per post, under its slug. Each comment is a super column named by a time UUID.

    void addComment(String slug, Comment comment) throws TException {
        var fields = Map.of(
                "commenter", comment.commenter(),
                "email", comment.email(),
                "comment", comment.text(),
                "commentTime", Long.toString(comment.time().getEpochSecond()));
        var name = TimeUuid.of(comment.time(), comment.commenter() + comment.text());
        var superColumn = new SuperColumn(name, columns(fields, comment.time()));
        client.batch_mutate(KEYSPACE, Map.of(slug, Map.of("Comments", List.of(write(superColumn)))), ONE);
    }

    /** Oldest first. */
    List<Comment> comments(String slug) throws TException {
        return slice("Comments", slug, first(100)).stream()
                .map(entry -> Columns.commentOf(entry.getSuper_column()))
                .toList();
    }

    private List<ColumnOrSuperColumn> slice(String columnFamily, String key, SlicePredicate predicate)
            throws TException {
        return client.get_slice(KEYSPACE, key, new ColumnParent(columnFamily), predicate, ONE);
    }
}
