//! Variable-length numbers with seven bits in a byte, low bits first, as in protocol buffers.

/// Appends `number` to `out`, in 1 to 10 bytes.
pub(crate) fn push(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
