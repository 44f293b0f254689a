//! Lists in messages and literals.

/// Returns texts separated by commas.
pub(crate) fn comma_list<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let mut list = String::new();
    for (at, text) in texts.into_iter().enumerate() {
        if at > 0 {
            list.push_str(", ");
        }
        list.push_str(text.as_ref());
    }
    list
}
