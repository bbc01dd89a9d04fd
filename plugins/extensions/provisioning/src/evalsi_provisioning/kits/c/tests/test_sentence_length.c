// Sentences are counted as a reader counts them; a text without words has no length.

#include <stdio.h>

#include "../src/sentence_length.h"

static int failed;

static void expect(const char *what, double found, double wanted) {
    printf("%s: %s\n", found == wanted ? "ok" : "FAILED", what);
    if (found == wanted) return;
    printf("  it is %g, and should be %g\n", found, wanted);
    failed = 1;
}

int main(void) {
    text_t usual = TEXT(".!?");
    expect("the words of a sentence are averaged", sentence_length(TEXT("One two three. Four!"), usual), 2.0);
    expect("a line ends a sentence", sentence_length(TEXT("one\ntwo\u3000three"), usual), 1.5);
    expect("other ends can be named", sentence_length(TEXT("one two; three"), TEXT(";")), 1.5);
    expect("an end can be of any script", sentence_length(TEXT("猫。犬。"), TEXT("。")), 1.0);
    expect("what has no words has no length", sentence_length(TEXT(" . "), usual), -1);
    expect("nothing has no length", sentence_length(TEXT(""), usual), -1);
    return failed;
}
