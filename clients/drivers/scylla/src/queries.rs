//! What applications do with tables.

use std::collections::BTreeSet;

use futures::{StreamExt, TryStreamExt, stream};
use scylla::cluster::metadata::ColumnKind;
use scylla::errors::{DbError, ExecutionError, PrepareError, RequestAttemptError};
use scylla::statement::Statement;
use scylla::statement::batch::{Batch, BatchType};

use crate::{Client, KEYSPACE, Outcome, REPLICATION, same};

const PARTITIONS: i32 = 20;
const ROWS_EACH: i32 = 5000;
const PAGE_SIZE: i32 = 5000;

pub async fn check(client: &Client) -> Outcome {
    for statement in [
        "CREATE TABLE counts (id text PRIMARY KEY, n counter)",
        "CREATE TABLE posts (author text, year int, written timeuuid, title text, motto text STATIC, \
         PRIMARY KEY ((author, year), written)) WITH CLUSTERING ORDER BY (written DESC)",
        "CREATE TABLE numbers (part int, number int, square bigint, PRIMARY KEY (part, number))",
        "CREATE TABLE accounts (id int PRIMARY KEY, owner text, city text)",
        "CREATE INDEX by_city ON accounts (city)",
    ] {
        client.run(statement).await?;
    }
    prepared(client).await?;
    batches(client).await?;
    conditions(client).await?;
    fill(client).await?;
    paging(client).await?;
    schema(client).await?;
    errors(client).await
}

async fn owners(client: &Client, ids: &[i32]) -> Outcome<BTreeSet<String>> {
    let found = client.session.query_unpaged("SELECT owner FROM accounts WHERE id IN ?", (ids,)).await?;
    Ok(found
        .into_rows_result()?
        .rows::<(String,)>()?
        .map(|row| row.map(|row| row.0))
        .collect::<Result<_, _>>()?)
}

async fn prepared(client: &Client) -> Outcome {
    let select = client.session.prepare("SELECT title FROM posts WHERE year = ? AND author = ?").await?;
    let places = select.get_variable_pk_indexes().iter().map(|place| (place.index, place.sequence));
    same("the places of the partition key", vec![(0, 1), (1, 0)], places.collect())?;
    let key = select.compute_partition_key(&(1843, "ada"))?;
    same("a routing key", &b"\x00\x03ada\x00\x00\x04\x00\x00\x07\x33\x00"[..], &key[..])?;
    let insert = client.session.prepare("INSERT INTO accounts (id, owner, city) VALUES (?, ?, ?)").await?;
    for id in 0..5 {
        client.session.execute_unpaged(&insert, (id, format!("owner {id}"), "Turku")).await?;
    }
    let wanted = ["owner 3", "owner 4"].map(str::to_owned).into();
    same("a list for IN", wanted, owners(client, &[4, 3, 9]).await?)?;
    let found = client.session.query_unpaged("SELECT id FROM accounts WHERE city = ?", ("Turku",)).await?;
    same("an index", 5, found.into_rows_result()?.rows_num())
}

async fn batches(client: &Client) -> Outcome {
    for (name, kind) in [("logged", BatchType::Logged), ("unlogged", BatchType::Unlogged)] {
        let mut batch = Batch::new(kind);
        batch.append_statement("INSERT INTO accounts (id, owner) VALUES (?, ?)");
        batch.append_statement("INSERT INTO accounts (id, owner) VALUES (11, 'text')");
        client.session.batch(&batch, ((10, name), ())).await?;
        let wanted = [name, "text"].map(str::to_owned).into();
        same(&format!("a batch, {name}"), wanted, owners(client, &[10, 11]).await?)?;
    }
    client.run("UPDATE counts SET n = n + 5 WHERE id = 'a'").await?;
    let mut less = Batch::new(BatchType::Counter);
    less.append_statement("UPDATE counts SET n = n - 2 WHERE id = 'a'");
    client.session.batch(&less, ((),)).await?;
    let found = client.session.query_unpaged("SELECT n FROM counts", ()).await?.into_rows_result()?;
    same("a counter", 3, found.single_row::<(scylla::value::Counter,)>()?.0.0)
}

async fn conditions(client: &Client) -> Outcome {
    let insert =
        client.session.prepare("INSERT INTO accounts (id, owner) VALUES (?, ?) IF NOT EXISTS").await?;
    type Applied = (bool, Option<i32>, Option<String>, Option<String>);
    let found = client.session.execute_unpaged(&insert, (20, "ada")).await?.into_rows_result()?;
    // The driver keeps what it has been told of the columns, those of a condition that does not hold.
    same("a row that was not there", 1, found.rows_num())?;
    let found = client.session.execute_unpaged(&insert, (20, "bob")).await?.into_rows_result()?;
    let wanted = (false, Some(20), None, Some("ada".to_owned()));
    same("one that was", wanted, found.single_row::<Applied>()?)?;
    let update = "UPDATE accounts SET owner = ? WHERE id = 20 IF owner = ?";
    let found = client.session.query_unpaged(update, ("eve", "mallory")).await?.into_rows_result()?;
    same("another owner", (false, "ada"), found.single_row::<(bool, &str)>()?)?;
    Ok(())
}

/// Writes all the numbers, several batches at a time.
async fn fill(client: &Client) -> Outcome {
    let insert =
        client.session.prepare("INSERT INTO numbers (part, number, square) VALUES (?, ?, ?)").await?;
    let starts = (0..ROWS_EACH).step_by(100).flat_map(|start| (0..PARTITIONS).map(move |part| (part, start)));
    let write = |(part, start): (i32, i32)| {
        let mut batch = Batch::new(BatchType::Unlogged);
        let rows: Vec<_> =
            (start..start + 100).map(|number| (part, number, i64::from(number).pow(2))).collect();
        rows.iter().for_each(|_| batch.append_statement(insert.clone()));
        async move { client.session.batch(&batch, rows).await.map(|_| ()) }
    };
    stream::iter(starts.map(write)).buffer_unordered(32).try_collect::<()>().await?;
    Ok(())
}

async fn paging(client: &Client) -> Outcome {
    let select = Statement::new("SELECT part, number, square FROM numbers").with_page_size(PAGE_SIZE);
    let mut rows = client.session.query_iter(select, ()).await?.rows_stream::<(i32, i32, i64)>()?;
    let mut next = [0; PARTITIONS as usize];
    let mut sum = 0;
    while let Some((part, number, square)) = rows.try_next().await? {
        let wanted = next.get_mut(usize::try_from(part)?).ok_or("a partition that nobody has written")?;
        if *wanted != number {
            return Err(format!("row {number} of {part} comes where {wanted} should").into());
        }
        *wanted += 1;
        sum += square;
    }
    same("rows, all in order", [ROWS_EACH; PARTITIONS as usize], next)?;
    let wanted: i64 = (0..i64::from(ROWS_EACH)).map(|number| number.pow(2)).sum();
    same("their sum", wanted * i64::from(PARTITIONS), sum)
}

async fn schema(client: &Client) -> Outcome {
    client.knows("a table", "posts", Some(5)).await?;
    let state = client.session.get_cluster_state();
    let keyspace = state.get_keyspace(KEYSPACE).ok_or("the driver does not know the keyspace")?;
    let posts = &keyspace.tables["posts"];
    same("the partition key", "author year", &posts.partition_key.join(" "))?;
    same("the clustering", "written", &posts.clustering_key.join(" "))?;
    same("a static column", true, matches!(posts.columns["motto"].kind, ColumnKind::Static))?;
    same("a type", 2, keyspace.user_defined_types["address"].field_types.len())?;

    let other = client.another().await?;
    other.run(&format!("CREATE TABLE {KEYSPACE}.told (id int PRIMARY KEY, a text)")).await?;
    client.knows("another session made a table", "told", Some(2)).await?;
    other.run(&format!("ALTER TABLE {KEYSPACE}.told ADD b int")).await?;
    client.knows("and changed it", "told", Some(3)).await?;
    other.run(&format!("DROP TABLE {KEYSPACE}.told")).await?;
    client.knows("and dropped it", "told", None).await
}

/// What the server has answered, and in what words.
async fn refusal(client: &Client, statement: &str) -> Outcome<(DbError, String)> {
    match client.session.query_unpaged(statement, ()).await {
        Err(
            ExecutionError::LastAttemptError(RequestAttemptError::DbError(error, words))
            | ExecutionError::PrepareError(PrepareError::AllAttemptsFailed {
                first_attempt: RequestAttemptError::DbError(error, words),
            }),
        ) => Ok((error, words)),
        found => Err(format!("{statement}: expected an error of the server, found {found:?}").into()),
    }
}

async fn errors(client: &Client) -> Outcome {
    let there =
        |table: &str| DbError::AlreadyExists { keyspace: KEYSPACE.to_owned(), table: table.to_owned() };
    let create = format!("CREATE KEYSPACE {KEYSPACE} {REPLICATION}");
    for (statement, wanted, words) in [
        ("SELEC * FROM posts", DbError::SyntaxError, "line 1:0"),
        ("SELECT * FROM nowhere", DbError::Invalid, "unconfigured"),
        ("SELECT nothing FROM posts", DbError::Invalid, "Undefined column name nothing"),
        ("CREATE TABLE accounts (id int PRIMARY KEY)", there("accounts"), "already existing"),
        (&create, there(""), "existing keyspace"),
    ] {
        let (error, said) = refusal(client, statement).await?;
        same(statement, wanted, error)?;
        same(&format!("{statement}: {said}"), true, said.contains(words))?;
    }
    // A prepared statement goes on after the table has changed.
    let select = client.session.prepare("SELECT * FROM accounts WHERE id = 20").await?;
    client.run("ALTER TABLE accounts ADD phone text").await?;
    let found = client.session.execute_unpaged(&select, ()).await?.into_rows_result()?;
    same("after the table has changed", 4, found.column_specs().len())
}
