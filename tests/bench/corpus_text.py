"""Sentences that are no sentences, but count like them.

    rank      0 .. ~330      real verbs, nouns and adjectives of software talk: words.txt
              .. +9,000      made-up stems, longer towards the rare end: "trel", "brantoup", ...
    frequency of a rank      proportional to 1 / (rank + 3), which is Zipf's law after Mandelbrot

A word drawn is inflected by its kind (fail, fails, failed, failing), so that a stemmer has to work. Identifiers
(getUserById, src/auth/token_store.ts, E_LOCK_TIMEOUT) consist of such words, and most of them come again.

Of the tokens of a text about a topic, roughly: 40 % function words, 33 % content words by Zipf's law, 18 % words of the
topic, 4 % technical terms, 4 % identifiers and numbers, 0.5 % words outside ASCII. The topic makes words come in
clusters, as in talk: without it, every posting list would be spread evenly.

All is the same for the same seed, on every machine and with every Python: integer arithmetic alone.
"""

import bisect
import collections
import itertools
import pathlib
import re

MADE_UP_WORDS, IDENTIFIERS, TOPIC_WORDS = 9000, 6000, 40
MASK = (1 << 64) - 1
TOKEN = re.compile(r"[A-Za-z0-9\x80-\U0010ffff]+")
NOUN, VERB, ADJECTIVE = range(3)
Word = collections.namedtuple("Word", "stem kind")
Topic = collections.namedtuple("Topic", "name words")  # Ranks, most typical first.

ONSETS = "b br c cr d dr f fl g gr h k l m n p pl pr r s sc sh sl sp st str t tr v w".split()
VOWELS = "a e i o u a e i o ai ea ee oa ou".split()
CODAS = ["", "", *"n r l t s m nd nt st ck rt mp x th".split()]
EXTENSIONS = "ts cpp hpp py md json sql yml go".split()
ENDINGS = {  # Up to which per cent a kind takes which ending.
    NOUN: ((72, ""), (100, "s")),
    VERB: ((48, ""), (62, "s"), (80, "ed"), (97, "ing"), (100, "er")),
    ADJECTIVE: ((84, ""), (95, "ly"), (100, "ness")),
}


class Random:
    """SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014)."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = mixed = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
        return mixed ^ mixed >> 31

    def below(self, bound):
        """0 <= result < bound <= 2^32. Biased by less than bound / 2^32."""
        return (self.next() >> 32) * bound >> 32

    def between(self, low, high):
        """low <= result <= high."""
        return low + self.below(high - low + 1)

    def percent(self, chance):
        return self.below(100) < chance

    def pick(self, values):
        return values[self.below(len(values))]

    def share(self, shares):
        """The first of `shares` that reaches beyond a draw: (up to how much, what), the last up to the whole."""
        draw = self.below(shares[-1][0])
        return next(what for end, what in shares if draw < end)


class Zipf:
    """Draws 0 .. count - 1, `i` with a probability proportional to 1 / (i + 3)."""

    def __init__(self, count):
        self.ends = list(itertools.accumulate((1 << 40) // (i + 3) for i in range(count)))

    def draw(self, random):
        return bisect.bisect_right(self.ends, random.next() % self.ends[-1])


def read_words():
    """The sections of words.txt: their words, most frequent first."""
    sections, words = {}, []
    for line in (pathlib.Path(__file__).parent / "words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            words = sections.setdefault(line[1:line.index("]")], [])
        elif not line.startswith("#"):
            words += line.split()
    return sections


WORDS = read_words()


def with_ending(stem, ending):
    """`stem` with an English ending (s, ed, ing, er, ly, ness), by the spelling rules that a stemmer undoes."""
    ends_in_y = stem[-1] == "y" and stem[-2] not in "aeiou"
    if ends_in_y and ending in ("s", "ed"):
        return stem[:-1] + ("ies" if ending == "s" else "ied")
    if ending == "s":
        return stem + ("es" if stem.endswith(("s", "x", "z", "ch", "sh")) else "s")
    if ending == "ly" and stem.endswith("le"):
        return stem[:-1] + "y"
    if ending in ("ly", "ness"):
        return (stem[:-1] + "i" if ends_in_y else stem) + ending
    if re.fullmatch(r".?[^aeiou][aeiou][^aeiouwxy]", stem):  # plan, drop, set: short, and one vowel between consonants.
        return stem + stem[-1] + ending
    return (stem[:-1] if stem.endswith("e") else stem) + ending


def made_up_word(random, syllables):
    word = ""
    for i in range(syllables):
        word += random.pick(ONSETS) + random.pick(VOWELS)
        if i + 1 == syllables or random.percent(30):  # Codas inside a word would pile up consonants.
            word += random.pick(CODAS)
    return word


def capitalized(text):
    """The first letter; what is not ASCII stays."""
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def made_up_identifier(random, a, b, c):
    """A name of two or three words in one of the shapes that code uses."""
    shape = random.below(12)
    if shape < 2:
        return a + capitalized(b) + capitalized(c)
    if shape < 4:
        return f"{a}_{b}"
    if shape < 6:
        return f"src/{a}/{b}_{c}.{random.pick(EXTENSIONS)}"
    if shape == 6:
        return f"E_{a.upper()}_{b.upper()}"
    if shape == 7:
        return f"v{random.below(5)}.{random.below(30)}.{random.below(20)}"
    if shape == 10:
        return f"{random.below(1 << 28):07x}"
    return {8: f"{a}.{b}.{c}", 9: f"{a}_{b}()", 11: capitalized(a) + capitalized(b)}[shape]


def count_tokens(text):
    """Runs of letters and digits."""
    return len(TOKEN.findall(text))


class TextMaker:
    """The words are made from `seed`, the texts by `random`."""

    def __init__(self, seed, random):
        self.random = random
        own = Random(seed ^ 0x766F636162)  # Another sequence than the text's.
        # The three kinds in turn, so that the most frequent of each get the lowest ranks.
        turns = itertools.zip_longest(WORDS["nouns"], WORDS["verbs"], WORDS["adjectives"])
        self.words = [Word(stem, kind) for turn in turns for kind, stem in enumerate(turn) if stem]
        self.real_words = len(self.words)
        self.add_made_up_words(own)
        self.word_ranks, self.identifier_ranks, self.topic_ranks = Zipf(len(self.words)), Zipf(IDENTIFIERS), Zipf(TOPIC_WORDS)
        self.function_ranks, self.technical_ranks = Zipf(len(WORDS["functions"])), Zipf(len(WORDS["technical"]))
        self.identifiers = [made_up_identifier(own, *(self.words[self.word_ranks.draw(own)].stem for _ in range(3))) for _ in range(IDENTIFIERS)]
        self.inflections = {}

    def add_made_up_words(self, random):
        taken = {word.stem for word in self.words}
        while len(self.words) < self.real_words + MADE_UP_WORDS:
            rank = len(self.words) - self.real_words  # Rare words are longer, as in every language.
            word = made_up_word(random, (1 if rank < 600 else 2) + random.percent(45))
            if len(word) >= 3 and word not in taken:
                taken.add(word)
                self.words.append(Word(word, random.share(((9, NOUN), (16, VERB), (20, ADJECTIVE)))))

    def inflected(self, rank):
        word = self.words[rank]
        ending = self.random.share(ENDINGS[word.kind])
        if not ending:
            return word.stem
        known = self.inflections.get((rank, ending))
        if known is None:
            known = self.inflections[rank, ending] = with_ending(word.stem, ending)
        return known

    def identifier(self):
        return self.identifiers[self.identifier_ranks.draw(self.random)]

    def topic(self):
        # Every third word is one that everybody uses; the others belong to few topics.
        words = [self.random.below(self.real_words if i % 3 == 0 else len(self.words)) for i in range(TOPIC_WORDS)]
        return Topic(f"{self.words[words[0]].stem}_{self.words[words[3]].stem}", words)

    def word(self, topic):
        random = self.random
        draw = random.below(1000)
        if draw < 400:
            return WORDS["functions"][self.function_ranks.draw(random)]
        if draw < 735:
            return self.inflected(self.word_ranks.draw(random))
        if draw < 915:
            return self.inflected(topic.words[self.topic_ranks.draw(random)])
        if draw < 955:
            return WORDS["technical"][self.technical_ranks.draw(random)]
        if draw < 985:
            name = self.identifier()
            return f"`{name}`" if random.percent(60) else name
        if draw < 995:
            return str(random.below(random.pick((10, 100, 1000, 10_000, 100_000))))
        return random.pick(WORDS["foreign"])

    def phrase(self, topic, tokens, commas=False):
        """A few words without a full stop, such as a title; the first with a capital."""
        words = []
        for i in range(tokens):
            if i > 0:
                words.append(", " if commas and self.random.percent(7) else " ")
            words.append(self.word(topic))
        return capitalized("".join(words))

    def sentences(self, topic, tokens):
        """Sentences of `tokens` words in all, or a few more. One line."""
        made, said = 0, []
        while made < tokens:
            size = min(self.random.between(5, 18), max(tokens - made, 2))
            said.append(self.phrase(topic, size, commas=True) + self.random.share(((16, "."), (19, "?"), (20, "!"))))
            made += size
        return " ".join(said)

    def code(self):
        """A line of a program or a shell, with quotes and brackets."""
        one, other = self.identifier(), self.identifier()
        shape = self.random.below(4)
        if shape == 0:
            return f'const {one} = await {other}("{self.identifier()}");'
        if shape == 1:
            return f'if ({one} == null) {{\n  throw new Error("{other}");\n}}'
        if shape == 2:
            return f"$ grep -rn '{one}' {other} | head -{self.random.below(90) + 10}"
        return f'{{"{one}": "{other}", "retries": {self.random.below(10)}}}'

    def document(self, topic, tokens):
        """As sentences(), with paragraphs, lists and code: what assistants write."""
        made, parts = 0, []
        while made < tokens:
            draw = self.random.below(10)
            if draw == 0:
                part = f"```\n{self.code()}\n```"
            elif draw < 3:
                items = self.random.between(2, 4)
                part = "\n".join("- " + self.phrase(topic, self.random.between(4, 10)) for _ in range(items))
            else:
                part = self.sentences(topic, min(self.random.between(15, 60), tokens - made))
            parts.append(part)
            made += count_tokens(part)
        return "\n\n".join(parts)

    def tag(self, topic):
        """A lower-case word that fits a tag or a key."""
        return self.words[topic.words[self.random.below(6)]].stem
