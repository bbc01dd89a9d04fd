// How long the sentences of an output are.

#ifndef SENTENCE_LENGTH_H
#define SENTENCE_LENGTH_H

#include "msgpack.h"

// Words in a sentence of the text, on average; less than 0 where it has no words.
// A sentence ends at one of the characters in `ends`, and at the end of a line.
double sentence_length(text_t text, text_t ends);

#endif
