#include "retrieval_slip.hpp"

#include <doctest/doctest.h>

using namespace bmad_mem::bench;

TEST_CASE("a slip swaps two letters inside the rarest word that is known") {
  const MessageStore store = {
      .name = "",
      .messages = {{.id = "1", .text = "The harbour has a bell of bronze, and a bell of brass."},
                   {.id = "2", .text = "The Harbour is closed; nobody rings."},
                   {.id = "3", .text = "oooo zzzo v2beta caf\xC3\xA9s"}}};
  const SlipMaker slips(store);
  struct Row {
    const char* name;
    const char* question;
    const char* slipped;
  };
  static constexpr Row kRows[] = {
      {"the rarest", "Which harbour has bronze?", "Which harbour has brnoze?"},
      {"case is kept", "Closed HARBOUR", "Clsoed HARBOUR"},
      {"the longer of two", "rings of bronze", "rings of brnoze"},
      {"the first of equals", "brass rings", "barss rings"},
      {"the second letter of four", "a bell", "a blel"},
      {"never the first letter", "zzzo", "zzoz"},
      {"nothing to swap", "oooo", "oooo"},
      {"no word is known", "why not granite", "why not granite"},
      {"no part of an identifier", "v2beta", "v2beta"},
      {"nor of a word with accents", "caf\xC3\xA9s", "caf\xC3\xA9s"},
      {"short words", "has a", "has a"},
      {"nothing", "", ""},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    CHECK(slips.slipped(row.question) == row.slipped);
  }
}
