package dev.thriftstore.testing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The last lines of the log of a server. */
final class ServerLog {
    private static final int LINES_MAX = 2_000;

    private final Deque<String> lines = new ArrayDeque<>();
    private long count;

    synchronized void add(String line) {
        if (lines.size() == LINES_MAX) {
            lines.removeFirst();
        }
        lines.addLast(line);
        count++;
    }

    /** Returns the number of lines so far. */
    synchronized long count() {
        return count;
    }

    /** Returns the lines after the first {@code skipped}, as far as they are still here. */
    synchronized List<String> since(long skipped) {
        List<String> all = new ArrayList<>(lines);
        long forgotten = count - all.size();
        return all.subList((int) Math.max(0, Math.min(all.size(), skipped - forgotten)), all.size());
    }

    /** Returns the last lines: at most {@code number} of them. */
    List<String> last(int number) {
        return since(count() - number);
    }
}
