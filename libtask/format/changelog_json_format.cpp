#include "libtask/format/changelog_json_format.hpp"

#include "libtask/format/decode_input.hpp"
#include "libtask/format/json_decoder.hpp"
#include "libtask/format/json_encoder.hpp"

#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::row_kind;

constexpr std::array<std::string_view, 4> operations{"+I", "-U", "+U", "-D"}; ///< by row_kind

std::optional<row_kind> kind_of(std::string_view operation) {
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (operations[i] == operation)
      return static_cast<row_kind>(i);
  return std::nullopt;
}

/// What a line holds.
graph::row_type_ptr line_type(const logical_type& data) {
  return std::make_shared<const logical_type>(
      logical_type::row(
          {{"op", logical_type::string().not_null(), ""}, {"data", data.not_null(), ""}})
          .not_null());
}

std::string bad_operation(std::string_view found) {
  return "field `op` wants +I, -U, +U or -D, found " + excerpt(found);
}

/// Reads lines as rows of `op` and `data`, and takes these apart.
class changelog_json_decoder final : public graph::decoder {
public:
  changelog_json_decoder(std::unique_ptr<graph::decoder> lines, graph::row_type_ptr line,
                         graph::malformed_policy on_malformed)
      : lines_(std::move(lines)), read_(std::move(line)), on_malformed_(on_malformed) {}

  result<graph::decoded> decode(byte_view input, bool last, const graph::decode_origin& origin,
                                std::size_t rows_max, const graph::buffer_ptr& owner,
                                graph::batch_builder& out) override {
    if (out.size() >= rows_max)
      return graph::decoded();
    const auto wanted = rows_max - out.size();
    HEADRACE_TRY(auto done, lines_->decode(input, last, origin, wanted, owner, read_));
    const auto rows = read_.finish();
    if (read_kinds(rows)) {
      append(rows, out);
      return done;
    }
    if (origin.left_out != nullptr)
      origin.left_out->clear(); // they are found once more
    return decode_one_by_one(input, last, origin, wanted, owner, out);
  }

private:
  /// False when there is an operation that is none.
  bool read_kinds(const graph::record_batch& rows) {
    kinds_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto kind = kind_of(rows.at(0).string_at(i));
      if (!kind)
        return false;
      kinds_.push_back(*kind);
    }
    return true;
  }
  void append(const graph::record_batch& rows, graph::batch_builder& out) {
    if (rows.is_empty())
      return;
    all_.resize(rows.size());
    std::iota(all_.begin(), all_.end(), 0U);
    const auto& data = rows.at(1);
    for (std::size_t i = 0; i < data.content().children.size(); ++i)
      out.column(i).append_from(data.child(i), all_);
    for (const auto kind : kinds_)
      out.end_row(kind);
  }
  /// Finds the records that are not well: they are told by their places, or left out.
  result<graph::decoded> decode_one_by_one(byte_view input, bool last,
                                           const graph::decode_origin& origin, std::size_t wanted,
                                           const graph::buffer_ptr& owner,
                                           graph::batch_builder& out) {
    graph::decoded done;
    for (std::size_t i = 0; i < wanted; ++i) {
      auto here = origin;
      here.offset += done.bytes;
      here.line += origin.line == 0 ? 0 : done.lines;
      const auto known = origin.left_out == nullptr ? 0 : origin.left_out->size();
      HEADRACE_TRY(const auto one,
                   lines_->decode(input.substr(done.bytes), last, here, 1, owner, read_));
      if (origin.left_out != nullptr)
        for (auto i_left = known; i_left < origin.left_out->size(); ++i_left)
          (*origin.left_out)[i_left].begin += done.bytes;
      const auto rows = read_.finish();
      if (read_kinds(rows)) {
        append(rows, out);
      } else if (on_malformed_ == graph::malformed_policy::fail) {
        return malformed_record(origin, {done.bytes, done.lines, 1},
                                bad_operation(rows.at(0).string_at(0)));
      } else {
        ++done.skipped;
        note_malformed(origin, input, done.bytes, done.bytes + one.bytes,
                       bad_operation(rows.at(0).string_at(0)));
      }
      done.bytes += one.bytes;
      done.lines += one.lines;
      done.skipped += one.skipped;
      if (one.bytes == 0)
        break;
    }
    return done;
  }

  std::unique_ptr<graph::decoder> lines_;
  graph::batch_builder read_;
  graph::malformed_policy on_malformed_;
  std::vector<row_kind> kinds_;
  std::vector<std::uint32_t> all_;
};

/// Puts the lines that `json` makes of rows into objects.
class changelog_json_encoder final : public graph::encoder {
public:
  changelog_json_encoder(json_options options, graph::row_type_ptr type)
      : data_(std::move(options), std::move(type)) {}

  status encode(const graph::record_batch& rows, byte_string& out) override {
    lines_.clear();
    HEADRACE_CHECK(data_.encode(rows, lines_));
    std::size_t begin = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto end = lines_.find('\n', begin);
      const auto kind = rows.kinds() == nullptr ? row_kind::insert : rows.kinds()[rows.row_at(i)];
      out += R"({"op":")";
      out += operations[static_cast<std::size_t>(kind)];
      out += R"(","data":)";
      out.append(lines_, begin, end - begin);
      out += "}\n";
      begin = end + 1;
    }
    return {};
  }

private:
  json_encoder data_;
  byte_string lines_;
};

class changelog_json_format final : public graph::format {
public:
  explicit changelog_json_format(json_options options) : options_(std::move(options)) {}

  result<std::unique_ptr<graph::decoder>>
  create_decoder(graph::row_type_ptr record, graph::row_type_ptr produced) const override {
    HEADRACE_CHECK(check_produced(*record, *produced, true));
    auto line = line_type(*produced);
    HEADRACE_TRY(auto lines, make_json_decoder(options_, line));
    return std::unique_ptr<graph::decoder>(std::make_unique<changelog_json_decoder>(
        std::move(lines), std::move(line), options_.on_malformed));
  }
  result<std::unique_ptr<graph::encoder>> create_encoder(graph::row_type_ptr type) const override {
    HEADRACE_CHECK(make_json_decoder(options_, type)); // takes the same types
    return std::unique_ptr<graph::encoder>(
        std::make_unique<changelog_json_encoder>(options_, std::move(type)));
  }

private:
  json_options options_;
};

} // namespace

result<std::unique_ptr<graph::format>>
make_changelog_json_format(const graph::option_map& options) {
  HEADRACE_TRY(auto parsed, json_options::parse(options, "changelog-json"));
  parsed.nulls_fields = false; // NULL would be another row than the one that is taken back
  return std::unique_ptr<graph::format>(std::make_unique<changelog_json_format>(std::move(parsed)));
}

} // namespace headrace::task
