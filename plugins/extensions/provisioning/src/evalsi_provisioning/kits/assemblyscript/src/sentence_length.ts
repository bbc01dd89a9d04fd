// How long the sentences of an output are.

/**
 * Words in a sentence of the text, on average; NaN where it has no words.
 * A sentence ends at one of the characters in `ends`, and at the end of a line.
 */
export function sentenceLength(text: string, ends: string): f64 {
  const marks = new Set<i32>();
  for (let at = 0; at < ends.length; at += width(ends.codePointAt(at))) marks.add(ends.codePointAt(at));
  let sentences = 0;
  let words = 0;
  let isInSentence = false;
  let isInWord = false;
  for (let at = 0; at < text.length; ) {
    const character = text.codePointAt(at);
    at += width(character);
    if (endsLine(character) || marks.has(character)) {
      isInSentence = false;
      isInWord = false;
    } else if (isSpace(character)) {
      isInWord = false;
    } else {
      if (!isInSentence) sentences++;
      if (!isInWord) words++;
      isInSentence = true;
      isInWord = true;
    }
  }
  return sentences == 0 ? NaN : (words as f64) / (sentences as f64);
}

/** Units of UTF-16 that a character takes in a string. */
function width(character: i32): i32 {
  return character > 0xffff ? 2 : 1;
}

function endsLine(character: i32): bool {
  return (character >= 0x0a && character <= 0x0d) || character == 0x85 || character == 0x2028 || character == 0x2029;
}

function isSpace(character: i32): bool {
  if (character >= 0x2000 && character <= 0x200a) return true;
  switch (character) {
    case 0x09:
    case 0x20:
    case 0xa0:
    case 0x1680:
    case 0x202f:
    case 0x205f:
    case 0x3000:
      return true;
    default:
      return false;
  }
}
