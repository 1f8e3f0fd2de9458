// merge_detections_test.cpp - what several searches found becomes what is replaced.
#include <doctest/doctest.h>

#include "privacy/finders.hpp"

namespace bmad_mem::test::merge_detections_test {
namespace {

constexpr DetectionAction kSecret = DetectionAction::kSecret;
constexpr DetectionAction kNear = DetectionAction::kNear;

}  // namespace

TEST_CASE("detections come out in order, and those that overlap as one") {
  const Detections merged = merge_detections(
      "0123456789", {{6, 8, "b", kSecret}, {1, 4, "a", kSecret}, {3, 5, "c", kSecret}}, {});
  CHECK(merged == Detections{{1, 5, "a", kSecret}, {6, 8, "b", kSecret}});
}

TEST_CASE("neighbours that only touch stay apart") {
  CHECK(merge_detections("0123456789", {{1, 4, "a", kSecret}, {4, 6, "b", kSecret}}, {}).size() ==
        2);
}

TEST_CASE("the one that was found first names what overlaps") {
  const Detections merged =
      merge_detections("0123456789", {{3, 6, "exact", kSecret}, {1, 8, "vague", kSecret}}, {});
  CHECK(merged == Detections{{1, 8, "exact", kSecret}});
}

TEST_CASE("a secret swallows what merely comes near") {
  const Detections merged = merge_detections(
      "0123456789", {{1, 8, "near", kNear}, {3, 6, "token", kSecret}, {9, 10, "far", kNear}}, {});
  CHECK(merged == Detections{{3, 6, "token", kSecret}, {9, 10, "far", kNear}});
}

TEST_CASE("what is a placeholder already is cut out") {
  const std::string_view text = "abcd[REDACTED:x]efgh";
  const Detections kept = {{4, 16, "", kSecret}};
  CHECK(merge_detections(text, {{0, 20, "a", kSecret}}, kept) ==
        Detections{{0, 4, "a", kSecret}, {16, 20, "a", kSecret}});
  CHECK(merge_detections(text, {{5, 15, "a", kSecret}}, kept).empty());
  // A separator beside one is no secret.
  CHECK(merge_detections("a=[REDACTED:x]; ", {{2, 16, "a", kSecret}},
                         Detections{{2, 14, "", kSecret}})
            .empty());
}

TEST_CASE("no character is cut in two") {
  const std::string_view text = "a\u00e9b";  // é is bytes 1 and 2.
  CHECK(merge_detections(text, {{2, 4, "a", kSecret}}, {}) == Detections{{1, 4, "a", kSecret}});
  CHECK(merge_detections(text, {{0, 2, "a", kSecret}}, {}) == Detections{{0, 3, "a", kSecret}});
}

TEST_CASE("what lies outside the text is passed over") {
  CHECK(merge_detections("abc", {{2, 9, "a", kSecret}, {2, 2, "b", kSecret}}, {}).empty());
}

}  // namespace bmad_mem::test::merge_detections_test
