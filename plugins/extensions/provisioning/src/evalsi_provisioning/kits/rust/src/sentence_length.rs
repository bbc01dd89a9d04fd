//! How long the sentences of an output are.

/// Words in a sentence of the text, on average; `None` where it has no words.
/// A sentence ends at one of the characters in `ends`, and at the end of a line.
pub fn sentence_length(text: &str, ends: &str) -> Option<f64> {
    let lengths: Vec<usize> = text
        .split(|character| ends_line(character) || ends.contains(character))
        .map(|sentence| sentence.split_whitespace().count())
        .filter(|&words| words > 0)
        .collect();
    if lengths.is_empty() {
        return None;
    }
    Some(lengths.iter().sum::<usize>() as f64 / lengths.len() as f64)
}

fn ends_line(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::sentence_length;

    #[test]
    fn the_words_of_a_sentence_are_averaged() {
        assert_eq!(sentence_length("One two three. Four!", ".!?"), Some(2.0));
        assert_eq!(sentence_length("one\ntwo\u{3000}three", ".!?"), Some(1.5));
    }

    #[test]
    fn other_ends_of_a_sentence_can_be_named() {
        assert_eq!(sentence_length("one two; three", ";"), Some(1.5));
        assert_eq!(sentence_length("猫。犬。", "。"), Some(1.0));
    }

    #[test]
    fn what_has_no_words_has_no_length() {
        assert_eq!(sentence_length(" . ", ".!?"), None);
        assert_eq!(sentence_length("", ".!?"), None);
    }
}
