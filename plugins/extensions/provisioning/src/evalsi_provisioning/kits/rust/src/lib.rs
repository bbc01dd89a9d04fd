//! What the host calls: bodies of MessagePack in and out of this module's memory.
//!
//! docs/reference/wasm-abi.md of Evals.si says each sentence of it. To add an evaluator, add it to `describe`, to
//! `score` and to plugin.toml.

mod msgpack;
mod sentence_length;

use msgpack::{Reader, Writer};
use sentence_length::sentence_length;
use std::cell::RefCell;

thread_local! {
    // Held here, so that neither is taken away while the host reads or writes it.
    static BODY: RefCell<Vec<u8>> = RefCell::default();
    static ANSWER: RefCell<Vec<u8>> = RefCell::default();
}

#[no_mangle]
pub extern "C" fn evalsi_abi() -> i32 {
    1
}

/// So many bytes for a body, or 0 where there is no room.
#[no_mangle]
pub extern "C" fn evalsi_alloc(size: usize) -> *mut u8 {
    BODY.with(|body| {
        let mut fresh = Vec::new();
        if fresh.try_reserve_exact(size).is_err() {
            return std::ptr::null_mut();
        }
        fresh.resize(size, 0);
        body.replace(fresh);
        body.borrow_mut().as_mut_ptr()
    })
}

#[no_mangle]
pub extern "C" fn evalsi_describe() -> u64 {
    give(describe())
}

/// The body lies where `evalsi_alloc` made room for it.
#[no_mangle]
pub extern "C" fn evalsi_score(_at: *const u8, size: usize) -> u64 {
    give(BODY.with(|body| score(&body.borrow()[..size])))
}

/// The place and the length of an answer, in one number.
fn give(out: Writer) -> u64 {
    ANSWER.with(|answer| {
        answer.replace(out.bytes);
        let answer = answer.borrow();
        (answer.as_ptr() as u64) << 32 | answer.len() as u64
    })
}

/// By the names and versions of plugin.toml, which says the rest.
fn describe() -> Writer {
    let mut out = Writer::default();
    out.map(1).text("evaluators").array(1);
    out.map(2)
        .text("name")
        .text("sentence-length")
        .text("version")
        .text("1");
    out
}

fn score(body: &[u8]) -> Writer {
    let mut ends = "";
    // The keys of a map come in any order, and records are read with the params at hand.
    let mut records = Reader::new(&[]);
    let mut reader = Reader::new(body);
    for _ in 0..reader.map() {
        match reader.text() {
            Some("params") => ends = text_of(&mut reader, "ends").unwrap_or_default(),
            Some("records") => {
                records = reader.clone();
                reader.skip();
            }
            _ => reader.skip(),
        }
    }
    let count = records.array();
    let mut out = Writer::default();
    out.map(1).text("outcomes").array(count);
    for _ in 0..count {
        match text_of(&mut records, "output").map(|output| sentence_length(output, ends)) {
            None => skipped(&mut out, "the output is no plain text"),
            // Nothing to judge is no number: neither 0 nor 1.
            Some(None) => skipped(&mut out, "the output has no words"),
            Some(Some(length)) => scored(&mut out, length),
        }
    }
    out
}

/// The text of one key of the map that comes now; `None` where it is not there, or is no text.
fn text_of<'a>(reader: &mut Reader<'a>, key: &str) -> Option<&'a str> {
    let mut found = None;
    for _ in 0..reader.map() {
        if reader.text() == Some(key) {
            found = reader.text();
        } else {
            reader.skip();
        }
    }
    found
}

fn scored(out: &mut Writer, value: f64) {
    out.array(2)
        .text("scored")
        .array(1)
        .map(1)
        .text("value")
        .number(value);
}

fn skipped(out: &mut Writer, reason: &str) {
    out.array(2)
        .text("skipped")
        .map(1)
        .text("reason")
        .text(reason);
}
