package dev.thriftstore.testing;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** The program {@code thriftstore}, and where it was found. */
final class Program implements AutoCloseable {
    private static final String VARIABLE = "THRIFTSTORE";
    private static final String NAME = "thriftstore";

    private final Path path;
    private final boolean isTemporary;

    private Program(Path path, boolean isTemporary) {
        this.path = path;
        this.isTemporary = isTemporary;
    }

    /** Finds the program: the environment's THRIFTSTORE, else the jar thriftstore-program, else PATH. */
    static Program find() throws IOException {
        String named = System.getenv(VARIABLE);
        if (named != null && !named.isEmpty()) {
            Path path = Paths.get(named);
            if (!Files.isExecutable(path)) {
                throw new IOException(VARIABLE + " is " + named + ", which is not an executable file");
            }
            return new Program(path.toAbsolutePath(), false);
        }
        String resource = "/dev/thriftstore/program/" + platform() + "/" + NAME;
        try (InputStream content = Program.class.getResourceAsStream(resource)) {
            if (content != null) {
                return unpack(content);
            }
        }
        String folders = System.getenv("PATH");
        for (String folder : folders == null ? new String[0] : folders.split(File.pathSeparator)) {
            Path path = Paths.get(folder, NAME);
            if (Files.isExecutable(path) && !Files.isDirectory(path)) {
                return new Program(path.toAbsolutePath(), false);
            }
        }
        throw new IOException("there is no program " + NAME + ": set " + VARIABLE
                + " in the environment to its path, add the dependency dev.thriftstore:thriftstore-program with the"
                + " classifier " + platform() + ", or install it in a folder of PATH");
    }

    private static Program unpack(InputStream content) throws IOException {
        Path path = Files.createTempFile("thriftstore-", "");
        Files.copy(content, path, StandardCopyOption.REPLACE_EXISTING);
        if (!path.toFile().setExecutable(true, true)) {
            throw new IOException("cannot make " + path + " executable");
        }
        return new Program(path, true);
    }

    /** Returns the classifier of the jar with the program for this machine, such as {@code linux-x86_64}. */
    static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String processor = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        if (system.startsWith("mac")) {
            system = "macos";
        }
        if (processor.equals("amd64")) {
            processor = "x86_64";
        } else if (processor.equals("arm64")) {
            processor = "aarch64";
        }
        return system + "-" + processor;
    }

    Path path() {
        return path;
    }

    /** Deletes an unpacked program. A process that runs it continues, so nothing is left even if this JVM is killed. */
    @Override
    public void close() throws IOException {
        if (isTemporary) {
            Files.deleteIfExists(path);
        }
    }
}
