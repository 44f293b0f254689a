package bloggy;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.PrintStream;
import org.apache.cassandra.thrift.Cassandra;
import org.apache.cassandra.thrift.InvalidRequestException;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.TTransportException;
import org.apache.thrift.transport.layered.TFramedTransport;

/** The command line of the blog. */
public final class Main {
    private static final int TIMEOUT_MILLIS = 10_000;

    private Main() {}

    public static void main(String[] arguments) {
        System.setOut(new PrintStream(System.out, true, UTF_8));
        System.setErr(new PrintStream(System.err, true, UTF_8));
        Options options = null;
        try {
            options = Options.parse(arguments);
        } catch (RuntimeException senseless) {
            System.err.println(Options.USAGE);
            System.exit(2);
        }
        try {
            System.out.println(run(options));
        } catch (Failure failure) {
            fail(failure.getMessage());
        } catch (InvalidRequestException refusal) {
            fail("the server refused: " + refusal.getWhy());
        } catch (TException error) {
            fail("the server did not answer: " + error);
        }
    }

    private static String run(Options options) throws TException, Failure {
        try (TTransport transport = connect(options)) {
            var blog = new Blog(new Cassandra.Client(new TBinaryProtocol(transport)));
            return new Commands(blog, options.now()).run(options.command(), options.operands());
        }
    }

    private static TTransport connect(Options options) throws TException, Failure {
        TTransport transport = new TSocket(options.host(), options.port(), TIMEOUT_MILLIS);
        if (options.framed()) {
            transport = new TFramedTransport(transport);
        }
        try {
            transport.open();
        } catch (TTransportException unreachable) {
            throw new Failure("cannot reach a server at " + options.host() + ":" + options.port());
        }
        return transport;
    }

    private static void fail(String reason) {
        System.err.println("blog: " + reason);
        System.exit(1);
    }
}
