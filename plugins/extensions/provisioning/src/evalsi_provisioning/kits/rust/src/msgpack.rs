//! Reads and writes MessagePack: as much of it as the ABI needs, which is JSON's values.
// What a pack does not use yet may stay for the evaluators to come.
#![allow(dead_code)]

/// Walks over a value, or steps into it. A body that ends too soon stops the module, and the host says so.
#[derive(Clone)]
pub struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(body: &'a [u8]) -> Self {
        Reader { left: body }
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, left) = self.left.split_at(count);
        self.left = left;
        taken
    }

    fn byte(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn big(&mut self, bytes: usize) -> u64 {
        self.take(bytes)
            .iter()
            .fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    fn size(&mut self, bytes: usize) -> usize {
        self.big(bytes) as usize
    }

    /// How many entries the map has that comes now; its keys and values are read next.
    pub fn map(&mut self) -> usize {
        match self.byte() {
            kind @ 0x80..=0x8f => usize::from(kind & 0x0f),
            0xde => self.size(2),
            0xdf => self.size(4),
            kind => panic!("{:#x} begins no map", kind),
        }
    }

    /// How many elements the array has that comes now.
    pub fn array(&mut self) -> usize {
        match self.byte() {
            kind @ 0x90..=0x9f => usize::from(kind & 0x0f),
            0xdc => self.size(2),
            0xdd => self.size(4),
            kind => panic!("{:#x} begins no array", kind),
        }
    }

    /// The text that comes now; `None` where it is another value, which is then passed over.
    pub fn text(&mut self) -> Option<&'a str> {
        let size = match self.left[0] {
            kind @ 0xa0..=0xbf => {
                self.take(1);
                usize::from(kind & 0x1f)
            }
            kind @ 0xd9..=0xdb => {
                self.take(1);
                self.size(1 << (kind - 0xd9))
            }
            _ => {
                self.skip();
                return None;
            }
        };
        Some(std::str::from_utf8(self.take(size)).expect("the host gives UTF-8"))
    }

    /// The number that comes now; `None` where it is another value.
    pub fn number(&mut self) -> Option<f64> {
        match self.left[0] {
            0x00..=0x7f | 0xe0..=0xff => Some(f64::from(self.byte() as i8)),
            kind @ 0xca..=0xd3 => {
                self.take(1);
                Some(match kind {
                    0xca => f64::from(f32::from_bits(self.big(4) as u32)),
                    0xcb => f64::from_bits(self.big(8)),
                    0xcc..=0xcf => self.big(1 << (kind - 0xcc)) as f64,
                    _ => {
                        let empty_bits = 64 - (8 << (kind - 0xd0));
                        ((self.big(1 << (kind - 0xd0)) << empty_bits) as i64 >> empty_bits) as f64
                    }
                })
            }
            _ => {
                self.skip();
                None
            }
        }
    }

    /// The truth that comes now; `None` where it is another value.
    pub fn truth(&mut self) -> Option<bool> {
        let kind = self.left[0];
        self.skip();
        match kind {
            0xc2 => Some(false),
            0xc3 => Some(true),
            _ => None,
        }
    }

    /// Passes over one value, whatever it is.
    pub fn skip(&mut self) {
        let mut left = 1;
        while left > 0 {
            left -= 1;
            let kind = self.byte();
            let bytes = match kind {
                0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => 0,
                0x80..=0x8f => {
                    left += 2 * usize::from(kind & 0x0f);
                    0
                }
                0x90..=0x9f => {
                    left += usize::from(kind & 0x0f);
                    0
                }
                0xa0..=0xbf => usize::from(kind & 0x1f),
                0xc4..=0xc6 => self.size(1 << (kind - 0xc4)),
                0xca => 4,
                0xcb => 8,
                0xcc..=0xd3 => 1 << (kind & 3),
                0xd9..=0xdb => self.size(1 << (kind - 0xd9)),
                0xdc | 0xdd => {
                    left += self.size(if kind == 0xdc { 2 } else { 4 });
                    0
                }
                0xde | 0xdf => {
                    left += 2 * self.size(if kind == 0xde { 2 } else { 4 });
                    0
                }
                _ => panic!("{:#x} begins no value", kind),
            };
            self.take(bytes);
        }
    }
}

/// Builds a value piece by piece.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    fn big(&mut self, kind: u8, value: &[u8]) -> &mut Self {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(value);
        self
    }

    pub fn map(&mut self, entries: usize) -> &mut Self {
        self.big(0xdf, &(entries as u32).to_be_bytes())
    }

    pub fn array(&mut self, elements: usize) -> &mut Self {
        self.big(0xdd, &(elements as u32).to_be_bytes())
    }

    pub fn text(&mut self, value: &str) -> &mut Self {
        self.big(0xdb, &(value.len() as u32).to_be_bytes());
        self.bytes.extend_from_slice(value.as_bytes());
        self
    }

    pub fn number(&mut self, value: f64) -> &mut Self {
        self.big(0xcb, &value.to_be_bytes())
    }

    pub fn truth(&mut self, value: bool) -> &mut Self {
        self.big(if value { 0xc3 } else { 0xc2 }, &[])
    }
}

#[cfg(test)]
mod tests {
    use super::{Reader, Writer};

    #[test]
    fn what_is_written_is_read_again_and_a_value_is_passed_over_whole() {
        let mut out = Writer::default();
        out.map(2).text("passed").truth(true);
        out.text("parts").array(2).number(-2.25).text("é");
        let mut reader = Reader::new(&out.bytes);
        assert_eq!(reader.map(), 2);
        assert_eq!(
            (reader.text(), reader.truth()),
            (Some("passed"), Some(true))
        );
        assert_eq!(reader.text(), Some("parts"));
        let mut again = reader.clone();
        again.skip();
        assert!(again.left.is_empty());
        assert_eq!((reader.array(), reader.number()), (2, Some(-2.25)));
        assert_eq!(reader.text(), Some("é"));
        assert!(reader.left.is_empty());
    }

    #[test]
    fn numbers_of_every_form_are_read_and_nothing_else_is_one() {
        let number = |body: &[u8]| Reader::new(body).number();
        assert_eq!((number(b"\x07"), number(b"\xff")), (Some(7.0), Some(-1.0)));
        assert_eq!(number(b"\xcd\x01\x00"), Some(256.0));
        assert_eq!(number(b"\xce\xff\xff\xff\xff"), Some(4294967295.0));
        assert_eq!(number(b"\xd0\x80"), Some(-128.0));
        assert_eq!(number(b"\xd1\xff\x00"), Some(-256.0));
        assert_eq!(
            number(b"\xd3\x80\0\0\0\0\0\0\0"),
            Some(-9223372036854775808.0)
        );
        assert_eq!(number(b"\xca\x3f\xc0\x00\x00"), Some(1.5));
        assert_eq!((number(b"\xa3one"), number(b"\xc0")), (None, None));
    }
}
