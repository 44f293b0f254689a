package dev.thriftstore.testing;

import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What a replay has found: whether a server answers as the recorded one did. */
public final class Replay {
    private final String json;
    private final String text;

    private Replay(String json, String text) {
        this.json = json;
        this.text = text;
    }

    /** How serious a difference is, the most serious first. */
    public enum Difference {
        /** Another result. */
        DATA("data"),
        /** Another exception, or one instead of a result. */
        EXCEPTION("exception"),
        /** The same exception with another text. */
        TEXT("text");

        private final String name;

        Difference(String name) {
            this.name = name;
        }
    }

    /**
     * Replays a recording to a server in memory. Differences are no error here: see {@link #check}.
     *
     * @param file a recording of {@link Recorder}, or a file of JSON lines
     * @param server what the server had when the recording began; without a configuration or loaded files it begins empty
     * @throws UncheckedIOException if the replay fails, for example because there is no such file
     */
    public static Replay of(Path file, ServerOptions server) {
        try (Program program = Program.find()) {
            Path report = Files.createTempFile("thriftstore-", ".json");
            try {
                return run(program, file, report, server);
            } finally {
                Files.deleteIfExists(report);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error.getMessage(), error);
        }
    }

    private static Replay run(Program program, Path file, Path report, ServerOptions server) throws IOException {
        List<String> command = new ArrayList<>(Arrays.asList(program.path().toString(), "replay", file.toString()));
        command.addAll(Arrays.asList("--report", "json", "--report-to", report.toString()));
        command.addAll(server.arguments());
        Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output;
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            output = lines.lines().collect(Collectors.joining("\n"));
        }
        try {
            if (process.waitFor() != 0) {
                throw new IOException("the replay failed: " + output);
            }
        } catch (InterruptedException error) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("the replay was interrupted", error);
        }
        String json = new String(Files.readAllBytes(report), StandardCharsets.UTF_8);
        return new Replay(json, output.split("\nThe report is in ")[0]);
    }

    /** Returns whether there are differences of this kind or of a more serious one. */
    public boolean differs(Difference kind) {
        return Arrays.stream(Difference.values())
                .filter(each -> each.compareTo(kind) <= 0)
                .anyMatch(each -> calls(each.name) > 0);
    }

    /**
     * Fails if there are differences of this kind or of a more serious one.
     *
     * @throws AssertionError with the report
     */
    public void check(Difference kind) {
        if (differs(kind)) {
            throw new AssertionError("answers differ from the recorded ones\n" + text);
        }
    }

    /** Returns a count of the report, such as {@code total}, {@code compared} or {@code equal}; 0 if there is none. */
    public long calls(String count) {
        return fields().get("calls").asObject().getLong(count, 0);
    }

    /**
     * Returns {@code same}, {@code differs}, {@code incomplete} if writes did not reach the server, or {@code nothing} if no
     * answers were compared.
     */
    public String verdict() {
        return fields().getString("verdict", "");
    }

    private JsonObject fields() {
        return Json.parse(json).asObject();
    }

    /** Returns the report as JSON: docs/traffic.md describes its fields. */
    public String json() {
        return json;
    }

    /** Returns the report for a reader. */
    public String text() {
        return text;
    }

    /** Returns the report for a reader. */
    @Override
    public String toString() {
        return text;
    }
}
