#include "test/libgraph/sql/testing_session.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace headrace::sql {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// The SQL of a file of script tests: what stands under statement, query and error.
std::vector<std::string> texts_of(const std::string& content) {
  std::vector<std::string> out;
  std::istringstream lines(content);
  std::string line;
  bool is_inside = false;
  while (std::getline(lines, line)) {
    const bool begins =
        line.starts_with("statement") || line.starts_with("query") || line.starts_with("error");
    if (!is_inside && begins) {
      is_inside = true;
      out.emplace_back();
    } else if (line.empty() || line == "----") {
      is_inside = false;
    } else if (is_inside) {
      out.back() += line + "\n";
    }
  }
  return out;
}

std::vector<std::string> all_texts() {
  std::vector<std::string> out;
  const std::filesystem::path root(HEADRACE_SOURCE_ROOT);
  for (const auto& each : std::filesystem::recursive_directory_iterator(root / "test/sql"))
    if (each.path().extension() == ".test")
      for (auto& text : texts_of(content_of(each.path())))
        out.push_back(std::move(text));
  for (const auto& each : std::filesystem::directory_iterator(root / "apps/examples/sql"))
    if (each.path().extension() == ".sql")
      out.push_back(content_of(each.path()));
  return out;
}

/// Places behind a word, a number or a sign.
std::vector<std::size_t> cuts_of(std::string_view text) {
  const auto is_word = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
  };
  std::vector<std::size_t> out;
  for (std::size_t i = 1; i < text.size(); ++i)
    if (!is_word(text[i - 1]) || !is_word(text[i]))
      out.push_back(i);
  return out;
}

} // namespace

TEST_SUITE("graph/sql/script_cut") {

TEST_CASE("a script that is cut off anywhere is well, or has errors with places") {
  const testing_session tables;
  const auto texts = all_texts();
  REQUIRE(texts.size() > 50);
  std::size_t refused = 0;
  for (const auto& text : texts)
    for (const auto cut : cuts_of(text)) {
      auto session = tables.session();
      const auto part = std::string_view(text).substr(0, cut);
      const auto planned = plan_script(part, session);
      refused += planned.findings.empty() ? 0 : 1;
      for (const auto& each : planned.findings) {
        CAPTURE(part);
        CAPTURE(each.message);
        CHECK(each.at.is_known());
        CHECK(each.at.begin <= part.size());
        CHECK_FALSE(to_string(each, part).empty());
      }
    }
  CHECK(refused > 1000);
}

} // TEST_SUITE("graph/sql/script_cut")

} // namespace headrace::sql
