#include "word_lists.hpp"

namespace bmad_mem::bench {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    words.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

}  // namespace

std::vector<std::string_view> function_words() {
  return words_of(
      "the to a of and is in it that for we this on with be i not as are you but have or if from "
      "at was can so an by will when do which has they should there no all one then what only now "
      "would were just its more also than because how our could into your does been some before "
      "after each any them where other their while these my still up out both about who here those "
      "same why between without again most until through over under since during yet");
}

std::vector<std::string_view> common_verbs() {
  return words_of(
      "use add need run change fail work test check make fix write read call keep set return move "
      "build look find start update remove store save load send create handle get try expect "
      "agree decide choose prefer avoid log parse match compare migrate deploy release merge "
      "review rename split cache retry block wait lock sync index query sort filter measure break "
      "support replace require import export configure validate encode decode render fetch push "
      "pull commit revert resolve reject approve document explain refactor inline extract "
      "connect listen stream buffer flush allocate free copy delete archive restore");
}

std::vector<std::string_view> common_nouns() {
  return words_of(
      "file test error function user session change code line data request value name key time "
      "message config field path service response database table token branch version type "
      "client server list module step option queue worker thread process schema endpoint memory "
      "entry script folder package library plan reason problem case result output input event "
      "number limit default timeout latency payload header button page form screen customer order "
      "payment invoice account password permission role policy backup report metric alert "
      "dashboard cluster node container image volume network port certificate secret "
      "transaction record column row constraint relation trigger snapshot pipeline job runner "
      "artifact dependency compiler warning assertion fixture mock coverage benchmark budget "
      "deadline customer ticket meeting team stakeholder feedback preference convention decision "
      "finding architecture diagram interface adapter factory handler middleware controller");
}

std::vector<std::string_view> common_adjectives() {
  return words_of(
      "new old small large slow fast simple safe local remote empty whole good bad clear wrong "
      "right open final main public private static dynamic stale fresh broken stable strict "
      "optional nested durable atomic concurrent idempotent deterministic explicit implicit "
      "internal external legacy minimal complete parallel sequential silent verbose critical");
}

std::vector<std::string_view> technical_terms() {
  return words_of(
      "API JSON HTTP SQL PostgreSQL TypeScript Python Docker Redis GitHub CI Kubernetes React "
      "Node.js OAuth JWT TLS gRPC GraphQL SQLite MongoDB MySQL Kafka RabbitMQ nginx Terraform AWS "
      "S3 Lambda Linux Debian CMake Ninja C++ Rust Go Java webpack Vite ESLint Prettier Jest "
      "Playwright pytest OpenAPI YAML TOML CSV UTF-8 Unicode regex CORS CSRF XSS SSO LDAP SAML DNS "
      "TCP UDP WebSocket REST CRUD ORM ACID MVCC WAL B-tree LSM BM25 LRU UUID SHA-256 HMAC "
      "Prometheus Grafana OpenTelemetry Sentry Stripe PayPal Figma Jira Slack");
}

std::vector<std::string_view> foreign_words() {
  return words_of(
      "café naïve Zürich façade Müller señor größe déjà données Überprüfung "
      "résumé Ångström данные запрос ошибка 設計 データベース 检索 測試 오류 βeta "
      "→ … – “quoted” ✓ 🚀");
}

}  // namespace bmad_mem::bench
