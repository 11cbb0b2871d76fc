"""Attacks from within the interpreter: on our own code beside it, on Metnos's source, on who reads the reply."""

import sysconfig
from pathlib import Path

import metnos
from escape import weaken
from escape.world import Attack, Scene, appeared, changed, leaked, said
from metnos.executors.outcome import Outcome

FAMILY = "python"
SOURCE = str(Path(metnos.__file__).parent)
IMPORT = f"""
def run(args, ctx):
    sys.path.insert(0, {str(Path(SOURCE).parent)!r})
    for name in [name for name in sys.modules if name.startswith("metnos")]:
        del sys.modules[name]
    def load():
        import metnos.core.errors
        return "loaded " + metnos.core.errors.__name__
    return say(*tried(load, lambda: "source " + str(len(slurp({SOURCE!r} + "/app.py")))))
"""
# Where Metnos is installed beside the libraries, a file leads to it.
PACKAGES = str(Path(sysconfig.get_path("purelib")).resolve())
SITE = """
import site

def run(args, ctx):
    before = set(sys.path)
    for name in [name for name in sys.modules if name.startswith("metnos")]:
        del sys.modules[name]
    tried(lambda: site.addsitedir("/metnos/site"))
    def load():
        import metnos.core.errors
        return "loaded " + metnos.core.errors.__name__
    return say(*tried(load), sorted(set(sys.path) - before))
"""
# Every frame below is ours: the channel, the job and the loop that sends the reply are in their variables.
FRAMES = """
def run(args, ctx):
    step, talk = sys._getframe(), None
    while step is not None:
        talk = step.f_locals.get("talk", talk)
        step = step.f_back
    talk.say({"op": "write", "path": "@canary@", "text": "x", "overwrite": True, "append": False})
    return say(talk.hear())
"""
TRACE = """
def run(args, ctx):
    def watch(step, event, value):
        talk = step.f_locals.get("talk")
        if talk is not None and event == "call" and step.f_code.co_name == "say":
            pass
        if "message" in step.f_locals and step.f_code.co_name == "_perform":
            step.f_locals["talk"].say({"op": "write", "path": "@canary@", "text": "x", "overwrite": True})
        return watch
    sys.settrace(watch)
    sys._getframe(1).f_trace = watch
    return say("x")
"""
# A hook that was added first cannot be taken away, but what does not go through Python it never sees.
UNSEEN = """
def run(args, ctx):
    at = call(2, b"@canary@", 0, 0)
    got = os.read(at, 99) if at >= 0 else at
    return say(got)
"""
PATCHED = """
def run(args, ctx):
    kernel = sys.modules["metnos.sandbox.inside.kernel"]
    os.chdir("/")
    got = tried(lambda: kernel.mount_tmpfs("/tmp", size=1 << 30, files=9, mode="0777"))
    room = os.statvfs("/tmp")
    return say("more " + "room" if room.f_blocks * room.f_bsize > 1 << 28 else got)
"""
PICKLE = """
import pickle

class Evil:
    def __reduce__(self):
        return (os.mkdir, ("@outside@/pwned",))

def run(args, ctx):
    ctx._talk._socket.sendall(frame(pickle.dumps(Evil())))
    time.sleep(600)
"""
OBJECT = """
class Evil(dict):
    def items(self):
        return [("said", open("@canary@").read())]

def run(args, ctx):
    return {KEY: [Evil(said="x")]}
"""
CTX = """
def run(args, ctx):
    ctx.dry_run = False
    ctx.limit = 10 ** 9
    ctx.workspace = "/"
    ctx._facts["now"] = 0
    type(ctx).dry_run = property(lambda self: False)
    type(ctx).Failure = ValueError
    return say(*tried(lambda: ctx.write("@canary@", "x", overwrite=True)))
"""


def _loaded(scene: Scene, outcome: Outcome) -> str:
    return said("loaded metnos")(scene, outcome) or said("source ")(scene, outcome)


ATTACKS = (
    Attack("importing Metnos", FAMILY, "nothing of Metnos is there to be imported or read", IMPORT, escaped=_loaded,
           weaken=weaken.show(str(Path(SOURCE).parent))),
    Attack("importing by .pth", FAMILY, "the libraries' folder does not lead to Metnos", SITE, escaped=_loaded,
           weaken=weaken.show(str(Path(SOURCE).parent), PACKAGES), control={"/metnos/site": PACKAGES}),
    Attack("frames", FAMILY, "who has the channel has only the broker", FRAMES, escaped=changed,
           weaken=weaken.both(weaken.any_target, weaken.any_pattern)),
    Attack("settrace", FAMILY, "who traces our code has only the broker", TRACE, escaped=changed,
           weaken=weaken.both(weaken.any_target, weaken.any_pattern)),
    Attack("unseen by hooks", FAMILY, "the walls need no audit hook", UNSEEN, escaped=leaked,
           weaken=weaken.show("@outside@")),
    Attack("our own code", FAMILY, "the code that built the walls cannot open them again", PATCHED,
           escaped=said("more room"), without="call mount, uid, rights, landlock"),
    Attack("pickle", FAMILY, "a reply is read as data", PICKLE, escaped=appeared("outside/pwned"),
           weaken=weaken.unpickles),
    Attack("odd objects", FAMILY, "a reply is plain data", OBJECT, escaped=leaked, weaken=weaken.show("@outside@")),
    Attack("changing ctx", FAMILY, "what it makes of ctx is its own affair", CTX, escaped=changed,
           weaken=weaken.both(weaken.any_target, weaken.any_pattern)),
)  # fmt: skip
