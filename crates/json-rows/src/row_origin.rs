//! The origins of rows, which decide how strictly they are checked.

/// The server's time when data is loaded.
#[derive(Debug, Clone, Copy)]
pub struct LoadTime {
    /// Microseconds since 1970: the timestamp of cells without one.
    pub micros: i64,
    /// Seconds since 1970, from which times to live count.
    pub now_s: i32,
}

/// The origin of a row in JSON.
#[derive(Debug, Clone, Copy)]
pub enum RowOrigin {
    /// A person has written it: keys, names and values must be valid for their types.
    Written(LoadTime),
    /// A store has returned it: values are whatever was stored, and names may be empty. Times that are missing are the
    /// time of the load.
    Stored(LoadTime),
}

impl RowOrigin {
    pub(crate) fn time(self) -> LoadTime {
        match self {
            RowOrigin::Written(time) | RowOrigin::Stored(time) => time,
        }
    }

    pub(crate) fn is_stored(self) -> bool {
        matches!(self, RowOrigin::Stored(_))
    }
}
