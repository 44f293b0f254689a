package dev.thriftstore.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A process {@code thriftstore} that listens: a server or a recorder. It has its addresses, its output and its log. */
final class ServerProcess {
    private static final int START_LIMIT_S = 10;
    private static final int STOP_LIMIT_S = 5;
    private static final int LINES_OF_ERRORS = 20;
    private static final String SERVE =
            "serve --ephemeral --thrift 127.0.0.1:0 --cql 127.0.0.1:0 --control 127.0.0.1:0";
    private static final List<Expected> SERVER_ADDRESSES = Arrays.asList(
            new Expected(Clients.THRIFT, "listening for Thrift clients on "),
            new Expected(Clients.CQL, "listening for CQL clients on "),
            new Expected(Clients.CONTROL, "listening for control clients on "));

    /** The clients of an address. */
    enum Clients {
        THRIFT,
        CQL,
        CONTROL
    }

    /** An address that the program prints when it listens, and the words before it. */
    static final class Expected {
        private final Clients clients;
        private final String words;

        Expected(Clients clients, String words) {
            this.clients = clients;
            this.words = words;
        }
    }

    /*
     * The program must not outlive the tests, even if this JVM is killed with SIGKILL and no shutdown hook runs. So a
     * shell first starts a watcher in the background, and then becomes the program with the same process id. The
     * watcher reads from the pipe that this JVM writes to. The system closes the pipe when this JVM is gone, and then
     * the watcher kills the program. At a line in the pipe it ends the program with SIGTERM. The data of a server is in
     * memory, and the file of a killed recorder has all but the last second.
     */
    private static final String SCRIPT =
            "exec 3<&0; (if read -r _ <&3; then kill $$; else kill -9 $$; fi) >/dev/null 2>&1 &"
                    + " exec \"$@\" 3<&- </dev/null";

    private final Process process;
    private final ServerLog log = new ServerLog();
    private final List<String> output = new ArrayList<>();
    private final List<Expected> expected;
    private final Map<Clients, InetSocketAddress> addresses = new EnumMap<>(Clients.class);
    private Thread outputReader;

    private final Thread shutdownHook = new Thread(this::end);

    private ServerProcess(Process process, List<Expected> expected) {
        this.process = process;
        this.expected = expected;
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    /** Starts a server. */
    static ServerProcess start(ServerOptions options) throws IOException {
        List<String> arguments = new ArrayList<>(Arrays.asList(SERVE.split(" ")));
        arguments.addAll(options.arguments());
        return start(arguments, SERVER_ADDRESSES);
    }

    /** Starts the program, and waits until it has printed these addresses. Those with the same words are in this order. */
    static ServerProcess start(List<String> arguments, List<Expected> expected) throws IOException {
        try (Program program = Program.find()) {
            List<String> command = new ArrayList<>(Arrays.asList("sh", "-c", SCRIPT, "sh"));
            command.add(program.path().toString());
            command.addAll(arguments);
            ServerProcess server = new ServerProcess(new ProcessBuilder(command).start(), expected);
            server.waitUntilReady(command);
            return server;
        }
    }

    private void waitUntilReady(List<String> command) throws IOException {
        Thread log = follow("log", process.getErrorStream(), this.log::add);
        outputReader = follow("output", process.getInputStream(), this::readAddress);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_LIMIT_S);
        try {
            boolean isReady;
            synchronized (output) {
                while (addresses.size() < expected.size() && outputReader.isAlive() && System.nanoTime() < end) {
                    output.wait(50);
                }
                isReady = addresses.size() == expected.size();
            }
            if (!isReady) {
                String reason = outputReader.isAlive() ? "is not ready after " + START_LIMIT_S + " seconds" : "has ended";
                stop();
                log.join(TimeUnit.SECONDS.toMillis(1));
                throw new IOException("the program " + reason + ": "
                        + String.join(" ", command.subList(4, command.size())) + "\n"
                        + String.join("\n", this.log.last(LINES_OF_ERRORS)));
            }
        } catch (InterruptedException error) {
            stop();
            Thread.currentThread().interrupt();
            throw new IOException("the start of the program was interrupted", error);
        }
    }

    /** Reads a line such as {@code listening for Thrift clients on 127.0.0.1:40813}. */
    private void readAddress(String line) {
        synchronized (output) {
            output.add(line);
            for (Expected next : expected) {
                if (!addresses.containsKey(next.clients) && line.startsWith(next.words)) {
                    String address = line.substring(next.words.length()).split(",")[0];
                    addresses.put(next.clients, address(address.trim()));
                    output.notifyAll();
                    return;
                }
            }
        }
    }

    /** Returns the address in a text {@code HOST:PORT}. */
    static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    }

    private static Thread follow(String name, InputStream stream, Consumer<String> consumer) {
        Thread thread = new Thread(
                () -> {
                    try (BufferedReader lines =
                            new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                            consumer.accept(line);
                        }
                    } catch (IOException closed) {
                        // The program has ended.
                    }
                },
                "thriftstore-" + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    InetSocketAddress thrift() {
        return address(Clients.THRIFT);
    }

    InetSocketAddress nativeProtocol() {
        return address(Clients.CQL);
    }

    InetSocketAddress control() {
        return address(Clients.CONTROL);
    }

    /** Returns the address for these clients; null if it was not expected. */
    private InetSocketAddress address(Clients clients) {
        synchronized (output) {
            return addresses.get(clients);
        }
    }

    /** Returns the lines that the program has printed. */
    List<String> output() {
        synchronized (output) {
            return new ArrayList<>(output);
        }
    }

    /** Returns the exit status of a program that was stopped. */
    int status() {
        return process.exitValue();
    }

    ServerLog log() {
        return log;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Stops the program, and waits until it has ended. */
    void stop() {
        end();
        try {
            outputReader.join(TimeUnit.SECONDS.toMillis(1));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException isShuttingDown) {
            // The hook has run, or is about to.
        }
    }

    /** Lets the watcher end the program. {@link Process#destroy} would close the output before its end was read. */
    private void end() {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException gone) {
            process.destroy();
        }
        try {
            if (!process.waitFor(STOP_LIMIT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
