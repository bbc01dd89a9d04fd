//! How long the sentences of an output are.

const std = @import("std");

/// Words in a sentence of the text, on average; null where it has no words.
/// A sentence ends at one of the characters in `ends`, and at the end of a line.
pub fn sentenceLength(text: []const u8, ends: []const u8) ?f64 {
    var sentences: usize = 0;
    var words: usize = 0;
    var in_sentence = false;
    var in_word = false;
    var characters = (std.unicode.Utf8View.init(text) catch @panic("the host gives UTF-8")).iterator();
    while (characters.nextCodepointSlice()) |character| {
        if (endsLine(character) or std.mem.indexOf(u8, ends, character) != null) {
            in_sentence = false;
            in_word = false;
        } else if (isSpace(character)) {
            in_word = false;
        } else {
            if (!in_sentence) sentences += 1;
            if (!in_word) words += 1;
            in_sentence = true;
            in_word = true;
        }
    }
    if (sentences == 0) return null;
    return @as(f64, @floatFromInt(words)) / @as(f64, @floatFromInt(sentences));
}

fn endsLine(character: []const u8) bool {
    return switch (std.unicode.utf8Decode(character) catch 0) {
        '\n', 0x0b, 0x0c, '\r', 0x85, 0x2028, 0x2029 => true,
        else => false,
    };
}

fn isSpace(character: []const u8) bool {
    return switch (std.unicode.utf8Decode(character) catch 0) {
        '\t', ' ', 0xa0, 0x1680, 0x2000...0x200a, 0x202f, 0x205f, 0x3000 => true,
        else => false,
    };
}

test "the words of a sentence are averaged" {
    try std.testing.expectEqual(2.0, sentenceLength("One two three. Four!", ".!?"));
    try std.testing.expectEqual(1.5, sentenceLength("one\ntwo\u{3000}three", ".!?"));
}

test "other ends of a sentence can be named" {
    try std.testing.expectEqual(1.5, sentenceLength("one two; three", ";"));
    try std.testing.expectEqual(1.0, sentenceLength("猫。犬。", "。"));
}

test "what has no words has no length" {
    try std.testing.expectEqual(null, sentenceLength(" . ", ".!?"));
    try std.testing.expectEqual(null, sentenceLength("", ".!?"));
}
