package dev.thriftstore.testing;

import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.ParseException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URL;
import java.nio.charset.StandardCharsets;

/** The client of the control port of one database: of the server, or of a sandbox in it. */
final class Control {
    private static final int CONNECT_TIMEOUT_MS = 5_000;
    // A reset waits up to five seconds for running requests, and a load may be large.
    private static final int READ_TIMEOUT_MS = 120_000;

    private final String address;
    private final String prefix;

    Control(String address, String prefix) {
        this.address = address;
        this.prefix = prefix;
    }

    /** Returns the client of a sandbox of the same server. */
    Control ofSandbox(String name) {
        return new Control(address, "/sandboxes/" + checked(name));
    }

    /** Returns a name that can be a part of a path. The server reads paths as they are, without decoding them. */
    static String checked(String name) {
        if (!name.matches("[A-Za-z0-9._-]+")) {
            throw new IllegalArgumentException(
                    "invalid name \"" + name + "\": use letters, digits, dots, hyphens and underscores");
        }
        return name;
    }

    JsonObject get(String path) {
        return object(path, send("GET", path, null, null));
    }

    JsonObject delete(String path) {
        return object(path, send("DELETE", path, null, null));
    }

    JsonObject post(String path) {
        return object(path, send("POST", path, null, null));
    }

    JsonObject post(String path, JsonObject body) {
        return object(path, send("POST", path, "application/json", body.toString()));
    }

    JsonObject post(String path, String contentType, String body) {
        return object(path, send("POST", path, contentType, body));
    }

    JsonObject put(String path) {
        return object(path, send("PUT", path, null, null));
    }

    JsonObject put(String path, String body) {
        return object(path, send("PUT", path, "application/json", body));
    }

    String text(String path) {
        return send("GET", path, null, null);
    }

    private String send(String method, String path, String contentType, String body) {
        try {
            // No proxy: the server runs on this machine.
            URL url = new URL("http://" + address + prefix + path);
            HttpURLConnection connection = (HttpURLConnection) url.openConnection(Proxy.NO_PROXY);
            connection.setRequestMethod(method);
            connection.setConnectTimeout(CONNECT_TIMEOUT_MS);
            connection.setReadTimeout(READ_TIMEOUT_MS);
            // With a new connection for each request, no request meets one that was closed meanwhile.
            connection.setRequestProperty("Connection", "close");
            if (!method.equals("GET") && !method.equals("DELETE")) {
                write(connection, contentType, body == null ? "" : body);
            }
            return reply(connection);
        } catch (IOException error) {
            throw new ControlException(
                    "the control port at " + address + " does not answer: " + error.getMessage(), error);
        }
    }

    private static void write(HttpURLConnection connection, String contentType, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        if (contentType != null) {
            connection.setRequestProperty("Content-Type", contentType);
        }
        connection.setDoOutput(true);
        // Java sends a request again if it got no reply, but not one of a fixed length.
        connection.setFixedLengthStreamingMode(bytes.length);
        try (OutputStream output = connection.getOutputStream()) {
            output.write(bytes);
        }
    }

    private static String reply(HttpURLConnection connection) throws IOException {
        int status = connection.getResponseCode();
        if (status < 400) {
            return read(connection.getInputStream());
        }
        String body = read(connection.getErrorStream());
        String sentence;
        try {
            sentence = Json.parse(body).asObject().getString("error", body);
        } catch (ParseException | UnsupportedOperationException notJson) {
            sentence = body;
        }
        throw new ControlException(status, sentence);
    }

    private static String read(InputStream stream) throws IOException {
        if (stream == null) {
            return "";
        }
        try (InputStream input = stream) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
                bytes.write(buffer, 0, count);
            }
            return bytes.toString("UTF-8");
        }
    }

    private JsonObject object(String path, String body) {
        try {
            return Json.parse(body).asObject();
        } catch (ParseException | UnsupportedOperationException error) {
            throw new ControlException("the reply of " + address + " to " + path + " is no JSON object", error);
        }
    }
}
