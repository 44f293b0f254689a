package dev.thriftstore.testing;

import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.JsonValue;
import java.time.Duration;

/**
 * A rule of faults: which requests it is for, and what happens to them. Rules are immutable: each method returns a new
 * one. {@link Database#fault(Rule)} sets a rule.
 *
 * <pre>when(requests().method("insert")).error(FaultError.TIMED_OUT).applied()</pre>
 */
public final class Rule {
    private final JsonObject fields;

    private Rule(JsonObject fields) {
        this.fields = fields;
    }

    /** Returns a rule for the requests that meet the condition. It has no effect yet. */
    public static Rule when(Condition condition) {
        return new Rule(new JsonObject().set("when", condition.json()));
    }

    /** The requests get this error, and are not carried out. */
    public Rule error(FaultError error) {
        return with("error", Json.value(error.word));
    }

    /** The text of the error. */
    public Rule text(String text) {
        return with("text", Json.value(text));
    }

    /** The requests are carried out before they get the error. */
    public Rule applied() {
        return with("applied", Json.TRUE);
    }

    /** The requests are carried out, and this happens to their replies. */
    public Rule reply(FaultReply reply) {
        return with("reply", Json.value(reply.word));
    }

    /** The requests are delayed. */
    public Rule delay(Duration delay) {
        return with("delay_ms", Json.value(delay.toMillis()));
    }

    /** The requests are delayed for a random time between two limits. */
    public Rule delay(Duration least, Duration most) {
        return with("delay_ms", Json.array(least.toMillis(), most.toMillis()));
    }

    /** The number of requests that are left alone first. */
    public Rule skip(long requests) {
        return with("skip", Json.value(requests));
    }

    /** How often the rule has an effect. Without it there is no limit. */
    public Rule times(long times) {
        return with("times", Json.value(times));
    }

    /** The probability of an effect, from 0 to 1. The same seed has the same effects again. */
    public Rule probability(double probability, long seed) {
        return with("probability", Json.value(probability)).with("seed", Json.value(seed));
    }

    private Rule with(String field, JsonValue value) {
        return new Rule(new JsonObject(fields).set(field, value));
    }

    /** Returns the rule as the control port reads it. */
    @Override
    public String toString() {
        return fields.toString();
    }
}
