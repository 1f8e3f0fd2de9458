#include "maker/conversion.hpp"

#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "weights.hpp"

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
    auto& kept = std::get<std::deque<std::vector<T>>>(all_);
    kept.push_back(std::move(values));
    return kept.back();
  }

 private:
  std::tuple<std::deque<std::vector<char>>, std::deque<std::vector<std::int8_t>>,
             std::deque<std::vector<std::int32_t>>, std::deque<std::vector<std::uint32_t>>,
             std::deque<std::vector<float>>, std::deque<std::vector<double>>>
      all_;
};

/// Packs `rows`, [outputs][inputs].
Matrix packed(MatrixShape shape, std::span<const std::int8_t> rows, std::span<const float> scales,
              std::span<const float> biases, Parts& parts) {
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
  for (std::size_t matrix = 0; matrix < names.size(); ++matrix) {
    BMAD_TRY_ASSIGN(weights.matrices[matrix],
                    converted_matrix(package, kShapes[matrix], names[matrix], parts));
  }
  weights.matrices[static_cast<std::size_t>(MatrixId::kProject)] =
      projection_matrix(projection, parts);
  return weights_file(weights);
}

}  // namespace bmad_mem::encoder
