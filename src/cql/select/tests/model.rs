//! Compares SELECT with a reference model that checks every row.

use proptest::prelude::*;

use super::*;

/// A row of the model: key and clustering.
type ModelRow = (i32, i32, i32);

/// A random SELECT of a table with `PRIMARY KEY (k, a, b)`.
#[derive(Debug, Clone)]
struct RandomSelect {
    table: &'static str,
    keys: Option<Vec<i32>>,
    a: Option<i32>,
    lower: Option<(i32, bool)>,
    upper: Option<(i32, bool)>,
    is_reversed: bool,
    limit: Option<usize>,
    page: Option<usize>,
}

fn asking() -> impl Strategy<Value = RandomSelect> {
    let end = || prop::option::of((0..5i32, any::<bool>()));
    let keys = prop::option::of(prop::collection::vec(0..4i32, 1..2));
    let sizes = (prop::option::of(1..20usize), prop::option::of(1..8usize));
    let table = prop::sample::select(vec!["up", "down", "compact", "wide"]);
    (table, keys, prop::option::of(0..5i32), end(), end(), any::<bool>(), sizes).prop_map(
        |(table, keys, a, lower, upper, is_reversed, (limit, page))| {
            let is_reversed = is_reversed && keys.is_some();
            RandomSelect { table, keys, a, lower, upper, is_reversed, limit, page }
        },
    )
}

impl RandomSelect {
    fn text(&self) -> String {
        let mut conditions = Vec::new();
        if let Some(keys) = &self.keys {
            conditions.push(format!("k = {}", keys[0]));
        }
        // A clustering column cannot be restricted without the one before it. If `a` has no equality, the slice is on
        // `a`.
        let sliced = if self.a.is_some() { "b" } else { "a" };
        conditions.extend(self.a.map(|a| format!("a = {a}")));
        let sign = |is_inclusive: bool| if is_inclusive { "=" } else { "" };
        conditions.extend(self.lower.map(|(end, inclusive)| format!("{sliced} >{} {end}", sign(inclusive))));
        conditions.extend(self.upper.map(|(end, inclusive)| format!("{sliced} <{} {end}", sign(inclusive))));
        let mut text = format!("SELECT k, a, b FROM {}", self.table);
        if !conditions.is_empty() {
            text += &format!(" WHERE {}", conditions.join(" AND "));
        }
        if self.is_reversed {
            text += if self.table == "down" { " ORDER BY a ASC" } else { " ORDER BY a DESC" };
        }
        if let Some(limit) = self.limit {
            text += &format!(" LIMIT {limit}");
        }
        text + " ALLOW FILTERING"
    }

    /// Returns the expected rows, found by checking every row.
    fn naive(&self, rows: &[ModelRow]) -> Vec<ModelRow> {
        let holds = |(k, a, b): &&ModelRow| {
            let sliced = if self.a.is_some() { b } else { a };
            let above =
                |(end, inclusive): (i32, bool)| if inclusive { *sliced >= end } else { *sliced > end };
            let below =
                |(end, inclusive): (i32, bool)| if inclusive { *sliced <= end } else { *sliced < end };
            self.keys.as_ref().is_none_or(|keys| keys[0] == *k)
                && self.a.is_none_or(|wanted| wanted == *a)
                && self.lower.is_none_or(above)
                && self.upper.is_none_or(below)
        };
        let mut found: Vec<ModelRow> = rows.iter().filter(holds).copied().collect();
        let token = |k: i32| {
            let mut token = Vec::new();
            crate::partitioner::Partitioner::token(&Murmur3Partitioner, &k.to_be_bytes(), &mut token);
            token
        };
        let is_down = self.table == "down";
        found.sort_by_key(|(k, a, b)| (token(*k), if is_down { -a } else { *a }, *b));
        found.dedup();
        if self.is_reversed {
            found.reverse();
        }
        found.truncate(self.limit.unwrap_or(usize::MAX));
        found
    }
}

async fn model_session(rows: &[ModelRow]) -> Session {
    let session = Session::new().await;
    let key = "k int, a int, b int, ";
    session.done(&format!("CREATE TABLE up ({key} v int, PRIMARY KEY (k, a, b))")).await;
    session
        .done(&format!(
            "CREATE TABLE down ({key} v int, PRIMARY KEY (k, a, b)) WITH CLUSTERING ORDER BY (a DESC, b ASC)"
        ))
        .await;
    session
        .done(&format!("CREATE TABLE compact ({key} v int, PRIMARY KEY (k, a, b)) WITH COMPACT STORAGE"))
        .await;
    session
        .done(&format!("CREATE TABLE wide ({key} v int, s int static, l set<int>, PRIMARY KEY (k, a, b))"))
        .await;
    for (k, a, b) in rows {
        for table in ["up", "down", "compact"] {
            session.done(&format!("INSERT INTO {table} (k, a, b, v) VALUES ({k}, {a}, {b}, 1)")).await;
        }
        let elements: Vec<String> = (0..=a * b).map(|element| element.to_string()).collect();
        let elements = elements.join(", ");
        session
            .done(&format!("INSERT INTO wide (k, a, b, s, l) VALUES ({k}, {a}, {b}, {b}, {{{elements}}})"))
            .await;
    }
    session
}

async fn all_pages(session: &Session, asking: &RandomSelect) -> Vec<ModelRow> {
    let mut found = Vec::new();
    let mut options = QueryOptions { page_size: asking.page, ..options() };
    loop {
        let page = session.rows(&asking.text(), &options).await;
        assert!(asking.page.is_none_or(|most| page.rows.len() <= most));
        found.extend(page.rows.iter().map(|row| {
            let number = |at: usize| i32::from_be_bytes(row[at].as_deref().unwrap().try_into().unwrap());
            (number(0), number(1), number(2))
        }));
        match page.paging_state {
            Some(state) => options.paging_state = Some(state),
            None => return found,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_select_returns_the_rows_of_the_reference_model(
        rows in prop::collection::vec((0..4i32, 0..5i32, 0..5i32), 0..40),
        askings in prop::collection::vec(asking(), 1..24),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let session = model_session(&rows).await;
            for asking in &askings {
                let found = all_pages(&session, asking).await;
                assert_eq!(found, asking.naive(&rows), "{}, pages of {:?}", asking.text(), asking.page);
            }
        });
    }
}
