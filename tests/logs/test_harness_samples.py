"""`lm-eval://samples_TASK.jsonl`: files that lm-evaluation-harness 0.4.13 wrote, read as records.

The files beside this one were written by `--log_samples` for small tasks of all four kinds, with a model of made-up
answers.
"""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi import Record, evaluator
from evalsi_kernel.errors import DatasetError, UsageError
from evalsi_kernel.extensions.hook_calls import open_source
from evalsi_kernel.extensions.installed import default_extensions
from evalsi_kernel.records.sources import readable_chunks

FILES = Path(__file__).parent / "lm_eval"
HASHES = {"doc_hash", "prompt_hash", "target_hash"}


def rows_of(name: str, query: str = "") -> list[dict[str, Any]]:
    source = open_source(f"lm-eval://{FILES / name}{query}", default_extensions())
    return [row for chunk in readable_chunks(source) for _, row in chunk]


def written(path: Path, *samples: dict[str, Any] | str) -> str:
    lines = [sample if isinstance(sample, str) else json.dumps(sample) for sample in samples]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return f"lm-eval://{path}"


def read(uri: str) -> list[dict[str, Any]]:
    return [row for chunk in readable_chunks(open_source(uri, default_extensions())) for _, row in chunk]


def sample(**fields: Any) -> dict[str, Any]:
    arguments = {"gen_args_0": {"arg_0": "Q", "arg_1": {"until": ["\n"]}}}
    return {"doc_id": 0, "doc": {"q": "Q"}, "target": "t", "arguments": arguments, "resps": [["r"]]} | fields


def choice(*texts: str, **fields: Any) -> dict[str, Any]:
    """A sample of a choice, the first text the likeliest."""
    arguments = {f"gen_args_{place}": {"arg_0": "Q", "arg_1": text} for place, text in enumerate(texts)}
    resps = [[[str(-1.0 - place), "False"]] for place in range(len(texts))]
    return sample(arguments=arguments, resps=resps) | fields


def test_a_written_answer_is_the_output_before_any_filter_with_its_prompt_target_and_doc() -> None:
    first, second, third = rows_of("samples_local_gen.jsonl")
    assert {name: first[name] for name in ("id", "input", "output", "reference")} == {
        "id": "0",
        "input": "Q: 2+2?\nA:",
        "output": "It is 4.",
        "reference": "4",
    }
    assert first["metadata"]["doc"]["question"] == "2+2?"
    assert first["metadata"]["responses"] == ["It is 4.", "4 "]
    assert first["provenance"] == {"source": "lm-eval", "task": "local_gen"}
    assert [second["id"], third["id"]] == ["1", "2"]


def test_the_harness_own_scores_come_along() -> None:
    found = rows_of("samples_local_gen.jsonl")[0]["metadata"]["lm_eval"]
    assert found["scores"] == {"exact_match": 1.0, "bleu": ["4", "4."]}
    assert (found["filter"], found["filtered"]) == ("strict", ["4."])
    assert found.keys() >= HASHES


def test_each_doc_comes_once_by_the_first_filter_or_by_the_one_that_is_named() -> None:
    assert [row["id"] for row in rows_of("samples_local_gen.jsonl")] == ["0", "1", "2"]
    last = rows_of("samples_local_gen.jsonl", "?filter=last")
    assert {row["metadata"]["lm_eval"]["filter"] for row in last} == {"last"}
    with pytest.raises(DatasetError, match="no sample is of the filter 'other'") as caught:
        rows_of("samples_local_gen.jsonl", "?filter=other")
    assert "last, strict" in caught.value.hint


def test_a_chat_prompt_becomes_its_messages_and_the_date_is_no_part_of_the_task() -> None:
    row = rows_of("samples_local_chat_2026-11-29T21-17-01.187661.jsonl")[0]
    assert row["input"] == [{"role": "user", "content": "Q: 2+2?\nA:"}]
    assert row["provenance"]["task"] == "local_chat"


def test_a_choice_has_its_texts_the_right_one_and_all_log_likelihoods() -> None:
    row = rows_of("samples_local_mc.jsonl")[0]
    assert row["output"] == "five"
    assert row["reference"] == "4"
    metadata = row["metadata"]
    assert (metadata["choices"], metadata["gold"]) == (["3", "4", "five"], 1)
    # The choices after the prompt, then by themselves.
    assert len(metadata["loglikelihoods"]) == 6
    assert metadata["loglikelihoods"][0] == [-6.481678057461977, True]


def test_a_continuation_and_a_document_have_their_log_likelihood_and_no_output() -> None:
    continuation = rows_of("samples_local_ll.jsonl")[0]
    assert continuation["metadata"]["loglikelihoods"] == [[-8.837796938605607, False]]
    assert continuation["reference"] == " 4"
    document = rows_of("samples_local_roll.jsonl")[0]
    assert document["metadata"]["loglikelihoods"] == [-17.539809071458876]
    assert document["reference"] == "2+2?"
    assert "output" not in continuation
    assert "output" not in document


def test_several_right_answers_are_several_again_and_a_text_in_brackets_stays_one(tmp_path: Path) -> None:
    uri = written(tmp_path / "samples_x.jsonl", sample(target="['a', \"b\"]"), sample(doc_id=1, target="[see above]"))
    assert [row["reference"] for row in read(uri)] == [["a", "b"], "[see above]"]


def test_a_target_that_may_mean_two_choices_leaves_the_right_one_open(tmp_path: Path) -> None:
    uri = written(
        tmp_path / "samples_x.jsonl",
        choice(" 2", " 1", " 0", target="0"),
        choice(" a", " b", target="1", doc_id=1),
        choice(" a", " b", target="b", doc_id=2),
        choice(" a", " b", target="[0, 1]", doc_id=3),
        choice(" a", " b", target="7", doc_id=4),
    )
    rows = read(uri)
    assert [row["metadata"].get("gold") for row in rows] == [None, 1, 1, [0, 1], None]
    assert [row.get("reference") for row in rows] == [None, "b", "b", ["a", "b"], None]


def test_what_no_record_can_hold_is_left_out(tmp_path: Path) -> None:
    endless = choice(" a", " b", resps=[[["-inf", "False"]], [["-1.0", "False"]]], target="0")
    undefined = json.dumps(sample(doc_id=1, metrics=["f"], f=0)).replace('"f": 0', '"f": NaN')
    first, second = read(written(tmp_path / "samples_x.jsonl", endless, undefined))
    assert "loglikelihoods" not in first["metadata"]
    assert second["metadata"]["lm_eval"]["scores"] == {"f": None}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "it is no JSON"),
        ("[]", "it is no object"),
        ('{"input": "a"}', "it has no doc_id and no resps"),
    ],
)
def test_a_line_that_is_no_sample_is_an_error_with_its_place_after_what_came_before(
    tmp_path: Path, line: str, why: str
) -> None:
    source = open_source(written(tmp_path / "samples_x.jsonl", sample(), "", line), default_extensions())
    chunks = readable_chunks(source)
    assert [number for number, _ in next(chunks)] == [1]
    with pytest.raises(DatasetError, match=f"line 3: {why}"):
        next(chunks)
    assert source.sha256() is None


def test_a_missing_file_and_an_unknown_query_are_told_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="There is no samples file"):
        open_source(f"lm-eval://{tmp_path}/samples_x.jsonl", default_extensions())
    with pytest.raises(UsageError, match=r"\?task=x"):
        open_source(f"lm-eval://{FILES}/samples_local_gen.jsonl?task=x", default_extensions())


def test_a_file_of_many_samples_is_read_in_flat_memory(tmp_path: Path) -> None:
    path = tmp_path / "samples_x.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(20_000):
            file.write(json.dumps(sample(doc_id=number, doc={"q": "Q" * 400})) + "\n")
    tracemalloc.start()
    try:
        count = sum(len(chunk) for chunk in open_source(f"lm-eval://{path}", default_extensions()).chunks())
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 20_000
    assert peak_bytes < 4 * 2**20 < path.stat().st_size


@evaluator(name="has-doc")
def has_doc(record: Record) -> bool:
    return bool(record.metadata["doc"]) and record.output_text != ""


def test_old_answers_are_scored_with_any_evaluator() -> None:
    result = evalsi.evaluate(f"lm-eval://{FILES / 'samples_local_gen.jsonl'}", [has_doc], quiet=True)
    assert (result.status, result["has-doc"].mean) == ("complete", 1.0)
    assert result.manifest["dataset"]["sha256"]
