"""Works arithmetic out: exact fractions as long as they are possible, the machine's numbers where they are not."""

import ast
import math
import re
from fractions import Fraction

MOST_BITS = 4096  # of a number on the way: more than a thousand digits
MOST_NODES = 200
MOST_DIGITS = 30  # behind the point, of a result in full
CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}
FLOATING = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "exp": math.exp, "ln": math.log, "log": math.log10, "log2": math.log2, "degrees": math.degrees,
    "radians": math.radians, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
}  # fmt: skip
SPELLINGS = (("\u00d7", "*"), ("\u00f7", "/"), ("\u2212", "-"), ("\u00b7", "*"), ("^", "**"), ("\u03c0", "pi"))
PERCENT_OF = re.compile(r"(\d+(?:\.\d+)?)\s*%\s*(?:of|di|del)\b", re.IGNORECASE)
PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%(?=\s*(?:$|[-+*/)]))")


def run(args, ctx):
    entries, failures = [], []
    for text in args["expressions"]:
        try:
            entries.append(entry(text, value(tree(text, ctx), ctx), ctx))
        except ctx.Failure as error:
            failures.append(ctx.failure(text, error.kind, error.message))
        except ZeroDivisionError:
            failures.append(ctx.failure(text, "invalid", "a division by zero"))
        except (OverflowError, MemoryError):
            failures.append(ctx.failure(text, "too_large", "the numbers become too large"))
        except (ValueError, TypeError):
            failures.append(ctx.failure(text, "invalid", "a function got a number that it is not defined for"))
    return {"entries": entries[: ctx.limit], "total": len(entries), "failures": failures}


def tree(text, ctx):
    """The expression taken apart; nothing in it is ever run."""
    for sign, plain in SPELLINGS:
        text = text.replace(sign, plain)
    text = PERCENT.sub(r"(\1/100)", PERCENT_OF.sub(r"(\1/100)*", text)).strip()
    try:
        found = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        ctx.fail("invalid", "this is no arithmetic expression")
    if sum(1 for _ in ast.walk(found)) > MOST_NODES:
        ctx.fail("too_large", "the expression is too long")
    return found


def value(node, ctx):
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if isinstance(node.value, float) and math.isinf(node.value):
            raise OverflowError
        # As it is written: 0.1 is a tenth.
        return bounded(Fraction(str(node.value)))
    if isinstance(node, ast.Name) and node.id.lower() in CONSTANTS:
        return CONSTANTS[node.id.lower()]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        inner = value(node.operand, ctx)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        return bounded(binary(node.op, value(node.left, ctx), value(node.right, ctx), ctx))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return bounded(function(node.func.id.lower(), [value(each, ctx) for each in node.args], ctx))
    raise ctx.Failure("invalid", "only numbers, + - * / // % ^, brackets and functions such as sqrt are known")


def bounded(number):
    if isinstance(number, Fraction):
        if max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_BITS:
            raise OverflowError
    elif not isinstance(number, float) or not math.isfinite(number):
        raise OverflowError if isinstance(number, float) else ValueError
    return number


def binary(sign, left, right, ctx):
    if isinstance(sign, ast.Pow):
        return power(left, right)
    simple = {
        ast.Add: lambda: left + right,
        ast.Sub: lambda: left - right,
        ast.Mult: lambda: left * right,
        ast.Div: lambda: left / right,
        ast.FloorDiv: lambda: left // right,
        ast.Mod: lambda: left % right,
    }.get(type(sign))
    if simple is None:
        ctx.fail("invalid", "this sign is not known in arithmetic")
    result = simple()
    return Fraction(result) if isinstance(result, int) else result


def power(base, exponent):
    """Exact for whole exponents of fractions, whose size is known before it is worked out."""
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(exponent.numerator) * bits > 2 * MOST_BITS:
            raise OverflowError
        return base**exponent.numerator
    return float(base) ** float(exponent)  # a complex result is refused where it is bounded


def function(name, numbers, ctx):
    if name in FLOATING and len(numbers) == 1:
        return FLOATING[name](float(numbers[0]))
    if name == "sqrt" and len(numbers) == 1:
        return root(numbers[0])
    if name in ("min", "max") and numbers:
        return min(numbers) if name == "min" else max(numbers)
    if name == "abs" and len(numbers) == 1:
        return abs(numbers[0])
    if name in ("floor", "ceil") and len(numbers) == 1:
        return Fraction(math.floor(numbers[0]) if name == "floor" else math.ceil(numbers[0]))
    if name == "round" and len(numbers) in (1, 2):
        return rounded(numbers[0], int(numbers[1]) if len(numbers) == 2 else 0)
    if name == "factorial" and len(numbers) == 1:
        return factorial(numbers[0])
    raise ctx.Failure("invalid", f"there is no function {name[:20]} that takes {len(numbers)} numbers")


def root(number):
    if isinstance(number, Fraction) and number >= 0:
        parts = math.isqrt(number.numerator), math.isqrt(number.denominator)
        if Fraction(*parts) ** 2 == number:
            return Fraction(*parts)
    return math.sqrt(number)


def rounded(number, digits):
    """Half away from zero, as people round."""
    if abs(digits) > MOST_DIGITS:
        raise ValueError
    scaled = Fraction(number) * Fraction(10) ** digits
    whole = math.floor(abs(scaled) + Fraction(1, 2))
    return Fraction(whole if scaled >= 0 else -whole) / Fraction(10) ** digits


def factorial(number):
    if number < 0 or number != int(number):
        raise ValueError
    if number > 500:
        raise OverflowError
    return Fraction(math.factorial(int(number)))


# -- the result


def entry(text, number, ctx):
    if isinstance(number, float):
        shown = f"{number:.15g}"
        return {"expression": text, "result": float(shown), "text": shown, "exact": False}
    in_full, exact = written(number)
    whole = number.denominator == 1 and abs(number.numerator) < 2**53
    try:
        result = number.numerator if whole else float(number)
    except OverflowError:
        ctx.fail("too_large", "the result is too large for a number")
    return {"expression": text, "result": result, "text": in_full, "exact": exact}


def written(number):
    """A fraction with all its digits, or with as many as make sense, and whether these are all."""
    scale = 10**MOST_DIGITS
    digits, rest = divmod(abs(number.numerator) * scale, number.denominator)
    if 2 * rest >= number.denominator:
        digits += 1
    whole, behind = divmod(digits, scale)
    tail = f"{behind:0{MOST_DIGITS}}".rstrip("0")
    sign = "-" if number < 0 else ""
    return f"{sign}{whole}.{tail}" if tail else f"{sign}{whole}", rest == 0
