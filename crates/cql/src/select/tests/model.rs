//! Compares SELECT with a reference model that checks every row.

use proptest::prelude::*;

use super::*;

/// A row of the model: key and clustering.
type ModelRow = (i32, i32, i32);

/// A random SELECT of a table with `PRIMARY KEY (k, a, b)` and `v = a + b`, in a session with the features of 4.0.
#[derive(Debug, Clone)]
struct RandomSelect {
    table: &'static str,
    keys: Option<Vec<i32>>,
    a: Option<Vec<i32>>,
    b: Option<Vec<i32>>,
    lower: Option<(i32, bool)>,
    upper: Option<(i32, bool)>,
    is_reversed: bool,
    limit: Option<usize>,
    page: Option<usize>,
}

fn asking() -> impl Strategy<Value = RandomSelect> {
    let end = || prop::option::of((0..5i32, any::<bool>()));
    let some = |most: usize| prop::option::of(prop::collection::vec(0..5i32, 1..=most));
    let sizes = (prop::option::of(1..20usize), prop::option::of(1..8usize));
    let table = prop::sample::select(vec!["up", "down", "compact", "wide"]);
    (table, (some(3), some(3), some(3)), end(), end(), any::<bool>(), sizes).prop_map(
        |(table, (keys, a, mut b), lower, upper, is_reversed, (limit, page))| {
            let is_one_key = keys.as_ref().is_some_and(|keys| keys.len() == 1);
            let is_reversed = is_reversed && is_one_key;
            if a.is_none() {
                // Rows cannot be filtered by IN.
                b = b.map(|values| values[..1].to_vec());
            }
            RandomSelect { table, keys, a, b, lower, upper, is_reversed, limit, page }
        },
    )
}

impl RandomSelect {
    /// Returns the column that the slice is on: the first one without an IN.
    fn sliced(&self) -> &'static str {
        match (&self.a, &self.b) {
            (None, _) => "a",
            (Some(_), None) => "b",
            (Some(_), Some(_)) => "v",
        }
    }

    fn text(&self) -> String {
        let mut conditions = Vec::new();
        for (column, values) in [("k", &self.keys), ("a", &self.a), ("b", &self.b)] {
            match values.as_deref() {
                None => {}
                Some([value]) => conditions.push(format!("{column} = {value}")),
                Some(values) => {
                    let values: Vec<String> = values.iter().map(i32::to_string).collect();
                    conditions.push(format!("{column} IN ({})", values.join(", ")));
                }
            }
        }
        let sliced = self.sliced();
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
            let sliced = match self.sliced() {
                "a" => *a,
                "b" => *b,
                _ => a + b,
            };
            let above = |(end, inclusive): (i32, bool)| if inclusive { sliced >= end } else { sliced > end };
            let below = |(end, inclusive): (i32, bool)| if inclusive { sliced <= end } else { sliced < end };
            let is_in = |values: &Option<Vec<i32>>, value: &i32| {
                values.as_ref().is_none_or(|values| values.contains(value))
            };
            is_in(&self.keys, k)
                && is_in(&self.a, a)
                && is_in(&self.b, b)
                && self.lower.is_none_or(above)
                && self.upper.is_none_or(below)
        };
        let mut found: Vec<ModelRow> = rows.iter().filter(holds).copied().collect();
        // Keys that are given are read in their own order.
        let place = |k: i32| {
            let mut token = Vec::new();
            let key = k.to_be_bytes();
            match self.keys {
                None => base::partitioner::Partitioner::token(&Murmur3Partitioner, &key, &mut token),
                Some(_) => token.extend(key),
            }
            token
        };
        let is_down = self.table == "down";
        found.sort_by_key(|(k, a, b)| (place(*k), if is_down { -a } else { *a }, *b));
        found.dedup();
        if self.is_reversed {
            found.reverse();
        }
        found.truncate(self.limit.unwrap_or(usize::MAX));
        found
    }
}

async fn model_session(rows: &[ModelRow]) -> Session {
    let session = Session { reported: Some(ReportedVersion::default()), ..Session::new().await };
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
            let values = format!("({k}, {a}, {b}, {})", a + b);
            session.done(&format!("INSERT INTO {table} (k, a, b, v) VALUES {values}")).await;
        }
        let elements: Vec<String> = (0..=a * b).map(|element| element.to_string()).collect();
        let elements = elements.join(", ");
        session
            .done(&format!(
                "INSERT INTO wide (k, a, b, v, s, l) VALUES ({k}, {a}, {b}, {}, {b}, {{{elements}}})",
                a + b
            ))
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
