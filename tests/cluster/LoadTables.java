import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.tools.BulkLoader;
import org.apache.cassandra.tools.LoaderOptions;

/**
 * Runs Cassandra's sstableloader for several tables in one process: it loads one table, and each start takes seconds.
 *
 * <p>Arguments: the options of sstableloader, "--", and the directories of the tables.
 */
class LoadTables {
    /** A load of a few rows waits four seconds, most of them for sockets to close. */
    private static final int AT_ONCE = 8;

    public static void main(String[] arguments) throws Exception {
        List<String> all = Arrays.asList(arguments);
        int end = all.indexOf("--");
        // Each load begins with this, and not even two of them may do so at once: the second one finds no configuration.
        DatabaseDescriptor.clientInitialization();
        ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
        List<Future<Void>> loads = new ArrayList<>();
        for (String table : all.subList(end + 1, all.size())) {
            List<String> one = new ArrayList<>(all.subList(0, end));
            one.add(table);
            loads.add(threads.submit(() -> {
                BulkLoader.load(options(one.toArray(new String[0])));
                return null;
            }));
        }
        int status = 0;
        for (Future<Void> load : loads) {
            try {
                load.get();
            } catch (ExecutionException failure) {
                failure.getCause().printStackTrace();
                status = 1;
            }
        }
        // Threads of the loader, and those of the pool, are still waiting.
        System.exit(status);
    }

    private static LoaderOptions options(String[] arguments) throws Exception {
        // The class of the builder is not public.
        Object builder = LoaderOptions.builder();
        Method parse = builder.getClass().getMethod("parseArgs", String[].class);
        Method build = builder.getClass().getMethod("build");
        parse.setAccessible(true);
        build.setAccessible(true);
        return (LoaderOptions) build.invoke(parse.invoke(builder, (Object) arguments));
    }
}
