// package.hpp - the model as its npm package has it: a graph of TensorFlow, in JSON, with its
// numbers in shards, and the pieces.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem::encoder {

class Package {
 public:
  /// The unpacked package in `folder`. Errors: E_STORAGE_IO, E_INVALID_FORMAT.
  static Result<Package> open(const std::string& folder);

  /// The numbers of the tensor of this name, row-major. Errors: E_INVALID_FORMAT when there is none
  /// of `size` numbers.
  [[nodiscard]] Result<std::span<const float>> tensor(const std::string& name,
                                                      std::size_t size) const;

  /// Text and score, in the order of their numbers.
  using Piece = std::pair<std::string, double>;
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] std::string_view licence() const { return licence_; }

 private:
  struct Place {
    std::size_t offset;  ///< In floats.
    std::size_t size;
  };
  std::map<std::string, Place, std::less<>> places_;
  std::vector<float> numbers_;
  std::vector<Piece> pieces_;
  std::string licence_;
};

}  // namespace bmad_mem::encoder
