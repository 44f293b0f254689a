package dev.thriftstore.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The options of a {@link Server}. They are immutable: each method returns new ones. */
public final class ServerOptions {
    private final List<String> arguments;

    private ServerOptions(List<String> arguments) {
        this.arguments = arguments;
    }

    /**
     * Returns the defaults: the configuration is {@code storage-conf.xml} in the working directory, or without such a
     * file the built-in one.
     */
    public static ServerOptions defaults() {
        return new ServerOptions(new ArrayList<>());
    }

    /** The configuration: a {@code storage-conf.xml} or a {@code cassandra.yaml}. */
    public ServerOptions config(Path file) {
        return arguments("--config", file.toString());
    }

    /** The release whose behaviour calls get, such as {@code 1.2}. May be given once for each API generation. */
    public ServerOptions compat(String release) {
        return arguments("--compat", release);
    }

    /** A file with CQL statements or JSON rows that is loaded at the start. May be given several times. */
    public ServerOptions load(Path file) {
        return arguments("--load", file.toString());
    }

    /** Further arguments of {@code thriftstore serve}. */
    public ServerOptions arguments(String... further) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(Arrays.asList(further));
        return new ServerOptions(all);
    }

    List<String> arguments() {
        return arguments;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ServerOptions && ((ServerOptions) other).arguments.equals(arguments);
    }

    @Override
    public int hashCode() {
        return arguments.hashCode();
    }

    /** Returns the arguments. */
    @Override
    public String toString() {
        return String.join(" ", arguments);
    }
}
