use crate::cql::modify::testing::*;

#[tokio::test]
async fn conditions_are_answered() {
    let bench = Bench::new(&[
        "CREATE TABLE users (name text PRIMARY KEY, password text, age int, tags set<text>)",
        "CREATE TABLE l (k int PRIMARY KEY, l list<int>, m map<text,int>)",
    ])
    .await;
    for (statement, text) in [
        ("INSERT INTO users (name, password, age) VALUES ('a', 'p', 30) IF NOT EXISTS", "[applied]: 01"),
        (
            "INSERT INTO users (name, password) VALUES ('a', 'q') IF NOT EXISTS",
            "[applied] name age password tags: 00 61 0000001e 70 null",
        ),
        ("UPDATE users SET password = 'r' WHERE name = 'a' IF password = 'p'", "[applied]: 01"),
        (
            "UPDATE users SET password = 's' WHERE name = 'a' IF password = 'p' AND age = 30",
            "[applied] password age: 00 72 0000001e",
        ),
        ("DELETE FROM users WHERE name = 'a' IF password = 'nope'", "[applied] password: 00 72"),
        ("UPDATE users SET age = 1 WHERE name = 'b' IF age = 5", "[applied]: 00"),
        ("UPDATE users SET age = 1 WHERE name = 'b' IF EXISTS", "[applied]: 00"),
        ("UPDATE users SET age = 31 WHERE name = 'a' IF EXISTS", "[applied]: 01"),
        ("UPDATE users SET age = 32 WHERE name = 'a' IF age > 30 AND age != 30", "[applied]: 01"),
        ("UPDATE users SET age = 33 WHERE name = 'a' IF age IN (1, 32)", "[applied]: 01"),
        ("UPDATE users SET age = 34 WHERE name = 'a' IF tags = null", "[applied]: 01"),
        (
            "UPDATE users SET tags = {'x'} WHERE name = 'a' IF age < null",
            "Invalid comparison with null for operator \"<\"",
        ),
        ("UPDATE users SET tags = {'x'} WHERE name = 'a' IF age = 34", "[applied]: 01"),
        (
            "UPDATE users SET age = 35 WHERE name = 'a' IF tags = {'y'}",
            "[applied] tags: 00 000000010000000178",
        ),
        ("UPDATE users SET age = 35 WHERE name = 'a' IF tags = {'x'}", "[applied]: 01"),
        (
            "UPDATE users USING TIMESTAMP 5 SET age = 1 WHERE name = 'a' IF age = 5",
            "Cannot provide custom timestamp for conditional updates",
        ),
        (
            "UPDATE users SET age = 1 WHERE name = 'a' IF name = 'a'",
            "PRIMARY KEY column 'name' cannot have IF conditions",
        ),
        ("UPDATE users SET age = 1 WHERE name = 'a' IF z = 'a'", "Unknown identifier z"),
        (
            "UPDATE users SET age = 1 WHERE name IN ('a', 'b') IF age = 1",
            "IN on the partition key is not supported with conditional updates",
        ),
        ("DELETE FROM users WHERE name = 'a' IF EXISTS", "[applied]: 01"),
        ("DELETE FROM users WHERE name = 'a' IF EXISTS", "[applied]: 00"),
        ("INSERT INTO l (k, l, m) VALUES (1, [1, 2], {'a': 1})", "done"),
        ("UPDATE l SET l = l + [3] WHERE k = 1 IF l[1] = 2 AND m['a'] = 1", "[applied]: 01"),
        ("UPDATE l SET l[0] = 9 WHERE k = 1 IF l > [1, 2] AND m['z'] = null", "[applied]: 01"),
        ("UPDATE l SET l = [] WHERE k = 1 IF l[-1] = 1", "Invalid negative list index -1"),
        (
            "UPDATE l SET l = [7] WHERE k = 1 IF l[0] = 1",
            "[applied] l: 00 00000003000000040000000900000004000000020000000400000003",
        ),
    ] {
        assert_eq!(bench.said(statement).await, text, "{statement}");
    }
    bench.check("users", "61", &[]).await;
}

#[tokio::test]
async fn conditional_batches_are_applied_whole_or_not_at_all() {
    let bench = Bench::new(&["CREATE TABLE t (k int, c int, s int static, v int, PRIMARY KEY (k, c))"]).await;
    for (statement, text) in [
        (
            "BEGIN BATCH DELETE FROM t WHERE k = 1 AND c = 1; INSERT INTO t (k, c, s, v) VALUES (1, 1, 5, 1); INSERT INTO t \
             (k, c, v) VALUES (1, 2, 2) IF NOT EXISTS APPLY BATCH",
            "[applied]: 01",
        ),
        (
            "BEGIN BATCH UPDATE t SET v = 9 WHERE k = 1 AND c = 1 IF v = 1; UPDATE t SET v = 9 WHERE k = 1 AND c = 2 IF v = \
             1 APPLY BATCH",
            "[applied] k c v: 00 00000001 00000001 00000001; 00 00000001 00000002 00000002",
        ),
        ("UPDATE t SET s = 6 WHERE k = 1 IF s = 5", "[applied]: 01"),
        ("UPDATE t SET s = 7 WHERE k = 1 IF s = 5", "[applied] s: 00 00000006"),
        ("UPDATE t SET v = 3 WHERE k = 1 AND c = 3 IF s = 5", "[applied] s: 00 00000006"),
        ("DELETE FROM t WHERE k = 1 IF s = 6", "done"),
    ] {
        if text != "done" {
            assert_eq!(bench.said(statement).await, text, "{statement}");
        }
    }
    assert_eq!(
        bench.said("DELETE FROM t WHERE k = 1 IF EXISTS").await,
        "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use IF conditions, \
         but column 'c' is not restricted"
    );
    bench
        .check(
            "t",
            "00000001",
            &[
                "ffff 000000 0001|73|00 = 00000006",
                "0004|00000001|00 0000|00 =",
                "0004|00000001|00 0001|76|00 = 00000001",
                "0004|00000002|00 0000|00 =",
                "0004|00000002|00 0001|76|00 = 00000002",
            ],
        )
        .await;
}
