use std::sync::Arc;

use crate::modify::testing::*;

#[tokio::test]
async fn conditional_updates_return_whether_they_were_applied() {
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
        assert_eq!(bench.outcome_text(statement).await, text, "{statement}");
    }
    bench.check("users", "61", &[]).await;
}

#[tokio::test]
async fn conditional_batches_are_applied_completely_or_not_at_all() {
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
        (
            "DELETE FROM t WHERE k = 1 IF s = 6",
            "DELETE statements must restrict all PARTITION KEY columns with equality relations in order to use IF \
             conditions on static columns, but column 'c' is not restricted",
        ),
        ("INSERT INTO t (k, c, v) VALUES (1, 4, 4)", "done"),
        ("DELETE FROM t WHERE k = 1 AND c = 4 IF s = 5", "[applied] s: 00 00000006"),
        ("DELETE FROM t WHERE k = 1 AND c = 4 IF s = 6", "[applied]: 01"),
        (
            "INSERT INTO t (k, s) VALUES (1, 9) IF NOT EXISTS",
            "[applied] k c s v: 00 00000001 null 00000006 null",
        ),
        ("INSERT INTO t (k, s) VALUES (2, 9) IF NOT EXISTS", "[applied]: 01"),
        ("DELETE s FROM t WHERE k = 2 IF s = 9", "[applied]: 01"),
    ] {
        assert_eq!(bench.outcome_text(statement).await, text, "{statement}");
    }
    assert_eq!(
        bench.outcome_text("DELETE FROM t WHERE k = 1 IF EXISTS").await,
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

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn conditional_updates_of_a_row_are_serialized() {
    let bench = Arc::new(Bench::new(&["CREATE TABLE t (k int PRIMARY KEY, v int)"]).await);
    bench.done("INSERT INTO t (k, v) VALUES (1, 0)").await;
    let counting = async |bench: Arc<Bench>| {
        let mut applied = 0;
        for value in 0..50 {
            let update = format!("UPDATE t SET v = {} WHERE k = 1 IF v = {value}", value + 1);
            applied += i32::from(bench.outcome_text(&update).await == "[applied]: 01");
        }
        applied
    };
    let tasks: Vec<_> = (0..4).map(|_| tokio::spawn(counting(bench.clone()))).collect();
    let mut applied = 0;
    for task in tasks {
        applied += task.await.unwrap();
    }
    let cells = bench.cells("t", "00000001", None).await;
    let value = i32::from_be_bytes(cells[1].value[..].try_into().unwrap());
    assert_eq!(applied, value, "each step is made once");
    assert!(value > 0);
}
