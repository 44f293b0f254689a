//! The numbers of consistency levels.

use crate::compat::features::ConsistencyLevel;

const LEVELS: [ConsistencyLevel; 11] = [
    ConsistencyLevel::Any,
    ConsistencyLevel::One,
    ConsistencyLevel::Two,
    ConsistencyLevel::Three,
    ConsistencyLevel::Quorum,
    ConsistencyLevel::All,
    ConsistencyLevel::LocalQuorum,
    ConsistencyLevel::EachQuorum,
    ConsistencyLevel::Serial,
    ConsistencyLevel::LocalSerial,
    ConsistencyLevel::LocalOne,
];

/// The level of a number; `None` where there is none.
pub fn consistency_of(code: u16) -> Option<ConsistencyLevel> {
    LEVELS.get(usize::from(code)).copied()
}

/// A level's number. One that only Thrift has is told as ONE.
pub fn consistency_code(level: ConsistencyLevel) -> u16 {
    let found = (0u16..).zip(LEVELS).find(|(_, known)| *known == level);
    found.map_or(1, |(code, _)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_protocol_s() {
        assert_eq!(consistency_of(0x0a), Some(ConsistencyLevel::LocalOne));
        assert_eq!(consistency_of(0x0b), None);
        for (code, level) in (0u16..).zip(LEVELS) {
            assert_eq!((consistency_of(code), consistency_code(level)), (Some(level), code));
        }
    }
}
