//! Reads and writes MessagePack: as much of it as the ABI needs, which is JSON's values.

const std = @import("std");

pub const Error = error{ Malformed, OutOfMemory };

/// Walks over a value, or steps into it.
pub const Reader = struct {
    data: []const u8,
    at: usize = 0,

    fn take(self: *Reader, count: usize) Error![]const u8 {
        if (self.data.len - self.at < count) return Error.Malformed;
        defer self.at += count;
        return self.data[self.at..][0..count];
    }

    fn number(self: *Reader, comptime bytes: usize) Error!usize {
        var value: usize = 0;
        for (try self.take(bytes)) |byte| value = (value << 8) | byte;
        return value;
    }

    /// How many entries the map has that comes now; its keys and values are read next.
    pub fn map(self: *Reader) Error!usize {
        const kind = (try self.take(1))[0];
        return switch (kind) {
            0x80...0x8f => kind & 0x0f,
            0xde => self.number(2),
            0xdf => self.number(4),
            else => Error.Malformed,
        };
    }

    /// How many elements the array has that comes now.
    pub fn array(self: *Reader) Error!usize {
        const kind = (try self.take(1))[0];
        return switch (kind) {
            0x90...0x9f => kind & 0x0f,
            0xdc => self.number(2),
            0xdd => self.number(4),
            else => Error.Malformed,
        };
    }

    /// The text that comes now; null where it is another value, which is then passed over.
    pub fn text(self: *Reader) Error!?[]const u8 {
        const kind = try self.peek();
        const size = switch (kind) {
            0xa0...0xbf => blk: {
                self.at += 1;
                break :blk @as(usize, kind & 0x1f);
            },
            0xd9...0xdb => blk: {
                self.at += 1;
                break :blk switch (kind) {
                    0xd9 => try self.number(1),
                    0xda => try self.number(2),
                    else => try self.number(4),
                };
            },
            else => {
                try self.skip();
                return null;
            },
        };
        return try self.take(size);
    }

    /// The truth that comes now, or `otherwise` where it is another value.
    pub fn boolean(self: *Reader, otherwise: bool) Error!bool {
        const kind = try self.peek();
        try self.skip();
        return if (kind == 0xc2) false else if (kind == 0xc3) true else otherwise;
    }

    /// The whole number that comes now, from 0 to 2^31; 0 where it is another value.
    pub fn whole(self: *Reader) Error!u32 {
        const kind = try self.peek();
        if (kind <= 0x7f) {
            self.at += 1;
            return kind;
        }
        switch (kind) {
            0xcc, 0xcd, 0xce => {
                self.at += 1;
                return @truncate(switch (kind) {
                    0xcc => try self.number(1),
                    0xcd => try self.number(2),
                    else => try self.number(4),
                });
            },
            else => {
                try self.skip();
                return 0;
            },
        }
    }

    pub fn peek(self: *Reader) Error!u8 {
        if (self.at >= self.data.len) return Error.Malformed;
        return self.data[self.at];
    }

    /// Pass over one value, whatever it is.
    pub fn skip(self: *Reader) Error!void {
        var left: usize = 1;
        while (left > 0) : (left -= 1) {
            const kind = (try self.take(1))[0];
            switch (kind) {
                0x00...0x7f, 0xe0...0xff, 0xc0, 0xc2, 0xc3 => {},
                0x80...0x8f => left += 2 * @as(usize, kind & 0x0f),
                0x90...0x9f => left += kind & 0x0f,
                0xa0...0xbf => _ = try self.take(kind & 0x1f),
                0xc4, 0xd9 => _ = try self.take(try self.number(1)),
                0xc5, 0xda => _ = try self.take(try self.number(2)),
                0xc6, 0xdb => _ = try self.take(try self.number(4)),
                0xcc, 0xd0 => _ = try self.take(1),
                0xcd, 0xd1 => _ = try self.take(2),
                0xca, 0xce, 0xd2 => _ = try self.take(4),
                0xcb, 0xcf, 0xd3 => _ = try self.take(8),
                0xdc => left += try self.number(2),
                0xdd => left += try self.number(4),
                0xde => left += 2 * try self.number(2),
                0xdf => left += 2 * try self.number(4),
                else => return Error.Malformed,
            }
        }
    }
};

/// Builds a value piece by piece.
pub const Writer = struct {
    allocator: std.mem.Allocator,
    bytes: std.ArrayList(u8) = .empty,

    fn put(self: *Writer, byte: u8) Error!void {
        try self.bytes.append(self.allocator, byte);
    }

    fn big(self: *Writer, comptime bytes: u6, value: u64) Error!void {
        comptime var left = bytes;
        inline while (left > 0) {
            left -= 1;
            try self.put(@truncate(value >> (8 * left)));
        }
    }

    pub fn map(self: *Writer, entries: usize) Error!void {
        try self.put(0xde);
        try self.big(2, entries);
    }

    pub fn array(self: *Writer, elements: usize) Error!void {
        try self.put(0xdd);
        try self.big(4, elements);
    }

    pub fn text(self: *Writer, value: []const u8) Error!void {
        try self.put(0xdb);
        try self.big(4, value.len);
        try self.bytes.appendSlice(self.allocator, value);
    }

    pub fn boolean(self: *Writer, value: bool) Error!void {
        try self.put(if (value) 0xc3 else 0xc2);
    }

    pub fn whole(self: *Writer, value: u32) Error!void {
        try self.put(0xce);
        try self.big(4, value);
    }

    pub fn float(self: *Writer, value: f64) Error!void {
        try self.put(0xcb);
        try self.big(8, @bitCast(value));
    }
};
