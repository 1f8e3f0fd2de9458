#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "install/settings_edit.hpp"

namespace bmad_mem::cli::toml_edit_test {
namespace {

constexpr const char* kTable = "[mcp_servers.bmad-mem]\ncommand = \"bmad-mem\"\nargs = [\"mcp\"]\n";

TEST_CASE("the block comes and goes without a trace") {
  static constexpr std::string_view kTexts[] = {"",
                                                "\n",
                                                "\n\n",
                                                "model = \"x\"",
                                                "model = \"x\"\n",
                                                "# only a comment",
                                                "[mcp_servers.other]\ncommand = \"y\"\n\n\n",
                                                "\xEF\xBB\xBF# mine\na = 1\n",
                                                "\xEF\xBB\xBF",
                                                "a = 1\r\n[b]\r\nc = 2\r\n"};
  for (const std::string_view text : kTexts) {
    CAPTURE(text);
    const auto with = with_toml_block(std::string(text), kTable);
    REQUIRE(with);
    REQUIRE(*with);
    CHECK((*with)->contains(kTable));
    const auto again = with_toml_block(*with, kTable);
    REQUIRE(again);
    CHECK(*again == *with);
    const auto without = without_toml_block(**with);
    REQUIRE(without);
    REQUIRE(*without);
    CHECK(**without == text);
  }
}

TEST_CASE("a file of ours alone goes with the block") {
  const auto with = with_toml_block(std::nullopt, kTable);
  REQUIRE(with);
  const auto without = without_toml_block(**with);
  REQUIRE(without);
  CHECK_FALSE(without->has_value());
}

TEST_CASE("another block takes the place of an old one") {
  const auto old = with_toml_block("a = 1\n", kTable);
  REQUIRE(old);
  const auto fresh = with_toml_block(*old, "[mcp_servers.bmad-mem]\ncommand = \"/new\"\n");
  REQUIRE(fresh);
  CHECK((*fresh)->contains("/new"));
  CHECK_FALSE((*fresh)->contains("\"bmad-mem\""));
}

TEST_CASE("what is no TOML, or has no room for the table, is refused") {
  const auto broken = with_toml_block("a = 1\nb = = 2\n", kTable);
  REQUIRE_FALSE(broken);
  CHECK(broken.error().line == 2);
  CHECK_FALSE(with_toml_block("mcp_servers = { other = { command = \"x\" } }\n", kTable));
  const auto taken = with_toml_block("[mcp_servers.bmad-mem]\ncommand = \"z\"\n", kTable);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == ErrorCode::E_CONCURRENT_MOD);
}

}  // namespace
}  // namespace bmad_mem::cli::toml_edit_test
