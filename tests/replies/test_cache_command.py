"""`evalsi cache`: what is kept, what is removed, why an ask hits or misses; a sentence where the file is no cache."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import Done, evalsi
from tests.replies.kept_replies import IDENTITY, bounded, fill, key, put_all, question, sql


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of the cache file that `cache` looks into."""
    return tmp_path / "cache" / "judge" / "replies.sqlite"


def cache(path: Path, *words: str | Path) -> Done:
    return evalsi("cache", *words, variables={"EVALSI_CACHE_DIR": str(path.parents[1])})


def test_stats_of_a_cache_that_is_not_there_yet(path: Path) -> None:
    done = cache(path, "stats")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{path} (not there yet)\n0 replies · 0 B on disk\n"
    assert not path.parent.exists()
    found = json.loads(cache(path, "stats", "--format", "json").out)
    assert (found["entries"], found["size_bytes"], found["oldest"], found["models"]) == (0, 0, None, [])


def test_stats_show_each_model_with_its_size_and_age(path: Path) -> None:
    fill(path, range(3))
    fill(path, range(1), model="große-Büroaffäre")
    sql(path, "UPDATE replies SET created = 1700000000, used = 1700000000 / 3600 + 24 WHERE model = 'small-1'")
    done = cache(path, "stats")
    assert (done.code, done.err) == (0, "")
    where, total, _, header, first, second = done.out.splitlines()
    assert where == str(path)
    assert re.fullmatch(r"4 replies · \d+\.\d kB on disk", total)
    assert header.split() == ["model", "replies", "size", "oldest", "newest", "last", "used"]
    assert re.fullmatch(
        r"small-1 +3  +\d\.\d kB  2023-11-14 22:13 UTC  2023-11-14 22:13 UTC  2023-11-15 22:00 UTC", first
    )
    assert second.startswith("große-Büroaffäre ")


def test_stats_are_json_for_programs_and_hits_are_unknown(path: Path) -> None:
    fill(path, range(3))
    sql(path, "UPDATE replies SET created = 1700000000 + rowid, used = 0")
    found = json.loads(cache(path, "stats", "--format", "json").out)
    [model] = found["models"]
    assert found["file"] == str(path)
    assert found["entries"] == model["entries"] == 3
    assert found["hits"] is None
    assert found["oldest"] == model["oldest"] == "2023-11-14T22:13:21+00:00"
    assert found["newest"] == model["newest"] == model["last_used"] == "2023-11-14T22:13:23+00:00"
    assert found["size_bytes"] == path.stat().st_size
    assert 2000 < model["size_bytes"] < 6000


def test_prune_removes_and_says_how_much(path: Path) -> None:
    before = fill(path, range(1000)).stat().st_size
    dry = cache(path, "prune", "--max-size", "300kB", "--dry-run")
    assert dry.code == 0
    assert re.fullmatch(r"would remove \d+ of 1,000 replies; 1\.\d MB on disk\n", dry.out)
    assert path.stat().st_size == before
    done = cache(path, "prune", "--max-size", "300kB")
    assert re.fullmatch(r"removed \d+ of 1,000 replies; 1\.\d MB on disk before, 2\d\d\.\d kB now\n", done.out)
    assert path.stat().st_size <= 300_000
    assert cache(path, "prune", "--older-than", "1h").out.startswith("removed 0 of ")
    assert re.match(r"removed (\d+) of \1 replies; ", cache(path, "prune", "--all").out)


def test_prune_by_model_asks_for_one_that_is_there(path: Path) -> None:
    fill(path, range(2))
    fill(path, range(3), model="large-1")
    done = cache(path, "prune", "--model", "large1")
    assert (done.code, done.out) == (1, "")
    assert "No reply of the model 'large1' is kept." in done.err
    assert 'Did you mean "large-1"?' in done.err
    assert cache(path, "prune", "--model", "large-1").out.startswith("removed 3 of 5 replies; ")


WRONG = {
    "prune": "needs to know what to remove.\n  Give --older-than 30d, --max-size 500MB, --model NAME or --all.",
    "prune --dry-run": "needs to know what to remove.",
    "prune --all --model small-1": "--all removes everything",
    "prune --max-size 1MB --model small-1": "--max-size is of all models together.",
    "prune --older-than 30": "--older-than is '30', which has no number and unit that it knows.",
    "prune --max-size big": "Write a number and its unit, such as 500MB or 2GB.",
    "prune --older 30d": "there is no '--older' here. Did you mean --older-than?",
    "": "needs to know what to do.\n  Give stats, prune or explain.",
    "stat": "there is no 'stat'. Did you mean 'stats'?",
    "explain": "needs to know which ask.",
    "explain 00 --ask ask.json": "Give one of: KEY, --ask FILE, or --results FILE with --record ID.",
    "explain --results r.json": "--results, --record and --evaluator go together.",
    "explain 00 --record a": "--results, --record and --evaluator go together.",
    "explain 00 --evaluator a": "--results, --record and --evaluator go together.",
    "explain xyz": "A key consists of hexadecimal digits; 'xyz' does not.",
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_usage_is_told_with_what_to_give_and_removes_nothing(words: str, path: Path) -> None:
    fill(path, range(2))
    done = cache(path, *words.split())
    assert (done.code, done.out) == (2, "")
    assert WRONG[words] in done.err
    assert sql(path, "SELECT count(*) FROM replies") == [(2,)]


def test_there_is_nothing_to_prune_where_no_cache_is(path: Path) -> None:
    assert cache(path, "prune", "--all").out == f"There is nothing to remove: {path} is not there yet.\n"
    assert not path.parent.exists()


def test_explain_tells_a_hit_from_a_miss_and_names_what_differs(path: Path, tmp_path: Path) -> None:
    ask = tmp_path / "ask.json"
    ask.write_text(json.dumps({"identity": IDENTITY, **question(1)._asdict()}), encoding="utf-8")
    assert cache(path, "explain", "--ask", ask).out == f"miss: no reply is kept yet; {path} is not there.\n"
    fill(path, range(3))
    hit = cache(path, "explain", "--ask", ask)
    assert hit.code == 0
    assert hit.out.startswith(f"hit: {key(1).digest}\n  small-1, kept 20")
    assert cache(path, "explain", key(1).digest[:12].upper()).out == hit.out
    ask.write_text(json.dumps({"identity": IDENTITY, **question(1, temperature=0.5)._asdict()}), encoding="utf-8")
    miss = cache(path, "explain", "--ask", ask)
    assert miss.code == 0
    first, nearest, _, differs = miss.out.splitlines()
    assert first == f"miss: {key(1, temperature=0.5).digest}"
    assert nearest == f"  nearest: {key(1).digest}"
    assert differs == "  differs in: temperature"


def test_explain_takes_keys_from_results(path: Path, tmp_path: Path) -> None:
    fill(path, range(3))
    asked = key(1, schema=None)
    results = tmp_path / "results.json"
    call = {"ref": asked.digest[:16], "key": asked.digest, "fields": asked.fields}
    run = {
        "results": [
            {"record_id": "7", "evaluator": "grade", "judge_calls": [call["ref"], key(2).digest[:16]]},
            {"record_id": "8", "evaluator": "grade", "judge_calls": ["0123456789abcdef"]},
        ],
        "judge_replies": [call],
    }
    results.write_text(json.dumps(run), encoding="utf-8")
    miss, *_, differs, hit, _ = cache(path, "explain", "--results", results, "--record", "7").out.splitlines()
    assert miss == f"miss: {asked.digest}"
    assert differs == "  differs in: schema"
    assert hit == f"hit: {key(2).digest}"
    untold = cache(path, "explain", "--results", results, "--record", "8", "--evaluator", "grade")
    assert untold.out.startswith("miss: 0123456789abcdef\n  Nothing tells what was asked;")
    wrong = cache(path, "explain", "--results", results, "--record", "9")
    assert (wrong.code, wrong.out) == (1, "")
    assert "has no record '9'" in wrong.err


def test_explain_of_an_empty_cache_and_of_too_few_digits(path: Path, tmp_path: Path) -> None:
    ask = tmp_path / "ask.json"
    ask.write_text(json.dumps({"messages": question(1).messages}), encoding="utf-8")
    fill(path, [])
    assert cache(path, "explain", "--ask", ask).out.endswith("  No reply is kept at all.\n")
    fill(path, range(40))
    digit = next(one for one in "0123456789abcdef" if sum(key(n).digest[0] == one for n in range(40)) > 1)
    done = cache(path, "explain", digit)
    assert (done.code, done.out) == (1, "")
    assert f"Several keys begin with '{digit}': " in done.err


COMMANDS = (["stats"], ["prune", "--all"], ["explain", "00"])


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_damaged_file_is_an_error_that_leaves_it_where_it_is(words: list[str], path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("I am no database. " * 100)
    done = cache(path, *words)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: The cache of model replies is damaged: {path} (")
    assert "The next run that asks a model sets it aside and begins a new one." in done.err
    assert path.read_text().startswith("I am no database. ")


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_newer_or_foreign_file_is_an_error_with_a_hint(words: list[str], path: Path) -> None:
    sql(fill(path, [1]), "PRAGMA user_version = 9")
    done = cache(path, *words)
    assert (done.code, done.out) == (1, "")
    assert f"{path} has version 9, this evalsi knows 1." in done.err
    assert "Update evalsi, or set EVALSI_CACHE_DIR to another folder." in done.err
    path.unlink()
    sql(path, "CREATE TABLE bookmarks (url)")
    assert "is a database of something else." in cache(path, *words).err


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_file_that_cannot_be_looked_at_is_an_error_with_a_hint(words: list[str], path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(path)
    done = cache(path, *words)
    assert (done.code, done.out) == (1, "")
    assert f"The cache of model replies cannot be used: {path} (unable to open database file)." in done.err
    assert "Make it and its folder writable" in done.err


def test_damage_that_shows_only_while_the_file_is_read_is_the_same_error(path: Path) -> None:
    fill(path, range(500))
    [(pages,)] = sql(path, "PRAGMA page_count")
    with path.open("r+b") as file:
        file.seek(pages // 4 * 4096)
        file.write(b"\xff" * (pages // 2 * 4096))
    done = cache(path, "prune", "--all")
    assert done.code == 1
    assert "The cache of model replies is damaged" in done.err


def test_stats_name_the_files_that_were_set_aside(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("I am no database. " * 100)
    bounded(lambda: put_all(path, [1]))
    [aside] = path.parent.glob("*.damaged-*")
    assert f"damaged, set aside: {aside}, 1.8 kB" in cache(path, "stats").out
    assert json.loads(cache(path, "stats", "--format", "json").out)["set_aside"] == [str(aside)]


def test_help_loads_neither_the_extension_nor_a_database() -> None:
    script = (
        "import sys; from evalsi_cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'sqlite3', '_sqlite3', 'evalsi_replies'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "cache" in done.stdout
