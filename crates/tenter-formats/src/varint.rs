//! Numbers of seven bits a byte, the low ones first, as protocol buffers write them.

/// Appends a number.
pub(crate) fn push(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
