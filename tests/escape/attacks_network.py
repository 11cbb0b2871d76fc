"""Attacks over a network of any kind: somebody listens outside and must hear nothing."""

import socket

from escape import outside, weaken
from escape.world import Attack, said

FAMILY = "network"
SAYS = """
def run(args, ctx):
    def speak():
        with socket.socket({family}, {kind}) as line:
            line.settimeout(1)
            {how}
    return say(*tried(speak))
"""
BOX = 'fs.read = ["@box@/**"]'
# Network namespace, filter and, for TCP and abstract names, Landlock: one behind the other.
NET = {"without": "net, landlock", "weaken": weaken.no_filter}
# A pair of sockets is allowed, and one half of it can be told another address.
PAIR = """
def run(args, ctx):
    mine, other = socket.socketpair(socket.AF_UNIX, {kind})
    secret = open("@box@/seen.txt").read().encode()
    return say(*tried(lambda: {how}))
"""
NETLINK = """
def run(args, ctx):
    line = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    line.bind((0, 0))
    line.send(struct.pack("IHHIIBxHiII", 32, 18, 0x301, 1, 0, 0, 0, 0, 0, 0))
    got = line.recv(65535)
    return say("heard " + "it" if got else "")
"""
PACKET = """
def run(args, ctx):
    line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300)
    return say("sees " + "packets", line)
"""
RAW = """
def run(args, ctx):
    line = socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
    return say("sees " + "packets", line)
"""
NAMES = """
def run(args, ctx):
    return say(*tried(lambda: socket.getaddrinfo("secret.example.org", 80)))
"""
INTERFACES = "def run(args, ctx):\n    return say(*[name for _, name in socket.if_nameindex()])"
RIGHTS = {"without": "net, landlock, uid, rights", "only_root": "control",
          "weaken": weaken.both(weaken.no_filter, weaken.command("--cap-add CAP_SYS_ADMIN", "--cap-add CAP_SYS_ADMIN"
                                                                 " --cap-add CAP_NET_RAW"))}  # fmt: skip


def _sends(name: str, family: str, kind: str, how: str, address: object, **more: object) -> Attack:
    listens = outside.listening(getattr(socket, family), getattr(socket, kind), lambda scene: address(scene))  # type: ignore[operator]
    source = SAYS.format(family=f"socket.{family}", kind=f"socket.{kind}", how=how)
    more = {**NET, **more}
    return Attack(name, FAMILY, "nobody outside hears it", source, setup=listens, escaped=outside.contacted, **more)  # type: ignore[arg-type]


ATTACKS = (
    _sends("TCP", "AF_INET", "SOCK_STREAM", 'line.connect(("127.0.0.1", @port@))', lambda _: ("127.0.0.1", 0)),
    _sends("TCP over IPv6", "AF_INET6", "SOCK_STREAM", 'line.connect(("::1", @port@))', lambda _: ("::1", 0)),
    _sends("TCP without connect", "AF_INET", "SOCK_STREAM",
           'line.sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", @port@))', lambda _: ("127.0.0.1", 0)),
    _sends("UDP", "AF_INET", "SOCK_DGRAM", 'line.sendto(b"x", ("127.0.0.1", @port@))', lambda _: ("127.0.0.1", 0)),
    _sends("abstract socket", "AF_UNIX", "SOCK_STREAM", 'line.connect("\\0escape-@secret@")',
           lambda scene: f"\0escape-{scene.secret}"),
    # Out of sight, and the filter.
    _sends("socket outside", "AF_UNIX", "SOCK_STREAM", 'line.connect("@outside@/s")',
           lambda scene: f"{scene.outside}/s", without="landlock",
           weaken=weaken.both(weaken.no_filter, weaken.show("@outside@"))),
    # In the box it is in sight: only the filter stands there.
    _sends("socket in the box", "AF_UNIX", "SOCK_STREAM", 'line.connect("@box@/s")', lambda scene: f"{scene.box}/s",
           capabilities=BOX, without="", weaken=weaken.no_filter),
    *(Attack(f"datagram by a pair, {how.partition('(')[0]}", FAMILY, "a datagram socket in the box hears nothing",
             PAIR.format(kind=kind, how=how), capabilities=BOX, escaped=outside.contacted, weaken=weaken.no_filter,
             setup=outside.listening(socket.AF_UNIX, socket.SOCK_DGRAM, lambda scene: f"{scene.box}/log"))
      for kind, how in (("socket.SOCK_DGRAM", 'mine.sendto(secret, "@box@/log")'),
                        ("socket.SOCK_RAW", 'mine.sendmsg([secret], [], 0, "@box@/log")'))),
    Attack("netlink", FAMILY, "the kernel's network is not asked", NETLINK, escaped=said("heard it"),
           weaken=weaken.no_filter),
    # Network namespace, filter, uid and rights; bubblewrap drops the one right that it needs, too.
    Attack("packets", FAMILY, "no packet is seen", PACKET, escaped=said("sees packets"), **RIGHTS),
    Attack("raw", FAMILY, "no packet is made", RAW, escaped=said("sees packets"), **RIGHTS),
    Attack("interfaces", FAMILY, "there is no interface but its own loopback", INTERFACES, escaped=said("eth"),
           no_control="a machine's interfaces have no name that is known beforehand"),
    Attack("names", FAMILY, "no name is looked up", NAMES, escaped=outside.asked_for("a name"),
           setup=outside.name_server, only_root="scene", **NET),
)  # fmt: skip
