package dev.thriftstore.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives each JUnit 5 test of a class a database in the state of the server's start, as a parameter of type
 * {@link Database} or {@link Server}. All classes with the same options share one server.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith(ThriftstoreExtension.class)
public @interface Thriftstore {
    /** Returns the configuration file; empty for the default. */
    String config() default "";

    /** Returns the releases whose behaviour calls get. */
    String[] compat() default {};

    /** Returns the files that are loaded at the start. */
    String[] load() default {};

    /** Returns further arguments of {@code thriftstore serve}. */
    String[] arguments() default {};

    /** Returns whether each test gets a sandbox of its own, for tests that run in parallel. */
    boolean sandbox() default false;
}
