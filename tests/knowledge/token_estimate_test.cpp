// The counts in the table were measured with js-tiktoken 1.0.21 (cl100k_base, o200k_base) and
// @anthropic-ai/tokenizer 0.0.4 (claude), packages of the npm registry.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem::test::token_estimate_test {
namespace {

struct Measured {
  const char* name;
  std::string_view text;
  std::size_t cl100k;
  std::size_t o200k;
  std::size_t claude;
};

// clang-format off
constexpr Measured kMeasured[] = {
      {"English prose",
        "The ledger writes every posting twice, once for the account that pays and "
        "once for the one that is paid, so that a missing half is found the next "
        "morning at the latest. We tried to do without, and spent a week looking "
        "for eleven cents.",
        51, 51, 51},
      {"English, technical",
        "PostgreSQL runs out of connections when every worker opens a pool of its "
        "own. Put PgBouncer in front, keep max_connections at 200, and let the application "
        "retry with exponential backoff.",
        40, 41, 42},
      {"Markdown list",
        "### Critical constraints\n"
        "\n"
        "- **chip_math**: Always use Math.floor() for chip calculations\n"
        "- **api_style**: Never REST, always Convex\n"
        "- **auth_pattern**: requireAuth() comes first in all mutations\n",
        44, 47, 49},
      {"C++",
        "template <typename Work>\n"
        "Status on_all(const Work& work) {\n"
        "  std::vector<Status> done(sessions_.size());\n"
        "  for_each_parallel(sessions_.size(), [&](std::size_t i) {\n"
        "    done[i] = settings_.is_late() ? Status(query_timeout(query_)) : work(i);\n"
        "  });\n"
        "  return {};\n"
        "}\n",
        72, 72, 86},
      {"Python",
        "def summarize(rows, limit=20):\n"
        "    \"\"\"Returns the newest rows first.\"\"\"\n"
        "    newest = sorted(rows, key=lambda r: r['timestamp'], reverse=True)\n"
        "    return [f\"{r['id']}: {r['title']}\" for r in newest[:limit] if not "
        "r.get('hidden')]\n",
        63, 63, 69},
      {"JSON",
        "{\"id\":\"dec-001\",\"timestamp\":\"2026-01-11T10:15:00Z\",\"made_by\":\"architect\",\"decision\":\"Use "
        "PostgreSQL\",\"impact\":\"high\",\"tags\":[\"database\",\"storage\"],\"decay_factor\":1.0}",
        51, 53, 53},
      {"shell",
        "git -C ~/src/ledger log --oneline -20 | grep -v '^Merge' && cmake --build "
        "build/debug -j4 2>&1 | tail -n 30",
        39, 40, 39},
      {"paths",
        "src/main/java/com/example/ledger/PostingRepository.java:142\n"
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30\n"
        "C:\\Users\\ann\\AppData\\Local\\Temp\\build-7f3a\\CMakeCache.txt\n",
        56, 59, 73},
      {"hashes",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 d41d8cd98f00b204e9800998ecf8427e "
        "550e8400-e29b-41d4-a716-446655440000",
        81, 81, 84},
      {"base64",
        "eyJhbGciOiJub25lIn0.VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZyBhbmQgcnVucyBhd2F5",
        67, 64, 61},
      {"numbers",
        "3.14159265358979 2718281828 1,234,567.89 0x7fffffff 192.168.100.254 2026-01-11T10:15:00.123Z "
        "99.95% 1e-9",
        59, 60, 54},
      {"stack trace",
        "Traceback (most recent call last):\n"
        "  File \"/srv/app/worker.py\", line 88, in run\n"
        "    self.pool.acquire(timeout=5)\n"
        "  File \"/srv/app/pool.py\", line 31, in acquire\n"
        "    raise PoolExhausted(f\"{self.size} in use\")\n"
        "PoolExhausted: 20 in use\n",
        72, 72, 76},
      {"German",
        "Die Buchungssätze werden doppelt geschrieben, damit eine fehlende Hälfte "
        "spätestens am nächsten Morgen auffällt. Grundsätzlich gilt: Verbindungsabbrüche "
        "müssen wiederholt werden, Berechtigungsfehler dagegen nicht.",
        61, 44, 69},
      {"French",
        "L'utilisateur préfère les composants fonctionnels; évitez les classes, "
        "même pour les états compliqués, et n'oubliez pas les tests d'intégration.",
        40, 31, 46},
      {"Polish",
        "Użytkownik woli krótkie odpowiedzi bez wstępu. Połączenie z bazą zrywa "
        "się, gdy wszystkie wątki czekają na tę samą blokadę.",
        49, 42, 62},
      {"Russian",
        "Пользователь предпочитает короткие ответы. Соединение с базой данных обрывается, "
        "когда все потоки ждут одну и ту же блокировку.",
        52, 34, 57},
      {"Greek",
        "Ο χρήστης προτιμά σύντομες απαντήσεις και θέλει πάντα παραδείγματα.",
        62, 23, 77},
      {"Arabic",
        "يفضل المستخدم الإجابات القصيرة، وينقطع الاتصال بقاعدة البيانات عندما تنتظر "
        "جميع الخيوط.",
        61, 23, 75},
      {"Hindi",
        "उपयोगकर्ता छोटे उत्तर पसंद करता है और हमेशा उदाहरण चाहता है।",
        65, 15, 66},
      {"Chinese",
        "用户喜欢简短的回答。当所有线程都在等待同一把锁时，数据库连接会断开。请在前面放一个连接池。",
        46, 33, 39},
      {"Japanese",
        "ユーザーは短い回答を好みます。すべてのスレッドが同じロックを待つと、データベース接続が切れます。",
        52, 39, 48},
      {"Korean",
        "사용자는 짧은 답변을 선호합니다. 모든 스레드가 같은 잠금을 기다리면 데이터베이스 연결이 끊어집니다.",
        52, 34, 56},
      {"emoji",
        "Shipped 🚀🎉 all green ✅ except the flaky one 😅 👩" "\u200D" "💻🇩🇪 ❤" "\uFE0F",
        33, 25, 37},
      {"spaces",
        "a        b\n"
        "\n"
        "\n"
        "\n"
        "        c\t\t\td                                        e\n"
        "    \n"
        "    f",
        13, 13, 12},
      {"punctuation",
        "!?!? ---- ==== ~~~~ <<<>>> {{{}}} [[[]]] $$$ %%% ^^^ &&& *** ((())) ;;; "
        "::: ''' \"\"\" ``` ||| \\\\\\ @@@ ###",
        38, 38, 40},
      {"shouting",
        "NEVER DEPLOY ON FRIDAY. ALWAYS RUN THE MIGRATION TWICE, FIRST WITH --dry-run.",
        24, 22, 26},
      {"identifiers",
        "getUserAccountBalanceByIdAndCurrency, HTTPRequestHandlerFactoryImpl, max_connection_pool_size_per_worker, "
        "kDefaultTimeoutMs, XMLHttpRequest",
        26, 29, 31},
      {"one word",
        "ok",
        1, 1, 1},
};
// clang-format on

double ratio(std::size_t estimate, std::size_t count) {
  return static_cast<double>(estimate) / static_cast<double>(count);
}

}  // namespace

TEST_CASE("an estimate is near the greatest of three tokenizers' counts, and rather above it") {
  for (const Measured& row : kMeasured) {
    CAPTURE(row.name);
    const std::size_t estimate = estimate_tokens(row.text);
    const double against_most = ratio(estimate, std::max({row.cl100k, row.o200k, row.claude}));
    CAPTURE(estimate);
    CHECK(against_most >= 0.95);
    CHECK(against_most <= 1.5);
  }
}

TEST_CASE("over all texts together an estimate is above what any of the tokenizers counts") {
  std::size_t estimate = 0;
  std::array<std::size_t, 3> counts{};
  for (const Measured& row : kMeasured) {
    estimate += estimate_tokens(row.text);
    counts[0] += row.cl100k;
    counts[1] += row.o200k;
    counts[2] += row.claude;
  }
  for (const std::size_t count : counts) {
    CHECK(ratio(estimate, count) >= 1.0);
    CHECK(ratio(estimate, count) <= 1.6);
  }
}

TEST_CASE("an empty text has no tokens, and any other at least one, but for a single space") {
  CHECK(estimate_tokens("") == 0);
  CHECK(estimate_tokens("a") == 1);
  CHECK(estimate_tokens("\n") == 1);
  CHECK(estimate_tokens(" ") == 0);
}

TEST_CASE("an estimate grows with the text") {
  std::string text;
  std::size_t before = 0;
  for (const Measured& row : kMeasured) {
    for (const char c : row.text) {
      text += c;
      const std::size_t now = estimate_tokens(text);
      // Half a character or a word that turns out to be two may cost a little less than before.
      CHECK(now + 3 >= before);
      before = now;
    }
  }
}

TEST_CASE("bytes that are no UTF-8 are counted, not trusted") {
  const std::string broken(100, '\xFF');
  CHECK(estimate_tokens(broken) >= 100);
  CHECK(estimate_tokens("\xF0\x9F") >= 2);
}

}  // namespace bmad_mem::test::token_estimate_test
