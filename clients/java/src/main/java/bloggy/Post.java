package bloggy;

import java.time.Instant;
import java.util.List;

record Post(String slug, String title, String body, String author, List<String> tags, Instant time) {}
