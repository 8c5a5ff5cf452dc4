#include "libtask/format/lines_format.hpp"

#include "libtask/format/decode_input.hpp"
#include "libtask/format/special_scanner.hpp"
#include "libgraph/connector/option_set.hpp"

namespace headrace::task {
namespace {

using graph::batch_builder;
using graph::buffer_ptr;
using graph::decode_origin;
using graph::decoded;
using graph::row_type_ptr;

class lines_decoder final : public graph::decoder {
public:
  result<decoded> decode(byte_view input, bool last, const decode_origin& origin,
                         std::size_t rows_max, const buffer_ptr& owner,
                         batch_builder& out) override {
    auto& column = out.column(0);
    const bool shared = lies_in(input, owner);
    if (shared)
      column.share(owner);
    decoded done;
    std::size_t rows = 0;
    const std::size_t rows_wanted = rows_max > out.size() ? rows_max - out.size() : 0;
    std::size_t begin = byte_order_mark_bytes(input, origin);
    special_scanner<1> breaks(input, {'\n'});
    while (rows < rows_wanted) {
      const auto end = breaks.next();
      const bool has_break = end < input.size();
      if (!has_break && (!last || begin >= input.size()))
        break;
      auto line = input.substr(begin, end - begin);
      if (line.ends_with('\r'))
        line.remove_suffix(1);
      if (shared)
        column.append_shared(line);
      else
        column.append_string(line);
      ++rows;
      done.lines += has_break ? 1 : 0;
      begin = has_break ? end + 1 : input.size();
      done.bytes = begin;
    }
    if (last && begin >= input.size())
      done.bytes = input.size();
    out.end_rows(rows);
    return done;
  }
};

class lines_encoder final : public graph::encoder {
public:
  status encode(const graph::record_batch& rows, byte_string& out) override {
    const auto& column = rows.at(0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = rows.row_at(i);
      if (!column.is_null(row)) {
        const auto text = column.string_at(row);
        if (text.find('\n') != byte_view::npos || text.ends_with('\r'))
          return error(errc::output_unusable,
                       "a text with a line break is no line: it would be read as other rows; "
                       "write it with 'format' = 'csv' or 'json'");
        out.append(text);
      }
      out.push_back('\n');
    }
    return {};
  }
};

status check_type(const graph::logical_type& type) {
  if (type.child_count() == 1 && type.child(0).physical() == graph::physical_type::string)
    return {};
  return error(errc::type_mismatch,
               "format 'lines' has one column, a STRING: not " + type.to_sql());
}

class lines_format final : public graph::format {
public:
  result<std::unique_ptr<graph::decoder>> create_decoder(row_type_ptr record,
                                                         row_type_ptr produced) const override {
    HEADRACE_CHECK(check_type(*record));
    HEADRACE_CHECK(check_type(*produced));
    return std::unique_ptr<graph::decoder>(std::make_unique<lines_decoder>());
  }
  result<std::unique_ptr<graph::encoder>> create_encoder(row_type_ptr type) const override {
    HEADRACE_CHECK(check_type(*type));
    return std::unique_ptr<graph::encoder>(std::make_unique<lines_encoder>());
  }
};

} // namespace

result<std::unique_ptr<graph::format>> make_lines_format(const graph::option_map& options) {
  HEADRACE_CHECK(graph::option_set::parse("format 'lines'", {}, options));
  return std::unique_ptr<graph::format>(std::make_unique<lines_format>());
}

} // namespace headrace::task
