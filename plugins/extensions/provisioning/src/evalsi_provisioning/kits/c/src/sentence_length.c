#include "sentence_length.h"

// The character that begins here, and where the next one does. The host gives UTF-8 only.
static uint32_t next_character(const char **at) {
    const uint8_t *byte = (const uint8_t *)*at;
    int more = *byte < 0x80 ? 0 : *byte < 0xe0 ? 1 : *byte < 0xf0 ? 2 : 3;
    uint32_t character = more ? *byte & (0x3f >> more) : *byte;
    for (int place = 1; place <= more; place++) character = character << 6 | (byte[place] & 0x3f);
    *at += 1 + more;
    return character;
}

static bool is_among(uint32_t character, text_t characters) {
    const char *at = characters.at;
    while (at < characters.at + characters.size) {
        if (next_character(&at) == character) return true;
    }
    return false;
}

static bool ends_line(uint32_t character) {
    return (character >= '\n' && character <= '\r') || character == 0x85 || character == 0x2028 || character == 0x2029;
}

static bool is_space(uint32_t character) {
    return character == '\t' || character == ' ' || character == 0xa0 || character == 0x1680 ||
           (character >= 0x2000 && character <= 0x200a) || character == 0x202f || character == 0x205f ||
           character == 0x3000;
}

double sentence_length(text_t text, text_t ends) {
    size_t sentences = 0, words = 0;
    bool in_sentence = false, in_word = false;
    const char *at = text.at;
    while (at < text.at + text.size) {
        uint32_t character = next_character(&at);
        if (ends_line(character) || is_among(character, ends)) {
            in_sentence = in_word = false;
        } else if (is_space(character)) {
            in_word = false;
        } else {
            sentences += !in_sentence;
            words += !in_word;
            in_sentence = in_word = true;
        }
    }
    return sentences ? (double)words / (double)sentences : -1;
}
