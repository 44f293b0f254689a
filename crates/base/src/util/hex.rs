//! Bytes in hex.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Returns bytes in hex, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Returns the bytes that digits in hex stand for; `None` for another text, or half a byte at its end.
pub fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    pairs.iter().map(|[high, low]: &[u8; 2]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_bytes() {
        assert_eq!(hex(&[0, 0x0a, 0xff]), "000aff");
        assert_eq!(unhex(b"000aFf"), Some(vec![0, 0x0a, 0xff]));
        assert_eq!(unhex(b""), Some(Vec::new()));
        for other in [&b"0"[..], b"000", b"+1", b"0x", "\u{e9}".as_bytes(), b" 1"] {
            assert_eq!(unhex(other), None, "{other:?}");
        }
    }
}
