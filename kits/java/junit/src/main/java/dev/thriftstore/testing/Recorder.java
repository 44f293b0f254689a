package dev.thriftstore.testing;

import dev.thriftstore.testing.ServerProcess.Clients;
import dev.thriftstore.testing.ServerProcess.Expected;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Records what tests ask of a real Cassandra: a recorder between the application and a server. {@link #stop} or
 * {@link #close} ends it, as does the end of the JVM.
 */
public final class Recorder implements AutoCloseable {
    private static final String WORDS = "listening for recorded clients on ";

    private final ServerProcess process;
    private boolean isStopped;

    private Recorder(ServerProcess process) {
        this.process = process;
    }

    /** What a recorder does. It is immutable: each method returns a new one. */
    public static final class Options {
        private final List<String> upstreams;
        private final List<Expected> expected;
        private final List<String> arguments;

        private Options(List<String> upstreams, List<Expected> expected, List<String> arguments) {
            this.upstreams = upstreams;
            this.expected = expected;
            this.arguments = arguments;
        }

        /** Records clients of the server's Thrift port, such as {@code cassandra:9160}. */
        public Options thrift(String upstream) {
            return upstream(Clients.THRIFT, upstream);
        }

        /** Records clients of the server's native port, such as {@code cassandra:9042}. */
        public Options nativeProtocol(String upstream) {
            return upstream(Clients.CQL, upstream);
        }

        private Options upstream(Clients clients, String upstream) {
            List<Expected> address = Collections.singletonList(new Expected(clients, WORDS));
            List<String> server = Collections.singletonList(upstream);
            return new Options(joined(upstreams, server), joined(expected, address), arguments);
        }

        /** Replaces by hashes: {@code values}, {@code keys}, {@code names}. */
        public Options redact(String... roles) {
            return arguments("--redact", String.join(",", roles));
        }

        /** Further arguments of {@code thriftstore record}. */
        public Options arguments(String... further) {
            return new Options(upstreams, expected, joined(arguments, Arrays.asList(further)));
        }

        private static <T> List<T> joined(List<T> list, List<T> further) {
            List<T> all = new ArrayList<>(list);
            all.addAll(further);
            return all;
        }
    }

    /** Returns options without a server: {@link Options#thrift}, {@link Options#nativeProtocol} or both must be added. */
    public static Options options() {
        return new Options(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }

    /**
     * Starts a recorder, and waits until it accepts connections.
     *
     * @param file the recording, which must not exist
     * @throws UncheckedIOException if there is no program, or if it is not ready in 10 seconds
     */
    public static Recorder start(Path file, Options options) {
        if (options.upstreams.isEmpty()) {
            throw new IllegalArgumentException("give the address of a server: thrift, nativeProtocol, or both");
        }
        List<String> arguments = new ArrayList<>(Arrays.asList("record", "--to", file.toString()));
        for (String upstream : options.upstreams) {
            arguments.addAll(Arrays.asList("--listen", "127.0.0.1:0", "--upstream", upstream));
        }
        arguments.addAll(options.arguments);
        try {
            return new Recorder(ServerProcess.start(arguments, options.expected));
        } catch (IOException error) {
            throw new UncheckedIOException(error.getMessage(), error);
        }
    }

    /** Returns the address for Thrift clients; null without {@link Options#thrift}. */
    public InetSocketAddress thrift() {
        return process.thrift();
    }

    /** Returns the address for native clients; null without {@link Options#nativeProtocol}. */
    public InetSocketAddress nativeProtocol() {
        return process.nativeProtocol();
    }

    /**
     * Closes the file, and returns the lines that say how much was recorded.
     *
     * @throws IllegalStateException if recording had ended before, for example because the disk was full
     */
    public List<String> stop() {
        if (!isStopped) {
            isStopped = true;
            process.stop();
        }
        if (process.status() != 0) {
            throw new IllegalStateException(
                    "the recording ended early:\n" + String.join("\n", process.log().since(0)));
        }
        List<String> lines = process.output();
        lines.removeIf(line -> line.startsWith(WORDS));
        return lines;
    }

    /** Closes the file. */
    @Override
    public void close() {
        stop();
    }
}
