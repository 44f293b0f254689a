//! What every line can do.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Debug;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::Client;
use crate::cassandra::{
    CfDef, Column, ColumnOrSuperColumn, ColumnParent, ConsistencyLevel, Deletion, IndexClause,
    IndexExpression, IndexOperator, InvalidRequestException, Mutation, NotFoundException, SlicePredicate,
    SuperColumn, TCassandraSyncClient,
};
use crate::words::{
    all, between, bytes, changes, column, columns, described, entry, expression, family, keyspace, long,
    names, pair, parent, path, readable, rows, super_columns, text, timestamp_of, within, write,
};

pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

pub const ONE: ConsistencyLevel = ConsistencyLevel::ONE;

pub struct Library {
    pub client: Client,
    pub keyspace: String,
    pub checks: usize,
    expires: Instant,
}

impl Library {
    pub fn new(client: Client) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let keyspace = format!("Library{:x}x{}", now.as_nanos() & 0xff_ffff_ffff, std::process::id());
        Self { client, keyspace, checks: 0, expires: Instant::now() }
    }

    pub fn run(&mut self) -> Outcome {
        self.create_schema()?;
        self.columns()?;
        self.batch()?;
        self.slices()?;
        self.scan()?;
        self.index()?;
        self.super_columns()?;
        self.mistakes()?;
        #[cfg(feature = "counters")]
        self.counters()?;
        #[cfg(feature = "conditions")]
        self.compare_and_set()?;
        #[cfg(feature = "conditions")]
        self.new_reads()?;
        self.expired()?;
        self.change_schema()
    }

    pub fn check<T: PartialEq<U> + Debug, U: Debug>(&mut self, what: &str, found: T, expected: U) -> Outcome {
        self.checks += 1;
        if found == expected {
            Ok(())
        } else {
            Err(format!("{what}: expected {expected:?}, found {found:?}").into())
        }
    }

    pub fn refused<E: Error + 'static, T: Debug>(
        &mut self,
        what: &str,
        outcome: thrift::Result<T>,
    ) -> Outcome {
        self.checks += 1;
        match outcome {
            Err(thrift::Error::User(error)) if error.is::<E>() => Ok(()),
            other => Err(format!("{what}: was not refused so: {other:?}").into()),
        }
    }

    fn create_schema(&mut self) -> Outcome {
        let version = self.client.describe_version()?;
        self.check("the version has three parts", version.split('.').count(), 3)?;
        let name = self.client.describe_cluster_name()?;
        self.check("the cluster has a name", name.is_empty(), false)?;
        let outcome = self.client.get_slice(bytes("dune"), parent("Books"), all(), ONE);
        self.refused::<InvalidRequestException, _>("no keyspace yet", outcome)?;

        let mut books = family(&self.keyspace, "Books")?;
        books.comparator_type = Some("UTF8Type".to_owned());
        books.default_validation_class = Some("UTF8Type".to_owned());
        let shelf = described("shelf", "UTF8Type", Some("by_shelf"));
        books.column_metadata = Some(vec![shelf, described("year", "LongType", None)]);
        let mut loans = family(&self.keyspace, "Loans")?;
        loans.column_type = Some("Super".to_owned());
        loans.comparator_type = Some("LongType".to_owned());
        loans.subcomparator_type = Some("UTF8Type".to_owned());
        let strategy = "org.apache.cassandra.locator.SimpleStrategy";
        let definition = keyspace(&self.keyspace, strategy, vec![books, loans]);
        let version = self.client.system_add_keyspace(definition.clone())?;
        self.check("the schema has a version", version.is_empty(), false)?;
        let outcome = self.client.system_add_keyspace(definition);
        self.refused::<InvalidRequestException, _>("the keyspace is there", outcome)?;

        self.client.set_keyspace(self.keyspace.clone())?;
        let (books, loans) = (self.family("Books")?, self.family("Loans")?);
        let utf8 = Some("org.apache.cassandra.db.marshal.UTF8Type".to_owned());
        self.check("comparators", [books.comparator_type, loans.subcomparator_type], [utf8.clone(), utf8])?;
        self.check("the type", loans.column_type.as_deref(), Some("Super"))?;
        let indexes = books.column_metadata.into_iter().flatten().filter_map(|each| each.index_name);
        self.check("the index", indexes.collect::<Vec<_>>(), ["by_shelf"])?;
        let ours =
            self.client.describe_keyspaces()?.into_iter().filter(|each| each.name == self.keyspace).count();
        self.check("among the keyspaces", ours, 1)
    }

    fn family(&mut self, name: &str) -> Outcome<CfDef> {
        let found = self.client.describe_keyspace(self.keyspace.clone())?;
        Ok(found
            .cf_defs
            .into_iter()
            .find(|each| each.name == name)
            .ok_or("the column family is not there")?)
    }

    pub fn insert(&mut self, key: &str, parent: ColumnParent, column: Column) -> thrift::Result<()> {
        self.client.insert(bytes(key), parent, column, ONE)
    }

    fn get(&mut self, name: &str) -> thrift::Result<ColumnOrSuperColumn> {
        self.client.get(bytes("dune"), path("Books", None, Some(name)), ONE)
    }

    pub fn slice(
        &mut self,
        key: &str,
        parent: ColumnParent,
        predicate: SlicePredicate,
    ) -> Outcome<Vec<ColumnOrSuperColumn>> {
        Ok(self.client.get_slice(bytes(key), parent, predicate, ONE)?)
    }

    fn columns(&mut self) -> Outcome {
        let year = column("year", long(1965), 10);
        for each in [text("title", "Dune"), text("author", "Herbert"), text("shelf", "c"), year] {
            self.insert("dune", parent("Books"), each)?;
        }
        self.insert("dune", parent("Books"), column("title", bytes("an older title"), 9))?;
        let title = self.get("title")?.column.ok_or("no column")?;
        self.check(
            "the newer of two writes",
            (pair(&title), timestamp_of(&title)),
            ("title=Dune".to_owned(), 10),
        )?;
        self.check("has no end", title.ttl, None)?;
        let outcome = self.get("isbn");
        self.refused::<NotFoundException, _>("no such column", outcome)?;
        let mut note = text("note", "wet");
        note.ttl = Some(2);
        self.insert("dune", parent("Books"), note)?;
        self.expires = Instant::now() + Duration::from_millis(3200);
        let ttl = self.get("note")?.column.and_then(|note| note.ttl);
        self.check("a time to live", ttl, Some(2))
    }

    fn batch(&mut self) -> Outcome {
        let deletion = Deletion::new(11, None, names(&["author"]));
        let removal = changes("Books", vec![Mutation::new(None, deletion)]);
        let mut batch = BTreeMap::from([(bytes("dune"), removal)]);
        for number in 0..20 {
            let mutations = vec![
                write(text("title", &format!("Book {number}"))),
                write(text("shelf", if number % 2 == 0 { "a" } else { "b" })),
                write(column("year", long(1900 + number), 10)),
            ];
            batch.insert(bytes(&format!("book{number:02}")), changes("Books", mutations));
        }
        Ok(self.client.batch_mutate(batch, ONE)?)
    }

    fn slices(&mut self) -> Outcome {
        let found = self.slice("dune", parent("Books"), names(&["year", "title", "author"]))?;
        self.check("by names", columns(&found), "title=Dune year=1965")?;
        for (what, predicate, expected) in [
            ("all", all(), "shelf=b title=Book 3 year=1903"),
            ("a range", between("shelf", "title", false, 100), "shelf=b title=Book 3"),
            ("backwards", between("u", "", true, 1), "title=Book 3"),
        ] {
            let found = self.slice("book03", parent("Books"), predicate)?;
            self.check(what, columns(&found), expected)?;
        }
        let count = self.client.get_count(bytes("book03"), parent("Books"), all(), ONE)?;
        self.check("a count", count, 3)?;
        let keys = vec![bytes("book01"), bytes("nobody")];
        let found = self.client.multiget_slice(keys.clone(), parent("Books"), names(&["title"]), ONE)?;
        let rows: Vec<_> = found.iter().map(|(key, row)| (readable(key), columns(row))).collect();
        let expected =
            [("book01", "title=Book 1"), ("nobody", "")].map(|(key, row)| (key.to_owned(), row.to_owned()));
        self.check("rows", rows, expected)?;
        let found = self.client.multiget_count(keys.clone(), parent("Books"), all(), ONE)?;
        self.check("counts of rows", found, keys.into_iter().zip([3, 0]).collect::<BTreeMap<_, _>>())
    }

    fn scan(&mut self) -> Outcome {
        let mut seen: Vec<String> = Vec::new();
        loop {
            let start = seen.last().cloned().unwrap_or_default();
            let range = rows(&start, "", 7);
            let page = self.client.get_range_slices(parent("Books"), names(&["title"]), range, ONE)?;
            let before = seen.len();
            seen.extend(page.iter().map(|row| readable(&row.key)).filter(|key| *key != start));
            if seen.len() == before {
                break;
            }
        }
        seen.sort();
        let expected = (0..20).map(|number| format!("book{number:02}")).chain(["dune".to_owned()]);
        self.check("every row once", seen, expected.collect::<Vec<_>>())
    }

    fn those(&mut self, expressions: &[IndexExpression]) -> thrift::Result<String> {
        let clause = IndexClause::new(expressions.to_vec(), Vec::new(), 100);
        let rows = self.client.get_indexed_slices(parent("Books"), clause, names(&["title"]), ONE)?;
        let mut keys: Vec<_> = rows.iter().map(|row| readable(&row.key)).collect();
        keys.sort();
        Ok(keys.join(" ").replace("book", ""))
    }

    fn index(&mut self) -> Outcome {
        let shelf = expression("shelf", IndexOperator::EQ, bytes("a"));
        let both = [shelf.clone(), expression("year", IndexOperator::GTE, long(1910))];
        let found = self.those(&[shelf])?;
        self.check("a shelf", found, "00 02 04 06 08 10 12 14 16 18")?;
        let found = self.those(&both)?;
        self.check("its later years", found, "10 12 14 16 18")?;
        self.insert("book12", parent("Books"), column("shelf", bytes("c"), 11))?;
        self.client.remove(bytes("book14"), path("Books", None, None), 11, ONE)?;
        let found = self.those(&both)?;
        self.check("after changes", found, "10 16 18")?;
        let outcome = self.those(&both[1..]);
        self.refused::<InvalidRequestException, _>("without an index", outcome)
    }

    fn super_columns(&mut self) -> Outcome {
        let loan = |year, columns| {
            let loan = SuperColumn::new(long(year), columns);
            entry(ColumnOrSuperColumn { super_column: Some(loan), ..Default::default() })
        };
        let of = |year| within("Loans", long(year));
        let loans = vec![
            loan(2010, vec![text("who", "ada"), text("until", "may")]),
            loan(2009, vec![text("who", "bob")]),
            loan(-1, vec![text("who", "cyd")]),
        ];
        self.client.batch_mutate(BTreeMap::from([(bytes("dune"), changes("Loans", loans))]), ONE)?;
        self.insert("dune", of(2009), text("until", "june"))?;
        let found = self.slice("dune", parent("Loans"), all())?;
        let expected = "-1[who=cyd] 2009[until=june who=bob] 2010[until=may who=ada]";
        self.check("super columns", super_columns(&found), expected)?;
        let found = self.slice("dune", of(2010), all())?;
        self.check("the columns of one", columns(&found), "until=may who=ada")?;
        let who = self.client.get(bytes("dune"), path("Loans", Some(long(2009)), Some("who")), ONE)?;
        self.check("one of them", columns(&[who]), "who=bob")?;
        self.client.remove(bytes("dune"), path("Loans", Some(long(2010)), Some("until")), 11, ONE)?;
        self.client.remove(bytes("dune"), path("Loans", Some(long(-1)), None), 11, ONE)?;
        let found = self.slice("dune", parent("Loans"), between("", "", true, 100))?;
        let expected = "2010[who=ada] 2009[until=june who=bob]";
        self.check("after removals, backwards", super_columns(&found), expected)?;
        let counts = [parent("Loans"), of(2009)]
            .map(|parent| self.client.get_count(bytes("dune"), parent, all(), ONE));
        for count in counts {
            self.check("a count", count?, 2)?;
        }
        Ok(())
    }

    fn mistakes(&mut self) -> Outcome {
        for (what, key, parent, column) in [
            ("three bytes are no long", "k", parent("Books"), text("year", "abc")),
            ("no such column family", "k", parent("Nowhere"), text("a", "b")),
            ("no super column", "k", parent("Loans"), text("a", "b")),
            ("no key", "", parent("Books"), text("a", "b")),
        ] {
            let outcome = self.insert(key, parent, column);
            self.refused::<InvalidRequestException, _>(what, outcome)?;
        }
        let outcome = self.client.set_keyspace("Nowhere".to_owned());
        self.refused::<InvalidRequestException, _>("no such keyspace", outcome)
    }

    fn expired(&mut self) -> Outcome {
        sleep(self.expires.saturating_duration_since(Instant::now()));
        let outcome = self.get("note");
        self.refused::<NotFoundException, _>("what has expired", outcome)?;
        let count = self.client.get_count(bytes("dune"), parent("Books"), all(), ONE)?;
        self.check("is not counted", count, 3)
    }

    fn change_schema(&mut self) -> Outcome {
        let mut books = self.family("Books")?;
        books.comment = Some("all of them".to_owned());
        self.client.system_update_column_family(books)?;
        let books = self.family("Books")?;
        let metadata = books.column_metadata.map(|metadata| metadata.len());
        self.check("an update", (books.comment.as_deref(), metadata), (Some("all of them"), Some(2)))?;
        self.client.truncate("Books".to_owned())?;
        let found = self.client.get_range_slices(parent("Books"), all(), rows("", "", 100), ONE)?;
        self.check("no rows", found.len(), 0)?;
        let count = self.client.get_count(bytes("dune"), parent("Loans"), all(), ONE)?;
        self.check("others have theirs", count, 2)?;
        self.client.system_drop_column_family("Loans".to_owned())?;
        let outcome = self.client.get_count(bytes("dune"), parent("Loans"), all(), ONE);
        self.refused::<InvalidRequestException, _>("a column family that is gone", outcome)?;
        self.client.system_drop_keyspace(self.keyspace.clone())?;
        let outcome = self.client.describe_keyspace(self.keyspace.clone());
        self.refused::<NotFoundException, _>("a keyspace that is gone", outcome)
    }
}
