package dev.thriftstore.testing;

import java.nio.file.Paths;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;

/** The JUnit 5 extension of {@link Thriftstore}. */
public final class ThriftstoreExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(ThriftstoreExtension.class);

    /** Prepares the database of the test. */
    @Override
    public void beforeEach(ExtensionContext context) {
        database(context);
    }

    /** Prints the log if the test has failed. */
    @Override
    public void afterEach(ExtensionContext context) {
        TestDatabase database = context.getStore(NAMESPACE).remove(TestDatabase.class, TestDatabase.class);
        if (database == null) {
            return;
        }
        try {
            Throwable failure = context.getExecutionException().orElse(null);
            if (failure != null && !(failure instanceof TestAbortedException)) {
                database.report(System.err);
            }
        } finally {
            database.close();
        }
    }

    /** Returns whether the parameter is a {@link Database} or a {@link Server}. */
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return context.getTestMethod().isPresent() && (type == Database.class || type == Server.class);
    }

    /** Returns the database of the test, or the server. */
    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestDatabase database = database(context);
        return parameter.getParameter().getType() == Server.class ? database.server() : database.database();
    }

    /** A constructor gets its parameters before {@link #beforeEach}, so the first of both prepares the database. */
    private static TestDatabase database(ExtensionContext context) {
        return context.getStore(NAMESPACE)
                .getOrComputeIfAbsent(TestDatabase.class, key -> prepare(context), TestDatabase.class);
    }

    private static TestDatabase prepare(ExtensionContext context) {
        Class<?> tests = context.getRequiredTestClass();
        Thriftstore annotation = annotation(tests);
        String test = tests.getSimpleName() + ": " + context.getDisplayName();
        return annotation.sandbox()
                ? TestDatabase.sandbox(options(annotation), test)
                : TestDatabase.server(options(annotation), test);
    }

    /** Returns the annotation of a class, or of the class around a nested one. */
    private static Thriftstore annotation(Class<?> tests) {
        for (Class<?> outer = tests; outer != null; outer = outer.getEnclosingClass()) {
            Thriftstore annotation =
                    AnnotationSupport.findAnnotation(outer, Thriftstore.class).orElse(null);
            if (annotation != null) {
                return annotation;
            }
        }
        throw new ExtensionConfigurationException(tests.getName() + " has no annotation @Thriftstore");
    }

    private static ServerOptions options(Thriftstore annotation) {
        ServerOptions options = ServerOptions.defaults();
        if (!annotation.config().isEmpty()) {
            options = options.config(Paths.get(annotation.config()));
        }
        for (String release : annotation.compat()) {
            options = options.compat(release);
        }
        for (String file : annotation.load()) {
            options = options.load(Paths.get(file));
        }
        return options.arguments(annotation.arguments());
    }
}
