package bloggy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What the command line says. Options may stand before and after the command. */
record Options(String host, int port, boolean framed, Instant now, String command, List<String> operands) {
    static final String USAGE = """
            usage: blog [--host HOST] [--port PORT] [--framed] [--time SECONDS] COMMAND

              seed                               write the sample authors, posts and comments
              front                              the last ten posts
              post SLUG                          one post and its comments
              tag TAG                            the posts with this tag, newest first
              author NAME                        the profile of an author
              write SLUG TITLE AUTHOR TAGS TEXT  publish a post; commas separate the tags
              comment SLUG NAME EMAIL TEXT       comment on a post

            The default server is 127.0.0.1:9160. --time is the Unix time of
            what `write` and `comment` add; without it, that is now.""";

    /** Throws IllegalArgumentException or IndexOutOfBoundsException where the command line makes no sense. */
    static Options parse(String[] arguments) {
        String host = "127.0.0.1";
        int port = 9160;
        boolean framed = false;
        Instant now = Instant.now();
        var words = new ArrayList<String>();
        for (var rest = List.of(arguments).iterator(); rest.hasNext(); ) {
            String argument = rest.next();
            switch (argument) {
                case "--host" -> host = rest.next();
                case "--port" -> port = Integer.parseInt(rest.next());
                case "--framed" -> framed = true;
                case "--time" -> now = Instant.ofEpochSecond(Long.parseLong(rest.next()));
                default -> words.add(argument);
            }
        }
        String command = words.remove(0);
        if (!Integer.valueOf(words.size()).equals(Commands.OPERANDS.get(command))) {
            throw new IllegalArgumentException(command);
        }
        return new Options(host, port, framed, now, command, words);
    }
}
