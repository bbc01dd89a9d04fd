// What the host calls: bodies of MessagePack in and out of this module's memory.
//
// docs/reference/wasm-abi.md of Evals.si says each sentence of it. To add an evaluator, add it to `describe`, to
// `score` and to plugin.toml.

#include "msgpack.h"
#include "sentence_length.h"

#define EXPORT(name) __attribute__((export_name(name)))

enum { PAGE_BYTES = 65536 };

// The linker puts it where this module's own data ends.
extern uint8_t __heap_base;

// The body lies from there on, and the answer after it. One body is in this memory at a time.
static uint8_t *top;

// So many bytes, or NULL where the memory cannot grow.
static uint8_t *take_room(size_t bytes) {
    size_t there = __builtin_wasm_memory_size(0) * (size_t)PAGE_BYTES - (size_t)top;
    if (bytes > there) {
        size_t pages = (bytes - there + PAGE_BYTES - 1) / PAGE_BYTES;
        if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) return NULL;
    }
    uint8_t *room = top;
    top += bytes;
    return room;
}

// No room for the answer: the host says so of the record, and asks a fresh instance.
static uint8_t *take_room_or_stop(size_t bytes) {
    uint8_t *room = take_room(bytes);
    if (room == NULL) __builtin_trap();
    return room;
}

static writer_t new_answer(void) {
    if (top == NULL) top = &__heap_base;
    return (writer_t){top, 0, take_room_or_stop};
}

// The place and the length of an answer, in one number.
static uint64_t give(writer_t out) { return (uint64_t)(uintptr_t)out.start << 32 | out.size; }

EXPORT("evalsi_abi") int32_t abi(void) { return 1; }

EXPORT("evalsi_alloc") uint8_t *alloc(size_t size) {
    top = &__heap_base;
    return take_room(size);
}

// By the names and versions of plugin.toml, which says the rest.
EXPORT("evalsi_describe") uint64_t describe(void) {
    writer_t out = new_answer();
    write_map(&out, 1);
    write_text(&out, TEXT("evaluators"));
    write_array(&out, 1);
    write_map(&out, 2);
    write_text(&out, TEXT("name"));
    write_text(&out, TEXT("sentence-length"));
    write_text(&out, TEXT("version"));
    write_text(&out, TEXT("1"));
    return give(out);
}

static void write_scored(writer_t *out, double value) {
    write_array(out, 2);
    write_text(out, TEXT("scored"));
    write_array(out, 1);
    write_map(out, 1);
    write_text(out, TEXT("value"));
    write_number(out, value);
}

static void write_skipped(writer_t *out, text_t reason) {
    write_array(out, 2);
    write_text(out, TEXT("skipped"));
    write_map(out, 1);
    write_text(out, TEXT("reason"));
    write_text(out, reason);
}

// The text of one key of the map that comes now; `at` is NULL where it is not there, or is no text.
static text_t text_of(reader_t *reader, text_t key) {
    text_t found = {NULL, 0};
    for (size_t left = read_map(reader); left > 0; left--) {
        if (same_text(read_text(reader), key)) found = read_text(reader);
        else skip_value(reader);
    }
    return found;
}

EXPORT("evalsi_score") uint64_t score(const uint8_t *at, size_t size) {
    // The keys of a map come in any order, and records are read with the params at hand.
    text_t ends = {NULL, 0};
    reader_t reader = {at, at + size}, records = {at, at};
    for (size_t left = read_map(&reader); left > 0; left--) {
        text_t key = read_text(&reader);
        if (same_text(key, TEXT("params"))) {
            ends = text_of(&reader, TEXT("ends"));
        } else {
            if (same_text(key, TEXT("records"))) records = reader;
            skip_value(&reader);
        }
    }
    size_t count = read_array(&records);
    writer_t out = new_answer();
    write_map(&out, 1);
    write_text(&out, TEXT("outcomes"));
    write_array(&out, count);
    for (size_t left = count; left > 0; left--) {
        text_t output = text_of(&records, TEXT("output"));
        double length = output.at == NULL ? -1 : sentence_length(output, ends);
        if (output.at == NULL) write_skipped(&out, TEXT("the output is no plain text"));
        // Nothing to judge is no number: neither 0 nor 1.
        else if (length < 0) write_skipped(&out, TEXT("the output has no words"));
        else write_scored(&out, length);
    }
    return give(out);
}
