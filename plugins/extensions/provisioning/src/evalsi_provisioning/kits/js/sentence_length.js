// How long the sentences of an output are.

const LINE_ENDS = "\n\v\f\r\x85\u2028\u2029";

/**
 * Words in a sentence of the text, on average; null where it has no words.
 * A sentence ends at one of the characters in `ends`, and at the end of a line.
 */
export function sentenceLength(text, ends) {
  const marks = new Set(ends + LINE_ENDS);
  const lines = Array.from(text, (character) => (marks.has(character) ? "\n" : character)).join("");
  const lengths = lines.split("\n").map(countWords).filter(Boolean);
  return lengths.length ? lengths.reduce((sum, length) => sum + length) / lengths.length : null;
}

// A zero-width no-break space stands within a word, whatever \s says.
function countWords(sentence) {
  return sentence.split(/[^\S\ufeff]+/).filter(Boolean).length;
}
