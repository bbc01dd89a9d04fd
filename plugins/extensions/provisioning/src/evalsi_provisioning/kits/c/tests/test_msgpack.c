// What is written is read again, and numbers of every form are read; what is something else is passed over.

#include <stdio.h>

#include "../src/msgpack.h"

static int failed;

static void expect(const char *what, bool is_so) {
    printf("%s: %s\n", is_so ? "ok" : "FAILED", what);
    if (!is_so) failed = 1;
}

static uint8_t bytes[256];
static size_t used;

static uint8_t *room(size_t more) {
    used += more;
    return bytes + used - more;
}

static double number_in(const char *body, size_t size) {
    reader_t reader = {(const uint8_t *)body, (const uint8_t *)body + size};
    double value = read_number(&reader, 0.5);
    return reader.at == reader.end ? value : -0.5;
}

#define NUMBER_IN(body) number_in(body, sizeof(body) - 1)

int main(void) {
    writer_t out = {bytes, 0, room};
    write_map(&out, 2);
    write_text(&out, TEXT("passed"));
    write_truth(&out, true);
    write_text(&out, TEXT("parts"));
    write_array(&out, 2);
    write_number(&out, -2.25);
    write_text(&out, TEXT("é"));
    reader_t reader = {bytes, bytes + out.size};
    expect("a map is written", read_map(&reader) == 2 && same_text(read_text(&reader), TEXT("passed")));
    expect("a truth is read", read_truth(&reader, false) && same_text(read_text(&reader), TEXT("parts")));
    reader_t again = reader;
    skip_value(&again);
    expect("a value is passed over whole", again.at == again.end);
    expect("a number is read", read_array(&reader) == 2 && read_number(&reader, 0) == -2.25);
    expect("a text is read", same_text(read_text(&reader), TEXT("é")) && reader.at == reader.end);
    expect("small numbers are read", NUMBER_IN("\x07") == 7 && NUMBER_IN("\xff") == -1);
    expect("large numbers are read", NUMBER_IN("\xcd\x01\x00") == 256 && NUMBER_IN("\xce\xff\xff\xff\xff") == 4294967295.0);
    expect("negative numbers are read", NUMBER_IN("\xd0\x80") == -128 && NUMBER_IN("\xd1\xff\x00") == -256);
    expect("the smallest is read", NUMBER_IN("\xd3\x80\0\0\0\0\0\0\0") == -9223372036854775808.0);
    expect("a short float is read", NUMBER_IN("\xca\x3f\xc0\x00\x00") == 1.5);
    expect("a text is no number", NUMBER_IN("\xa3" "one") == 0.5 && NUMBER_IN("\xc0") == 0.5);
    return failed;
}
