//! The side bar: the keyspaces with their column families, and the place of the page among them.

use super::present::escaped;
use super::seen_schema::{SeenKeyspace, SeenSchema};
use base::schema::CfDef;

/// Keyspaces in the side bar, and column families of each. The page of the keyspaces and that of a keyspace have all.
const KEYSPACES_MAX: usize = 60;
const FAMILIES_MAX: usize = 80;
/// Up to this number of keyspaces all are unfolded.
const UNFOLDED_MAX: usize = 2;

/// The place of a page in the data. Empty texts: the page shows no data.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BarPlace<'a> {
    pub keyspace: &'a str,
    pub family: &'a str,
    /// Whether the page shows a part of the column family, such as a row.
    pub is_inside: bool,
}

/// The keyspaces, ready to be shown.
#[derive(Default)]
pub(crate) struct SideBar {
    pub keyspaces: Vec<BarKeyspace>,
    /// Whether the page of the keyspaces has more: those of the server, or those that are left out.
    pub has_more: bool,
}

/// A keyspace of the side bar.
pub(crate) struct BarKeyspace {
    pub name: String,
    pub shown: String,
    pub is_open: bool,
    /// The value of `aria-current`; empty on other pages.
    pub current: &'static str,
    pub families: Vec<BarFamily>,
    pub left_out: usize,
}

/// A column family of the side bar.
pub(crate) struct BarFamily {
    pub name: String,
    pub shown: String,
    /// The class of its sign.
    pub kind: &'static str,
    /// The value of `aria-current`; empty on other pages.
    pub current: &'static str,
}

impl SideBar {
    pub(crate) fn of(schema: &SeenSchema, place: BarPlace<'_>) -> SideBar {
        let all = schema.keyspaces();
        let is_here = |keyspace: &SeenKeyspace| keyspace.name == place.keyspace;
        let own = schema.own().count();
        let listed = schema.own().take(KEYSPACES_MAX);
        let mut listed: Vec<&SeenKeyspace> = listed.collect();
        if !listed.iter().any(|keyspace| is_here(keyspace)) {
            listed.extend(all.iter().filter(|keyspace| is_here(keyspace)));
        }
        let has_more = listed.len() < all.len();
        let unfolds = own <= UNFOLDED_MAX && place.keyspace.is_empty();
        let keyspaces = listed.into_iter().map(|keyspace| bar_keyspace(keyspace, place, unfolds)).collect();
        SideBar { keyspaces, has_more }
    }
}

fn bar_keyspace(keyspace: &SeenKeyspace, place: BarPlace<'_>, unfolds: bool) -> BarKeyspace {
    let is_here = keyspace.name == place.keyspace;
    let current = if is_here && place.family.is_empty() { "page" } else { "" };
    let families = keyspace.families.iter().enumerate();
    let families = families.filter(|(at, cf)| *at < FAMILIES_MAX || is_here && cf.name == place.family);
    let families: Vec<BarFamily> = families
        .map(|(_, cf)| BarFamily {
            name: cf.name.clone(),
            shown: escaped(cf.name.as_bytes()),
            kind: kind_of(cf),
            current: if !is_here || cf.name != place.family {
                ""
            } else if place.is_inside {
                "true"
            } else {
                "page"
            },
        })
        .collect();
    BarKeyspace {
        shown: escaped(keyspace.name.as_bytes()),
        name: keyspace.name.clone(),
        is_open: is_here || unfolds,
        current,
        left_out: keyspace.families.len() - families.len(),
        families,
    }
}

fn kind_of(cf: &CfDef) -> &'static str {
    if cf.is_counter() {
        "counters"
    } else if cf.table.is_some() {
        "table"
    } else if cf.is_super() {
        "super"
    } else {
        "standard"
    }
}
