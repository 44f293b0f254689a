package bloggy;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.UUID;

/** Version-1 UUIDs: the names that a column family of TimeUUIDType keeps in the order of time. */
final class TimeUuid {
    /** Steps of 100 ns from the start of the Gregorian calendar, where these UUIDs begin, to 1970. */
    private static final long STEPS_TO_1970 = 0x01b21dd213814000L;

    private TimeUuid() {}

    /**
     * The name of what happened at {@code time}.
     *
     * <p>Where other UUIDs tell the machine that made them, these carry a hash of {@code text}: two events of
     * the same moment get two names, and the same event gets the same name however often it is written.
     */
    static ByteBuffer of(Instant time, String text) {
        long steps = time.toEpochMilli() * 10_000 + STEPS_TO_1970;
        long low = steps & 0xffffffffL;
        long middle = steps >>> 32 & 0xffff;
        long high = steps >>> 48 & 0x0fff;
        long hash = UUID.nameUUIDFromBytes(text.getBytes(UTF_8)).getLeastSignificantBits();
        return ByteBuffer.allocate(16).putLong(low << 32 | middle << 16 | 0x1000 | high).putLong(hash).flip();
    }
}
