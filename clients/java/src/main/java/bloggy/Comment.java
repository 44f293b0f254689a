package bloggy;

import java.time.Instant;

record Comment(String commenter, String email, String text, Instant time) {}
