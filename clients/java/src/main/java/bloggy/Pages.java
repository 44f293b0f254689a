package bloggy;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the reader sees: each page is a text, times are in UTC. */
final class Pages {
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm").withZone(ZoneOffset.UTC);

    private Pages() {}

    static String listPage(String heading, List<Post> posts) {
        return paragraphs(Stream.of(heading), posts.stream().map(Pages::summary));
    }

    private static String summary(Post post) {
        String margin = " ".repeat(18);
        return clock(post.time()) + "  " + post.title() + "\n"
                + margin + byline(post) + "\n"
                + margin + post.slug();
    }

    static String postPage(Post post, List<Comment> comments) {
        String head = post.title() + "\n" + clock(post.time()) + " " + byline(post);
        String count = comments.size() == 1 ? "1 comment" : comments.size() + " comments";
        return paragraphs(Stream.of(head, post.body(), count), comments.stream().map(Pages::remark));
    }

    private static String remark(Comment comment) {
        String head = clock(comment.time()) + "  " + comment.commenter() + " <" + comment.email() + ">";
        return head + "\n    " + comment.text().replace("\n", "\n    ");
    }

    static String authorPage(String name, Map<String, String> profile) {
        return profile.entrySet().stream()
                .map(field -> "\n%-10s  %s".formatted(field.getKey(), field.getValue()))
                .collect(Collectors.joining("", name + "\n", ""));
    }

    private static String byline(Post post) {
        return "by " + post.author() + (post.tags().isEmpty() ? "" : " in " + String.join(", ", post.tags()));
    }

    private static String clock(Instant time) {
        return CLOCK.format(time);
    }

    private static String paragraphs(Stream<String> beginning, Stream<String> rest) {
        return Stream.concat(beginning, rest).collect(Collectors.joining("\n\n"));
    }
}
