package dev.thriftstore.testing;

import com.eclipsesource.json.JsonObject;
import java.time.Duration;
import java.time.Instant;

/** The clock of a database. Times to live, {@code now()} and the timestamps that the server sets follow it. */
public final class Clock {
    private final Control control;

    Clock(Control control) {
        this.control = control;
    }

    /** Returns the time, in milliseconds. */
    public Instant now() {
        return Instant.ofEpochMilli(control.get("/clock").getLong("now_ms", 0));
    }

    /** Returns whether the clock is stopped. */
    public boolean isFrozen() {
        return control.get("/clock").getBoolean("frozen", false);
    }

    /** Stops the clock. */
    public void freeze() {
        change(new JsonObject().set("freeze", true));
    }

    /** Stops the clock at a time. */
    public void freezeAt(Instant time) {
        freeze();
        set(time);
    }

    /** Lets a stopped clock run on from its time. */
    public void unfreeze() {
        change(new JsonObject().set("freeze", false));
    }

    /** Sets the time. A stopped clock stays stopped. */
    public void set(Instant time) {
        change(new JsonObject().set("set", time.toString()));
    }

    /** Moves the time, backwards if the duration is negative. A stopped clock stays stopped. */
    public void advance(Duration duration) {
        change(new JsonObject().set("advance_ms", duration.toMillis()));
    }

    /** Follows the system's clock again. */
    public void follow() {
        change(new JsonObject().set("follow", true));
    }

    private void change(JsonObject change) {
        control.post("/clock", change);
    }
}
