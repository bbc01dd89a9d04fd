// Reads and writes MessagePack: the part of it that the ABI uses, which is the values of JSON.

/** Reads one value after another. A body that ends too soon stops the module, and the host reports that. */
export class Reader {
  constructor(private data: Uint8Array, public at: i32 = 0) {}

  private byte(): u8 {
    return this.data[this.at++];
  }

  private number(bytes: i32): i32 {
    let value: u32 = 0;
    for (let left = bytes; left > 0; left--) value = (value << 8) | this.byte();
    return value as i32;
  }

  private skipBytes(bytes: i32): void {
    const size = this.number(bytes);
    this.at += size;
  }

  /** Returns the number of entries of the next value, a map; its keys and values are read after that. */
  map(): i32 {
    const kind = this.byte();
    if ((kind & 0xf0) == 0x80) return kind & 0x0f;
    assert(kind == 0xde || kind == 0xdf);
    return this.number(kind == 0xde ? 2 : 4);
  }

  /** Returns the number of elements of the next value, an array. */
  array(): i32 {
    const kind = this.byte();
    if ((kind & 0xf0) == 0x90) return kind & 0x0f;
    assert(kind == 0xdc || kind == 0xdd);
    return this.number(kind == 0xdc ? 2 : 4);
  }

  /** Returns the next value where it is a text; skips any other value and returns null. */
  text(): string | null {
    const kind = this.data[this.at];
    let size: i32;
    if ((kind & 0xe0) == 0xa0) {
      this.at++;
      size = kind & 0x1f;
    } else if (kind >= 0xd9 && kind <= 0xdb) {
      this.at++;
      size = this.number(1 << (kind - 0xd9));
    } else {
      this.skip();
      return null;
    }
    const start = this.at;
    this.at += size;
    assert(this.at <= this.data.length);
    return String.UTF8.decodeUnsafe(this.data.dataStart + start, size);
  }

  /** Whether the next value is true. */
  isTrue(): bool {
    const kind = this.data[this.at];
    this.skip();
    return kind == 0xc3;
  }

  /** Skips the next value, whatever it is. */
  skip(): void {
    let left = 1;
    while (left > 0) {
      left--;
      const kind = this.byte();
      if (kind <= 0x7f || kind >= 0xe0 || kind == 0xc0 || kind == 0xc2 || kind == 0xc3) continue;
      else if ((kind & 0xf0) == 0x80) left += 2 * (kind & 0x0f);
      else if ((kind & 0xf0) == 0x90) left += kind & 0x0f;
      else if ((kind & 0xe0) == 0xa0) this.at += kind & 0x1f;
      else if (kind >= 0xc4 && kind <= 0xc6) this.skipBytes(1 << (kind - 0xc4));
      else if (kind == 0xca) this.at += 4;
      else if (kind == 0xcb) this.at += 8;
      else if (kind >= 0xcc && kind <= 0xcf) this.at += 1 << (kind - 0xcc);
      else if (kind >= 0xd0 && kind <= 0xd3) this.at += 1 << (kind - 0xd0);
      else if (kind >= 0xd9 && kind <= 0xdb) this.skipBytes(1 << (kind - 0xd9));
      else if (kind == 0xdc || kind == 0xdd) left += this.number(kind == 0xdc ? 2 : 4);
      else {
        assert(kind == 0xde || kind == 0xdf);
        left += 2 * this.number(kind == 0xde ? 2 : 4);
      }
    }
  }
}

/** Builds a value piece by piece. */
export class Writer {
  private data: Uint8Array = new Uint8Array(1024);
  private size: i32 = 0;

  /** Returns what was written so far, without a copy. */
  bytes(): Uint8Array {
    return this.data.subarray(0, this.size);
  }

  private room(count: i32): void {
    if (this.size + count <= this.data.length) return;
    const larger = new Uint8Array(max(2 * this.data.length, this.size + count));
    larger.set(this.data);
    this.data = larger;
  }

  private big(kind: u8, bytes: i32, value: u64): void {
    this.room(bytes + 1);
    this.data[this.size++] = kind;
    for (let left = bytes - 1; left >= 0; left--) this.data[this.size++] = (value >> (8 * left)) as u8;
  }

  map(entries: i32): Writer {
    this.big(0xdf, 4, entries);
    return this;
  }

  array(elements: i32): Writer {
    this.big(0xdd, 4, elements);
    return this;
  }

  text(value: string): Writer {
    const encoded = Uint8Array.wrap(String.UTF8.encode(value));
    this.big(0xdb, 4, encoded.length);
    this.room(encoded.length);
    this.data.set(encoded, this.size);
    this.size += encoded.length;
    return this;
  }

  truth(value: bool): Writer {
    this.big(value ? 0xc3 : 0xc2, 0, 0);
    return this;
  }

  float(value: f64): Writer {
    this.big(0xcb, 8, reinterpret<u64>(value));
    return this;
  }
}
