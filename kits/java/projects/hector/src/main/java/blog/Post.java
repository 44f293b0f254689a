package blog;

import java.util.List;

/** A post of the blog. */
public final class Post {
    final String slug;
    final String title;
    final List<String> tags;
    /** Milliseconds since 1970. */
    final long time;

    public Post(String slug, String title, List<String> tags, long time) {
        this.slug = slug;
        this.title = title;
        this.tags = tags;
        this.time = time;
    }
}
