#include "search/dialogue_act.hpp"

#include <string_view>

#include <doctest/doctest.h>

namespace bmad_mem::dialogue_act_test {

TEST_CASE("dialogue alone names nothing") {
  static constexpr std::string_view kNothing[] = {"",
                                                  "yes",
                                                  "ok, do it",
                                                  "y",
                                                  "1",
                                                  "👍",
                                                  "...",
                                                  "looks good, thanks!",
                                                  "try again",
                                                  "no, the other one",
                                                  "continue please",
                                                  "ja, mach weiter",
                                                  "passt so, danke",
                                                  "d'accord, vas-y",
                                                  "sí, por favor",
                                                  "vale, sigue",
                                                  "好的，继续",
                                                  "谢谢，没问题",
                                                  "はい、続けて",
                                                  "もう一度お願いします"};
  for (const std::string_view text : kNothing) {
    CAPTURE(text);
    CHECK(is_dialogue_only(text));
  }
  static constexpr std::string_view kSomething[] = {"yes, use pnpm", "port 8443", "boil an egg",
                                                    "die Migration", "heron",     "部署到生产",
                                                    "本番に適用して"};
  for (const std::string_view text : kSomething) {
    CAPTURE(text);
    CHECK_FALSE(is_dialogue_only(text));
  }
}

TEST_CASE("a request states nothing, and a sentence beside it does") {
  static constexpr std::string_view kRequests[] = {"run the tests",
                                                   "Can you fix the failing test? Then commit.",
                                                   "please explain what this function does",
                                                   "What is the staging port?",
                                                   "where do we keep the keys",
                                                   "yes. Now add a column for the birthday.",
                                                   "Führe die Tests noch einmal aus.",
                                                   "Kannst du die Tests laufen lassen?",
                                                   "Peux-tu corriger l'erreur ?",
                                                   "Écris un test pour ça.",
                                                   "remind me which port staging has",
                                                   "rappelle-moi le port de staging",
                                                   "erinnere mich, welcher Port es war",
                                                   "recuérdame el puerto",
                                                   "端口是多少来着",
                                                   "ポートは何だった",
                                                   "¿Puedes ejecutar las pruebas?",
                                                   "请运行测试",
                                                   "为什么构建失败？",
                                                   "テストを実行してください"};
  for (const std::string_view text : kRequests) {
    CAPTURE(text);
    CHECK(states_nothing(text, EntryRole::kUser));
  }
  static constexpr std::string_view kStatements[] = {
      "The staging server is called heron. yes",
      "The build fails since Tuesday. Can you look?",
      "We use pnpm here.",
      "I moved the keys to vault seven, can you update the docs?",
      "Der Port ist jetzt 8443.",
      "Nous utilisons pnpm.",
      "El puerto es 8443.",
      "端口改成了8443。",
      "ポートは8443です。",
      "```\nTypeError: x is undefined\n```"};
  for (const std::string_view text : kStatements) {
    CAPTURE(text);
    CHECK_FALSE(states_nothing(text, EntryRole::kUser));
  }
}

TEST_CASE("an assistant that announces states nothing") {
  static constexpr std::string_view kNothing[] = {"Let me check the configuration.",
                                                  "Sure! I'll look into it.",
                                                  "Done.",
                                                  "Ich sehe mir die Konfiguration an.",
                                                  "Je vérifie.",
                                                  "Voy a revisar los registros.",
                                                  "好的，我来看看。",
                                                  "確認します。"};
  for (const std::string_view text : kNothing) {
    CAPTURE(text);
    CHECK(states_nothing(text, EntryRole::kAssistant));
  }
  CHECK_FALSE(states_nothing("Done. All 43 tests pass.", EntryRole::kAssistant));
  CHECK_FALSE(states_nothing("The port is 8443.", EntryRole::kAssistant));
  CHECK_FALSE(states_nothing("yes", EntryRole::kNone));
}

TEST_CASE("a question has its mark, or begins like one") {
  CHECK(asks_question("the staging port?"));
  CHECK(asks_question("where is the key"));
  CHECK(asks_question("端口是多少？"));
  CHECK_FALSE(asks_question("add a column"));
  CHECK_FALSE(asks_question(""));
}

}  // namespace bmad_mem::dialogue_act_test
