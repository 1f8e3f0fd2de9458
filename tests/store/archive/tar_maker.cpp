#include "tar_maker.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace bmad_mem::test {
namespace {

constexpr std::size_t kBlock = 512;

void put(std::string& header, std::size_t at, std::string_view field) {
  header.replace(at, field.size(), field);
}

}  // namespace

std::string raw_member(const RawMember& member) {
  const std::uint64_t size =
      member.claimed_size == UINT64_MAX ? member.bytes.size() : member.claimed_size;
  std::string header(kBlock, '\0');
  put(header, 0, member.name.substr(0, 100));
  put(header, 100, "0000600");
  put(header, 108, "0000000");
  put(header, 116, "0000000");
  put(header, 124, fmt::format("{:011o}", size));
  put(header, 136, "00000000000");
  put(header, 148, "        ");
  header[156] = member.type;
  put(header, 157, member.link_target);
  put(header, 257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) {
    sum += static_cast<unsigned char>(c);
  }
  put(header, 148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  std::string padded = member.bytes;
  padded.resize((padded.size() + kBlock - 1) / kBlock * kBlock, '\0');
  return header + padded;
}

std::string tar_end() { return std::string(2 * kBlock, '\0'); }

}  // namespace bmad_mem::test
