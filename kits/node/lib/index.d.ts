/** A server in memory for tests of applications written for Thrift-era Cassandra. */

export interface StartOptions {
    /** The path of a storage-conf.xml or cassandra.yaml; the default has the keyspaces BloggyAppy and Keyspace1. */
    config?: string;
    /** The release whose behaviour calls get, such as "1.2", or several. */
    compat?: string | string[];
    /** Files that are loaded at the start (.cql, .json). */
    load?: string | string[];
    /** Further arguments of `thriftstore serve`. */
    args?: string[];
    /** The filter of the log, such as "info,requests=debug", which logs each request. */
    log?: string;
    /** The path of the program, instead of the one that `findProgram` finds. */
    program?: string;
    /** How long the server may take until it listens: 10 seconds if it is not given. */
    startMs?: number;
}

/** Starts a server, and returns when it listens. */
export function start(options?: StartOptions): Promise<Server>;

export interface RecordOptions {
    /** The address of the server's Thrift port, such as "cassandra:9160". */
    thrift?: string;
    /** The address of the server's native port, such as "cassandra:9042". One of the two suffices. */
    native?: string;
    /** What is replaced by hashes: "values", "keys", "names", or several of them. */
    redact?: string | string[];
    /** Further arguments of `thriftstore record`. */
    args?: string[];
    program?: string;
}

/** Starts a recorder before a real server, and returns when it listens. The file must not exist. */
export function record(file: string, options: RecordOptions): Promise<Recorder>;

/** A recorder before a server. It stops when the process of the tests ends, too. */
export class Recorder {
    private constructor();
    /** Addresses for the application, HOST:PORT; undefined for a server that was not given. */
    readonly thrift?: string;
    readonly native?: string;
    /** Closes the file. Returns the lines that say how much was recorded. Throws if recording had ended before. */
    stop(): Promise<string[]>;
}

export interface ReplayOptions {
    /** What the server had when the recording began; without `config` and `load` it begins empty. */
    compat?: string | string[];
    config?: string;
    load?: string | string[];
    /** Throw ReplayDiffers if there are differences of this kind or a more serious one: "data" by default. */
    failOn?: "data" | "exception" | "text" | null;
    /** Further arguments of `thriftstore replay`, such as ["--against", "cassandra:9160"]. */
    args?: string[];
    program?: string;
}

/** Replays a recording to a server in memory, and returns the report. */
export function replay(file: string, options?: ReplayOptions): Promise<Report>;

/** What a replay has found. docs/traffic.md describes all fields. */
export interface Report {
    verdict: "same" | "differs" | "incomplete" | "nothing";
    calls: Record<string, number>;
    causes: Record<string, unknown>[];
    [field: string]: unknown;
}

/** Answers differ from the recorded ones. The message has the report as text. */
export class ReplayDiffers extends Error {
    readonly report: Report;
}

/** Returns the path of the program: $THRIFTSTORE, else that of this package, else one on the PATH. */
export function findProgram(): string;

/** The control port refused a request. The message is the server's. */
export class ControlError extends Error {
    readonly status?: number;
}

/** A request meets a condition if all given fields match. */
export interface Condition {
    protocol?: "thrift" | "native";
    /** The API generation of a Thrift call: 0.3, 0.4 to 0.6, or 0.7 on. */
    generation?: "with_text_paths" | "with_keyspace" | "after_set_keyspace";
    /** The number of the connection, as requests show it. */
    connection?: number;
    method?: string;
    statement?: string;
    operation?: "read" | "scan" | "write" | "truncate";
    keyspace?: string;
    columnFamily?: string;
    key?: string;
    consistency?: string;
    /** Conditions of later releases of the program. */
    [field: string]: unknown;
}

export interface FaultRule extends Condition {
    delayMs?: number | [number, number];
    error?:
        | "unavailable"
        | "timed_out"
        | "invalid_request"
        | "not_found"
        | "schema_disagreement"
        | "authentication"
        | "authorization"
        | "overloaded"
        | "internal";
    text?: string;
    /** The request is carried out, and then gets the error. */
    applied?: boolean;
    reply?: "none" | "closed" | "half" | "closed_after" | "rubbish" | "twice" | "trickle";
    skip?: number;
    times?: number;
    probability?: number;
    seed?: number;
}

export interface FaultState {
    name: string;
    rule: Record<string, unknown>;
    met: number;
    hits: number;
}

/** A rule that was set. Its counts can still be read after its end. */
export interface Fault {
    readonly name: string;
    /** Returns on how many requests the rule has had an effect. */
    hits(): Promise<number>;
    /** Returns how many requests have met the condition. */
    met(): Promise<number>;
    remove(): Promise<void>;
}

export interface Faults {
    /** Sets a rule, and replaces one of this name. */
    set(name: string, rule: FaultRule): Promise<Fault>;
    /** Sets a rule under a new name. */
    add(rule: FaultRule): Promise<Fault>;
    /** Calls a function while a rule is set, and returns what the function returns. */
    during<T>(rule: FaultRule, action: (fault: Fault) => Promise<T> | T): Promise<T>;
    list(): Promise<FaultState[]>;
    remove(name: string): Promise<void>;
    /** Removes all rules, forgets the requests, and accepts connections again. */
    clear(): Promise<void>;
}

export interface ClockState {
    now: string;
    now_ms: number;
    frozen: boolean;
    offset_ms: number;
}

/** The clock of a server or sandbox. It follows the system's clock until a test changes it. */
export interface Clock {
    state(): Promise<ClockState>;
    now(): Promise<Date>;
    freeze(at?: Date | string | number): Promise<void>;
    unfreeze(): Promise<void>;
    set(time: Date | string | number): Promise<void>;
    advance(by: {
        days?: number;
        hours?: number;
        minutes?: number;
        seconds?: number;
        milliseconds?: number;
    }): Promise<void>;
    follow(): Promise<void>;
}

/** A request of a client. */
export interface RequestEntry {
    number: number;
    protocol: string;
    method: string;
    statement?: string;
    keyspace?: string;
    consistency?: string;
    connection?: number;
    /** The arguments in readable form. */
    arguments?: object;
    rows?: { operation: string; column_family: string; key?: string }[];
    error?: string;
    faults?: string[];
    micros: number;
    /** Fields of later releases of the program. */
    [field: string]: unknown;
}

export interface Requests {
    /** Returns the last requests, the oldest first. */
    last(count?: number): Promise<RequestEntry[]>;
    /** Returns the last requests that meet a condition, the oldest first. */
    find(condition: Condition, last?: number): Promise<RequestEntry[]>;
    /** Throws unless so many requests meet the condition; without `times`, at least one. */
    verify(condition: Condition, times?: number): Promise<void>;
    /** Throws unless requests meet the conditions in this order. */
    verifyInOrder(...conditions: Condition[]): Promise<void>;
}

export type Bytes = string | { hex: string } | { typed: string };

export interface Cell {
    name: Bytes;
    value?: Bytes;
    counter?: number;
    super_column?: Bytes;
    timestamp?: number;
    ttl_s?: number;
    expires_at_s?: number;
    deleted_at_s?: number;
}

/** Rows in the form of `GET /dump`, which docs/testing.md describes. */
export interface Rows {
    column_families: {
        keyspace: string;
        name: string;
        rows: { key: Bytes; cells?: Cell[]; [deletions: string]: unknown }[];
    }[];
}

export interface Loaded {
    statements: number;
    rows: number;
}

export interface Snapshot {
    name: string;
    column_families: number;
    bytes: number;
}

/** A database in memory: a server or a sandbox. */
export class Database {
    protected constructor();
    /** Addresses for clients, HOST:PORT. */
    readonly thrift: string;
    readonly native: string;
    readonly thriftPort: number;
    readonly nativePort: number;
    readonly clock: Clock;
    readonly faults: Faults;
    readonly requests: Requests;
    /** Lets `reset` and new sandboxes return to the current state instead of the one after the server's start. */
    markStart(): Promise<void>;
    /** Returns to the state of the start: rows, schema, users, clock; without faults and later snapshots. */
    reset(): Promise<void>;
    /** Removes all rows. Schema and users stay. */
    resetData(): Promise<void>;
    /** Takes a snapshot of rows, schema and users. The next `reset` deletes it. */
    snapshot(name?: string): Promise<void>;
    restore(name?: string): Promise<void>;
    snapshots(): Promise<Snapshot[]>;
    deleteSnapshot(name: string): Promise<void>;
    /** Loads a file: statements (.cql) or rows (.json, in the form of `dump`). */
    load(file: string): Promise<Loaded>;
    /** Runs statements of CQL 3, separated by semicolons. */
    cql(script: string): Promise<Loaded>;
    write(rows: Rows): Promise<Loaded>;
    dump(): Promise<Rows>;
    /** Closes all connections of clients and forgets prepared statements, as a restart does. Data stays. */
    restart(): Promise<void>;
    /** Closes new connections of clients at once, until `acceptConnections`, or while a function runs. */
    refuseConnections(): Promise<void>;
    refuseConnections<T>(action: () => Promise<T> | T): Promise<T>;
    acceptConnections(): Promise<void>;
    /** Returns a position in the server's log, for `log`. */
    logSize(): number;
    /** Returns the text of the server's log from this position. */
    log(since?: number): string;
    /** Returns what explains a failed test: the log of the test, and the last requests. */
    report(): Promise<string>;
}

export class Server extends Database {
    readonly pid: number;
    /** Creates a sandbox, in the state of the start or of a snapshot. */
    sandbox(options?: { name?: string; from?: string }): Promise<Sandbox>;
    sandboxes(): Promise<{ name: string; thrift: string; native: string }[]>;
    stop(): Promise<void>;
}

/** A further database of a server, with its own addresses, clock, faults and requests. */
export class Sandbox extends Database {
    readonly name: string;
    readonly server: Server;
    /** Closes the connections of the sandbox and frees its memory. */
    delete(): Promise<void>;
}
