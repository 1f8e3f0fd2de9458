"""Draws secrets in the layouts in which people and programs write them, and texts that only look like secrets.

    python3 tests/privacy/drawn_kinds.py build/release/bmad-mem            # the table; exit status 1 below a bound
    python3 tests/privacy/drawn_kinds.py build/release/bmad-mem --show     # and each case of the tuned half that fails

The layouts follow the forms of the public tests of gitleaks, detect-secrets, secretlint (MIT, Apache 2.0, MIT),
trufflehog (AGPL) and Nosey Parker and Kingfisher (Apache 2.0); none of their texts is here. There are two halves, of other
seeds, names and layouts. Work on the rules reads the tuned half. Of the sealed one only the totals are printed, so that
they say what holds for texts that nobody has looked at.

The passwords that people chose are in chosen_passwords.txt, in two halves as well.

In a layout, {s} is the secret, {p} a password, {u} a user, {i} {I} {C} a service in lower, upper and title case. A secret
counts as gone when no run of 8 of its characters is left; a shorter one, when it is not left whole.
"""

import base64
import collections
import os
import pathlib
import random
import re
import string
import subprocess
import sys
import tempfile

from drawn_ids import announced_ids, false_ids
from drawn_layouts import LAYOUTS, LOOK_ALIKES, SERVICES, SPOKEN_KEYS, TOKENS, UNKNOWN
from measure_corpus import is_gone

LETTERS = string.ascii_letters
ALPHABETS = {"a": string.ascii_lowercase, "A": string.ascii_uppercase, "9": string.digits, "n": string.ascii_lowercase + string.digits,
             "N": string.ascii_uppercase + string.digits, "w": LETTERS + string.digits, "h": "0123456789abcdef", "H": "0123456789ABCDEF",
             "b": LETTERS + string.digits + "+/", "_": LETTERS + string.digits + "_-", "B": string.ascii_uppercase + "234567",
             "G": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"}
# What values of services look like, with their share.
VALUES = ("w32", "w40", "h32", "h40", "h64", "n32", "n40", "w24", "w22", "_43", "_36", "b43", "uuid", "N32", "w64", "n20")
PASSWORD = LETTERS * 2 + string.digits * 2 + "!#$%*+-.=?@^_~"
# The least share that goes; of look-alikes, that stays. By half.
BOUNDS = {"usual": 0.98, "rare": 0.90, "chosen": 0.95, "ids": 0.95, "look-alikes": 1.0}


def drawn(rng, form):
    """A value of a form such as w32, uuid, or of a token's: ghp_<w36>."""
    if form == "uuid":
        return "-".join(drawn(rng, f"h{size}") for size in (8, 4, 4, 4, 12))
    if "<" in form:
        return re.sub(r"<(.)(\d+)>", lambda part: drawn(rng, part[1] + part[2]), form)
    letters, size = ALPHABETS[form[0]], int(form[1:])
    while True:
        value = "".join(rng.choice(letters) for _ in range(size))
        kinds = [any(c in value for c in kind) for kind in (string.ascii_letters, string.digits)]
        if size < 16 or all(kinds) or form[0] in "a9A":
            return value


def drawn_password(rng):
    """As managers of passwords make them, with three kinds of characters."""
    while True:
        value = "".join(rng.choice(PASSWORD) for _ in range(rng.randrange(12, 21)))
        if value[0] in LETTERS and value[-1] in LETTERS + string.digits and len({c in LETTERS for c in value}) == 2:
            return value


# What hides a token: each returns the text that stands for it.
def with_sign(*signs):
    def hidden(rng, value):
        at = rng.randrange(6, len(value) - 6)
        return value[:at] + rng.choice(signs) + value[at:]
    return hidden


def parted(*joints):
    def hidden(rng, value):
        at = rng.randrange(8, len(value) - 8)
        return value[:at] + rng.choice(joints) + value[at:]
    return hidden


def each_byte(form):
    return lambda rng, value: "".join(form % ord(c) for c in value)


def some_bytes(form, count=4):
    def hidden(rng, value):
        places = rng.sample(range(len(value)), count)
        return "".join(form % ord(c) if at in places else c for at, c in enumerate(value))
    return hidden


def mapped(table, count):
    def hidden(rng, value):
        places = [at for at, c in enumerate(value) if c in table]
        chosen = places if count is None else rng.sample(places, min(count, len(places)))
        return "".join(table[c] if at in chosen else c for at, c in enumerate(value))
    return hidden


WIDE = {chr(code): chr(code + 0xfee0) for code in range(0x21, 0x7f)}
CYRILLIC = dict(zip("aeopcxyABEKMHOPCTX", "аеорсхуАВЕКМНОРСТХ"))
GREEK = dict(zip("oABEZHIKMNOPTYX", "οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"))
DISGUISES = {
    "tuned": {
        "variation selector": with_sign("\ufe0f", "\ufe00"), "grapheme joiner": with_sign("\u034f"), "arabic mark": with_sign("\u061c"),
        "filler": with_sign("\u115f", "\u3164"), "tag": with_sign("\U000e0041\U000e0042"), "vowel separator": with_sign("\u180e"),
        "backspace": lambda rng, value: value[:9] + "x\b" + value[9:],
        "carriage return": parted("\r\n"), "continuation": parted("\\\n"), "diff": parted("\n+"), "line number": parted("\n  43  "),
        "dots": parted('" .. "'), "dot": parted("' . '"), "interpolation": parted("${x}"), "quoted-printable": parted("=\n"),
        "hexadecimal escapes": each_byte("\\x%02x"), "octal escapes": each_byte("\\%03o"),
        "list of characters": lambda rng, value: "'" + "', '".join(value) + "'", "list of bytes": lambda rng, value: ", ".join(str(ord(c)) for c in value),
        "wide": mapped(WIDE, None), "cyrillic": mapped(CYRILLIC, 2), "percent twice": some_bytes("%%25%02X"),
        "glued": lambda rng, value: "abc" + value,
    },
    "sealed": {
        "variation selector": with_sign("\ufe0e", "\ufe01"), "several signs": lambda rng, value: "\u034f".join(value),
        "filler": with_sign("\u1160", "\uffa0"), "tag": with_sign("\U000e0020", "\U000e007f"), "invisible times": with_sign("\u2062", "\u17b4"),
        "backspace": lambda rng, value: value[:7] + "ab\b\b" + value[7:],
        "carriage return": parted("\r\n    "), "continuation": parted("\\\n    ", " \\\n  "), "diff": parted("\n-", "\n> "), "line number": parted("\n12:", "\n 7| "),
        "ampersand": parted('" & "', '" ~ "'), "dot": parted('".\n  "', '" . "'), "interpolation": parted("${y}", "#{x}", "{{ x }}"),
        "quoted-printable": some_bytes("=%02X"), "hexadecimal escapes": some_bytes("\\x%02x", 6), "octal escapes": some_bytes("\\%03o", 5),
        "list of characters": lambda rng, value: '"' + '","'.join(value) + '"', "list of bytes": lambda rng, value: ",".join("0x%02x" % ord(c) for c in value),
        "wide": mapped(WIDE, 6), "greek": mapped(GREEK, 2), "percent twice": each_byte("%%25%02x"),
        "glued": lambda rng, value: "99" + value,
        "unicode braces": some_bytes("\\u{%x}"), "entities": some_bytes("&#x%x;"),
    },
}
# Tokens that everybody knows, to be hidden.
HIDDEN = {"tuned": ("ghp_<w36>", "glpat-<_20>", "sk_live_<w24>"), "sealed": ("gho_<w36>", "npm_<w36>", "dop_v1_<h64>")}
AROUND = {"tuned": ("the value is {s}", 'x = "{s}"', "{s}", "- {s}"), "sealed": ("see {s} here", "v: '{s}'", "{s}", "* {s}")}


class Half:
    """The cases of a half: (class, family, text, secrets)."""

    def __init__(self, name):
        self.name = name
        self.rng = random.Random({"tuned": 4601, "sealed": 9973}[name])
        self.cases = []

    def add(self, kind, family, text, secrets):
        self.cases.append((kind, family, text, secrets))

    def filled(self, layout, service, value=None):
        rng = self.rng
        words = {"s": value or drawn(rng, rng.choice(VALUES)), "p": drawn_password(rng), "u": rng.choice(("dev1", "ann", "admin", "svc_app")),
                 "i": service, "I": service.upper(), "C": service.capitalize(), "t": drawn(rng, "n32"), "g": drawn(rng, "uuid"), "h": drawn(rng, "h40")}
        text = re.sub(r"\{([spuiICtgh])\}", lambda name: words[name[1]], layout)
        return text, [words[name] for name in "sptg" if "{" + name + "}" in layout]

    def read_chosen(self):
        half = family = None
        for line in (pathlib.Path(__file__).parent / "chosen_passwords.txt").read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                half = line.strip("[]")
            elif not line.startswith("  "):
                family = line
            elif half == self.name:
                text = line.strip().replace("\\n", "\n")
                secrets = re.findall("«(.*?)»", text)
                kind = "chosen" if secrets else "look-alikes"
                self.add(kind, f"chosen: {family}", text.replace("«", "").replace("»", ""), secrets or None)

    def draw(self):
        rng = self.rng
        for kind, family, count, layouts in LAYOUTS[self.name]:
            names = UNKNOWN[self.name] if family.startswith("unknown") else SERVICES[self.name]
            for layout in layouts:
                for _ in range(count):
                    text, secrets = self.filled(layout, rng.choice(names))
                    self.add(kind, family, text, secrets)
        for form in TOKENS[self.name]:
            for around in ("{s}", "use {s} please", 'T="{s}"', "url: {s}"):
                token = drawn(rng, form)
                self.add("usual", "token", around.replace("{s}", token), [token])
        for name in SPOKEN_KEYS[self.name]:
            for form in ("w32", "h32", "uuid"):
                value = drawn(rng, form)
                self.add("usual", "language", f"{name} {value}", [value])
        for name, hide in DISGUISES[self.name].items():
            for around in AROUND[self.name]:
                for form in HIDDEN[self.name]:
                    hidden = hide(rng, drawn(rng, form))
                    self.add("rare", f"disguise: {name}", around.replace("{s}", hidden), [hidden])
        self.read_chosen()
        for country, text, number in announced_ids(rng, self.name):
            self.add("ids", country, text, [number])
        for text in [self.filled(each, rng.choice(SERVICES[self.name]))[0] for each in LOOK_ALIKES[self.name] for _ in range(5)]:
            self.add("look-alikes", "look-alike", text, None)
        for text in false_ids(rng, self.name):
            self.add("look-alikes", "number", text, None)
        return self.cases


def redacted(program, cases):
    """The texts as one run of `redact -` leaves them, too far apart for a word of one to speak of the next."""
    mark = "\n" * 24 + "\x0c{}\x0c" + "\n" * 24
    whole = "".join(case[2] + mark.format(at) for at, case in enumerate(cases))
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder)
        run = subprocess.run([program, "redact", "-"], input=whole.encode(), capture_output=True, cwd=folder, env=environment, check=True)
    return re.split(r"\n{24}\x0c\d+\x0c\n{24}", run.stdout.decode(errors="replace"))[:len(cases)]


def is_well(case, left):
    if case[3] is None:
        return left == case[2]
    return all(is_gone(secret, case[2], left) for secret in case[3])


def measured(program, half, failed=lambda case, left: None):
    """{class: [whether it went well]}, and the same by family."""
    cases = Half(half).draw()
    classes, families = collections.defaultdict(list), collections.defaultdict(list)
    for case, left in zip(cases, redacted(os.path.abspath(program), cases)):
        well = is_well(case, left)
        classes[case[0]].append(well)
        families[case[0], case[1]].append(well)
        if not well:
            failed(case, left)
    return classes, families


def share(wells):
    return sum(wells) / len(wells)


def main():
    program, *options = sys.argv[1:]
    low = []
    for half in ("tuned", "sealed"):
        def show(case, left):
            if "--show" in options and half == "tuned":
                print(f"  {case[0]:12} {case[1]:22} {case[2][:160]!r}" + (f" -> {left[:160]!r}" if case[3] is None else ""))
        classes, families = measured(program, half, show)
        for kind, wells in classes.items():
            print(f"{half:7} {kind:12} {share(wells):.4f}  {sum(wells)} of {len(wells)}")
            if share(wells) < BOUNDS[kind]:
                low.append((half, kind))
        if half == "tuned" and "--show" in options:
            for (kind, family), wells in families.items():
                print(f"  {kind:12} {family:32} {sum(wells)} of {len(wells)}")
    if low:
        print("below the bound:", ", ".join(" ".join(each) for each in low))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
