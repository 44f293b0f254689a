import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Calls an operation of an old Cassandra's StorageService, as its nodetool does. The nodetools of some releases do not run on
 * the Java that their servers run on.
 *
 * <p>usage: java Manage.java PORT NAME[,NAME...] [TEXT...]
 *
 * <p>NAME is the operation; releases name some differently, and the first that there is gets called. Of several forms the one
 * with the fewest parameters is taken. The texts are its texts in order, a list of texts has what is left, flags are false and
 * numbers 0.
 */
public class Manage {
    public static void main(String[] arguments) throws Exception {
        String address = "service:jmx:rmi:///jndi/rmi://127.0.0.1:" + arguments[0] + "/jmxrmi";
        List<String> names = Arrays.asList(arguments[1].split(","));
        Deque<String> texts = new ArrayDeque<>(Arrays.asList(arguments).subList(2, arguments.length));
        try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            ObjectName service = find(server);
            MBeanOperationInfo operation = Arrays.stream(server.getMBeanInfo(service).getOperations())
                    .filter(each -> names.contains(each.getName()))
                    .min(Comparator.comparingInt((MBeanOperationInfo each) -> names.indexOf(each.getName()))
                            .thenComparingInt(each -> each.getSignature().length))
                    .orElseThrow(() -> new IllegalArgumentException("no operation " + arguments[1]));
            MBeanParameterInfo[] parameters = operation.getSignature();
            Object[] values = new Object[parameters.length];
            String[] types = new String[parameters.length];
            for (int at = 0; at < parameters.length; at++) {
                types[at] = parameters[at].getType();
                values[at] = value(types[at], texts);
            }
            System.out.println(server.invoke(service, operation.getName(), values, types));
        }
    }

    /** Up to 0.7 it is in another domain. */
    private static ObjectName find(MBeanServerConnection server) throws Exception {
        return server.queryNames(new ObjectName("org.apache.cassandra.*:type=StorageService,*"), null).iterator().next();
    }

    private static Object value(String type, Deque<String> texts) {
        switch (type) {
            case "boolean":
                return false;
            case "int":
                return 0;
            case "[Ljava.lang.String;":
                String[] rest = texts.toArray(new String[0]);
                texts.clear();
                return rest;
            default:
                return texts.poll();
        }
    }
}
