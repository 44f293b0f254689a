package scenario;

import java.util.Objects;
import java.util.concurrent.Callable;

/** Checks that say what they have found, and end the scenario at the first that does not hold. */
final class Checks {
    static int count;

    private Checks() {}

    static void same(String what, Object wanted, Object found) {
        count++;
        if (!Objects.equals(wanted, found)) {
            throw new AssertionError(what + ": expected " + wanted + ", found " + found);
        }
        System.out.println("ok: " + what);
    }

    /** The call ends in an error of that class which says these words. */
    static void refused(String what, Class<? extends Exception> kind, String words, Callable<?> call) {
        Object found;
        try {
            found = call.call();
        } catch (Exception error) {
            same(what, kind, error.getClass());
            same(what + ", in words", true, error.getMessage().contains(words) ? true : error.getMessage());
            return;
        }
        throw new AssertionError(what + ": expected " + kind + ", found " + found);
    }

    /** What another session does is told by an event, which takes its time. */
    static void eventually(String what, Object wanted, Callable<?> look) throws Exception {
        var end = System.nanoTime() + 10_000_000_000L;
        var found = look.call();
        while (!Objects.equals(wanted, found) && System.nanoTime() < end) {
            Thread.sleep(20);
            found = look.call();
        }
        same(what, wanted, found);
    }
}
