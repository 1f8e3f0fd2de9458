#include "corpus_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kTopicWords = 40;

bool is_token_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

void capitalize(std::string& text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
}

}  // namespace

std::size_t count_tokens(std::string_view text) {
  std::size_t count = 0;
  bool inside = false;
  for (const char c : text) {
    count += is_token_byte(c) && !inside ? 1 : 0;
    inside = is_token_byte(c);
  }
  return count;
}

TextMaker::TextMaker(const Vocabulary& vocabulary, Random& random)
    : vocabulary_(vocabulary), random_(random), topic_ranks_(kTopicWords) {}

Topic TextMaker::topic() {
  Topic topic;
  for (std::size_t i = 0; i < kTopicWords; ++i) {
    // Every third word is one that everybody uses; the others belong to few topics.
    const std::size_t bound = i % 3 == 0 ? vocabulary_.real_words() : vocabulary_.size();
    topic.words.push_back(static_cast<std::size_t>(random_.below(bound)));
  }
  topic.name = vocabulary_.stem(topic.words[0]) + '_' + vocabulary_.stem(topic.words[3]);
  return topic;
}

std::string TextMaker::word(const Topic& topic) {
  const std::uint64_t draw = random_.below(1000);
  if (draw < 400) {
    return std::string(vocabulary_.function_word(random_));
  }
  if (draw < 735) {
    return vocabulary_.content_word(random_);
  }
  if (draw < 915) {
    return vocabulary_.inflected(topic.words[topic_ranks_.draw(random_)], random_);
  }
  if (draw < 955) {
    return std::string(vocabulary_.technical_term(random_));
  }
  if (draw < 985) {
    const std::string& name = vocabulary_.identifier(random_);
    return random_.percent(60) ? fmt::format("`{}`", name) : name;
  }
  if (draw < 995) {
    const std::uint64_t digits = random_.between(1, 5);
    std::uint64_t bound = 10;
    for (std::uint64_t i = 1; i < digits; ++i) {
      bound *= 10;
    }
    return fmt::format("{}", random_.below(bound));
  }
  return std::string(vocabulary_.foreign_word(random_));
}

std::string TextMaker::phrase(const Topic& topic, std::size_t tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens; ++i) {
    if (i > 0) {
      text += ' ';
    }
    text += word(topic);
  }
  capitalize(text);
  return text;
}

std::string TextMaker::sentence(const Topic& topic, std::size_t tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens; ++i) {
    if (i > 0) {
      text += random_.percent(7) ? ", " : " ";
    }
    text += word(topic);
  }
  capitalize(text);
  const std::uint64_t draw = random_.below(20);
  text += draw < 16 ? '.' : draw < 19 ? '?' : '!';
  return text;
}

std::string TextMaker::sentences(const Topic& topic, std::size_t tokens) {
  std::string text;
  std::size_t made = 0;
  while (made < tokens) {
    const auto drawn = static_cast<std::size_t>(random_.between(5, 18));
    const std::size_t size = std::min(drawn, std::max<std::size_t>(tokens - made, 2));
    if (!text.empty()) {
      text += ' ';
    }
    text += sentence(topic, size);
    made += size;
  }
  return text;
}

std::string TextMaker::code() {
  const std::string& object = vocabulary_.identifier(random_);
  const std::string& function = vocabulary_.identifier(random_);
  switch (random_.below(4)) {
    case 0:
      return fmt::format("const {} = await {}(\"{}\");", object, function,
                         vocabulary_.identifier(random_));
    case 1:
      return fmt::format("if ({} == null) {{\n  throw new Error(\"{}\");\n}}", object, function);
    case 2:
      return fmt::format("$ grep -rn '{}' {} | head -{}", object, function, random_.below(90) + 10);
    default:
      return fmt::format("{{\"{}\": \"{}\", \"retries\": {}}}", object, function,
                         random_.below(10));
  }
}

std::string TextMaker::document(const Topic& topic, std::size_t tokens) {
  std::string text;
  std::size_t made = 0;
  while (made < tokens) {
    if (!text.empty()) {
      text += "\n\n";
    }
    const std::size_t before = text.size();
    const std::uint64_t draw = random_.below(10);
    if (draw == 0) {
      text += fmt::format("```\n{}\n```", code());
    } else if (draw < 3) {
      for (std::uint64_t items = random_.between(2, 4); items > 0; --items) {
        text += "- ";
        text += phrase(topic, static_cast<std::size_t>(random_.between(4, 10)));
        text += items > 1 ? "\n" : "";
      }
    } else {
      const auto drawn = static_cast<std::size_t>(random_.between(15, 60));
      text += sentences(topic, std::min(drawn, tokens - made));
    }
    made += count_tokens(std::string_view(text).substr(before));
  }
  return text;
}

std::string TextMaker::tag(const Topic& topic) {
  return vocabulary_.stem(topic.words[static_cast<std::size_t>(random_.below(6))]);
}

}  // namespace bmad_mem::bench
