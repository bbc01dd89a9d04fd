#include "msgpack.h"

static const uint8_t *take(reader_t *reader, size_t count) {
    if ((size_t)(reader->end - reader->at) < count) __builtin_trap();
    const uint8_t *taken = reader->at;
    reader->at += count;
    return taken;
}

static uint64_t take_big(reader_t *reader, int bytes) {
    const uint8_t *taken = take(reader, bytes);
    uint64_t value = 0;
    for (int place = 0; place < bytes; place++) value = value << 8 | taken[place];
    return value;
}

static uint8_t peek(reader_t *reader) {
    if (reader->at == reader->end) __builtin_trap();
    return *reader->at;
}

static size_t read_count(reader_t *reader, uint8_t small, uint8_t large) {
    uint8_t kind = *take(reader, 1);
    if ((kind & 0xf0) == small) return kind & 0x0f;
    if (kind != large && kind != large + 1) __builtin_trap();
    return take_big(reader, kind == large ? 2 : 4);
}

size_t read_map(reader_t *reader) { return read_count(reader, 0x80, 0xde); }

size_t read_array(reader_t *reader) { return read_count(reader, 0x90, 0xdc); }

text_t read_text(reader_t *reader) {
    uint8_t kind = peek(reader);
    size_t size;
    if ((kind & 0xe0) == 0xa0) {
        take(reader, 1);
        size = kind & 0x1f;
    } else if (kind >= 0xd9 && kind <= 0xdb) {
        take(reader, 1);
        size = take_big(reader, 1 << (kind - 0xd9));
    } else {
        skip_value(reader);
        return (text_t){NULL, 0};
    }
    return (text_t){(const char *)take(reader, size), size};
}

double read_number(reader_t *reader, double otherwise) {
    uint8_t kind = peek(reader);
    if (kind <= 0x7f || kind >= 0xe0) return (int8_t)*take(reader, 1);
    if (kind < 0xca || kind > 0xd3) {
        skip_value(reader);
        return otherwise;
    }
    take(reader, 1);
    if (kind == 0xca) {
        uint32_t bits = take_big(reader, 4);
        float value;
        __builtin_memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (kind == 0xcb) {
        uint64_t bits = take_big(reader, 8);
        double value;
        __builtin_memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (kind <= 0xcf) return (double)take_big(reader, 1 << (kind - 0xcc));
    int bits = 8 << (kind - 0xd0);
    return (double)((int64_t)(take_big(reader, bits / 8) << (64 - bits)) >> (64 - bits));
}

bool read_truth(reader_t *reader, bool otherwise) {
    uint8_t kind = peek(reader);
    skip_value(reader);
    return kind == 0xc2 ? false : kind == 0xc3 ? true : otherwise;
}

void skip_value(reader_t *reader) {
    for (uint64_t left = 1; left > 0; left--) {
        uint8_t kind = *take(reader, 1);
        if (kind <= 0x7f || kind >= 0xe0 || kind == 0xc0 || kind == 0xc2 || kind == 0xc3) continue;
        else if ((kind & 0xf0) == 0x80) left += 2 * (kind & 0x0f);
        else if ((kind & 0xf0) == 0x90) left += kind & 0x0f;
        else if ((kind & 0xe0) == 0xa0) take(reader, kind & 0x1f);
        else if (kind >= 0xc4 && kind <= 0xc6) take(reader, take_big(reader, 1 << (kind - 0xc4)));
        else if (kind == 0xca || kind == 0xcb) take(reader, kind == 0xca ? 4 : 8);
        else if (kind >= 0xcc && kind <= 0xd3) take(reader, 1 << (kind & 3));
        else if (kind >= 0xd9 && kind <= 0xdb) take(reader, take_big(reader, 1 << (kind - 0xd9)));
        else if (kind == 0xdc || kind == 0xdd) left += take_big(reader, kind == 0xdc ? 2 : 4);
        else if (kind == 0xde || kind == 0xdf) left += 2 * take_big(reader, kind == 0xde ? 2 : 4);
        else __builtin_trap();
    }
}

bool same_text(text_t one, text_t other) {
    if (one.size != other.size) return false;
    for (size_t place = 0; place < one.size; place++) {
        if (one.at[place] != other.at[place]) return false;
    }
    return true;
}

static void put_big(writer_t *writer, uint8_t kind, int bytes, uint64_t value) {
    uint8_t *at = writer->room(1 + bytes);
    *at++ = kind;
    for (int left = bytes - 1; left >= 0; left--) *at++ = (uint8_t)(value >> (8 * left));
    writer->size += 1 + bytes;
}

void write_map(writer_t *writer, uint32_t entries) { put_big(writer, 0xdf, 4, entries); }

void write_array(writer_t *writer, uint32_t elements) { put_big(writer, 0xdd, 4, elements); }

void write_text(writer_t *writer, text_t text) {
    put_big(writer, 0xdb, 4, text.size);
    uint8_t *at = writer->room(text.size);
    for (size_t place = 0; place < text.size; place++) at[place] = text.at[place];
    writer->size += text.size;
}

void write_number(writer_t *writer, double value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    put_big(writer, 0xcb, 8, bits);
}

void write_truth(writer_t *writer, bool value) { put_big(writer, value ? 0xc3 : 0xc2, 0, 0); }
