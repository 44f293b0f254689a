package blog;

import static me.prettyprint.hector.api.factory.HFactory.createColumn;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import me.prettyprint.cassandra.serializers.StringSerializer;
import me.prettyprint.cassandra.serializers.UUIDSerializer;
import me.prettyprint.cassandra.utils.TimeUUIDUtils;
import me.prettyprint.hector.api.Keyspace;
import me.prettyprint.hector.api.beans.HColumn;
import me.prettyprint.hector.api.beans.HSuperColumn;
import me.prettyprint.hector.api.exceptions.HTimedOutException;
import me.prettyprint.hector.api.factory.HFactory;
import me.prettyprint.hector.api.mutation.Mutator;

/** A blog of 2010: posts by slug, a row of posts for each tag, and comments in a super column family. */
public final class Blog {
    private static final StringSerializer TEXT = StringSerializer.get();
    private static final UUIDSerializer TIME = UUIDSerializer.get();
    private static final int EVERYTHING = 1000;
    private static final int TRIES = 3;

    private final Keyspace keyspace;

    public Blog(Keyspace keyspace) {
        this.keyspace = keyspace;
    }

    /** Writes the post and adds it to the rows of its tags. */
    public void publish(Post post) {
        UUID name = TimeUUIDUtils.getTimeUUID(post.time);
        Mutator<String> batch = HFactory.createMutator(keyspace, TEXT);
        batch.addInsertion(post.slug, "BlogEntries", createColumn("title", post.title, TEXT, TEXT));
        for (String tag : post.tags) {
            batch.addInsertion(tag, "TaggedPosts", createColumn(name, post.slug, TIME, TEXT));
        }
        batch.execute();
    }

    /** Returns the title of a post, or null. */
    public String title(String slug) {
        return column(slug, "title");
    }

    /** Marks a post as new for some time. */
    public void markAsNew(String slug, int seconds) {
        HColumn<String, String> mark = createColumn("new", "yes", keyspace.createClock(), seconds, TEXT, TEXT);
        HFactory.createMutator(keyspace, TEXT).insert(slug, "BlogEntries", mark);
    }

    /** Returns whether a post is new. */
    public boolean isNew(String slug) {
        return column(slug, "new") != null;
    }

    /** Returns the slugs of the posts with this tag, newest first. */
    public List<String> tagged(String tag) {
        List<String> slugs = new ArrayList<>();
        for (HColumn<UUID, String> column : HFactory.createSliceQuery(keyspace, TEXT, TIME, TEXT)
                .setColumnFamily("TaggedPosts")
                .setKey(tag)
                .setRange(null, null, true, EVERYTHING)
                .execute()
                .get()
                .getColumns()) {
            slugs.add(column.getValue());
        }
        return slugs;
    }

    /**
     * Adds a comment. A write that has timed out may be applied, so it is repeated under the same name: the comment
     * is never there twice.
     */
    public void comment(String slug, String author, String text, long time) {
        UUID name = TimeUUIDUtils.getTimeUUID(time);
        HSuperColumn<UUID, String, String> comment = HFactory.createSuperColumn(
                name,
                Arrays.asList(createColumn("commenter", author, TEXT, TEXT), createColumn("comment", text, TEXT, TEXT)),
                TIME,
                TEXT,
                TEXT);
        for (int attempt = 1; ; attempt++) {
            try {
                HFactory.createMutator(keyspace, TEXT).insert(slug, "Comments", comment);
                return;
            } catch (HTimedOutException timedOut) {
                if (attempt == TRIES) {
                    throw timedOut;
                }
            }
        }
    }

    /** Returns the comments on a post, oldest first, in the form {@code Ada: It does.}. */
    public List<String> comments(String slug) {
        List<String> comments = new ArrayList<>();
        for (HSuperColumn<UUID, String, String> comment : HFactory.createSuperSliceQuery(
                        keyspace, TEXT, TIME, TEXT, TEXT)
                .setColumnFamily("Comments")
                .setKey(slug)
                .setRange(null, null, false, EVERYTHING)
                .execute()
                .get()
                .getSuperColumns()) {
            // Columns are ordered by their names: comment, commenter.
            comments.add(comment.get(1).getValue() + ": " + comment.get(0).getValue());
        }
        return comments;
    }

    private String column(String slug, String name) {
        HColumn<String, String> column = HFactory.createStringColumnQuery(keyspace)
                .setColumnFamily("BlogEntries")
                .setKey(slug)
                .setName(name)
                .execute()
                .get();
        return column == null ? null : column.getValue();
    }
}
