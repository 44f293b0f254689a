import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
        for (Future<Void> load : loads) {
            load.get();
        }
        // Threads of the loader are still waiting.
        System.exit(0);
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
