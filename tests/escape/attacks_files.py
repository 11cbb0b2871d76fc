"""Attacks on the owner's files: every way to spell, link, open or keep a path that was not shown."""

import json

from escape import outside, weaken
from escape.world import Attack, Scene, changed, said
from metnos.executors.outcome import Outcome

BOX = 'fs.read = ["@box@/**"]'
READ = "def run(args, ctx):\n    return say(*tried({}))"
FAMILY = "files"


OUTSIDE = weaken.show("@outside@")


def reads(name: str, holds: str, *ways: str, weakened: weaken.Weaken = OUTSIDE, **more: object) -> Attack:
    """The code tries these expressions one after the other; the secret must not come out of any."""
    source = READ.format(", ".join(f"lambda: {way}" for way in ways))
    more = {"capabilities": BOX, "weaken": weakened, **more}
    return Attack(name, FAMILY, holds, source, **more)  # type: ignore[arg-type]


def _link_file(scene: Scene) -> None:
    (scene.box / "link").symlink_to(scene.canary)


def _link_folder(scene: Scene) -> None:
    (scene.box / "link").symlink_to("../outside")


def _move_out(scene: Scene) -> None:
    (scene.box / "deep").rename(scene.outside / "deep")


# The folder that the code stands in is moved out of what is bound, and `..` from there would lead out (it does not,
# because the kernel sees that the folder is no longer below the mount).
MOVED = """
def run(args, ctx):
    os.chdir("@box@/deep")
    open("@box@/met").read()
    return say(*tried(lambda: slurp("../canary"), lambda: os.listdir("..")))
"""
OPENED = """
def run(args, ctx):
    at = os.open("@box@", os.O_PATH | os.O_DIRECTORY)
    os.fchdir(at)
    def path_descriptor():
        there = os.open("@outside@", os.O_PATH)
        return slurp(f"/proc/self/fd/{there}/canary")
    return say(*tried(
        lambda: os.read(os.open("../outside/canary", 0, dir_fd=at), 99),
        lambda: slurp("../outside/canary"),
        path_descriptor,
    ))
"""
INHERITED = """
def run(args, ctx):
    got = []
    for number in range(256):
        got += tried(
            lambda: os.read(os.open("canary", os.O_RDONLY, dir_fd=number), 99),
            lambda: os.pread(number, 99, 0),
            lambda: (os.fchdir(number), slurp("canary")),
        )
    return say(*[word for word in got if "Error" not in str(word)])
"""
HANDLE = """
def run(args, ctx):
    handle = ctypes.create_string_buffer(bytes.fromhex("@handle@"))
    got = call(304, os.open("@box@", os.O_RDONLY), handle, 0)
    return say(os.read(got, 99) if got >= 0 else got)
"""
CHANGES = """
def run(args, ctx):
    return say(*tried(
        lambda: open("@box@/made", "x"),
        lambda: os.link("@box@/seen.txt", "@box@/linked"),
        lambda: os.symlink("x", "@box@/symlinked"),
        lambda: os.mkdir("@box@/folder"),
        lambda: os.rename("@box@/seen.txt", "@box@/renamed"),
    ))
"""
CHANGES_IN_PLACE = """
def run(args, ctx):
    def by_descriptor():
        at = os.open("@box@/canary", os.O_RDONLY)
        os.fchmod(at, 0o777)
        os.ftruncate(at, 0)
    return say(*tried(
        lambda: os.truncate("@box@/canary", 0),
        lambda: open("@box@/canary", "r+").write("x"),
        lambda: os.open("@box@/canary", os.O_RDONLY | os.O_TRUNC),
        by_descriptor,
        lambda: os.unlink("@box@/canary"),
    ))
"""
UNMASK = """
def run(args, ctx):
    call(166, b"@box@/.ssh", 2)
    return say(*tried(lambda: slurp("@box@/.ssh/config")))
"""


# While it waits, something private comes into its box: its words must not leave it in any way.
LATE = """
def run(args, ctx):
    open("@box@/met").read()
    got = tried(lambda: slurp("@box@/{name}").decode())[0]
    {then}
"""
LATE_WAYS = {
    "in the reply": ".netrc: return say(got)",
    "in a question": ".netrc: ctx.write('@box@/out/' + got, 'x'); return say('asked')",
    "in a failure": "sub/.env: ctx.fail('failed', got)",
    "in a crash": "sub/.env: raise ValueError(got)",
    "in the log": "new/keys/id_rsa: print(got); return say('printed')",
    "in a path": ".netrc: tried(lambda: open('/' + got)); return say('reached')",
}


def _late(scene: Scene) -> None:
    """As programs save: the new file takes the name of the old one, or comes in a folder that is moved in."""
    for name in (".netrc", "sub/.env"):
        fresh = scene.outside / "fresh"
        fresh.write_text(scene.secret)
        fresh.chmod(0o644)
        fresh.rename(scene.box / name)
    (scene.outside / "new" / "keys").mkdir(parents=True)
    (scene.outside / "new" / "keys" / "id_rsa").write_text(scene.secret)
    (scene.outside / "new").rename(scene.box / "new")


def _told(scene: Scene, outcome: Outcome) -> str:
    """What the caller gets, and what was done for it; not what was thrown away."""
    came = json.dumps([dict(outcome.reply), outcome.log, outcome.message, outcome.effects, outcome.where])
    left = [path.name for path in (scene.box / "out").iterdir()]
    return f"the secret came out: {came[:300]} {left}" if scene.secret in f"{came}{left}" else ""


def _prepare_late(scene: Scene) -> None:
    for name in (".netrc", "sub/.env", "out"):
        (scene.box / name).parent.mkdir(exist_ok=True)
        (scene.box / name).mkdir() if name == "out" else (scene.box / name).write_text("masked")


def late(way: str, words: str) -> Attack:
    name, _, then = words.partition(": ")
    return Attack(
        f"late secret {way}", FAMILY, "what comes in while it runs does not leave it",
        LATE.replace("{name}", name).replace("{then}", then), escaped=_told,
        capabilities=BOX + '\nfs.write = ["@box@/out/**"]', reversal="remove_created",
        setup=outside.meanwhile(_late, outside.made(_prepare_late), meeting=2), weaken=weaken.no_second_look,
    )  # fmt: skip


def _box_canary(scene: Scene) -> None:
    (scene.box / "canary").write_text(scene.secret)


def _box_changed(scene: Scene, _: object) -> str:
    path = scene.box / "canary"
    return "" if path.exists() and path.read_text() == scene.secret else "the file in the box was changed"


def _anything_new(scene: Scene, outcome: object) -> str:
    new = sorted({path.name for path in scene.box.iterdir()} ^ {"seen.txt"})
    return f"the box was changed: {new}" if new else ""


ATTACKS = (
    reads("absolute path", "a path that was not shown is not there", 'slurp("@canary@")', 'os.listdir("@outside@")'),
    reads("dots", "dots lead nowhere else", 'slurp("@box@/../outside/canary")', 'slurp("/tmp/../../..@canary@")'),
    reads("slashes", "slashes lead nowhere else", 'slurp("//@canary@")', 'slurp("@box@/.//../outside/./canary")'),
    reads("link to a file", "a link in the box does not lead out", 'slurp("@box@/link")',
          setup=outside.made(_link_file)),
    reads("link to a folder", "a link in the box does not lead out", 'slurp("@box@/link/canary")',
          'os.listdir("@box@/link/")', setup=outside.made(_link_folder)),
    reads("own link", "a link that it makes in its /tmp does not lead out",
          '(os.symlink("@outside@", "/tmp/l"), slurp("/tmp/l/canary"))'),
    reads("through /proc", "there is no /proc to lead out",
          'slurp("/proc/self/root@canary@")', 'slurp("/proc/self/cwd/../@canary@")', 'slurp("/proc/1/root@canary@")',
          weakened=weaken.show("/proc", "@outside@")),
    # The zygote sees the machine below /host: a new root and Landlock both stand before it.
    reads("the zygote's view", "what the zygote sees is gone", 'slurp("/host@canary@")',
          'slurp("/host/../host@canary@")',
          weakened=weaken.command("--dir /new", "--dir /new --dir /tmp"), without="root, landlock, uid"),
    Attack("openat", FAMILY, "a folder's descriptor leads no higher than the folder", OPENED, capabilities=BOX,
           weaken=weaken.show("@outside@")),
    # The descriptors of Metnos are closed at its fork, by bubblewrap's start and again in the child; Landlock besides.
    Attack("inherited descriptors", FAMILY, "no descriptor of Metnos comes along", INHERITED,
           without="descriptors, landlock", weaken=weaken.keeps_info,
           setup=outside.made(lambda scene: scene.inherit())),
    # seccomp, the missing right to search and Landlock
    Attack("file handle", FAMILY, "a handle opens nothing", HANDLE, capabilities=BOX,
           setup=outside.made(outside.handle),
           without="call open_by_handle_at, uid, rights, landlock", only_root="control"),
    Attack("moved folder", FAMILY, "a folder that is moved away takes nobody out", MOVED, capabilities=BOX,
           setup=outside.meanwhile(_move_out, outside.made(lambda scene: (scene.box / "deep").mkdir())),
           weaken=weaken.only("@root@")),
    reads("masked folder", "keys in a bound home are hidden", 'slurp("@box@/.ssh/config")', 'os.listdir("@box@/.ssh")',
          'slurp("@box@/./sub/../.ssh/config")', setup=outside.secret_at(".ssh/config", "sub/x"),
          weakened=weaken.no_masks),
    reads("masked files", "forbidden names anywhere below are hidden", 'slurp("@box@/.env")',
          'slurp("@box@/a/b/id_rsa")', 'slurp("@box@/deep/server.PEM")',
          setup=outside.secret_at(".env", "a/b/id_rsa", "deep/server.PEM"), weakened=weaken.no_masks),
    reads("own records", "an agent's keys, log and law are hidden even in a bound workspace",
          'slurp("@box@/.keys/agent.key")', 'slurp("@box@/.audit/x")', 'slurp("@box@/.law/law.db")',
          setup=outside.secret_at(".keys/agent.key", ".audit/x", ".law/law.db"), weakened=weaken.no_masks),
    *(late(way, words) for way, words in LATE_WAYS.items()),
    # seccomp, the missing right to mount, and Landlock
    Attack("unmask", FAMILY, "a mask cannot be taken off", UNMASK, capabilities=BOX,
           setup=outside.secret_at(".ssh/config"), without="call umount2, uid, rights, landlock"),
    # a read-only mount, and Landlock
    Attack("new files", FAMILY, "nothing new comes into the box", CHANGES, capabilities=BOX, escaped=_anything_new,
           without="read-only, landlock"),
    Attack("changed files", FAMILY, "nothing in the box is changed", CHANGES_IN_PLACE, capabilities=BOX,
           escaped=_box_changed, setup=outside.made(_box_canary), without="read-only, landlock"),
    Attack("writing outside", FAMILY, "nothing outside the box is changed",
           'def run(args, ctx):\n    return say(*tried(lambda: open("@canary@", "w").write("x")))',
           escaped=changed, without="read-only, landlock", weaken=weaken.show("@outside@")),
    Attack("writing system", FAMILY, "its own root is read-only too",
           'def run(args, ctx):\n    open("/leak", "w").write("x")\n    return say("wrote " + "it")',
           escaped=said("wrote it"), without="read-only, landlock, uid"),
    Attack("device", FAMILY, "a device in the box is none",
           'def run(args, ctx):\n    return say(*tried(lambda: open("@box@/zero", "rb").read(3)))', capabilities=BOX,
           setup=outside.made(outside.device), escaped=said("x00"), weaken=weaken.with_devices, only_root="scene"),
)  # fmt: skip
