//! The pack acme/words: three evaluators that look at the words of an answer, as one WebAssembly module.
//!
//! Build it with: zig build-exe words.zig -target wasm32-freestanding -O ReleaseSmall -fno-entry -rdynamic -fstrip

const std = @import("std");
const msgpack = @import("msgpack.zig");

const Reader = msgpack.Reader;
const Writer = msgpack.Writer;

// This memory holds one body at a time; it is freed when the host allocates the next.
var arena: std.heap.ArenaAllocator = .init(std.heap.wasm_allocator);

export fn evalsi_abi() i32 {
    return 1;
}

export fn evalsi_alloc(size: usize) usize {
    _ = arena.reset(.retain_capacity);
    const room = arena.allocator().alloc(u8, size) catch return 0;
    return @intFromPtr(room.ptr);
}

export fn evalsi_describe() u64 {
    return answer(describe, "");
}

export fn evalsi_score(at: [*]const u8, size: usize) u64 {
    return answer(score, at[0..size]);
}

export fn evalsi_aggregate(at: [*]const u8, size: usize) u64 {
    return answer(aggregate, at[0..size]);
}

const Step = *const fn (body: []const u8, out: *Writer) msgpack.Error!void;

fn answer(step: Step, body: []const u8) u64 {
    var out: Writer = .{ .allocator = arena.allocator() };
    step(body, &out) catch |problem| switch (problem) {
        // The host reports where a trap occurred, and how much memory was in use if it ran out.
        error.OutOfMemory => @trap(),
        error.Malformed => return packed_bytes(malformed),
    };
    return packed_bytes(out.bytes.items);
}

const malformed = "\x81\xa5error\x82\xa4code\xafwords.malformed\xa7message\xd9\x1fThe body is not what I can read";

fn packed_bytes(bytes: []const u8) u64 {
    return @as(u64, @intFromPtr(bytes.ptr)) << 32 | bytes.len;
}

/// Returns only names and versions; plugin.toml has the rest.
fn describe(_: []const u8, out: *Writer) msgpack.Error!void {
    const names = [_][]const u8{ "same-words", "word-count", "words-per-answer" };
    try out.map(1);
    try out.text("evaluators");
    try out.array(names.len);
    for (names) |name| {
        try out.map(2);
        try out.text("name");
        try out.text(name);
        try out.text("version");
        try out.text("1");
    }
}

fn score(body: []const u8, out: *Writer) msgpack.Error!void {
    var evaluator: []const u8 = "";
    var case_sensitive = false;
    var records: Reader = .{ .data = body };
    var reader: Reader = .{ .data = body };
    for (0..try reader.map()) |_| {
        const key = try reader.text() orelse "";
        if (std.mem.eql(u8, key, "evaluator")) {
            evaluator = try reader.text() orelse "";
        } else if (std.mem.eql(u8, key, "params")) {
            for (0..try reader.map()) |_| {
                const is_case = std.mem.eql(u8, try reader.text() orelse "", "case_sensitive");
                if (is_case) case_sensitive = try reader.boolean(false) else try reader.skip();
            }
        } else {
            if (std.mem.eql(u8, key, "records")) records.at = reader.at;
            try reader.skip();
        }
    }
    const count = try records.array();
    try out.map(1);
    try out.text("outcomes");
    try out.array(count);
    for (0..count) |_| try outcome(evaluator, case_sensitive, &records, out);
}

fn outcome(evaluator: []const u8, case_sensitive: bool, records: *Reader, out: *Writer) msgpack.Error!void {
    var output: ?[]const u8 = null;
    var references: Reader = records.*;
    for (0..try records.map()) |_| {
        const key = try records.text() orelse "";
        if (std.mem.eql(u8, key, "output")) {
            output = try records.text();
        } else {
            if (std.mem.eql(u8, key, "reference")) references.at = records.at;
            try records.skip();
        }
    }
    const text = output orelse return skipped("the output is no text", out);
    if (std.mem.eql(u8, evaluator, "same-words")) {
        const passed = try any_same(text, &references, case_sensitive);
        try scored(out);
        try out.text("passed");
        return out.boolean(passed);
    }
    var words: u32 = 0;
    var each = words_of(text);
    while (each.next()) |_| words += 1;
    if (std.mem.eql(u8, evaluator, "word-count")) {
        try scored(out);
        try out.text("value");
        return out.float(@floatFromInt(words));
    }
    try out.array(2);
    try out.text("state");
    try out.map(1);
    try out.text("state");
    try out.whole(words);
}

fn aggregate(body: []const u8, out: *Writer) msgpack.Error!void {
    var reader: Reader = .{ .data = body };
    var total: f64 = 0;
    var count: usize = 0;
    for (0..try reader.map()) |_| {
        const is_states = std.mem.eql(u8, try reader.text() orelse "", "states");
        if (!is_states) {
            try reader.skip();
            continue;
        }
        count = try reader.array();
        for (0..count) |_| total += @floatFromInt(try reader.whole());
    }
    try out.map(2);
    try out.text("outcome");
    try out.text("scored");
    try out.text("payload");
    try out.array(1);
    try out.map(1);
    try out.text("value");
    try out.float(total / @as(f64, @floatFromInt(@max(count, 1))));
}

/// `["scored", [{` as far as the only entry of the only score.
fn scored(out: *Writer) msgpack.Error!void {
    try out.array(2);
    try out.text("scored");
    try out.array(1);
    try out.map(1);
}

fn skipped(reason: []const u8, out: *Writer) msgpack.Error!void {
    try out.array(2);
    try out.text("skipped");
    try out.map(1);
    try out.text("reason");
    try out.text(reason);
}

/// Whether the text has the words of the reference, or of any in a list of references.
fn any_same(text: []const u8, references: *Reader, case_sensitive: bool) msgpack.Error!bool {
    const kind = try references.peek();
    const is_list = (kind & 0xf0) == 0x90 or kind == 0xdc or kind == 0xdd;
    var found = false;
    for (0..if (is_list) try references.array() else 1) |_| {
        const reference = try references.text() orelse continue;
        found = found or same(text, reference, case_sensitive);
    }
    return found;
}

fn same(one: []const u8, other: []const u8, case_sensitive: bool) bool {
    var ours = words_of(one);
    var theirs = words_of(other);
    while (ours.next()) |word| {
        const counterpart = theirs.next() orelse return false;
        const equal = if (case_sensitive) std.mem.eql(u8, word, counterpart) else std.ascii.eqlIgnoreCase(word, counterpart);
        if (!equal) return false;
    }
    return theirs.next() == null;
}

fn words_of(text: []const u8) std.mem.TokenIterator(u8, .any) {
    return std.mem.tokenizeAny(u8, text, " \t\r\n");
}
