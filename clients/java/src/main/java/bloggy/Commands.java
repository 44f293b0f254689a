package bloggy;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.thrift.TException;

/** The commands: each answers with the text to print, or fails with a reason. */
final class Commands {
    /** How many operands each command takes. */
    static final Map<String, Integer> OPERANDS =
            Map.of("seed", 0, "front", 0, "post", 1, "tag", 1, "author", 1, "write", 5, "comment", 4);

    private final Blog blog;
    private final Instant now;

    Commands(Blog blog, Instant now) {
        this.blog = blog;
        this.now = now;
    }

    String run(String command, List<String> operands) throws TException, Failure {
        return switch (command) {
            case "seed" -> seed();
            case "front" -> front();
            case "post" -> post(operands.get(0));
            case "tag" -> tag(operands.get(0));
            case "author" -> author(operands.get(0));
            case "write" -> write(newPost(operands));
            case "comment" -> comment(operands.get(0), newComment(operands));
            default -> throw new IllegalArgumentException(command);
        };
    }

    private String seed() throws TException, Failure {
        var sample = Sample.read();
        for (var author : sample.authors()) {
            blog.saveAuthor(author.name(), author.profile(), author.joined());
        }
        for (var post : sample.posts()) {
            blog.publish(post);
        }
        for (var remark : sample.comments()) {
            blog.addComment(remark.slug(), remark.comment());
        }
        return "Wrote %d authors, %d posts and %d comments."
                .formatted(sample.authors().size(), sample.posts().size(), sample.comments().size());
    }

    private String front() throws TException, Failure {
        var posts = blog.latestPosts(10);
        if (posts.isEmpty()) {
            throw new Failure("there are no posts yet; the command seed writes some");
        }
        return Pages.listPage("The latest posts", posts);
    }

    private String post(String slug) throws TException, Failure {
        return Pages.postPage(existingPost(slug), blog.comments(slug));
    }

    private String tag(String name) throws TException, Failure {
        var posts = blog.postsTagged(name);
        if (posts.isEmpty()) {
            throw new Failure("no post is tagged " + name);
        }
        return Pages.listPage("Posts tagged " + name, posts);
    }

    private String author(String name) throws TException, Failure {
        return Pages.authorPage(name, existingAuthor(name));
    }

    private String write(Post post) throws TException, Failure {
        existingAuthor(post.author());
        if (!blog.posts(List.of(post.slug())).isEmpty()) {
            throw new Failure("there is a post " + post.slug() + " already");
        }
        blog.publish(post);
        return "Published " + post.slug() + ".";
    }

    private Post newPost(List<String> operands) {
        var tags = Columns.splitTags(operands.get(3));
        return new Post(operands.get(0), operands.get(1), operands.get(4), operands.get(2), tags, now);
    }

    private String comment(String slug, Comment comment) throws TException, Failure {
        existingPost(slug);
        blog.addComment(slug, comment);
        return "Commented on " + slug + ".";
    }

    private Comment newComment(List<String> operands) {
        return new Comment(operands.get(1), operands.get(2), operands.get(3), now);
    }

    private Post existingPost(String slug) throws TException, Failure {
        var posts = blog.posts(List.of(slug));
        if (posts.isEmpty()) {
            throw new Failure("there is no post " + slug);
        }
        return posts.get(0);
    }

    private Map<String, String> existingAuthor(String name) throws TException, Failure {
        var profile = blog.author(name);
        if (profile.isEmpty()) {
            throw new Failure("there is no author " + name);
        }
        return profile;
    }
}
