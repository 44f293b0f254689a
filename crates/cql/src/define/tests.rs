use super::testing::*;
use crate::CqlError;
use crate::limits::USER_TYPES_MAX;
use base::compat::Behaviour;
use base::marshal::PACKAGE;
use base::schema::{KeyspaceDef, TableDef};
use base::util::Release;
use cql_syntax::{
    Alter, AlterType, CreateIndex, CreateTable, IndexTarget, Properties, PropertyValue, Statement,
};

#[tokio::test]
async fn keyspaces_are_created_once_and_dropped() {
    let database = with_keyspace().await;
    let one = [("class", "SimpleStrategy"), ("replication_factor", "1")];
    let cases = [
        (keyspace("k", &one), "Cannot add existing keyspace \"k\""),
        (keyspace("b", &one[1..]), "Missing mandatory replication strategy class"),
        (keyspace("b", &one[..1]), "SimpleStrategy requires a replication_factor strategy option."),
        (
            keyspace("b", &[("class", "None"), one[1]]),
            "Unable to find replication strategy class 'org.apache.cassandra.locator.None'",
        ),
        (
            keyspace("b", &[one[0], ("replication_factor", "a")]),
            "Replication factor must be numeric; found a",
        ),
        (keyspace("b-d", &one), "\"b-d\" is not a valid keyspace name"),
        (keyspace("system", &one), "system keyspace is not user-modifiable"),
    ];
    for (statement, text) in cases {
        assert_eq!(outcome_text(&database, statement).await, text);
    }
    let drop = |name: &str, if_exists| Statement::DropKeyspace { name: name.to_owned(), if_exists };
    assert_eq!(
        outcome_text(&database, drop("system", true)).await,
        "system keyspace is not user-modifiable."
    );
    assert_eq!(outcome_text(&database, drop("k", false)).await, "done");
    assert_eq!(outcome_text(&database, drop("k", false)).await, "Cannot drop non existing keyspace 'k'.");
    assert_eq!(outcome_text(&database, drop("k", true)).await, "done");
    let create = Statement::CreateTable(create("t", "k int", "k"));
    let text = "Cannot add column family 't' to non existing keyspace 'k'.";
    assert!(matches!(run(&database, create).await, Err(CqlError::Configuration(why)) if why == text));
}

#[tokio::test]
async fn comparators_equal_those_of_the_old_servers() {
    let database = with_keyspace().await;
    let skey = create(
        "testtable",
        "pkey1 text, pkey2 text, skey int, value text, cvalue map<text,text>",
        "pkey1 pkey2;skey",
    );
    let cases = [
        (
            Statement::CreateTable(ordered(skey, &[("skey", true)])),
            "CompositeType(ReversedType(Int32Type),UTF8Type,ColumnToCollectionType(6376616c7565:MapType(UTF8Type,UTF8Type)))",
        ),
        (Statement::CreateTable(create("plain", "k int, v text", "k")), "CompositeType(UTF8Type)"),
        (
            Statement::CreateTable(create("lists", "k int, l list<int>, s set<text>, m map<text,int>", "k")),
            "CompositeType(UTF8Type,ColumnToCollectionType(73:SetType(UTF8Type),6c:ListType(Int32Type),\
             6d:MapType(UTF8Type,Int32Type)))",
        ),
        (compact(create("fixed", "k text, a int, b text", "k")), "UTF8Type"),
        (compact(create("dense", "k text, c int, v text", "k;c")), "Int32Type"),
        (
            compact(ordered(
                create("dense2", "k text, c int, d text", "k;c d"),
                &[("c", true), ("d", false)],
            )),
            "CompositeType(ReversedType(Int32Type),UTF8Type)",
        ),
    ];
    for (statement, class) in cases {
        let Statement::CreateTable(table) = &statement else { continue };
        let name = table.table.name.clone();
        assert_eq!(outcome_text(&database, statement).await, "done");
        assert_eq!(comparator(&database, &name), class);
    }
    let key = family(&database, "testtable").key_validator.clone().unwrap();
    assert_eq!(key.class_name().replace(PACKAGE, ""), "CompositeType(UTF8Type,UTF8Type)");
    let shown = |name: &str| {
        let table = TableDef::of(&family(&database, name), Release::V2_1);
        table.columns().map(|column| column.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown("testtable"), "pkey1 pkey2 skey cvalue value");
    assert_eq!(
        (shown("fixed"), shown("dense"), shown("dense2")),
        ("k a b".into(), "k c v".into(), "k c d".into())
    );
}

#[tokio::test]
async fn invalid_tables_are_refused() {
    let database = with_keyspace().await;
    let none = CreateTable { primary_keys: Vec::new(), ..create("t", "k int, v int", "") };
    let mut two = create("t", "k int, v int", "v");
    two.columns[0].is_primary_key = true;
    let plain = |columns: &str, key: &str| Statement::CreateTable(create("t", columns, key));
    let cases = [
        (Statement::CreateTable(none), "No PRIMARY KEY specifed (exactly one required)"),
        (Statement::CreateTable(two), "Multiple PRIMARY KEYs specifed (exactly one required)"),
        (plain("k int, k text", "k"), "Multiple definition of identifier k"),
        (plain("k int", "z"), "Unknown definition z referenced in PRIMARY KEY"),
        (plain("k list<int>", "k"), "Invalid collection type for PRIMARY KEY component k"),
        (plain("k counter", "k"), "counter type is not supported for PRIMARY KEY part k"),
        (plain("k nosuch", "k"), "Unknown type k.nosuch"),
        (
            plain("k int, l list<list<int>>", "k"),
            "Non-frozen collections are not allowed inside collections: list<list<int>>",
        ),
        (
            plain("k text, hits counter, v int", "k"),
            "Cannot add a non counter column (v) in a counter column family",
        ),
        (
            plain("k text, a int, h counter", "k"),
            "Cannot add a counter column (h) in a non counter column family",
        ),
        (
            plain("k int, s int static", "k"),
            "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
        ),
        (plain("k int, c int static", "k;c"), "Static column c cannot be part of the PRIMARY KEY"),
        (
            compact(create("t", "k int, c int, v int, w int", "k;c")),
            "COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the PRIMARY KEY (got: v, w)",
        ),
        (compact(create("t", "k int", "k")), "No definition found that is not part of the PRIMARY KEY"),
        (
            compact(create("t", "k int, l list<int>", "k")),
            "Non-frozen collection types are not supported with COMPACT STORAGE",
        ),
        (
            Statement::CreateTable(create("bad-name", "k int", "k")),
            "\"bad-name\" is not a valid column family name (must be alphanumeric character only: [0-9A-Za-z]+)",
        ),
        (
            Statement::CreateTable(ordered(create("t", "k int, c int", "k;c"), &[("k", true)])),
            "Missing CLUSTERING ORDER for column c",
        ),
    ];
    for (statement, text) in cases {
        assert_eq!(outcome_text(&database, statement).await, text);
    }
    assert!(database.catalog().column_family("k", "t").is_none());
    assert_eq!(outcome_text(&database, plain("k int", "k")).await, "done");
    let again = run(&database, plain("k int", "k")).await;
    assert!(matches!(again, Err(CqlError::AlreadyExists { table, .. }) if table == "t"));
}

#[tokio::test]
async fn properties_are_checked() {
    let database = with_keyspace().await;
    let with = |properties: &[(&str, PropertyValue)]| {
        let properties = properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Statement::CreateTable(CreateTable {
            properties: Properties(properties),
            ..create("t", "k int", "k")
        })
    };
    let text = |text: &str| PropertyValue::Text(text.to_owned());
    let cases = [
        (with(&[("x", text("1"))]), "Unknown property 'x'"),
        (
            with(&[("comment", text("a")), ("comment", text("b"))]),
            "Multiple definition for property 'comment'",
        ),
        (with(&[("gc_grace_seconds", text("a"))]), "Invalid integer value a for 'gc_grace_seconds'"),
        (with(&[("compaction", map(&[]))]), "Missing sub-option 'class' for the 'compaction' option."),
        (
            with(&[("compaction", map(&[("class", "X")]))]),
            "Unable to find compaction strategy class 'org.apache.cassandra.db.compaction.X'",
        ),
        (
            with(&[("default_time_to_live", text("630720001"))]),
            "default_time_to_live must be less than or equal to 630720000 (got 630720001)",
        ),
        (with(&[("gc_grace_seconds", text("5")), ("default_time_to_live", text("7"))]), "done"),
    ];
    for (statement, expected) in cases {
        assert_eq!(outcome_text(&database, statement).await, expected);
    }
    let cf = family(&database, "t");
    assert_eq!((cf.gc_grace_s, cf.default_ttl_s()), (5, Some(7)));
}

#[tokio::test]
async fn tables_are_altered() {
    let database = with_keyspace().await;
    let table = create("users", "name text, age int, tags set<text>", "name");
    assert_eq!(outcome_text(&database, Statement::CreateTable(table)).await, "done");
    let drop = |column: &str| alter("users", Alter::Drop { column: column.to_owned() });
    let to = |column: &str, cql_type: &str| {
        alter("users", Alter::Type { column: column.to_owned(), cql_type: type_name(cql_type) })
    };
    let rename = |from: &str| alter("users", Alter::Rename(vec![(from.to_owned(), "login".to_owned())]));
    let cases = [
        (add("users", "email", "text"), "done"),
        (
            add("users", "email", "text"),
            "Invalid column name email because it conflicts with an existing column",
        ),
        (
            add("users", "name", "text"),
            "Invalid column name name because it conflicts with a PRIMARY KEY part",
        ),
        (drop("x"), "Column x was not found in table users"),
        (drop("name"), "Cannot drop PRIMARY KEY part name"),
        (drop("age"), "done"),
        (to("email", "int"), "Cannot change email from type text to type int: types are incompatible."),
        (to("email", "blob"), "done"),
        (rename("email"), "Cannot rename non PRIMARY KEY part email"),
        (rename("x"), "Cannot rename unknown column x in keyspace users"),
        (rename("name"), "done"),
        (drop("tags"), "done"),
        (
            add("users", "tags", "list<int>"),
            "Cannot add a collection with the name tags because a collection with the same name and a different type \
             has already been used in the past",
        ),
        (add("users", "seen", "map<text,int>"), "done"),
        (add("nosuch", "a", "int"), "unconfigured columnfamily nosuch"),
    ];
    for (statement, expected) in cases {
        assert_eq!(outcome_text(&database, statement).await, expected);
    }
    assert_eq!(
        comparator(&database, "users"),
        "CompositeType(UTF8Type,ColumnToCollectionType(7365656e:MapType(UTF8Type,Int32Type),74616773:SetType(UTF8Type)))"
    );
    let table = TableDef::of(&family(&database, "users"), Release::V2_1);
    let names: Vec<&str> = table.columns().map(|column| &*column.name).collect();
    assert_eq!(names, ["login", "email", "seen"]);
}

#[tokio::test]
async fn indexes_are_created_and_dropped() {
    let database = with_keyspace().await;
    let table =
        create("users", "name text, part text, age int, tags set<text>, m map<text,int>", "name;part");
    let dense = compact(create("dense", "k int, c int, v int", "k;c"));
    let counts = Statement::CreateTable(create("counts", "k int, n counter", "k"));
    for statement in [Statement::CreateTable(table), dense, counts] {
        assert_eq!(outcome_text(&database, statement).await, "done");
    }
    let keys = CreateIndex { target: IndexTarget::Keys, ..index(None, "users", "m") };
    let drop = |name: &str| Statement::DropIndex { name: in_k(name), if_exists: false };
    let cases = [
        (Statement::CreateIndex(index(Some("users_age"), "users", "age")), "done"),
        (Statement::CreateIndex(index(Some("users_age"), "users", "age")), "Index already exists"),
        (Statement::CreateIndex(index(Some("users_age"), "users", "tags")), "Duplicate index name users_age"),
        (Statement::CreateIndex(index(None, "users", "tags")), "done"),
        (Statement::CreateIndex(keys), "done"),
        (Statement::CreateIndex(index(None, "users", "x")), "No column definition found for column x"),
        (
            Statement::CreateIndex(index(None, "users", "name")),
            "Cannot create secondary index on partition key column name",
        ),
        (
            Statement::CreateIndex(index(None, "dense", "c")),
            "Secondary indexes are not supported on PRIMARY KEY columns in COMPACT STORAGE tables",
        ),
        (
            Statement::CreateIndex(index(None, "dense", "v")),
            "Secondary indexes are not supported on COMPACT STORAGE tables that have clustering columns",
        ),
        (
            Statement::CreateIndex(index(None, "counts", "n")),
            "Secondary indexes are not supported on counter tables",
        ),
        (drop("users_age"), "done"),
        (drop("nosuch"), "Index 'nosuch' could not be found in any of the tables of keyspace 'k'"),
    ];
    for (statement, expected) in cases {
        assert_eq!(outcome_text(&database, statement).await, expected);
    }
    let cf = family(&database, "users");
    let names: Vec<&str> =
        cf.indexed_columns().filter_map(|column| column.index.as_ref()?.name.as_deref()).collect();
    assert_eq!(names, ["users_m_idx", "users_tags_idx"]);
}

#[tokio::test]
async fn types_in_use_cannot_be_dropped() {
    let database = with_keyspace().await;
    let field = |name: &str, cql_type: &str| (name.to_owned(), type_name(cql_type));
    let address = || Statement::CreateType {
        name: in_k("address"),
        if_not_exists: false,
        fields: vec![field("street", "text"), field("zip", "int")],
    };
    let drop = || Statement::DropType { name: in_k("address"), if_exists: false };
    let people =
        |cql_type: &str| Statement::CreateTable(create("people", &format!("id int, home {cql_type}"), "id"));
    let grow = AlterType::Add { field: "city".to_owned(), cql_type: type_name("text") };
    let cases = [
        (address(), "done"),
        (address(), "A user type of name k.address already exists"),
        (people("address"), "Non-frozen User-Defined types are not supported, please use frozen<>"),
        (people("frozen<address>"), "done"),
        (drop(), "Cannot drop user type k.address as it is still used by table k.people"),
        (Statement::AlterType { name: in_k("address"), alter: grow }, "done"),
        (Statement::DropTable { table: in_k("people"), if_exists: false }, "done"),
        (drop(), "done"),
        (drop(), "No user type named k.address exists."),
    ];
    for (statement, expected) in cases {
        assert_eq!(outcome_text(&database, statement).await, expected);
    }
}

#[tokio::test]
async fn the_length_of_keyspace_and_table_names_is_limited() {
    let database = with_keyspace().await;
    let (longest, longer) = ("n".repeat(48), "n".repeat(49));
    let one = [("class", "SimpleStrategy"), ("replication_factor", "1")];
    let table = |name: &str| Statement::CreateTable(create(name, "k int", "k"));
    for good in [keyspace(&longest, &one), table(&longest)] {
        assert_eq!(outcome_text(&database, good).await, "done");
    }
    for (bad, what) in [(keyspace(&longer, &one), "Keyspace"), (table(&longer), "Column family")] {
        let why = format!("{what} names shouldn't be more than 48 characters long (got \"{longer}\")");
        assert_eq!(outcome_text(&database, bad).await, why);
    }
}

#[tokio::test]
async fn the_number_of_user_types_of_a_keyspace_is_limited() {
    let database = with_keyspace().await;
    let create = |name: &str| Statement::CreateType {
        name: in_k(name),
        if_not_exists: false,
        fields: vec![("a".to_owned(), type_name("int"))],
    };
    assert_eq!(outcome_text(&database, create("first")).await, "done");
    let fill = |_: &_, keyspace: &mut KeyspaceDef| {
        let first = keyspace.user_types["first"].clone();
        let more = (2..USER_TYPES_MAX).map(|number| (format!("t{number}"), first.clone()));
        keyspace.user_types.extend(more);
        Ok::<bool, CqlError>(true)
    };
    database.schema_changes(Behaviour::of(Release::V2_1)).edit_keyspace("k", fill).await.unwrap();
    assert_eq!(outcome_text(&database, create("last")).await, "done");
    let why = outcome_text(&database, create("one_more")).await;
    assert!(why.starts_with("Keyspace k has 10000 user types, and more are not allowed"), "{why}");
}
