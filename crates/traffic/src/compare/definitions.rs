//! Definitions of keyspaces, as describe_keyspace and describe_keyspaces return them.
//!
//! ```text
//!   KsDef   1: name   3: options, one of them replication_factor   4: replication_factor   5: [CfDef]
//!   CfDef   2: name   13: [ColumnDef  1: name ..]
//! ```
//!
//! Cassandra lists keyspaces, their column families and the columns of these in the order of hash maps, which differs
//! between releases and between releases of Java. So are the aliases of a DynamicCompositeType. 1.1 and later leave field 4 out, and others write it where the option has the same number.

use bytes::Bytes;

use super::super::value::{Fields, Value};
use super::Rule;
use base::marshal::split_arguments;
use base::schema::is_system_keyspace;

const NAME: i16 = 1;
const OPTIONS: i16 = 3;
const REPLICATION_FACTOR: i16 = 4;
const FAMILIES: i16 = 5;
const FAMILY_NAME: i16 = 2;
const COLUMNS: i16 = 13;
const COLUMN_NAME: i16 = 1;

/// Returns two answers without the parts that may differ, and adds the rules that account for them.
pub(super) fn without_what_differs(left: &Value, right: &Value, rules: &mut Vec<Rule>) -> (Value, Value) {
    let ((left, left_rest), (right, right_rest)) =
        (ComparedKeyspaces::of(left), ComparedKeyspaces::of(right));
    for (differs, rule) in [
        (left.system_keyspaces != right.system_keyspaces, Rule::SystemTables),
        (left.order != right.order, Rule::MapOrder),
        (left.replication_factors != right.replication_factors, Rule::ReplicationFactor),
    ] {
        if differs {
            rules.push(rule);
        }
    }
    (left_rest, right_rest)
}

/// The parts that were taken from an answer.
#[derive(Default)]
struct ComparedKeyspaces {
    /// The names or definitions of system keyspaces.
    system_keyspaces: Vec<Value>,
    /// The names of keyspaces, column families and columns, as they were listed.
    order: Vec<Value>,
    /// The fields 4 whose number is an option, too.
    replication_factors: Vec<Option<Value>>,
}

impl ComparedKeyspaces {
    /// Returns the parts that were taken, and the rest of the answer in the order of names.
    fn of(answer: &Value) -> (ComparedKeyspaces, Value) {
        let mut described = ComparedKeyspaces::default();
        let rest = match answer.clone() {
            Value::List(of, items) => Value::List(of, described.keyspaces(items)).canonical(),
            Value::Set(of, items) => Value::Set(of, described.keyspaces(items)).canonical(),
            mut one => {
                described.take_apart(&mut one);
                one
            }
        };
        (described, rest)
    }

    fn keyspaces(&mut self, items: Vec<Value>) -> Vec<Value> {
        let (system, mut items): (Vec<_>, Vec<_>) = items.into_iter().partition(is_system);
        self.system_keyspaces = system;
        self.order.extend(items.iter().filter_map(|item| item.get(NAME).cloned()));
        items.sort_by_cached_key(|item| item.get(NAME).unwrap_or(item).encoded());
        items.iter_mut().for_each(|item| self.take_apart(item));
        items
    }

    fn take_apart(&mut self, keyspace: &mut Value) {
        let Value::Struct(fields) = keyspace else { return };
        let is_repeated = option(fields, b"replication_factor").is_some_and(|number| {
            fields.get(&REPLICATION_FACTOR).is_none_or(|field| Some(number) == field.as_int())
        });
        if is_repeated {
            self.replication_factors.push(fields.remove(&REPLICATION_FACTOR));
        }
        for family in self.sort(fields, FAMILIES, FAMILY_NAME) {
            if let Value::Struct(fields) = family {
                self.sort(fields, COLUMNS, COLUMN_NAME);
            }
            family.each_binary(&mut |text| self.sort_aliases(text));
        }
    }

    /// Sorts the aliases of a dynamic composite, if the text is the name of one.
    fn sort_aliases(&mut self, text: &mut Bytes) {
        let name = std::str::from_utf8(text).ok().and_then(|text| text.strip_suffix(')')?.split_once('('));
        let Some((class, aliases)) = name.filter(|(class, _)| class.ends_with("DynamicCompositeType")) else {
            return;
        };
        let mut aliases = split_arguments(aliases);
        aliases.sort_unstable();
        let sorted = format!("{class}({})", aliases.join(","));
        self.order.push(Value::Binary(text.clone()));
        *text = sorted.into();
    }

    /// Sorts the definitions in a list by their names, and returns them.
    fn sort<'a>(&mut self, fields: &'a mut Fields, list: i16, name: i16) -> &'a mut [Value] {
        let Some(Value::List(_, items)) = fields.get_mut(&list) else { return &mut [] };
        self.order.extend(items.iter().filter_map(|item| item.get(name).cloned()));
        items.sort_by_cached_key(|item| item.get(name).unwrap_or(item).encoded());
        items
    }
}

/// Whether this is the name of a system keyspace, or since 0.7 its definition.
fn is_system(keyspace: &Value) -> bool {
    let name = keyspace.as_binary().or_else(|| keyspace.get(NAME)?.as_binary());
    name.is_some_and(|name| std::str::from_utf8(name).is_ok_and(is_system_keyspace))
}

/// Returns the number of a replication option.
fn option(fields: &Fields, wanted: &[u8]) -> Option<i64> {
    let Some(Value::Map(_, _, options)) = fields.get(&OPTIONS) else { return None };
    let (_, number) = options.iter().find(|(name, _)| name.as_binary().is_some_and(|name| name == wanted))?;
    std::str::from_utf8(number.as_binary()?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(families: &[&str], field: Option<i32>, option: &str) -> Value {
        let families: Vec<_> =
            families.iter().map(|name| format!(r#"{{"s": {{"2": {{"t": "{name}"}}}}}}"#)).collect();
        let field = field.map_or(String::new(), |number| format!(r#""4": {{"i": {number}}},"#));
        let json = format!(
            r#"{{"s": {{"1": {{"t": "shop"}}, {field}
                "3": {{"M": ["t", "t", [[{{"t": "replication_factor"}}, {{"t": "{option}"}}]]]}},
                "5": {{"L": ["s", [{}]]}}}}}}"#,
            families.join(", ")
        );
        Value::from_json(&serde_json::from_str(&json).unwrap()).unwrap()
    }

    /// Returns the rules, or `None` if the rest differs.
    fn rules(left: &Value, right: &Value) -> Option<Vec<Rule>> {
        let mut rules = Vec::new();
        let (left, right) = without_what_differs(left, right, &mut rules);
        (left == right).then_some(rules)
    }

    #[test]
    fn families_have_no_order() {
        let (ab, ba) = (described(&["a", "b"], None, "1"), described(&["b", "a"], None, "1"));
        assert_eq!(rules(&ab, &ba), Some(vec![Rule::MapOrder]));
        assert_eq!(rules(&ab, &described(&["a", "c"], None, "1")), None);
    }

    #[test]
    fn columns_have_no_order() {
        let described = |first: &str, second: &str| {
            let column = |name: &str| format!(r#"{{"s": {{"1": {{"t": "{name}"}}}}}}"#);
            let columns = format!("{}, {}", column(first), column(second));
            let family = format!(r#"{{"s": {{"2": {{"t": "f"}}, "13": {{"L": ["s", [{columns}]]}}}}}}"#);
            let json = format!(r#"{{"s": {{"1": {{"t": "shop"}}, "5": {{"L": ["s", [{family}]]}}}}}}"#);
            Value::from_json(&serde_json::from_str(&json).unwrap()).unwrap()
        };
        assert_eq!(rules(&described("a", "b"), &described("b", "a")), Some(vec![Rule::MapOrder]));
        assert_eq!(rules(&described("a", "b"), &described("a", "c")), None);
    }

    #[test]
    fn aliases_have_no_order() {
        let described = |aliases: &str| {
            let family = format!(
                r#"{{"s": {{"2": {{"t": "f"}}, "5": {{"t": "a.b.DynamicCompositeType({aliases})"}}}}}}"#
            );
            let json = format!(r#"{{"s": {{"1": {{"t": "shop"}}, "5": {{"L": ["s", [{family}]]}}}}}}"#);
            Value::from_json(&serde_json::from_str(&json).unwrap()).unwrap()
        };
        let (one, other) = ("s=>UTF8Type,C=>CompositeType(X,Y)", "C=>CompositeType(X,Y),s=>UTF8Type");
        assert_eq!(rules(&described(one), &described(other)), Some(vec![Rule::MapOrder]));
        assert_eq!(rules(&described(one), &described("s=>UTF8Type,C=>CompositeType(Y,X)")), None);
    }

    #[test]
    fn the_replication_factor_may_be_repeated() {
        let (once, twice) = (described(&["a"], None, "3"), described(&["a"], Some(3), "3"));
        assert_eq!(rules(&once, &twice), Some(vec![Rule::ReplicationFactor]));
        assert_eq!(rules(&once, &described(&["a"], Some(1), "3")), None);
        assert_eq!(rules(&once, &described(&["a"], Some(1), "1")), None);
        assert_eq!(rules(&twice, &twice), Some(vec![]));
    }
}
