package scenario;

import org.apache.cassandra.cli.CliMain;
import org.apache.cassandra.config.Config;

/** cassandra-cli as it is, told that it is no server: on a Java of today it looks for a server's configuration otherwise. */
public final class Cli {
    private Cli() {}

    public static void main(String[] arguments) throws Exception {
        Config.setClientMode(true);
        CliMain.main(arguments);
    }
}
