import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.samples import MANIFEST, manifest_text
from metnos.core.errors import ExecutorFailed, ManifestError
from metnos.core.sections import ExecutorSettings
from metnos.executors import manifest
from metnos.executors.manifest import Kind, Manifest, Reversal, parse
from tables import try_each

SOUND = manifest_text()


def changed(old: str, new: str, text: str = SOUND) -> str:
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the sample"
    return text.replace(old, new)


def mutator(reversal: str, capability: str) -> str:
    text = manifest_text("move_files", kind='"mutator"', reversal=f'"{reversal}"')
    return changed('fs.read = ["/**"]', f'fs.read = ["/**"]\n{capability}', text)


def test_a_sound_manifest() -> None:
    read = parse(SOUND)
    assert (read.name, read.version, read.kind, read.reversal) == (
        "find_files",
        "1.0.0",
        Kind.PRODUCER,
        Reversal.NOTHING,
    )
    assert read.capabilities.names() == ("fs.read",)
    assert [(path.name, path.mode, path.many) for path in read.paths] == [("path", "read", False)]
    assert read.result_key == "entries"
    assert (read.words.verb, read.words.object, read.words.qualifier) == ("find", "files", None)


@try_each(
    ("old", "new", "said"),
    [
        ('name = "find_files"', 'name = "find_filez"', "Did you mean 'files'"),
        ('name = "find_files"', "", "field `name` is missing"),
        ('version = "1.0.0"', 'version = "1.0"', "`version` does not fit"),
        ('version = "1.0.0"', 'version = "1.0.0"\nauthor = "x"', "no field `author`"),
        ('purpose = "Find files below a folder."', 'purpose = "a\\nb"', "`purpose` must be one plain line"),
        ('kind = "producer"', 'kind = "reader"', "`kind` does not fit"),
        ('kind = "producer"', 'kind = "producer"\nlibraries = ["numpy"]', "`libraries.0` does not fit"),
        ('kind = "producer"', 'kind = "mutator"', "needs a capability to change"),
        ('reversal = "nothing"', 'reversal = "irreversible"', "cannot be 'irreversible' for a producer"),
        ('reversal = "nothing"', 'reversal = "magic"', "`reversal` does not fit"),
        ('x-path = "read"', 'x-path = "both"', 'must be "read" or "write"'),
        ('x-path = "read"', 'x-path = "write"', "no `capabilities.fs.write`"),
        ('default = "*"', 'default = 3', "`args.properties.pattern.default` does not fit"),
        ('default = "*"', 'x-path = "read"\nitems = { x-path = "read" }', "stands deeper"),
        ('description = "How deep to look."', "", "`args.properties.depth` has no description"),
        ('type = "integer"\nminimum = 1', "minimum = 1", "`args.properties.depth` has no type"),
        ("minimum = 1", 'x-path = "read"', "for text or a list of text only"),
        ("minimum = 1", 'minimum = "x"', "not valid JSON Schema"),
        ("minimum = 1", "minimum = 2026-01-01", "JSON has not"),
        ("minimum = 1", '"$ref" = "http://127.0.0.1:1/x"', "'$ref', which is not allowed"),
        ('default = "*"', 'pattern = "(?=a)"', "not valid JSON Schema"),
        ('required = ["path"]\n[args.properties.path]', 'required = ["paths"]\n[args.properties.path]', "no argument"),
        ('[args]\n', '[args]\nadditionalProperties = true\n', "always false"),
        ('[args]\n', '[args]\nproperty = { }\n', "`args.property` is not allowed there"),
        ('[args]\n', '[args]\ntype = "array"\n', "type object"),
        ('[output]\ntype = "object"', '[output]\ntype = "array"', "`output` must have"),
        ('required = ["path"]\n[output', 'required = ["paths"]\n[output', "`output.required` names 'paths'"),
        ('fs.read = ["/**"]', 'fs.read = ["Downloads"]', "begins with none of"),
        ('fs.read = ["/**"]', 'fs.read = ["/**"]\nfs.write = ["/**"]', "a producer changes nothing"),
        ('fs.read = ["/**"]', 'fs.read = ["/**"]\nfs.delete = ["/**"]', "no field `capabilities.fs.delete`"),
        ('fs.read = ["/**"]', 'fs.read = ["/**"]\nshell.exec = { allow = ["/usr/bin/ls"] }', "a producer changes"),
        ('fs.read = ["/**"]', 'fs.read = ["/**"]\nnet.http = { hosts = ["*"], methods = ["PUT"] }', "a producer"),
        ('fs.read = ["/**"]', 'fs.read = ["/**"]\nnet.http = { hosts = ["a:80"] }', "no host name"),
        ('fs.read = ["/**"]', 'fs.read = ["/**"]\nnet.http = { hosts = [] }', "`capabilities.net.http.hosts`"),
        ('fs.read = ["/**"]', 'fs.read = ["/**"]\nsystem.read = ["passwords"]', "`capabilities.system.read.0`"),
        ('fs.read = ["/**"]', 'fs.read = ["/**"]\nexecutor.call = ["find_files"]', "cannot call itself"),
        ('fs.read = ["/**"]', 'fs.read = ["/**"]\nexecutor.call = ["../x"]', "not the name of an executor"),
        ('fs.read = ["/**"]', 'fs.read = ["/**"]\n[quotas]\ncpu_s = 0', "`quotas.cpu_s`"),
        ('pattern = "*.pdf" }', 'pattern = 3 }', "`examples` number 1 cannot be called"),
        ('purpose =', 'purpose', "not valid TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(changed(old, new), where="find_files/manifest.toml")
    assert "find_files/manifest.toml" in caught.value.what
    assert said in str(caught.value)
    assert caught.value.fix


def test_a_path_without_a_scope_is_for_whoever_calls_others() -> None:
    read = parse(changed('fs.read = ["/**"]', 'executor.call = ["list_folders"]'))
    assert [argument.name for argument in read.paths] == ["path"]


def test_an_example_is_needed_and_size_is_bounded() -> None:
    with pytest.raises(ManifestError, match="examples"):
        parse(SOUND[: SOUND.index("[[examples]]")])
    with pytest.raises(ManifestError, match="too large"):
        parse(SOUND + "#" * manifest.MAX_CHARACTERS)


class TestReversal:
    @pytest.mark.parametrize("reversal", ["move_back", "remove_created", "restore_content", "restore_trashed"])
    def test_a_mutator_names_how_it_is_taken_back(self, reversal: str) -> None:
        read = parse(mutator(reversal, 'fs.write = ["~/**"]'))
        assert read.reversal == reversal
        assert read.result_key == "results"

    def test_a_mutator_cannot_have_nothing(self) -> None:
        with pytest.raises(ManifestError, match="cannot be 'nothing' for a mutator"):
            parse(mutator("nothing", 'fs.write = ["~/**"]'))

    @pytest.mark.parametrize(
        "capability",
        ['shell.exec = { allow = ["/usr/bin/ls"] }', 'net.http = { hosts = ["*"], methods = ["GET", "POST"] }'],
    )
    def test_what_cannot_be_taken_back_says_so(self, capability: str) -> None:
        with pytest.raises(ManifestError, match="irreversible"):
            parse(mutator("move_back", capability))
        assert parse(mutator("irreversible", capability)).reversal is Reversal.IRREVERSIBLE


class TestArguments:
    READ = parse(SOUND)

    def test_defaults_are_filled_in_and_the_given_stays(self) -> None:
        given = {"path": "/x"}
        assert self.READ.validate_args(given) == {"path": "/x", "pattern": "*"}
        assert given == {"path": "/x"}

    @pytest.mark.parametrize(
        ("args", "said"),
        [
            ({}, ["`path` is missing"]),
            ({"path": 3}, ["`path` must be text"]),
            ({"path": "/", "depth": 0, "patern": "x"}, ["`depth` must be at least 1", "did you mean `pattern`?"]),
            ({"path": float("nan")}, ["not plain JSON"]),
            ({"path": b"/x"}, ["not plain JSON"]),
            ({"path": "\ud800"}, ["not plain JSON"]),
        ],
    )
    def test_every_problem_is_said_without_the_value(self, args: dict[str, object], said: list[str]) -> None:
        with pytest.raises(ExecutorFailed) as caught:
            self.READ.validate_args(args)
        assert caught.value.kind == "invalid"
        for each in said:
            assert each in caught.value.what

    def test_paths_of_a_call(self) -> None:
        text = changed('type = "string"\nx-path', 'type = "array"\nitems = { type = "string" }\nx-path')
        listed = parse(changed('path = "~/Downloads"', 'path = ["~/Downloads"]', text))
        assert [path for _, path in listed.paths_in({"path": ["/a", "/b"]})] == ["/a", "/b"]
        assert [path for _, path in self.READ.paths_in({"path": "/a"})] == ["/a"]
        assert list(self.READ.paths_in({})) == []

    @given(
        st.dictionaries(st.sampled_from(["path", "pattern", "depth", "other"]), st.text() | st.integers() | st.none())
    )
    def test_what_passes_passes_again_unchanged(self, args: dict[str, object]) -> None:
        try:
            filled = self.READ.validate_args(args)
        except ExecutorFailed:
            return
        assert self.READ.validate_args(filled) == filled


class TestEntries:
    READ = parse(SOUND)

    def test_entries_as_described(self) -> None:
        self.READ.check_entries([{"path": "/a"}, {"path": "/b", "size": 3}])
        self.READ.check_entries([])
        self.READ.check_entry({"path": "/a"})

    def test_the_first_wrong_one_is_named_without_its_content(self) -> None:
        with pytest.raises(ExecutorFailed, match=r"entry 2.*`size`.*'type'") as caught:
            self.READ.check_entries([{"path": "/a"}, {"path": "/b", "size": "secret"}])
        assert "secret" not in str(caught.value)
        with pytest.raises(ExecutorFailed, match=r"entry 1.*'required'"):
            self.READ.check_entry({})
        with pytest.raises(ExecutorFailed):
            self.READ.check_entry("text")


class TestQuotas:
    def test_each_may_only_lower(self) -> None:
        text = SOUND + "\n[quotas]\ncpu_s = 2\nram_mb = 512\n"
        limits = parse(text).limits(ExecutorSettings())
        assert (limits.cpu_s, limits.ram_mb, limits.wall_s, limits.writes) == (2, 256, 30, 1000)
        with pytest.raises(ManifestError, match=r"`quotas\.ram_mb` asks for more than the settings allow \(256\)"):
            parse(text, defaults=ExecutorSettings())
        assert parse(text, defaults=ExecutorSettings(ram_mb=1024)).limits(ExecutorSettings(ram_mb=1024)).ram_mb == 512

    @given(st.floats(0.1, 600), st.floats(0.1, 600))
    def test_the_lower_holds(self, own: float, default: float) -> None:
        read = parse(f"{SOUND}\n[quotas]\ncpu_s = {own!r}\n")
        assert read.limits(ExecutorSettings(cpu_s=default)).cpu_s == min(own, default)


class TestCanonical:
    def test_spelling_does_not_matter_and_content_does(self) -> None:
        one = parse(SOUND).canonical()
        assert parse("# a comment\n" + SOUND.replace(" = ", "  =  ")).canonical() == one
        assert parse(changed('affinity = ["search", "locate"]\n', "")).canonical() != one
        assert parse(changed('"1.0.0"', '"1.0.1"')).canonical() != one

    def test_what_is_not_written_is_not_in_it(self) -> None:
        assert b"quotas" not in parse(SOUND).canonical()
        assert b"libraries" not in parse(SOUND).canonical()


def test_a_manifest_without_arguments() -> None:
    begin, end = SOUND.index("[args]"), SOUND.index("[output]")
    text = (SOUND[:begin] + SOUND[end:]).replace('{ path = "~/Downloads", pattern = "*.pdf" }', "{ }")
    assert parse(text).validate_args({}) == {}
    with pytest.raises(ExecutorFailed, match="there is no `x`"):
        parse(text).validate_args({"x": 1})


def test_a_signed_manifest_keeps_a_name_that_the_vocabulary_dropped() -> None:
    text = changed('name = "find_files"', 'name = "zap_gizmos"')
    assert parse(text, signed=True).name == "zap_gizmos"
    with pytest.raises(ManifestError):
        parse(text)


def test_every_field_is_described() -> None:
    listed = manifest.fields()
    names = [name for name, _, _, _ in listed]
    assert len(names) == len(set(names))
    for name, kind, _, description in listed:
        assert kind, name
        assert description.endswith("."), name
    top = {name.split(".")[0].removesuffix("[]") for name in names}
    assert top == set(Manifest.model_fields)
    assert {"capabilities.fs.read", "capabilities.net.http.methods", "quotas.ram_mb", "examples[].say"} <= set(names)


def test_the_sample_is_the_contracts_own_shape() -> None:
    assert tomllib.loads(MANIFEST.format(name="find_files", version="1.0.0"))["capabilities"] == {
        "fs": {"read": ["/**"]}
    }
