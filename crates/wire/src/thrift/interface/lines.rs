//! The interfaces of all release lines.

use std::sync::LazyLock;

use super::model::{Interface, Method};
use super::parser::parse;
use base::compat::Line;
use base::util::KeyMap;

/// The files, the oldest first. 3.x has the interface of 2.2.
const FILES: [(Line, &str); 12] = [
    (Line(0, 3), include_str!("../../../../../idl/cassandra-0.3.thrift")),
    (Line(0, 4), include_str!("../../../../../idl/cassandra-0.4.thrift")),
    (Line(0, 5), include_str!("../../../../../idl/cassandra-0.5.thrift")),
    (Line(0, 6), include_str!("../../../../../idl/cassandra-0.6.thrift")),
    (Line(0, 7), include_str!("../../../../../idl/cassandra-0.7.thrift")),
    (Line(0, 8), include_str!("../../../../../idl/cassandra-0.8.thrift")),
    (Line(1, 0), include_str!("../../../../../idl/cassandra-1.0.thrift")),
    (Line(1, 1), include_str!("../../../../../idl/cassandra-1.1.thrift")),
    (Line(1, 2), include_str!("../../../../../idl/cassandra-1.2.thrift")),
    (Line(2, 0), include_str!("../../../../../idl/cassandra-2.0.thrift")),
    (Line(2, 1), include_str!("../../../../../idl/cassandra-2.1.thrift")),
    (Line(2, 2), include_str!("../../../../../idl/cassandra-2.2.thrift")),
];

impl Interface {
    /// Returns the interfaces of all lines, the oldest first. The first call reads the files.
    pub fn all() -> &'static [Interface] {
        static ALL: LazyLock<Vec<Interface>> = LazyLock::new(|| {
            let all: Vec<_> = FILES.into_iter().filter_map(|(line, text)| parse(line, text)).collect();
            assert_eq!(all.len(), FILES.len(), "a file of idl/ cannot be parsed");
            all
        });
        &ALL
    }
}

/// Returns the method with a name in the lines that have it, the oldest first.
pub fn declarations(name: &[u8]) -> &'static [&'static Method] {
    static BY_NAME: LazyLock<KeyMap<&'static [u8], Vec<&'static Method>>> = LazyLock::new(|| {
        let mut by_name: KeyMap<&[u8], Vec<&Method>> = KeyMap::default();
        for method in Interface::all().iter().flat_map(|interface| interface.methods.values()) {
            by_name.entry(method.name.as_bytes()).or_default().push(method);
        }
        by_name
    });
    BY_NAME.get(name).map_or(&[], |methods| methods)
}

/// Returns the name of a declared exception by its field in the result of a method. The newest declaration counts: the
/// fields of a method's exceptions hardly changed between releases.
pub fn exception_name(method: &[u8], id: i16) -> Option<String> {
    let throws = declarations(method).iter().rev().flat_map(|method| &method.throws);
    throws.into_iter().find(|thrown| thrown.id == id).map(|thrown| thrown.declared.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::model::{Field, Type};
    use super::*;
    use base::model::FieldRole;

    #[test]
    fn each_line_has_its_methods() {
        let lines: Vec<Line> = Interface::all().iter().map(|interface| interface.line).collect();
        assert!(lines.is_sorted());
        let lines_of = |name: &str| {
            let lines: Vec<String> =
                declarations(name.as_bytes()).iter().map(|method| method.line.to_string()).collect();
            lines.join(" ")
        };
        assert_eq!(lines_of("insert"), "0.3 0.4 0.5 0.6 0.7 0.8 1.0 1.1 1.2 2.0 2.1 2.2");
        assert_eq!(lines_of("get_range_slice"), "0.5 0.6");
        assert_eq!(lines_of("get_multi_slice"), "2.1 2.2");
        assert_eq!(lines_of("get_nothing"), "");
    }

    #[test]
    fn every_name_has_a_role() {
        let has_texts = |declared: &Type| {
            let mut at = Some(declared);
            let mut has_texts = false;
            while let Some(declared) = at {
                has_texts |= matches!(declared, Type::Text | Type::Binary | Type::Map(..));
                at = declared.element();
            }
            has_texts
        };
        for interface in Interface::all() {
            for of in interface.structs.values() {
                for Field { name, .. } in &of.fields {
                    assert!(FieldRole::of_field(of.name, name).is_some(), "{} {name}", of.name);
                }
            }
            for method in interface.methods.values() {
                for Field { name, .. } in &method.arguments {
                    assert!(FieldRole::of_name(name).is_some(), "{} {name}", method.name);
                }
                let is_known = FieldRole::of_result(method.name).is_some();
                let may_be_known = method.result.as_ref().is_some_and(has_texts);
                assert!(is_known || !may_be_known, "the result of {}", method.name);
            }
        }
    }
}
