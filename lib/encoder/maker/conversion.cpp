// conversion.cpp - packs the tensors of the package as the weights of encoder.bmw.
#include "maker/conversion.hpp"

#include <any>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "base/little_endian.hpp"
#include "bmad_mem/json.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem::encoder {
namespace {

constexpr std::string_view kName = "use-lite 1";
constexpr std::size_t kReservedPieces = 6;

// Names in the graph, with the layer's number in place of {}.
constexpr std::string_view kApplied =
    "module_apply_default/Encoder_en/KonaTransformer/Encode/Layer_{}/TransformerLayer/";
constexpr std::string_view kStack =
    "module_apply_default/Encoder_en/KonaTransformer/Encode/TransformerStack/Layer_{}/"
    "TransformerLayer/";
constexpr std::string_view kVariables =
    "module/Encoder_en/KonaTransformer/Encode/Layer_{}/TransformerLayer/";
constexpr std::string_view kTopVariables = "module/Encoder_en/hidden_layers/tanh_layer_0/";
constexpr std::string_view kPart = "/ConcatPartitions/concat";

struct TensorNames {
  std::string weights;
  std::string biases;
};

std::string in_layer(std::string_view pattern, int layer, std::string_view rest) {
  return fmt::format(fmt::runtime(pattern), layer) + std::string(rest);
}

/// In the order of MatrixId, without the projection.
std::vector<TensorNames> matrix_names() {
  const auto bias = [](int layer, std::string_view what) {
    return in_layer(kApplied, layer, what) + std::string(kPart);
  };
  std::vector<TensorNames> names = {
      {bias(0, "dense/kernel"), bias(0, "dense/bias")},
  };
  for (const int layer : {0, 1}) {
    for (const std::string_view what : {"qkv", "output"}) {
      const std::string part = fmt::format("MultiheadAttention/{}_transform_single/", what);
      names.push_back(
          {in_layer(kVariables, layer, part + "kernel/part_0"), bias(layer, part + "bias")});
    }
    for (const std::string_view what : {"FFN/conv1", "FFN/conv2"}) {
      names.push_back({in_layer(kStack, layer, std::string(what) + "/Tensordot/Reshape_1"),
                       bias(layer, std::string(what) + "/bias")});
    }
  }
  names.push_back({std::string(kTopVariables) + "weights", std::string(kTopVariables) + "bias"});
  return names;
}

/// What the views of Weights point to.
class Parts {
 public:
  template <typename T>
  std::span<const T> keep(std::vector<T> values) {
    return std::any_cast<const std::vector<T>&>(all_.emplace_back(std::move(values)));
  }

 private:
  std::deque<std::any> all_;  // Vectors.
};

/// Packs `rows`, [outputs][inputs].
Matrix packed(MatrixShape shape, std::span<const std::int8_t> rows, std::span<const float> scales,
              std::span<const float> biases, Parts& parts) {
  assert(rows.size() == std::size_t{shape.inputs} * shape.outputs);
  std::vector<std::int8_t> weights(rows.size());
  std::vector<std::int32_t> zeros(shape.outputs);
  for (std::size_t output = 0; output < shape.outputs; ++output) {
    for (std::size_t input = 0; input < shape.inputs; ++input) {
      const std::int8_t weight = rows[output * shape.inputs + input];
      weights[packed_index(shape, output, input)] = weight;
      zeros[output] += kByteZero * weight;
    }
  }
  return {.shape = shape,
          .weights = parts.keep(std::move(weights)),
          .scales = scales,
          .biases = biases,
          .zeros = parts.keep(std::move(zeros))};
}

Result<Matrix> converted_matrix(const Package& package, MatrixShape shape, const TensorNames& names,
                                Parts& parts) {
  const std::size_t size = std::size_t{shape.inputs} * shape.outputs;
  BMAD_TRY_ASSIGN(const std::span<const float> tensor, package.tensor(names.weights, size));
  BMAD_TRY_ASSIGN(const std::span<const float> biases, package.tensor(names.biases, shape.outputs));
  std::vector<std::int8_t> rows(size);
  std::vector<float> scales(shape.outputs);
  std::vector<float> column(shape.inputs);
  for (std::size_t output = 0; output < shape.outputs; ++output) {
    for (std::size_t input = 0; input < shape.inputs; ++input) {
      column[input] = tensor[input * shape.outputs + output];
    }
    scales[output] = row_as_bytes(std::span<const float>(column),
                                  std::span(rows).subspan(output * shape.inputs, shape.inputs));
  }
  return packed(shape, rows, parts.keep(std::move(scales)), biases, parts);
}

Matrix projection_matrix(std::string_view projection, Parts& parts) {
  const MatrixShape shape = kShapes[static_cast<std::size_t>(MatrixId::kProject)];
  std::vector<std::int8_t> rows(std::size_t{shape.inputs} * shape.outputs);
  std::vector<float> scales(shape.outputs);
  std::vector<float> biases(shape.outputs);
  if (!projection.empty()) {
    assert(projection.size() == kProjectionSize);
    const char* from = projection.data();
    std::memcpy(rows.data(), from, rows.size());
    std::memcpy(scales.data(), from + rows.size(), scales.size() * sizeof(float));
  }
  return packed(shape, rows, parts.keep(std::move(scales)), parts.keep(std::move(biases)), parts);
}

/// In the order of their bytes. Of two with the same text the later one counts, as in the package.
Pieces sorted_pieces(const Package& package, Parts& parts) {
  std::map<std::string_view, std::uint32_t> numbers_of;
  for (std::size_t number = kReservedPieces; number < package.pieces().size(); ++number) {
    numbers_of[package.pieces()[number].first] = static_cast<std::uint32_t>(number);
  }
  std::vector<std::uint32_t> ends;
  std::vector<std::uint32_t> numbers;
  std::vector<double> scores;
  std::vector<char> text;
  for (const auto& [piece, number] : numbers_of) {
    text.insert(text.end(), piece.begin(), piece.end());
    ends.push_back(static_cast<std::uint32_t>(text.size()));
    numbers.push_back(number);
    scores.push_back(package.pieces()[number].second);
  }
  return {.ends = parts.keep(std::move(ends)),
          .numbers = parts.keep(std::move(numbers)),
          .scores = parts.keep(std::move(scores)),
          .text = parts.keep(std::move(text))};
}

/// Sines and cosines of a place, [kPiecesMax][kPieceWidth].
std::vector<float> timing_of(std::span<const float> speeds) {
  std::vector<float> timing(std::size_t{kPiecesMax} * kPieceWidth);
  assert(2 * speeds.size() == kPieceWidth);
  for (std::size_t place = 0; place < kPiecesMax; ++place) {
    for (std::size_t at = 0; at < speeds.size(); ++at) {
      const float angle = static_cast<float>(place) * speeds[at];
      timing[place * kPieceWidth + at] = static_cast<float>(std::sin(double{angle}));
      timing[place * kPieceWidth + speeds.size() + at] =
          static_cast<float>(std::cos(double{angle}));
    }
  }
  return timing;
}

Status add_embeddings(const Package& package, Weights& weights, Parts& parts) {
  weights.rows = static_cast<std::uint32_t>(package.pieces().size());
  constexpr std::size_t kTensorRows = 8002;  // Two more than there are pieces.
  BMAD_TRY_ASSIGN(const std::span<const float> tensor,
                  package.tensor("module/Embeddings_en", kTensorRows * kPieceWidth));
  if (weights.rows > kTensorRows) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT, .message = "has more pieces than rows"};
  }
  std::vector<std::int8_t> bytes(std::size_t{weights.rows} * kPieceWidth);
  std::vector<float> scales(weights.rows);
  for (std::size_t row = 0; row < weights.rows; ++row) {
    scales[row] = row_as_bytes(tensor.subspan(row * kPieceWidth, kPieceWidth),
                               std::span(bytes).subspan(row * kPieceWidth, kPieceWidth));
  }
  weights.embeddings = parts.keep(std::move(bytes));
  weights.embedding_scales = parts.keep(std::move(scales));
  BMAD_TRY_ASSIGN(
      const std::span<const float> speeds,
      package.tensor("module_apply_default/Encoder_en/KonaTransformer/Encode/TransformerStack/"
                     "Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1",
                     kPieceWidth / 2));
  weights.timing = parts.keep(timing_of(speeds));
  return {};
}

constexpr std::uint64_t kPackageFileMax = 64U << 20U;

using Table = std::vector<double>;  // [kWidth][kWidth]

/// The products of all pairs of numbers, summed over the sentences.
Table products_of(std::span<const float> sentences) {
  Table table(std::size_t{kWidth} * kWidth);
  for (std::size_t first = 0; first < sentences.size(); first += kWidth) {
    const std::span<const float> row = sentences.subspan(first, kWidth);
    for (std::size_t at = 0; at < kWidth; ++at) {
      for (std::size_t other = 0; other < kWidth; ++other) {
        table[at * kWidth + other] += double{row[at]} * double{row[other]};
      }
    }
  }
  return table;
}

/// Turns rows `a` and `b`, or columns, whose numbers are `stride` apart.
void turn(double* a, double* b, double cosine, double sine, std::size_t stride = 1) {
  for (std::size_t at = 0; at < kWidth * stride; at += stride) {
    const double before = a[at];
    a[at] = cosine * before - sine * b[at];
    b[at] = sine * before + cosine * b[at];
  }
}

/// Jacobi's method for symmetric matrices: the eigenvectors as rows, the values in the diagonal of
/// `table`.
Table eigenvectors_of(Table& table) {
  constexpr int kSweeps = 12;  // It converges quadratically; 8 are enough.
  Table vectors(table.size());
  for (std::size_t at = 0; at < kWidth; ++at) {
    vectors[at * kWidth + at] = 1;
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t p = 0; p < kWidth; ++p) {
      for (std::size_t q = p + 1; q < kWidth; ++q) {
        const double beside = table[p * kWidth + q];
        if (std::fabs(beside) <= 1e-15 * std::fabs(table[p * kWidth + p])) {
          continue;
        }
        const double half = (table[q * kWidth + q] - table[p * kWidth + p]) / (2 * beside);
        const double tangent = (half < 0 ? -1 : 1) / (std::fabs(half) + std::sqrt(half * half + 1));
        const double cosine = 1 / std::sqrt(tangent * tangent + 1);
        const double sine = tangent * cosine;
        turn(&table[p * kWidth], &table[q * kWidth], cosine, sine);
        turn(&table[p], &table[q], cosine, sine, kWidth);
        turn(&vectors[p * kWidth], &vectors[q * kWidth], cosine, sine);
      }
    }
  }
  return vectors;
}

/// Mixes the kVectorSize rows of kWidth numbers, whose signs a fixed sequence draws.
std::vector<double> rotated(const std::vector<double>& rows) {
  std::mt19937 signs(1);  // The same everywhere, as the standard says.
  std::vector<double> sign(kVectorSize);
  std::ranges::generate(sign, [&] { return (signs() & 1U) == 0 ? -1.0 : 1.0; });
  std::vector<double> mixed(rows.size());
  for (std::uint32_t to = 0; to < kVectorSize; ++to) {
    for (std::uint32_t from = 0; from < kVectorSize; ++from) {
      const double hadamard = std::popcount(to & from) % 2 == 0 ? 1 : -1;
      const double factor = hadamard * sign[from] / std::sqrt(double{kVectorSize});
      for (std::size_t at = 0; at < kWidth; ++at) {
        mixed[std::size_t{to} * kWidth + at] += factor * rows[std::size_t{from} * kWidth + at];
      }
    }
  }
  return mixed;
}

}  // namespace

Result<std::string> converted(const Package& package, std::string_view projection) {
  Parts parts;
  Weights weights{.name = kName, .licence = package.licence()};
  weights.pieces = sorted_pieces(package, parts);
  BMAD_TRY(add_embeddings(package, weights, parts));
  for (std::size_t norm = 0; norm < kNorms; ++norm) {
    const int layer = static_cast<int>(norm / 2);
    const std::string part =
        fmt::format("{}layer_prepostprocess/layer_norm/layer_norm_", norm % 2 == 0 ? "" : "FFN/");
    const auto numbers = [&](std::string_view what) {
      return package.tensor(
          in_layer(kApplied, layer, part + std::string(what) + std::string(kPart)),
          kNormWidths[norm]);
    };
    BMAD_TRY_ASSIGN(weights.norms[norm].scales, numbers("scale"));
    BMAD_TRY_ASSIGN(weights.norms[norm].biases, numbers("bias"));
  }
  const std::vector<TensorNames> names = matrix_names();
  assert(names.size() + 1 == kMatrices && "all but the projection");
  for (std::size_t matrix = 0; matrix < names.size(); ++matrix) {
    BMAD_TRY_ASSIGN(weights.matrices[matrix],
                    converted_matrix(package, kShapes[matrix], names[matrix], parts));
  }
  weights.matrices[static_cast<std::size_t>(MatrixId::kProject)] =
      projection_matrix(projection, parts);
  return weights_file(weights);
}

Result<Package> Package::open(const std::string& folder) {
  Package package;
  BMAD_TRY_ASSIGN(package.licence_, read_outside_file(folder + "/LICENSE", kPackageFileMax));
  const std::string model_path = folder + "/dist/model.json";
  BMAD_TRY_ASSIGN(const std::string model, read_outside_file(model_path, kPackageFileMax));
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue graph, parser.parse(model));
  std::string shards;
  std::size_t offset = 0;
  for (const JsonValue group : graph["weightsManifest"].elements()) {
    for (const JsonValue path : group["paths"].elements()) {
      BMAD_TRY_ASSIGN(
          const std::string shard,
          read_outside_file(fmt::format("{}/dist/{}", folder, path.string()), kPackageFileMax));
      shards += shard;
    }
    for (const JsonValue weight : group["weights"].elements()) {
      std::size_t size = 1;
      for (const JsonValue extent : weight["shape"].elements()) {
        size *= static_cast<std::size_t>(extent.integer());
      }
      if (weight["dtype"].string() == "float32") {
        package.places_[std::string(weight["name"].string())] = {offset, size};
      }
      offset += size;  // The others are integers of the same width.
    }
  }
  if (offset * sizeof(float) != shards.size()) {
    return path_error(ErrorCode::E_INVALID_FORMAT, model_path,
                      "has shards of another size than it says");
  }
  package.numbers_.resize(offset);
  std::memcpy(package.numbers_.data(), shards.data(), shards.size());
  const std::string pieces_path = folder + "/dist/vocab.json";
  BMAD_TRY_ASSIGN(const std::string pieces, read_outside_file(pieces_path, kPackageFileMax));
  BMAD_TRY_ASSIGN(const JsonValue list, parser.parse(pieces));
  for (const JsonValue piece : list.elements()) {
    Piece& made = package.pieces_.emplace_back();
    for (const JsonValue part : piece.elements()) {
      if (part.is_string()) {
        made.first = part.string();
      } else {
        made.second = part.number();  // Without one, 0.
      }
    }
  }
  return package;
}

Result<std::span<const float>> Package::tensor(const std::string& name, std::size_t size) const {
  const auto found = places_.find(name);
  if (found == places_.end() || found->second.size != size) {
    return path_error(ErrorCode::E_INVALID_FORMAT, "model.json",
                      fmt::format("has no tensor {} of {} numbers", name, size));
  }
  return std::span<const float>(numbers_).subspan(found->second.offset, size);
}

std::string projection_of(std::span<const float> sentences) {
  Table table = products_of(sentences);
  const Table vectors = eigenvectors_of(table);
  std::vector<std::size_t> order(kWidth);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t at) { return table[at * kWidth + at]; });
  std::vector<double> rows;
  for (std::size_t at = 0; at < kVectorSize; ++at) {
    const auto from = vectors.begin() + static_cast<std::ptrdiff_t>(order[at] * kWidth);
    rows.insert(rows.end(), from, from + kWidth);
  }
  rows = rotated(rows);
  std::string bytes;
  std::string scales;
  for (std::size_t output = 0; output < kVectorSize; ++output) {
    std::array<std::int8_t, kWidth> weights{};
    const double scale =
        row_as_bytes(std::span<const double>(&rows[output * kWidth], kWidth), std::span(weights));
    bytes.append(reinterpret_cast<const char*>(weights.data()), weights.size());
    put_little(std::bit_cast<std::uint32_t>(static_cast<float>(scale)), scales);
  }
  return bytes + scales;
}

}  // namespace bmad_mem::encoder
