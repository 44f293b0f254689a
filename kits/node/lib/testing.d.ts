import { Database, Server, StartOptions } from "./index";

export interface TestingOptions extends StartOptions {
    /** Whether each test gets a sandbox instead of the server after a reset. */
    sandboxes?: boolean;
    /** Loads what each test begins with. */
    schema?: (server: Server) => Promise<unknown> | unknown;
}

/** The databases of a test file. They are set while its hooks and tests run. */
export interface TestDatabases {
    readonly server: Server;
    /** The database of the running test: the server, or a sandbox. */
    readonly database: Database;
}

/**
 * Starts a server before the tests and stops it after them, with the hooks of Jest, or else of node:test. Before each
 * test it is reset, or a sandbox is created.
 */
export function useThriftstore(options?: TestingOptions): TestDatabases;
