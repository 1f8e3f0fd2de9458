"""Numbers that states give to people, with their check digits, in the sentences in which they stand.

Each function draws the number in the ways in which it is written; `announced_ids` puts the words before it.
"""

ALPHABET_OF_31 = "0123456789ABCDEFHJKLMNPRSTUVWXY"


def digits(rng, count):
    return [rng.randrange(10) for _ in range(count)]


def text_of(numbers):
    return "".join(map(str, numbers))


def weighted(numbers, weights):
    return sum(number * weight for number, weight in zip(numbers, weights))


def luhn_digit(numbers):
    total = sum(sum(divmod(number * 2, 10)) if at % 2 == 0 else number for at, number in enumerate(reversed(numbers)))
    return -total % 10


def born(rng, century=True):
    """YYMMDD, or YYYYMMDD."""
    year, month, day = rng.randrange(1940, 2004), rng.randrange(1, 13), rng.randrange(1, 29)
    return f"{year if century else year % 100:02d}{month:02d}{day:02d}"


def until(draw):
    """What `draw` returns once it returns something: some numbers have no check digit."""
    while (value := draw()) is None:
        pass
    return value


def poland(rng):
    body = list(map(int, born(rng, False))) + digits(rng, 4)
    return [text_of(body) + str(-weighted(body, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10)]


def sweden(rng):
    date, serial = born(rng), digits(rng, 3)
    last = luhn_digit(list(map(int, date[2:])) + serial)
    return [f"{date[2:]}-{text_of(serial)}{last}", f"{date}-{text_of(serial)}{last}", f"{date}{text_of(serial)}{last}"]


def norway(rng):
    def draw():
        date = born(rng, False)
        body = list(map(int, date[4:] + date[2:4] + date[:2])) + digits(rng, 3)
        body.append(-weighted(body, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11)
        body.append(-weighted(body, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11)
        return None if 10 in body else text_of(body)
    number = until(draw)
    return [number, f"{number[:6]} {number[6:]}"]


def denmark(rng):
    date = born(rng, False)
    number = f"{date[4:]}{date[2:4]}{date[:2]}-{text_of(digits(rng, 4))}"
    return [number]


def finland(rng):
    date, serial = born(rng, False), f"{rng.randrange(2, 900):03d}"
    date = date[4:] + date[2:4] + date[:2]
    return [f"{date}{rng.choice('-A')}{serial}{ALPHABET_OF_31[int(date + serial) % 31]}"]


def switzerland(rng):
    body = [7, 5, 6] + digits(rng, 9)
    number = text_of(body) + str(-weighted(body, (1, 3) * 6) % 10)
    return [f"{number[:3]}.{number[3:7]}.{number[7:11]}.{number[11:]}", number]


def china(rng):
    body = list(map(int, "110105" + born(rng))) + digits(rng, 3)
    return [text_of(body) + "10X98765432"[weighted(body, (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)) % 11]]


def japan(rng):
    body = digits(rng, 11)
    rest = weighted(body, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    number = text_of(body) + str(0 if rest < 2 else 11 - rest)
    return [number, f"{number[:4]} {number[4:8]} {number[8:]}", f"{number[:4]}-{number[4:8]}-{number[8:]}"]


def korea(rng):
    body = list(map(int, born(rng, False))) + [rng.choice((1, 2))] + digits(rng, 5)
    number = text_of(body) + str((11 - weighted(body, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10)
    return [f"{number[:6]}-{number[6:]}"]


def turkey(rng):
    body = [rng.randrange(1, 10)] + digits(rng, 8)
    body.append((7 * sum(body[0:9:2]) - sum(body[1:8:2])) % 10)
    return [text_of(body) + str(sum(body) % 10)]


def singapore(rng):
    first, body = rng.choice("STFG"), digits(rng, 7)
    total = weighted(body, (2, 7, 6, 5, 4, 3, 2)) + (4 if first in "TG" else 0)
    return [first + text_of(body) + ("JZIHGFEDCBA" if first in "ST" else "XWUTRQPNMLK")[total % 11]]


def australia(rng):
    def draw():
        body = digits(rng, 8)
        last = next((each for each in range(10) if weighted(body + [each], (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0), None)
        return None if last is None or body[0] == 0 else text_of(body) + str(last)
    number = until(draw)
    return [number, f"{number[:3]} {number[3:6]} {number[6:]}"]


def netherlands(rng):
    def draw():
        body = digits(rng, 8)
        last = weighted(body, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
        return None if last == 10 or body[0] == 0 else text_of(body) + str(last)
    number = until(draw)
    return [number, f"{number[:4]}.{number[4:6]}.{number[6:]}"]


def chile(rng):
    body = [rng.choice((1, 2))] + digits(rng, 7)
    last = "0123456789K"[-weighted(body, (3, 2, 7, 6, 5, 4, 3, 2)) % 11]
    number = text_of(body)
    return [f"{number[:2]}.{number[2:5]}.{number[5:]}-{last}", f"{number}-{last}"]


def russia(rng):
    body = [1] + digits(rng, 8)
    number = text_of(body) + f"{weighted(body, range(9, 0, -1)) % 101 % 100:02d}"
    return [f"{number[:3]}-{number[3:6]}-{number[6:9]} {number[9:]}", number]


def russia_tax(rng):
    body = [7, 7] + digits(rng, 8)
    body.append(weighted(body, (7, 2, 4, 10, 3, 5, 9, 4, 6, 8)) % 11 % 10)
    body.append(weighted(body, (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)) % 11 % 10)
    return [text_of(body)]


def ukraine(rng):
    body = [3] + digits(rng, 8)
    return [text_of(body) + str(weighted(body, (-1, 5, 7, 9, 4, 6, 10, 5, 7)) % 11 % 10)]


def hungary(rng):
    body = [1] + digits(rng, 7)
    number = text_of(body) + str(weighted(body, (3, 7) * 4) % 10)
    return [number, f"{number[:3]} {number[3:6]} {number[6:]}"]


def hungary_tax(rng):
    def draw():
        body = [8] + digits(rng, 8)
        last = weighted(body, range(1, 10)) % 11
        return None if last == 10 else text_of(body) + str(last)
    return [until(draw)]


def nhs(rng):
    def draw():
        body = [rng.choice((4, 6, 7))] + digits(rng, 8)
        last = -weighted(body, range(10, 1, -1)) % 11
        return None if last == 10 else text_of(body) + str(last)
    number = until(draw)
    return [f"{number[:3]} {number[3:6]} {number[6:]}", number]


def pan(rng):
    letter = lambda: rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return [letter() + letter() + letter() + rng.choice("PCHFT") + letter() + text_of(digits(rng, 4)) + letter()]


def cnpj(rng):
    body = digits(rng, 8) + [0, 0, 0, 1]
    for weights in ((5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2), (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)):
        rest = weighted(body, weights) % 11
        body.append(0 if rest < 2 else 11 - rest)
    number = text_of(body)
    return [f"{number[:2]}.{number[2:5]}.{number[5:8]}/{number[8:12]}-{number[12:]}", number]


def mobile_china(rng):
    return ["1" + rng.choice(("38", "59", "86")) + text_of(digits(rng, 8))]


def mobile_japan(rng):
    number = rng.choice(("090", "080", "070")) + text_of([rng.randrange(1, 10)] + digits(rng, 7))
    return [f"{number[:3]}-{number[3:7]}-{number[7:]}", number]


# The number, and the words before it: of the tuned half, of the sealed one.
COUNTRIES = {
    "PL": (poland, ("PESEL:", "numer PESEL", "pesel ="), ("Nr PESEL:", "PESEL klienta:", '"pesel": ')),
    "SE": (sweden, ("personnummer:", "mitt personnummer är", "Personnr"), ("Personnummer", "personnr:", "svenskt personnummer:")),
    "NO": (norway, ("fødselsnummer:", "fnr", "Fødselsnr:"), ("Fødselsnummer er", "fnr:", "norsk fødselsnummer:")),
    "DK": (denmark, ("CPR:", "CPR-nummer", "cpr-nr."), ("mit CPR-nummer er", "cpr nr:", "personnummer (CPR):")),
    "FI": (finland, ("henkilötunnus:", "HETU", "hetu:"), ("Henkilötunnukseni on", "HETU:", "hetu =")),
    "CH": (switzerland, ("AHV-Nummer:", "AHV-Nr.", "AVS:"), ("numéro AVS:", "AHVN13:", "Sozialversicherungsnummer (AHV):")),
    "CN": (china, ("身份证号:", "身份证号码：", "公民身份号码"), ("我的身份证是", "身份证:", "居民身份证号码：")),
    "JP": (japan, ("マイナンバー:", "個人番号：", "My Number:"), ("マイナンバーは", "個人番号は", "マイナンバー：")),
    "KR": (korea, ("주민등록번호:", "주민번호", "RRN:"), ("제 주민등록번호는", "주민번호:", "주민등록번호 =")),
    "TR": (turkey, ("TC kimlik no:", "T.C. Kimlik No", "TCKN:"), ("kimlik numarası:", "TCKN =", "TC Kimlik Numaram")),
    "SG": (singapore, ("NRIC:", "NRIC no.", "FIN:"), ("my NRIC is", "nric =", "NRIC/FIN:")),
    "AU": (australia, ("TFN:", "tax file number", "Tax File Number:"), ("my TFN is", "tfn =", "tax file number (TFN):")),
    "NL": (netherlands, ("BSN:", "burgerservicenummer", "bsn"), ("mijn BSN is", "Burgerservicenummer:", "BSN-nummer:")),
    "CL": (chile, ("RUT:", "RUN", "rut:"), ("mi RUT es", "R.U.T.:", "rut =")),
    "RU": (russia, ("СНИЛС:", "СНИЛС", "snils:"), ("мой СНИЛС", "Снилс:", "СНИЛС №")),
    "RU tax": (russia_tax, ("ИНН:", "ИНН", "inn:"), ("мой ИНН", "ИНН =", "ИНН физлица:")),
    "UA": (ukraine, ("РНОКПП:", "ІПН:", "ІПН"), ("мій ІПН", "РНОКПП", "ідентифікаційний код:")),
    "HU": (hungary, ("TAJ szám:", "TAJ-szám", "TAJ:"), ("a TAJ számom", "taj szám:", "TAJ =")),
    "HU tax": (hungary_tax, ("adóazonosító jel:", "adóazonosító", "Adóazonosító jele:"), ("az adóazonosító jelem", "Adóazonosító:", "adóazonosító jel =")),
    "NHS": (nhs, ("NHS number:", "NHS no.", "NHS:"), ("my NHS number is", "nhs number", "NHS No:")),
    "PAN": (pan, ("PAN:", "PAN card", "pan number:"), ("my PAN is", "PAN no.", "Permanent Account Number:")),
    "CNPJ": (cnpj, ("CNPJ:", "CNPJ nº", "cnpj"), ("o CNPJ da empresa é", "CNPJ =", '"cnpj": ')),
    "mobile CN": (mobile_china, ("手机号:", "手机：", "电话"), ("我的手机号是", "手机号码：", "联系电话:")),
    "mobile JP": (mobile_japan, ("携帯番号:", "携帯：", "電話番号"), ("携帯電話は", "電話:", "電話番号は")),
}


def announced_ids(rng, half):
    for country, (draw, *words) in COUNTRIES.items():
        for word in words[half == "sealed"]:
            for _ in range(3):
                number = rng.choice(draw(rng))
                yield country, f"{word}{'' if word[-1] in '：はは是' else ' '}{number}", number


def false_ids(rng, half):
    """The same words, with numbers that lack the check; and numbers with it, without the words."""
    for country, (draw, *words) in COUNTRIES.items():
        number = draw(rng)[0]
        if country not in ("CH", "CNPJ", "mobile JP", "NHS"):
            yield f"{('row', 'id')[half == 'sealed']} {number} of {rng.randrange(100)}"
        if country in ("PL", "NO", "TR", "NL", "JP", "CN", "UA", "HU", "RU tax", "AU"):
            wrong = number[:-1] + str((int(number[-1].replace("X", "1")) + rng.choice((2, 4, 6, 8))) % 10)
            yield f"{words[half == 'sealed'][0]} {wrong}"
