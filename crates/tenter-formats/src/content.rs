//! File contents: bytes in memory, or on a disk and read as they are needed.

use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};

use tenter_language::units::Budget;

use crate::error::{ImportError, Place};

/// A reader that can seek.
trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// A file's content. Formats that can be read piece by piece hold one piece in memory at a time.
pub struct Content<'c> {
    reader: Box<dyn ReadSeek + 'c>,
    length: u64,
}

impl fmt::Debug for Content<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Content of {} bytes", self.length)
    }
}

impl<'c> Content<'c> {
    /// Most bytes that are read into memory at once: a file, or a piece of one.
    pub(crate) const WHOLE_MAX: u64 = 8 << 30;

    /// Makes the content from a reader for `length` bytes.
    pub fn new(reader: impl Read + Seek + 'c, length: u64) -> Content<'c> {
        Content {
            reader: Box::new(reader),
            length,
        }
    }

    /// Returns the length in bytes, as the file is stored.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Reads the file into memory, once its first bytes have shown its form.
    ///
    /// # Errors
    /// A sentence with a remedy if the file cannot be read, has another form, or has more bytes
    /// than [`Content::WHOLE_MAX`] or the budget allows.
    pub fn whole(mut self, form: Form, budget: &Budget) -> Result<Vec<u8>, String> {
        let told = |error: ImportError| format!("{}; {}", error.what, error.remedy);
        let most = Content::WHOLE_MAX;
        if self.length > most {
            return Err(format!("it has more than {most} bytes; give a part of it"));
        }
        form.check(&self.part(0, HEAD).map_err(told)?)?;
        // Readers drop one file before they open the next, so the memory is checked and not taken.
        let allowed = budget.read(self.length);
        let allowed = allowed.and_then(|()| budget.may_take(self.length));
        allowed.map_err(|over| over.to_string())?;
        self.part(0, self.length).map_err(told)
    }

    /// Opens the file at its beginning.
    pub(crate) fn buffered(&mut self) -> Result<Buffered<'_>, ImportError> {
        // The form and the length may have been read before.
        let rewound = self.reader.rewind();
        rewound.map_err(|error| unreadable(0, &error))?;
        let reader: Box<dyn Read + '_> = Box::new(&mut self.reader);
        Ok(BufReader::with_capacity(BUFFER, reader))
    }

    /// Reads up to `length` bytes from byte `at`; fewer if the file ends before.
    pub(crate) fn part(&mut self, at: u64, length: u64) -> Result<Vec<u8>, ImportError> {
        let mut bytes = Vec::new();
        let found = self.reader.seek(SeekFrom::Start(at));
        found
            .and_then(|_| (&mut self.reader).take(length).read_to_end(&mut bytes))
            .map_err(|error| unreadable(at, &error))?;
        Ok(bytes)
    }
}

/// The form that a file must have. The first bytes show it, so a file with another form is refused
/// before it is read, however long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text, perhaps compressed, or a Parquet table.
    Text,
    /// JSON, perhaps compressed. A pickled file passes too, so that its reader can say what to do.
    Json,
}

/// Bytes at a file's beginning that are examined for its form.
const HEAD: u64 = 1 << 12;
/// Beginnings of binary files that readers recognise themselves: gzip, Parquet, pickled objects.
const BINARY: [&[u8]; 3] = [b"\x1F\x8B", b"PAR1", b"\x80"];

impl Form {
    /// Checks a file's first bytes, `head`. The error is a sentence with a remedy.
    fn check(self, head: &[u8]) -> Result<(), String> {
        if BINARY.iter().any(|begin| head.starts_with(begin)) {
            return Ok(());
        }
        // UTF-16 and nearly all binary formats have a zero byte early.
        if let Some(place) = memchr::memchr(0, head) {
            return Err(format!(
                "byte {place} is 0, which no text has; give a text file in UTF-8"
            ));
        }
        let first = head.trim_ascii_start().first();
        // 0xEF begins the byte order mark of UTF-8. An empty file passes: readers have a better
        // message for it.
        let is_json = first.is_none_or(|byte| b"{[\xEF".contains(byte));
        match self {
            Form::Json if !is_json => Err("it does not begin as JSON does; give JSON".to_owned()),
            Form::Json | Form::Text => Ok(()),
        }
    }
}

/// A reader that begins with the first byte.
pub(crate) type Buffered<'c> = BufReader<Box<dyn Read + 'c>>;

/// Bytes that are read from a file at a time.
const BUFFER: usize = 1 << 16;

impl<'c> From<&'c [u8]> for Content<'c> {
    fn from(bytes: &'c [u8]) -> Content<'c> {
        Content::new(Cursor::new(bytes), bytes.len() as u64)
    }
}

impl<'c> From<&'c Vec<u8>> for Content<'c> {
    fn from(bytes: &'c Vec<u8>) -> Content<'c> {
        Content::from(bytes.as_slice())
    }
}

impl From<Vec<u8>> for Content<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        Content::new(Cursor::new(bytes), length)
    }
}

/// Returns the error for a file that cannot be read beyond byte `at`.
pub(crate) fn unreadable(at: u64, error: &io::Error) -> ImportError {
    let what = format!("the file cannot be read further ({error})");
    ImportError::new(
        Place::Byte(at as usize),
        what,
        "check it, and give it again",
    )
}

/// A byte sequence that is read from its beginning and counts the bytes that have been read.
pub(crate) struct Stream<R> {
    reader: BufReader<R>,
    at: u64,
}

impl<R: Read> Stream<R> {
    pub(crate) fn new(reader: BufReader<R>) -> Stream<R> {
        Stream { reader, at: 0 }
    }

    /// Returns how many bytes have been read.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Returns the next bytes, as far as they are buffered; an empty slice at the end.
    pub(crate) fn chunk(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    /// Marks the chunk's first `count` bytes as read.
    pub(crate) fn consume(&mut self, count: usize) {
        self.reader.consume(count);
        self.at += count as u64;
    }

    /// Reads the next byte; `None` at the end.
    #[inline]
    pub(crate) fn byte(&mut self) -> io::Result<Option<u8>> {
        // The buffer nearly always has a byte, and a look into it cannot fail.
        let byte = match self.reader.buffer().first() {
            Some(byte) => Some(*byte),
            None => self.reader.fill_buf()?.first().copied(),
        };
        if byte.is_some() {
            self.reader.consume(1);
            self.at += 1;
        }
        Ok(byte)
    }

    /// Returns true if no byte is left.
    pub(crate) fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(self.chunk()?.is_empty())
    }

    /// Replaces what is in `into` by the next `length` bytes, or fewer at the end. The vector grows
    /// as bytes arrive, so an announced length costs no memory by itself.
    pub(crate) fn take(&mut self, length: u64, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        let taken = (&mut self.reader).take(length).read_to_end(into)?;
        self.at += taken as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_read_from_any_place_and_as_a_whole() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut content = Content::from(&bytes);
        assert_eq!(content.length(), 256);
        assert_eq!(content.part(0, 3), Ok(vec![0, 1, 2]));
        assert_eq!(content.part(250, 3), Ok(vec![250, 251, 252]));
        assert_eq!(content.part(254, 9), Ok(vec![254, 255]));
        let mut first = [0; 2];
        let mut buffered = content.buffered().expect("it is read");
        buffered.read_exact(&mut first).expect("it is read");
        assert_eq!(first, [0, 1]);
        drop(buffered);
        let text = "a text".as_bytes();
        let whole = Content::from(text).whole(Form::Text, &Budget::unlimited());
        assert_eq!(whole.as_deref(), Ok(text));
    }

    /// A file that cannot be read.
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    impl Seek for Broken {
        fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
            Ok(0)
        }
    }

    #[test]
    fn what_is_too_long_or_cannot_be_read_says_so() {
        let long = Content::new(io::empty(), Content::WHOLE_MAX + 1);
        let long = long.whole(Form::Text, &Budget::unlimited());
        assert!(long.is_err_and(|error| error.contains("more than 8589934592 bytes; give")));
        let error = Content::new(Broken, 9)
            .part(3, 2)
            .expect_err("it is broken");
        let text = error.to_string();
        assert!(
            text.starts_with("byte 3: the file cannot be read further (the disk is gone);"),
            "{text}"
        );
    }

    #[test]
    fn streams_count_what_they_give() {
        let bytes = *b"abcdef";
        let mut stream = Stream::new(BufReader::with_capacity(2, bytes.as_slice()));
        let mut taken = Vec::new();
        assert_eq!(stream.byte().expect("it is read"), Some(b'a'));
        stream.take(3, &mut taken).expect("they are read");
        assert_eq!((taken.as_slice(), stream.at()), (b"bcd".as_slice(), 4));
        stream.take(u64::MAX, &mut taken).expect("they are read");
        assert_eq!((taken.as_slice(), stream.at()), (b"ef".as_slice(), 6));
        assert!(stream.is_at_end().expect("it is read"));
        assert_eq!(stream.byte().expect("it is read"), None);
    }
}
