//! Links to rows, slices and cells. A link whose keys and names are too long for an URI is the button of a form.

use askama::filters::urlencode_strict;
use bytes::Bytes;

use super::query::Target;
use base::marshal::{AbstractType, BytesType};

/// Longest query of a link in bytes. A page has hundreds of links, and proxies refuse longer ones than 8 KB.
const QUERY_BYTES_MAX: usize = 4 * 1024;

/// A link to one of the paths below `/rows`.
pub(super) struct PageLink {
    pub path: &'static str,
    /// The address; `None` if it would be too long. Then a button with the last field sends the form of the page, which
    /// has the others.
    pub href: Option<String>,
    pub field: &'static str,
    pub value: String,
}

/// Returns bytes as fields have them.
pub(super) fn field_of(bytes: &[u8]) -> String {
    if bytes.is_empty() { String::new() } else { format!("0x{}", BytesType.to_text(bytes)) }
}

/// The fields that links of a page have in common.
pub(super) struct LinkFields {
    /// Names and values, as the page's form has them.
    pub fields: Vec<(&'static str, String)>,
}

impl LinkFields {
    /// Returns the fields of a column family, and of the row and super column if the target has them.
    pub(super) fn of(target: &Target) -> LinkFields {
        let mut fields = vec![("keyspace", target.cf.keyspace.clone()), ("family", target.cf.name.clone())];
        fields.extend(target.key.as_ref().map(|key| ("key", field_of(key))));
        fields.extend(target.super_column.as_ref().map(|name| ("super", field_of(name))));
        LinkFields { fields }
    }

    /// Returns the link to a path with one more field.
    pub(super) fn link(&self, path: &'static str, field: &'static str, bytes: &Bytes) -> PageLink {
        let value = field_of(bytes);
        let all = self.fields.iter().map(|(name, value)| (*name, &**value)).chain([(field, &*value)]);
        let href = href(path, all);
        PageLink { path, href, field, value }
    }

    /// Returns the address with two more fields; `None` if it would be too long.
    pub(super) fn href_of_two(&self, path: &str, fields: [(&'static str, &Bytes); 2]) -> Option<String> {
        let fields = fields.map(|(name, bytes)| (name, field_of(bytes)));
        href(path, self.fields.iter().chain(&fields).map(|(name, value)| (*name, &**value)))
    }

    /// Returns the address without more fields; `None` if it would be too long.
    pub(super) fn href(&self, path: &str) -> Option<String> {
        href(path, self.fields.iter().map(|(name, value)| (*name, &**value)))
    }
}

fn href<'a>(path: &str, fields: impl Iterator<Item = (&'a str, &'a str)>) -> Option<String> {
    let mut href = path.to_owned();
    for (at, (name, value)) in fields.enumerate() {
        if href.len() + value.len() > QUERY_BYTES_MAX {
            return None;
        }
        let separator = if at == 0 { '?' } else { '&' };
        href.push_str(&format!("{separator}{name}={}", urlencode_strict(value).ok()?));
    }
    (href.len() <= QUERY_BYTES_MAX).then_some(href)
}
