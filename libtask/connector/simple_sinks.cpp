#include "libtask/connector/simple_sinks.hpp"

#include "libgraph/connector/abilities.hpp"
#include "libgraph/connector/option_set.hpp"
#include "libgraph/data/row_format.hpp"

#include <array>
#include <utility>

namespace headrace::task {
namespace {

/// A sink without commits whose writers do one thing with each batch.
class plain_sink final : public graph::sink,
                         public graph::changelog_sink,
                         public graph::commitless_sink {
public:
  using action = std::function<status(const graph::record_batch&)>;
  using start = std::function<result<action>(const graph::writer_context&)>;
  plain_sink(start begin, bool takes_update_before)
      : begin_(std::move(begin)), takes_update_before_(takes_update_before) {}

  bool takes_changes() const override { return true; }

  result<std::unique_ptr<graph::sink_writer>>
  create_writer(graph::writer_context context,
                std::vector<byte_string> /*restored*/) const override {
    HEADRACE_TRY(auto act, begin_(context));
    return std::unique_ptr<graph::sink_writer>(std::make_unique<writer>(std::move(act)));
  }
  result<std::unique_ptr<graph::committer>>
  create_committer(graph::writer_context /*context*/) const override {
    return std::unique_ptr<graph::committer>();
  }
  bool takes_update_before() const override { return takes_update_before_; }

private:
  class writer final : public graph::sink_writer {
  public:
    explicit writer(action act) : act_(std::move(act)) {}
    status write(const graph::record_batch& rows) override { return act_(rows); }
    result<std::vector<graph::committable>> prepare_commit(bool /*end_of_input*/) override {
      return std::vector<graph::committable>();
    }
    result<byte_string> snapshot(checkpoint_id /*checkpoint*/) override { return byte_string(); }
    status close() override { return {}; }

  private:
    action act_;
  };
  start begin_;
  bool takes_update_before_;
};

std::unique_ptr<graph::sink> make_plain(plain_sink::start begin, bool takes_update_before = true) {
  return std::make_unique<plain_sink>(std::move(begin), takes_update_before);
}

constexpr std::array print_options{
    option_declaration{"print-identifier", option_type::text, "", "stands before each line"},
    option_declaration{"sink.parallelism", option_type::integer, "",
                       "how many subtasks write, of tables of SQL; unset: as many as give the rows",
                       1, 32'768},
    option_declaration{"standard-error", option_type::boolean, "false",
                       "whether to print to standard error"},
};

/// "3> " for the third of several subtasks, with the identifier before it.
std::string line_prefix(const std::string& identifier, const graph::writer_context& context) {
  std::string out = identifier;
  if (context.parallelism > 1)
    out += (out.empty() ? "" : ":") + std::to_string(context.subtask + 1);
  return out.empty() ? out : out + "> ";
}

/// Mixes all bytes that values of a column are made of.
std::uint64_t touch(const graph::column& values) {
  std::uint64_t out = values.size();
  const auto width = static_cast<std::size_t>(values.type().width_bytes());
  if (values.type().physical() == graph::physical_type::string) {
    for (std::size_t row = 0; row < values.size(); ++row) {
      const auto text = values.is_null(row) ? std::string_view() : values.string_at(row);
      out += text.size() + (text.empty() ? 0U : static_cast<unsigned char>(text.back()));
    }
  } else if (width > 0) {
    const auto* bytes = values.values<std::uint8_t>();
    for (std::size_t row = 0; row < values.size(); ++row)
      out += bytes[row * width];
  }
  for (const auto& child : values.content().children)
    out += touch(*child);
  return out;
}

} // namespace

std::vector<option_declaration> print_sink_options() {
  return {print_options.begin(), print_options.end()};
}

graph::connector_registry::sink_factory make_print_factory(print_target to, print_target to_error) {
  return [to = std::move(to), to_error = std::move(to_error)](
             const graph::connector_registry&, const graph::option_map& options,
             graph::row_type_ptr) -> result<std::unique_ptr<graph::sink>> {
    HEADRACE_TRY(const auto set, graph::option_set::parse("sink 'print'", print_options, options));
    return make_plain([target = set.get_bool("standard-error") ? to_error : to,
                       identifier = set.get_text("print-identifier")](
                          const graph::writer_context& context) -> result<plain_sink::action> {
      return plain_sink::action([target, prefix = line_prefix(identifier, context)](
                                    const graph::record_batch& rows) -> status {
        std::string lines;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          lines += prefix;
          graph::format_row(graph::row_view(rows, i), lines);
          lines += '\n';
        }
        return lines.empty() ? status() : target(lines);
      });
    });
  };
}

result<std::unique_ptr<graph::sink>>
make_blackhole_sink(const graph::connector_registry& /*registry*/, const graph::option_map& options,
                    graph::row_type_ptr /*type*/) {
  HEADRACE_CHECK(graph::option_set::parse("sink 'blackhole'", {}, options));
  const auto begin = [](const graph::writer_context&) -> result<plain_sink::action> {
    return plain_sink::action([sum = std::uint64_t{0}](const graph::record_batch& rows) mutable {
      for (const auto& values : rows.columns())
        sum += touch(*values);
      volatile auto kept = sum; // so that the compiler reads the values, too
      static_cast<void>(kept);
      return status();
    });
  };
  return make_plain(begin, false); // what goes is gone
}

} // namespace headrace::task
