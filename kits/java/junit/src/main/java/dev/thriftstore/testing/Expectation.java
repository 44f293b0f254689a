package dev.thriftstore.testing;

import com.eclipsesource.json.JsonObject;

/** What a test expects of the requests: see {@link Database#verify}. */
public final class Expectation {
    private final JsonObject fields;

    private Expectation(JsonObject fields) {
        this.fields = fields;
    }

    /** Expects at least one request that meets the condition. */
    public static Expectation some(Condition condition) {
        return new Expectation(new JsonObject().set("when", condition.json()));
    }

    /** Expects this number of requests that meet the condition. */
    public static Expectation times(long times, Condition condition) {
        return new Expectation(some(condition).fields.set("times", times));
    }

    /** Expects no request that meets the condition. */
    public static Expectation none(Condition condition) {
        return times(0, condition);
    }

    JsonObject json() {
        return fields;
    }
}
