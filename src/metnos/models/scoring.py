"""How likely a local model finds each token of a text that is given: it is made to write that text.

A server of llama.cpp tells how likely it found what it wrote, and never what it read (`echo` is ignored there). So the
text is asked for token by token: the ones before as the prompt, and so strong a bias for the next one that the model
cannot write another. What is told is how likely it was before the bias. The server keeps what it has read, so each step
costs as much as writing one token. A grammar of the text's letters would not do: the model then spells words with other
tokens than it usually would, and how likely those are says nothing.

Rules: text is text, also where it looks like a mark of a chat template. It is bounded in tokens and in seconds. Nothing
is believed unchecked: the tokens must make up the text to the byte, and each reply must be about the token that was
asked for. Whatever does not fit is a `ModelError`. Does not guarantee what it leaves in the server's cache: a question
asked afterwards is read from its beginning.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from metnos.core.errors import ModelError

_BEFORE = "\n"  # something has to stand before the first token
_BIAS = 1000.0  # no logit is anywhere near
_MOST_BITS = 64.0
_MOST_BYTES = 4 << 20  # of one reply
_LATE = "scoring a text took longer than it may"

Post = Callable[[str, Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Token:
    """Some bytes of a text, and how many bits they tell after what stands before them."""

    text: bytes
    bits: float


def score(address: str, key: str, text: str, *, most: int, seconds: float) -> tuple[Token, ...]:
    """The tokens of ``text``, by the server at ``address``. Raises `ModelError`, also if there are too many."""
    deadline = time.monotonic() + seconds
    try:
        with closing(HTTPConnection(urlsplit(address).netloc, timeout=max(seconds, 0.001))) as line:
            return _scored(lambda path, body: _post(line, key, deadline, path, body), text, most)
    except TimeoutError as error:
        raise ModelError(_LATE, kind="timeout", fix=_FIX) from error
    except (HTTPException, OSError, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise ModelError(_cannot(error), kind="broken", fix=_FIX) from error


_FIX = "Set context.surprisal to ngram, which needs no language model."


def _cannot(error: Exception) -> str:
    told = str(error) if isinstance(error, _Odd) else type(error).__name__
    return f"the local model cannot score a text: {told}"


class _Odd(ValueError):
    """Why a reply is of no use, in a few words."""


def _scored(post: Post, text: str, most: int) -> tuple[Token, ...]:
    numbers, pieces = _tokens(post, text)
    if len(numbers) > most:
        raise ModelError(
            f"the text has {len(numbers)} tokens, and {most} may be scored", kind="budget", fix="Raise context.scored."
        )
    if b"".join(pieces) != text.encode():
        raise _Odd("its tokens do not make up the text")
    read, _ = _tokens(post, _BEFORE)
    found = []
    for number, piece in zip(numbers, pieces, strict=True):
        found.append(Token(piece, _bits(post, read, number, broken=_is_broken(piece))))
        read.append(number)
    return tuple(found)


def _tokens(post: Post, text: str) -> tuple[list[int], list[bytes]]:
    asked = {"content": text, "add_special": False, "parse_special": False, "with_pieces": True}
    told = [(each["id"], each["piece"]) for each in post("/tokenize", asked)["tokens"]]
    return [number for number, _ in told], [_whole(piece) for _, piece in told]


def _whole(piece: str | list[int]) -> bytes:
    """A piece is text, or its bytes where it is a part of a character."""
    return piece.encode() if isinstance(piece, str) else bytes(piece)


def _is_broken(piece: bytes) -> bool:
    """Whether it holds a part of a character."""
    return "\ufffd" in piece.decode(errors="replace")


def _bits(post: Post, read: list[int], number: int, *, broken: bool) -> float:
    asked = {
        "prompt": read,
        "n_predict": 1,
        "n_probs": 1,
        "logit_bias": [[number, _BIAS]],
        "temperature": 0,
        "samplers": [],
        "cache_prompt": True,
        "response_fields": ["completion_probabilities"],
    }
    reply = post("/completion", asked)
    if broken and not reply.get("completion_probabilities"):
        return 0.0  # of half a character nothing is told; the token that ends it tells
    told = reply["completion_probabilities"][0]
    if told["id"] != number:
        raise _Odd("it wrote something else")
    bits = -float(told["logprob"]) / math.log(2)
    if math.isnan(bits):
        raise _Odd("it gave no number")
    return min(max(bits, 0.0), _MOST_BITS)


def _post(line: HTTPConnection, key: str, deadline: float, path: str, body: Mapping[str, Any]) -> Any:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    line.timeout = left  # of the next connection, if the server ended this one
    if line.sock is not None:
        line.sock.settimeout(left)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", "User-Agent": "metnos"}
    line.request("POST", path, json.dumps(body).encode(), headers)
    with line.getresponse() as answer:
        content = answer.read(_MOST_BYTES)
    if answer.status != 200:
        raise _Odd(f"HTTP {answer.status}")
    return json.loads(content)
