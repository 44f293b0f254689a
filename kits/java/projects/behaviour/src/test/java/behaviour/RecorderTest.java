package behaviour;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.thriftstore.testing.Recorder;
import dev.thriftstore.testing.Replay;
import dev.thriftstore.testing.Replay.Difference;
import dev.thriftstore.testing.Server;
import dev.thriftstore.testing.ServerOptions;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recordings of what tests ask, and their replay. */
class RecorderTest {
    private static final ServerOptions WITHOUT_SCHEMA = ServerOptions.defaults().compat("1.2");
    private static final ServerOptions SHOP = WITHOUT_SCHEMA.load(Paths.get("src/test/resources/shop.cql"));
    private static final int REPLY = 2;

    /** The server that the application has used so far. */
    private static Server old;

    @TempDir
    Path folder;

    @BeforeAll
    static void startOldServer() {
        old = Server.start(SHOP);
    }

    @AfterAll
    static void stopOldServer() {
        old.close();
    }

    private static String text(InetSocketAddress address) {
        return address.getHostString() + ":" + address.getPort();
    }

    /** Calls set_keyspace as a generated client does, and returns the type of the reply. */
    private static int useKeyspace(InetSocketAddress address, String keyspace) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream call = new DataOutputStream(bytes);
        call.writeInt(0x80010001);
        call.writeInt("set_keyspace".length());
        call.writeBytes("set_keyspace");
        call.writeInt(1);
        call.writeByte(11);
        call.writeShort(1);
        call.writeInt(keyspace.length());
        call.write(keyspace.getBytes(StandardCharsets.UTF_8));
        call.writeByte(0);
        try (Socket socket = new Socket(address.getHostString(), address.getPort())) {
            socket.setSoTimeout(5_000);
            DataOutputStream request = new DataOutputStream(socket.getOutputStream());
            request.writeInt(bytes.size());
            request.write(bytes.toByteArray());
            DataInputStream reply = new DataInputStream(socket.getInputStream());
            reply.readInt();
            return reply.readInt() & 0xff;
        }
    }

    @Test
    void aRecordingIsAnsweredTheSame() throws IOException {
        Path file = folder.resolve("same.rec");
        Recorder recorder = Recorder.start(file, Recorder.options().thrift(text(old.thrift())));
        assertNull(recorder.nativeProtocol());
        assertEquals(REPLY, useKeyspace(recorder.thrift(), "shop"));
        List<String> said = recorder.stop();
        assertTrue(said.get(0).startsWith("recorded 1 calls of 1 connections in "), said.toString());
        Replay replay = Replay.of(file, SHOP);
        replay.check(Difference.TEXT);
        assertEquals("same", replay.verdict());
        assertEquals(1, replay.calls("equal"));
        assertTrue(replay.json().contains("\"causes\""), replay.json());
    }

    @Test
    void differencesFailWithTheReport() throws IOException {
        Path file = folder.resolve("differs.rec");
        Recorder.Options options = Recorder.options()
                .thrift(text(old.thrift()))
                .nativeProtocol(text(old.nativeProtocol()))
                .redact("values", "keys");
        try (Recorder recorder = Recorder.start(file, options)) {
            useKeyspace(recorder.thrift(), "shop");
        }
        Replay replay = Replay.of(file, WITHOUT_SCHEMA);
        assertEquals("differs", replay.verdict());
        assertFalse(replay.differs(Difference.DATA));
        replay.check(Difference.DATA);
        AssertionError error = assertThrows(AssertionError.class, () -> replay.check(Difference.EXCEPTION));
        assertTrue(error.getMessage().contains("set_keyspace"), error.getMessage());
        ServerOptions running = ServerOptions.defaults().arguments("--against", text(old.thrift()));
        assertEquals("same", Replay.of(file, running).verdict());
    }

    @Test
    void whatCannotBeginIsSaid() throws IOException {
        Path file = Files.createFile(folder.resolve("there.rec"));
        Recorder.Options options = Recorder.options().thrift(text(old.thrift()));
        UncheckedIOException error = assertThrows(UncheckedIOException.class, () -> Recorder.start(file, options));
        assertTrue(error.getMessage().contains("there.rec"), error.getMessage());
        assertThrows(IllegalArgumentException.class, () -> Recorder.start(file, Recorder.options()));
        Path missing = folder.resolve("nowhere.rec");
        error = assertThrows(UncheckedIOException.class, () -> Replay.of(missing, SHOP));
        assertTrue(error.getMessage().contains("nowhere.rec"), error.getMessage());
    }
}
