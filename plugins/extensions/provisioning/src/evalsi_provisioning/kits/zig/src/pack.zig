//! What the host calls: bodies of MessagePack in and out of this module's memory.
//!
//! docs/reference/wasm-abi.md of Evals.si says each sentence of it. To add an evaluator, add it to `describe`, to
//! `score` and to plugin.toml.

const std = @import("std");
const msgpack = @import("msgpack.zig");
const sentenceLength = @import("sentence_length.zig").sentenceLength;

const Reader = msgpack.Reader;
const Writer = msgpack.Writer;

// One body is in this memory at a time: what was there before goes when the host asks for room for the next.
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

/// What a step writes, as its place and its length in one number.
fn answer(step: *const fn (body: []const u8, out: *Writer) msgpack.Error!void, body: []const u8) u64 {
    var out: Writer = .{ .allocator = arena.allocator() };
    // A body that cannot be read, or no room for the answer: the host says so of the record, and asks a fresh instance.
    step(body, &out) catch @trap();
    return @as(u64, @intFromPtr(out.bytes.items.ptr)) << 32 | out.bytes.items.len;
}

/// By the names and versions of plugin.toml, which says the rest.
fn describe(_: []const u8, out: *Writer) msgpack.Error!void {
    try out.map(1);
    try out.text("evaluators");
    try out.array(1);
    try out.map(2);
    try out.text("name");
    try out.text("sentence-length");
    try out.text("version");
    try out.text("1");
}

fn score(body: []const u8, out: *Writer) msgpack.Error!void {
    var ends: []const u8 = "";
    // The keys of a map come in any order, and records are read with the params at hand.
    var records: Reader = .{ .data = body };
    var reader: Reader = .{ .data = body };
    for (0..try reader.map()) |_| {
        const key = try reader.text() orelse "";
        if (std.mem.eql(u8, key, "params")) {
            for (0..try reader.map()) |_| {
                const is_ends = std.mem.eql(u8, try reader.text() orelse "", "ends");
                if (is_ends) ends = try reader.text() orelse "" else try reader.skip();
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
    for (0..count) |_| {
        const output = try outputOf(&records) orelse {
            try skipped("the output is no plain text", out);
            continue;
        };
        if (sentenceLength(output, ends)) |length| {
            try scored(length, out);
        } else {
            // Nothing to judge is no number: neither 0 nor 1.
            try skipped("the output has no words", out);
        }
    }
}

/// The output of the record that comes now; null where it is messages or JSON.
fn outputOf(records: *Reader) msgpack.Error!?[]const u8 {
    var output: ?[]const u8 = null;
    for (0..try records.map()) |_| {
        const is_output = std.mem.eql(u8, try records.text() orelse "", "output");
        if (is_output) output = try records.text() else try records.skip();
    }
    return output;
}

fn scored(value: f64, out: *Writer) msgpack.Error!void {
    try out.array(2);
    try out.text("scored");
    try out.array(1);
    try out.map(1);
    try out.text("value");
    try out.float(value);
}

fn skipped(reason: []const u8, out: *Writer) msgpack.Error!void {
    try out.array(2);
    try out.text("skipped");
    try out.map(1);
    try out.text("reason");
    try out.text(reason);
}
