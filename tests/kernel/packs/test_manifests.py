"""The format of plugin.toml: what it holds, and how each fault is told."""

import json
from pathlib import Path

import pytest

from evalsi_kernel.errors import PackError
from evalsi_kernel.packs.manifests import load_manifest
from evalsi_kernel.packs.pack_info import EvaluatorInfo, OutputInfo, PackInfo

GOOD = """\
manifest = 1
name = "core"
version = "0.4.0"
summary = "Deterministic checks."
protocol = 1

[run]
module = "evalsi_pack_core"
workers = "wide"
record_timeout_s = 30

[[evaluators]]
name = "exact-match"
version = "1"
summary = "Output equals the reference."
scope = "record"
needs = ["output", "reference"]
asks = []
outputs = [{ name = "", kind = "pass", higher_is_better = true }]
params = { type = "object", properties = { normalize = { type = "boolean", default = true } } }

[[evaluators]]
name = "latency"
version = "2.1"
needs = ["usage.latency_ms"]
outputs = [{ name = "", kind = "number", unit = "ms", minimum = 0, higher_is_better = false }]
"""


def written(folder: Path, text: str = GOOD) -> Path:
    path = folder / "plugin.toml"
    path.write_text(text, "utf-8")
    return path


def problems_of(folder: Path, text: str) -> dict[str, str]:
    """Place → what is wrong there and its hint."""
    with pytest.raises(PackError) as caught:
        load_manifest(written(folder, text))
    assert caught.value.code == "pack.manifest"
    assert str(folder / "plugin.toml") in caught.value.message
    return {one["at"]: f"{one['what']}. {one['hint']}" for one in caught.value.details["problems"]}


def test_a_manifest_becomes_plain_data(tmp_path: Path) -> None:
    pack = load_manifest(written(tmp_path)).to_pack(tmp_path)
    assert pack == PackInfo(
        name="core",
        version="0.4.0",
        summary="Deterministic checks.",
        protocol=1,
        folder=tmp_path,
        module="evalsi_pack_core",
        workers="wide",
        record_timeout_s=30.0,
        memory_mb=2048,
        evaluators=(
            EvaluatorInfo(
                name="exact-match",
                pack="core",
                version="1",
                summary="Output equals the reference.",
                needs=("output", "reference"),
                outputs=(OutputInfo(kind="pass", higher_is_better=True),),
                params={"type": "object", "properties": {"normalize": {"type": "boolean", "default": True}}},
            ),
            EvaluatorInfo(
                name="latency",
                pack="core",
                version="2.1",
                needs=("usage.latency_ms",),
                outputs=(OutputInfo(unit="ms", minimum=0.0, higher_is_better=False),),
            ),
        ),
    )


def test_plain_data_survives_a_trip_through_its_dictionary(tmp_path: Path) -> None:
    pack = load_manifest(written(tmp_path)).to_pack(tmp_path)
    assert PackInfo.from_dict(pack.to_dict()) == pack


def test_what_a_pack_describes_is_read_like_a_manifest_and_keys_of_a_newer_one_are_passed_over() -> None:
    table = {"name": "polite", "version": 1, "outputs": [{"kind": "label", "colour": "red"}], "mood": "good"}
    described = EvaluatorInfo.from_dict({**table, "pack": "python"})
    assert described == EvaluatorInfo("polite", "python", "1", outputs=(OutputInfo(kind="label"),))


@pytest.mark.parametrize("table", [{"scope": "row"}, {"outputs": [{"kind": "bool"}]}])
def test_what_a_pack_describes_in_words_that_there_are_not_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not one of"):
        EvaluatorInfo.from_dict({"name": "polite", "version": "1", "pack": "python", **table})


def test_the_manifest_of_a_third_party_carries_its_publisher(tmp_path: Path) -> None:
    pack = load_manifest(written(tmp_path, GOOD.replace('"core"', '"acme/readability"'))).to_pack(tmp_path)
    assert (pack.publisher, pack.is_builtin) == ("acme", False)
    assert pack.evaluators[0].ref == "acme/readability/exact-match"


def test_what_a_manifest_leaves_out_has_a_default(tmp_path: Path) -> None:
    text = GOOD.replace('workers = "wide"\nrecord_timeout_s = 30\n', "")
    pack = load_manifest(written(tmp_path, text)).to_pack(tmp_path)
    assert (pack.workers, pack.record_timeout_s, pack.memory_mb) == ("cpu", 60.0, 2048)


@pytest.mark.parametrize(
    ("old", "new", "at", "told"),
    [
        ("summary =", "sumary =", "sumary", 'Did you mean "summary"?'),
        ("record_timeout_s = 30", "record_timout_s = 30", "run.record_timout_s", 'Did you mean "record_timeout_s"?'),
        ("record_timeout_s = 30", "record_timeout_s = 0", "run.record_timeout_s", "greater than 0"),
        ("record_timeout_s = 30", "record_timeout_s = inf", "run.record_timeout_s", "finite number"),
        ("record_timeout_s = 30", "record_timeout_s = true", "run.record_timeout_s", "must be a number, not true"),
        ('"wide"', '"many"', "run.workers", "must be 'cpu' or 'wide', not the text \"many\""),
        ('"evalsi_pack_core"', '"evalsi pack core"', "run.module", "must be the dotted name of a module"),
        ('version = "1"', "version = 1", "evaluators[0].version", "must be text, not the number 1. Put it in quotes."),
        ('name = "exact-match"', 'name = "exact match"', "evaluators[0].name", "must be letters, digits, - and _"),
        ('name = "latency"', 'name = "exact-match"', "evaluators", 'has 2 tables named "exact-match"'),
        ('"reference"', '"refrence"', "evaluators[0].needs", 'names "refrence". Did you mean "reference"?'),
        ('"usage.latency_ms"', '"use.latency_ms"', "evaluators[1].needs", 'names "use.latency_ms"'),
        ("asks = []", 'asks = ["network"]', "evaluators[0].asks", "Use: judge, embed, sandbox."),
        ('scope = "record"', 'scope = "row"', "evaluators[0].scope", "must be 'record' or 'dataset'"),
        ('kind = "pass"', 'kind = "bool"', "evaluators[0].outputs[0].kind", "must be 'pass', 'number' or 'label'"),
        ('kind = "pass"', 'kind = "pass", max = 1', "evaluators[0].outputs[0].max", 'Did you mean "maximum"?'),
        ('kind = "pass"', 'kind = "pass", unit = "ms"', "evaluators[0].outputs[0].unit", "is only allowed for numbers"),
        ("minimum = 0", "minimum = 2, maximum = 1", "evaluators[1].outputs[0].minimum", "greater than the maximum 1"),
        ("minimum = 0", "minimum = nan", "evaluators[1].outputs[0].minimum", "finite number"),
        ("default = true", 'default = "yes"', "evaluators[0].params.properties.normalize.default", "true or false"),
        ("default = true", "pattern = 1", "evaluators[0].params.properties.normalize.pattern", "not a keyword"),
        ("default = true", "default = 1979-05-27", "evaluators[0].params.properties.normalize.default", "a date"),
        ('type = "object",', 'type = "array",', "evaluators[0].params.type", 'must be "object"'),
        ('name = "core"', 'name = "Core Checks"', "name", "as name or publisher/name"),
        ('name = "core"', 'name = "builtin"', "name", "is reserved"),
        ('name = "core"', 'name = "builtin/x"', "name", "is reserved"),
        ('name = "core"', 'name = "evalsi/x"', "name", "is reserved"),
        ('summary = "Deterministic checks."', 'summary = ""', "summary", "must not be empty"),
        ('summary = "Deterministic checks."', 'summary = "Two\\nlines."', "summary", "must be one line"),
        ('name = "core"\n', "", "name", "is missing. Add it."),
    ],
)
def test_a_fault_is_told_with_its_place_and_its_hint(tmp_path: Path, old: str, new: str, at: str, told: str) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    found = problems_of(tmp_path, text)
    assert told in found[at]


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    text = GOOD.replace('"wide"', '"many"').replace('version = "1"', "version = 1").replace('"reference"', '"refrence"')
    text = text.replace("default = true", "default = 3").replace("summary", "sumary")
    found = problems_of(tmp_path, text)
    assert set(found) == {
        "summary",
        "sumary",
        "run.workers",
        "evaluators[0].version",
        "evaluators[0].sumary",
        "evaluators[0].needs",
        "evaluators[0].params.properties.normalize.default",
    }


def test_the_message_of_several_faults_has_a_line_for_each(tmp_path: Path) -> None:
    with pytest.raises(PackError) as caught:
        load_manifest(written(tmp_path, GOOD.replace("summary", "sumary")))
    lines = caught.value.message.splitlines()
    assert lines[0] == f"{tmp_path / 'plugin.toml'}: 3 problems:"
    assert all(line.startswith("  ") and line.endswith(".") for line in lines[1:])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "manifest is missing"),
        ("evaluators = 3\nrun = 4\n", "run must be a table, not the number 4"),
        ("evaluators = [1]\n", "evaluators[0] must be a table, not the number 1"),
        ("evaluators = []\n", "evaluators is an empty list"),
        ('[[evaluators]]\noutputs = [1]\nneeds = "output"\nparams = []\n', "evaluators[0].needs must be a list"),
        ("[run\n", "is not TOML"),
        ("name = 'a'\nname = 'b'\n", "is not TOML"),
        ("a = " + "[" * 20_000 + "]" * 20_000, "is not TOML"),
        ("a = 1\n" + "a." * 20_000 + "b = 1", "is not TOML: a key has more than 50 parts (at line 2)"),
        ("[" + '"\\"" . ' * 20_000 + "b]", "is not TOML: a key has more than 50 parts (at line 1)"),
        ("a = { " + "'x' . " * 20_000 + "b = 1 }", "is not TOML: a key has more than 50 parts (at line 1)"),
        ("# " + "x" * (512 << 10), "is larger than 512 KiB"),
    ],
)
def test_a_manifest_of_quite_another_shape_is_told_too(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(PackError) as caught:
        load_manifest(written(tmp_path, text))
    assert told in caught.value.message


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("manifest = 1", "manifest = 2\nnews = true", "Upgrade Evals.si."),
        ("manifest = 1", "manifest = 0", "Set manifest = 1."),
        ("protocol = 1", "protocol = 9", "Upgrade Evals.si."),
    ],
)
def test_a_manifest_of_another_format_is_not_judged_by_this_ones_keys(
    tmp_path: Path, old: str, new: str, hint: str
) -> None:
    with pytest.raises(PackError, match="only supports 1") as caught:
        load_manifest(written(tmp_path, GOOD.replace(old, new)))
    assert caught.value.hint == hint


def test_a_manifest_that_is_not_utf_8_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "plugin.toml"
    path.write_bytes(b'manifest = 1\nname = "caf\xe9"\n')
    with pytest.raises(PackError, match=r"is not UTF-8 \(line 2\)"):
        load_manifest(path)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "plugin.toml"
    path.write_text(GOOD, "utf-8-sig")
    assert load_manifest(path).name == "core"


def test_a_manifest_that_cannot_be_read_is_told_with_the_cause(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="cannot be read: No such file"):
        load_manifest(tmp_path / "plugin.toml")


def of_wasm(**run: str) -> str:
    """A manifest whose code is a file that another runtime runs."""
    lines = [f"{key} = {value}" for key, value in {"runtime": '"wasm"', "module": '"words.wasm"', **run}.items()]
    return GOOD.replace('module = "evalsi_pack_core"', "\n".join(lines))


def test_a_pack_of_another_runtime_names_a_file_and_what_the_runtime_is_told(tmp_path: Path) -> None:
    text = of_wasm(module='"build/words-2.wasm"', options="{ fuel_per_record = 1_000_000 }")
    pack = load_manifest(written(tmp_path, text)).to_pack(tmp_path)
    assert (pack.runtime, pack.module) == ("wasm", "build/words-2.wasm")
    assert pack.options == {"fuel_per_record": 1_000_000}
    assert PackInfo.from_dict(json.loads(json.dumps(pack.to_dict()))) == pack


@pytest.mark.parametrize(
    ("text", "at", "told"),
    [
        (of_wasm(module='"../words.wasm"'), "run.module", "outside of the pack's folder"),
        (of_wasm(module='"/usr/lib/words.wasm"'), "run.module", "outside of the pack's folder"),
        (of_wasm(runtime='"Wasm 2"'), "run.runtime", "must be lower-case letters"),
        (of_wasm(options="{ since = 1979-05-27 }"), "run.options.since", "must be"),
        (of_wasm(runtime='"python"', module='"words-2.wasm"'), "run.module", "must be the dotted name of a module"),
        (
            of_wasm(runtime='"python"', module='"m"', options="{ a = 1 }"),
            "run.options",
            "not supported by the Python runtime",
        ),
    ],
)
def test_what_does_not_fit_another_runtime_is_refused(text: str, at: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(PackError) as raised:
        load_manifest(written(tmp_path, text))
    assert at in str(raised.value)
    assert told in str(raised.value)
