package dev.thriftstore.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A process {@code thriftstore serve}, its addresses and its log. */
final class ServerProcess {
    private static final int START_LIMIT_S = 10;
    private static final int STOP_LIMIT_S = 5;
    private static final int LINES_OF_ERRORS = 20;
    private static final String SERVE =
            "serve --ephemeral --thrift 127.0.0.1:0 --cql 127.0.0.1:0 --control 127.0.0.1:0";
    private static final String LISTENING = "listening for ";
    private static final List<String> CLIENTS = Arrays.asList("Thrift", "CQL", "control");

    /*
     * The server must not outlive the tests, even if this JVM is killed with SIGKILL and no shutdown hook runs. So a
     * shell first starts a watcher in the background, and then becomes the server with the same process id. The
     * watcher reads from the pipe that this JVM writes to. The system closes the pipe when this JVM is gone, and then
     * the watcher kills the server. A line in the pipe ends the watcher. The data is in memory, so nothing is lost.
     */
    private static final String SCRIPT =
            "exec 3<&0;" + " (read -r _ <&3 || kill -9 $$) >/dev/null 2>&1 &" + " exec \"$@\" 3<&- </dev/null";

    private final Process process;
    private final ServerLog log = new ServerLog();
    private final Map<String, InetSocketAddress> addresses = new ConcurrentHashMap<>();

    private final Thread shutdownHook = new Thread(this::end);

    private ServerProcess(Process process) {
        this.process = process;
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    static ServerProcess start(ServerOptions options) throws IOException {
        try (Program program = Program.find()) {
            List<String> command = new ArrayList<>(Arrays.asList("sh", "-c", SCRIPT, "sh"));
            command.add(program.path().toString());
            command.addAll(Arrays.asList(SERVE.split(" ")));
            command.addAll(options.arguments());
            ServerProcess server = new ServerProcess(new ProcessBuilder(command).start());
            server.waitUntilReady(command);
            return server;
        }
    }

    private void waitUntilReady(List<String> command) throws IOException {
        Thread log = follow("log", process.getErrorStream(), this.log::add);
        Thread output = follow("output", process.getInputStream(), this::readAddress);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_LIMIT_S);
        try {
            synchronized (addresses) {
                while (addresses.size() < CLIENTS.size() && output.isAlive() && System.nanoTime() < end) {
                    addresses.wait(50);
                }
            }
            if (addresses.size() < CLIENTS.size()) {
                String reason = output.isAlive() ? "is not ready after " + START_LIMIT_S + " seconds" : "has ended";
                stop();
                log.join(TimeUnit.SECONDS.toMillis(1));
                throw new IOException("the server " + reason + ": "
                        + String.join(" ", command.subList(4, command.size())) + "\n"
                        + String.join("\n", this.log.last(LINES_OF_ERRORS)));
            }
        } catch (InterruptedException error) {
            stop();
            Thread.currentThread().interrupt();
            throw new IOException("the start of the server was interrupted", error);
        }
    }

    /** Reads a line such as {@code listening for Thrift clients on 127.0.0.1:40813}. */
    private void readAddress(String line) {
        for (String clients : CLIENTS) {
            String start = LISTENING + clients + " clients on ";
            if (line.startsWith(start)) {
                synchronized (addresses) {
                    addresses.put(
                            clients, address(line.substring(start.length()).trim()));
                    addresses.notifyAll();
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
                        // The server has ended.
                    }
                },
                "thriftstore-" + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    InetSocketAddress thrift() {
        return addresses.get("Thrift");
    }

    InetSocketAddress nativeProtocol() {
        return addresses.get("CQL");
    }

    InetSocketAddress control() {
        return addresses.get("control");
    }

    ServerLog log() {
        return log;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Stops the server, and waits until it has ended. */
    void stop() {
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException isShuttingDown) {
            // The hook has run, or is about to.
        }
    }

    /** Ends the watcher, then the server. */
    private void end() {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException gone) {
            // The watcher has ended.
        }
        process.destroy();
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
