//! The numbers of consistency levels in the native protocol.

use base::compat::features::ConsistencyLevel;

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

/// Returns the level with a number; `None` if the number is unknown.
pub fn consistency_of(code: u16) -> Option<ConsistencyLevel> {
    LEVELS.get(usize::from(code)).copied()
}

/// Returns the number of a level. A level that only Thrift has becomes ONE.
pub fn consistency_code(level: ConsistencyLevel) -> u16 {
    let found = (0u16..).zip(LEVELS).find(|(_, known)| *known == level);
    found.map_or(1, |(code, _)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_protocol() {
        assert_eq!(consistency_of(0x0a), Some(ConsistencyLevel::LocalOne));
        assert_eq!(consistency_of(0x0b), None);
        for (code, level) in (0u16..).zip(LEVELS) {
            assert_eq!((consistency_of(code), consistency_code(level)), (Some(level), code));
        }
    }
}
