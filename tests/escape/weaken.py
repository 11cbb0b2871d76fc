"""Ways to take a single defence away, for the control runs: what is missing here is what the attack is stopped by."""

import contextlib
import json
import marshal
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from escape.world import Scene, fill
from metnos.executors import broker, effect_files, effect_rules, exposure, perform, prepare
from metnos.sandbox import channel, pool, profile, seccomp, zygote
from metnos.sandbox.inside import kernel
from metnos.sandbox.profile import Walls

Weaken = Callable[[pytest.MonkeyPatch, Scene], object]


def walls(**changes: Any) -> Weaken:
    """Other walls than the call was permitted; ``binds`` are added, with the scene's facts filled in."""

    def weaken(patch: pytest.MonkeyPatch, scene: Scene) -> None:
        real = prepare.build_walls

        def build(*args: Any) -> Walls:
            built = real(*args)
            new = {key: value(built) if callable(value) else value for key, value in changes.items()}
            if "binds" in new:
                new["binds"] = tuple(fill(bind, {**scene.facts(), "root": str(scene.root)}) for bind in new["binds"])
            return replace(built, **new)

        patch.setattr(perform, "build_walls", build)

    return weaken


def show(*paths: str) -> Weaken:
    """These paths are bound too."""
    return walls(binds=lambda built: (*built.binds, *paths))


def only(*paths: str) -> Weaken:
    return walls(binds=lambda _: paths)


no_masks = walls(masks=())


def no_filter(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """No seccomp at all."""
    patch.setattr(seccomp, "base", lambda *_, **__: b"")
    patch.setattr(seccomp, "seal", lambda *_, **__: b"")


def inside(module: str, old: str, new: str) -> Weaken:
    """Our own code inside, with other words in it."""

    def weaken(patch: pytest.MonkeyPatch, _: Scene) -> None:
        real = zygote._compiled()
        path = Path(zygote.__file__).with_name("inside") / f"{module}.py"
        text = path.read_text()
        assert old in text, old
        code = marshal.dumps(compile(text.replace(old, new), f"<inside/{module}>", "exec"))
        changed = tuple((name, code if name == module else packed) for name, packed in real)
        patch.setattr(zygote, "_compiled", lambda: changed)

    return weaken


def command(old: str, new: str) -> Weaken:
    """Bubblewrap's command line with other words; the words are separated by blanks."""

    def weaken(patch: pytest.MonkeyPatch, _: Scene) -> None:
        real = profile.command

        def changed(*args: Any, **more: Any) -> list[str]:
            *line, last = real(*args, **more)
            text = "\0".join(line)
            assert old.replace(" ", "\0") in text
            return [*text.replace(old.replace(" ", "\0"), new.replace(" ", "\0"), 1).split("\0"), last]

        patch.setattr(profile, "command", changed)

    return weaken


def with_devices(patch: pytest.MonkeyPatch, scene: Scene) -> None:
    """Device nodes work: bubblewrap's own flag and ours are two walls, one behind the other."""
    patch.setattr(kernel, "NO_DEVICES", 0)
    command("--ro-bind / /host", "--dev-bind / /host")(patch, scene)


def planted(patch: pytest.MonkeyPatch, scene: Scene) -> None:
    """The secret comes into the zygote with its configuration."""
    real = profile.config
    patch.setattr(profile, "config", lambda *args, **more: {**real(*args, **more), "planted": [scene.secret]})


def both(*ways: Weaken) -> Weaken:
    def weaken(patch: pytest.MonkeyPatch, scene: Scene) -> None:
        for way in ways:
            way(patch, scene)

    return weaken


def trusting(name: str, answer: Callable[..., Any]) -> Weaken:
    """A broker that skips one of its checks."""
    return lambda patch, _: patch.setattr(broker.Broker, name, answer)


any_target = trusting("_target", lambda _, message, name, **__: broker._path(message, name)[-1])
any_source = trusting("_source", lambda _, message, name, **__: broker._path(message, name)[-1])
any_pattern = trusting("_declare", lambda *_, **__: None)


def any_host(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """Both looks at a host: before its name is looked up, and after."""
    patch.setattr(broker.Broker, "_screen", lambda *_: None)
    patch.setattr(broker.Broker, "_allow", lambda _, __, host, method, found: broker.http_need(host, method, found))


def any_call(patch: pytest.MonkeyPatch, _: Scene) -> None:
    patch.setattr(broker.Broker, "_call", lambda self, message, _: self._reach.call(message["name"], message["args"]))


def any_fact(patch: pytest.MonkeyPatch, _: Scene) -> None:
    patch.setattr(broker.Broker, "_system", lambda self, message, _: self._reach.facts(message["what"]))


def any_descriptor(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """Both looks at what came along: by the broker and by the hands."""
    patch.setattr(broker, "_kept", lambda descriptor: contextlib.nullcontext((descriptor, "0" * 64)))
    patch.setattr(effect_rules.Hand, "_size_of", lambda *_: 0)


def nothing_forbidden(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """Both looks at a name: by the broker and by the hands."""
    patch.setattr(effect_rules.Hand, "_ask", lambda *_: None)
    patch.setattr(broker, "refuse_ways", lambda *_: None)
    patch.setattr(broker.Broker, "_refuse_hidden", lambda *_: None)
    patch.setattr(broker.Broker, "_refuse_running", lambda *_: None)


def no_second_look(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """What was private when the walls were built is hidden, and nothing that came since."""
    patch.setattr(exposure.Exposure, "check", lambda _: None)


def follows_links(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """Folders are opened by their path alone, links and all."""
    patch.setattr(effect_files, "open_folder", lambda path: effect_files.os.open(path, effect_files.os.O_DIRECTORY))


def unpickles(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """A channel that reads pickles, as so many do."""

    class Reader:
        @staticmethod
        def decode(body: bytes, _: int) -> Any:
            return json.loads(body) if body[:1] == b"{" else pickle.loads(body)

    patch.setattr(channel, "message_json", Reader)


def lets_live(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """Nobody ends a child when its call is over."""
    patch.setattr(zygote.Zygote, "kill", lambda *_: None)


def keeps_info(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """Where every descriptor is inherited, bubblewrap's own must be too."""
    real = zygote.Zygote._spawn

    def spawn(self: zygote.Zygote, line: list[str], theirs: Any, info: int, without: frozenset[str]) -> Any:
        os.set_inheritable(info, True)
        return real(self, line, theirs, info, without)

    patch.setattr(zygote.Zygote, "_spawn", spawn)


def programs_in_data(patch: pytest.MonkeyPatch, _: Scene) -> None:
    patch.setattr(kernel, "NO_PROGRAMS", 0)


def long_logs(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """Whatever the child says was printed is kept."""
    patch.setattr(perform, "_LONGEST_LOG", 1 << 30)


def long_paths(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """Whatever the child says it reached for is kept."""
    real = pool._heard

    def heard(message: dict[str, Any], ended: Any, *more: Any) -> bool:
        if message["op"] == "reached":
            ended.reached.append(str(message["path"]))
            return False
        return bool(real(message, ended, *more))

    patch.setattr(pool, "_heard", heard)
    patch.setattr(perform, "judge_reach", lambda *_: (perform.Breach.NONE, ""))


def show_sibling(patch: pytest.MonkeyPatch, scene: Scene) -> None:
    """All calls share one /tmp: a folder of the machine that holds what another call left there."""
    shared = scene.root / "shared"
    shared.mkdir(mode=0o755)
    (shared / "secret").write_text(scene.secret)
    inside(
        "walls",
        'kernel.mount_tmpfs(_NEW_ROOT + "/tmp"',
        f"_attach(HOST, {str(shared)!r}, {str(shared)!r}, 0, None)\n"
        "    kernel.attach_tree(kernel.clone_tree(os.open(_NEW_ROOT + "
        f'{str(shared)!r}, os.O_PATH)), _NEW_ROOT + "/tmp")\n    (lambda *_, **__: None)(_NEW_ROOT + "/tmp"',
    )(patch, scene)


def keeps_descriptors(patch: pytest.MonkeyPatch, _: Scene) -> None:
    """A channel that forgets what came along."""
    patch.setattr(channel, "_take", lambda *_: None)
