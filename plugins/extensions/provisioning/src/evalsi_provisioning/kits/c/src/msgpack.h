// Reads and writes MessagePack: as much of it as the ABI needs, which is JSON's values.

#ifndef MSGPACK_H
#define MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A text is not closed by a zero: its bytes, and how many.
typedef struct {
    const char *at;
    size_t size;
} text_t;

// A text of this source.
#define TEXT(words) ((text_t){words, sizeof(words) - 1})

// What is left of a value that is walked over. A body that ends too soon stops the module, and the host says so.
typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} reader_t;

// How many entries the map has, or elements the array, that comes now; they are read next.
size_t read_map(reader_t *reader);
size_t read_array(reader_t *reader);

// The text that comes now. Where it is another value, `at` is NULL and the value is passed over.
text_t read_text(reader_t *reader);

// The number or the truth that comes now, or `otherwise` where it is another value.
double read_number(reader_t *reader, double otherwise);
bool read_truth(reader_t *reader, bool otherwise);

// Passes over one value, whatever it is.
void skip_value(reader_t *reader);

// Whether a text that was read is this one.
bool same_text(text_t one, text_t other);

// Where a value is built piece by piece; `room` gives it more bytes, at its own end.
typedef struct {
    uint8_t *start;
    size_t size;
    uint8_t *(*room)(size_t more);
} writer_t;

void write_map(writer_t *writer, uint32_t entries);
void write_array(writer_t *writer, uint32_t elements);
void write_text(writer_t *writer, text_t text);
void write_number(writer_t *writer, double value);
void write_truth(writer_t *writer, bool value);

#endif
