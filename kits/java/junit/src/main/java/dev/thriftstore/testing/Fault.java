package dev.thriftstore.testing;

import com.eclipsesource.json.JsonObject;

/** A rule that was set. {@link #close} removes it, so it can be scoped by a try statement. */
public final class Fault implements AutoCloseable {
    private final Database database;
    private final String name;

    Fault(Database database, String name) {
        this.database = database;
        this.name = name;
    }

    /** Returns the name of the rule. */
    public String name() {
        return name;
    }

    /** Returns how many requests have met the condition of the rule. */
    public long met() {
        return state().getLong("met", 0);
    }

    /** Returns on how many requests the rule has had an effect. */
    public long hits() {
        return state().getLong("hits", 0);
    }

    private JsonObject state() {
        for (JsonObject rule : database.faultStates()) {
            if (rule.getString("name", "").equals(name)) {
                return rule;
            }
        }
        throw new IllegalStateException("there is no rule " + name + ": it was removed, or the database was reset");
    }

    /** Removes the rule. Does nothing if it was removed before, as a reset does. */
    @Override
    public void close() {
        database.removeFault(name);
    }

    /** Returns the name of the rule. */
    @Override
    public String toString() {
        return name;
    }
}
