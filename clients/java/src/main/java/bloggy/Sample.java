package bloggy;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonDeserializer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** The content of the seed file, whose times are in seconds since 1970. */
record Sample(List<Author> authors, List<Post> posts, List<Remark> comments) {
    private static final Path FILE = Path.of("../seed.json");

    private static final JsonDeserializer<Instant> SECONDS =
            (json, type, context) -> Instant.ofEpochSecond(json.getAsLong());

    private static final Gson GSON =
            new GsonBuilder().registerTypeAdapter(Instant.class, SECONDS).create();

    record Author(String name, Map<String, String> profile, Instant joined) {}

    record Remark(String slug, String commenter, String email, String text, Instant time) {
        Comment comment() {
            return new Comment(commenter, email, text, time);
        }
    }

    static Sample read() throws Failure {
        try {
            return GSON.fromJson(Files.readString(FILE), Sample.class);
        } catch (IOException error) {
            throw new Failure("cannot read " + FILE);
        }
    }
}
