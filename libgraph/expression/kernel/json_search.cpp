#include "libgraph/expression/kernel/json_path.hpp"
#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/nested_access.hpp"
#include "libgraph/types/value_text.hpp"

#include <memory>

// JSON_VALUE, JSON_QUERY, JSON_EXISTS and IS JSON, by the words that the binder puts behind text
// and path (libgraph/sql/bind/bind_json.cpp).
namespace headrace::graph {
namespace {

using text = std::string_view;

/// Texts and paths of a call, each parsed once where it is a constant.
class json_finder {
public:
  /// @errors type_mismatch  a constant path that is none
  status prepare(const kernel_request& request) {
    if (request.constants[1] == nullptr || request.constants[1]->is_null(0))
      return {};
    last_path_ = request.constants[1]->string_at(0);
    HEADRACE_TRY(path_, json_path::compile(last_path_));
    return {};
  }
  /// Nothing: the text is no JSON, or the path none, which fails the frame. Of a lax path into what
  /// is no JSON nothing is there.
  std::optional<json_path::found> find(text from, text path, kernel_frame& frame) {
    if (!path_ || path != last_path_) {
      auto made = json_path::compile(path);
      if (!made) {
        frame.fail(made.error().message);
        return std::nullopt;
      }
      path_ = std::move(*made);
      last_path_ = path;
    }
    if (document_.parse(from))
      return path_->find(document_);
    return path_->is_lax() ? std::optional(json_path::found{}) : std::nullopt;
  }
  bool is_lax() const { return path_->is_lax(); }
  const json_document& document() const { return document_; }

private:
  json_document document_;
  std::string last_path_;
  std::optional<json_path> path_;
};

bool is_search(const kernel_request& request, std::size_t count) {
  if (request.arguments.size() != count)
    return false;
  for (std::size_t i = 0; i < count; ++i)
    if (request.arguments[i].physical() != physical_type::string &&
        !(request.function == "JSON_VALUE" && i >= 4))
      return false;
  return true;
}

text word(const kernel_request& request, std::size_t argument) {
  const auto& constant = request.constants[argument];
  return constant == nullptr ? text() : constant->string_at(0);
}

// ---- IS JSON ------------------------------------------------------------------------------------

result<kernel> make_is_json(const kernel_request& request) {
  if (!is_search(request, 2))
    return unfit(request);
  const std::string form(word(request, 1));
  return kernel([form, document = std::make_shared<json_document>()](kernel_frame& frame) {
    auto out = frame.buffers.allocate(frame.rows.total);
    auto* to = out->mutable_as<std::uint8_t>();
    const reader<text> from(frame.arguments[0]);
    for_each_row(frame.rows, [&](std::size_t row) {
      bool holds = !from.is_null(row) && document->parse(from[row]);
      if (holds && form != "VALUE") {
        const auto& root = document->at(0);
        holds = form == "OBJECT"  ? root.kind == json_kind::object
                : form == "ARRAY" ? root.kind == json_kind::array
                                  : root.is_scalar();
      }
      to[row] = static_cast<std::uint8_t>(holds);
    });
    return make_fixed(frame.type, frame.rows.total, std::move(out), nullptr);
  });
}

// ---- JSON_EXISTS --------------------------------------------------------------------------------

result<kernel> make_json_exists(const kernel_request& request) {
  if (!is_search(request, 3))
    return unfit(request);
  auto finder = std::make_shared<json_finder>();
  HEADRACE_CHECK(finder->prepare(request));
  const std::string on_error(word(request, 2));
  return kernel([finder, on_error](kernel_frame& frame) {
    frame.arguments = frame.arguments.first(2);
    return map_rows<std::uint8_t, text, text>(
        frame, [&](text from, text path) -> std::optional<std::uint8_t> {
          const auto found = finder->find(from, path, frame);
          if (found && !found->is_error)
            return static_cast<std::uint8_t>(
                found->is_list || (!found->nodes.empty() &&
                                   finder->document().at(found->nodes[0]).kind != json_kind::null));
          if (on_error == "ERROR")
            frame.fail(found ? text("path is not there") : text("no JSON"), from);
          if (on_error == "UNKNOWN" || on_error == "ERROR")
            return std::nullopt;
          return static_cast<std::uint8_t>(on_error == "TRUE");
        });
  });
}

// ---- JSON_VALUE ---------------------------------------------------------------------------------

/// Appends a scalar of the type; false when it is of another.
bool append_as(const json_document& in, std::size_t index, column_builder& to, std::string& made) {
  const auto& node = in.at(index);
  switch (to.type().root()) {
  case type_root::boolean:
    if (node.kind != json_kind::boolean)
      return false;
    to.append(static_cast<std::uint8_t>(node.text == "true" ? 1 : 0));
    return true;
  case type_root::integer: {
    const auto number =
        node.kind == json_kind::number ? parse_integer<std::int32_t>(node.text) : std::nullopt;
    if (number)
      to.append(*number);
    return number.has_value();
  }
  case type_root::double_: {
    const auto number = node.kind == json_kind::number ? parse_double(node.text) : std::nullopt;
    if (number)
      to.append(*number);
    return number.has_value();
  }
  default:
    made.clear();
    in.append_scalar(index, made);
    to.append_string(made);
    return true;
  }
}

/// (text, path, word on empty, word on error, default on empty, default on error)
result<kernel> make_json_value(const kernel_request& request) {
  if (!is_search(request, 6))
    return unfit(request);
  auto finder = std::make_shared<json_finder>();
  HEADRACE_CHECK(finder->prepare(request));
  const std::string on_empty(word(request, 2));
  const std::string on_error(word(request, 3));
  return kernel([finder, on_empty, on_error](kernel_frame& frame) {
    const reader<text> texts(frame.arguments[0]);
    const reader<text> paths(frame.arguments[1]);
    const any_reader if_empty(frame.arguments[4]);
    const any_reader if_error(frame.arguments[5]);
    std::string made;
    return build_rows(frame, false, [&](column_builder& to, std::size_t row) {
      if (texts.is_null(row) || paths.is_null(row)) {
        to.append_null();
        return;
      }
      const auto found = finder->find(texts[row], paths[row], frame);
      if (frame.has_failed()) {
        to.append_null();
        return;
      }
      const auto& document = finder->document();
      bool is_error = !found || found->is_error;
      const bool is_one = !is_error && !found->is_list && !found->nodes.empty();
      const bool is_null = is_one && document.at(found->nodes[0]).kind == json_kind::null;
      const bool is_scalar = is_one && document.at(found->nodes[0]).is_scalar();
      if (is_scalar && !is_null && append_as(document, found->nodes[0], to, made))
        return;
      // A list, an object, or a scalar of another type: no value, or the wrong one.
      if (!is_error && (found->is_list || (is_one && !is_null)))
        is_error = !finder->is_lax() || is_scalar;
      const auto& behavior = is_error ? on_error : on_empty;
      if (behavior == "ERROR")
        frame.fail(is_error ? text("no such scalar") : text("nothing at the path"), texts[row]);
      if (behavior == "DEFAULT")
        (is_error ? if_error : if_empty).append(row, to);
      else
        to.append_null();
    });
  });
}

// ---- JSON_QUERY ---------------------------------------------------------------------------------

void append_values(const json_document& in, const json_path::found& found, std::string& out) {
  if (!found.is_list) {
    in.append_json(found.nodes[0], out);
    return;
  }
  out += '[';
  for (std::size_t i = 0; i < found.nodes.size(); ++i) {
    out += i > 0 ? "," : "";
    in.append_json(found.nodes[i], out);
  }
  out += ']';
}

/// The items of a JSON array as texts.
void append_items(text array, json_document& document, column_builder& to) {
  document.parse(array);
  to.begin_list();
  std::string made;
  for (std::size_t i = 1; i < document.nodes().size(); i = document.at(i).end) {
    made.clear();
    if (document.at(i).kind == json_kind::null) {
      to.child(0).append_null();
      continue;
    }
    if (document.at(i).is_scalar())
      document.append_scalar(i, made);
    else
      document.append_json(i, made);
    to.child(0).append_string(made);
  }
  to.end_list();
}

/// (text, path, wrapper, word on empty, word on error)
result<kernel> make_json_query(const kernel_request& request) {
  if (!is_search(request, 5))
    return unfit(request);
  auto finder = std::make_shared<json_finder>();
  HEADRACE_CHECK(finder->prepare(request));
  const std::string wrapper(word(request, 2));
  const std::string on_empty(word(request, 3));
  const std::string on_error(word(request, 4));
  const auto items = std::make_shared<json_document>();
  return kernel([=](kernel_frame& frame) {
    const reader<text> texts(frame.arguments[0]);
    const reader<text> paths(frame.arguments[1]);
    const bool is_array = frame.type.root() == type_root::array;
    std::string made;
    return build_rows(frame, false, [&](column_builder& to, std::size_t row) {
      if (texts.is_null(row) || paths.is_null(row)) {
        to.append_null();
        return;
      }
      const auto found = finder->find(texts[row], paths[row], frame);
      bool is_error = !found || found->is_error;
      const bool is_one = !is_error && !found->is_list && !found->nodes.empty();
      const auto kind = is_one ? finder->document().at(found->nodes[0]).kind : json_kind::array;
      const bool is_empty =
          !is_error && !found->is_list && (found->nodes.empty() || kind == json_kind::null);
      made.clear();
      if (!is_error && !is_empty) {
        const bool is_wrapped =
            wrapper == "UNCONDITIONAL" || (wrapper == "CONDITIONAL" && kind != json_kind::array);
        made += is_wrapped ? "[" : "";
        append_values(finder->document(), *found, made);
        made += is_wrapped ? "]" : "";
        // A scalar is no result of a query.
        if (!is_wrapped && kind != json_kind::array && kind != json_kind::object) {
          is_error = !finder->is_lax();
          made.clear();
        }
      }
      if (made.empty()) {
        const auto& behavior = is_error ? on_error : on_empty;
        if (behavior == "ERROR")
          frame.fail(is_error ? text("no object or array") : text("nothing at the path"),
                     texts[row]);
        if (behavior == "EMPTY ARRAY")
          made = "[]";
        else if (behavior == "EMPTY OBJECT")
          made = "{}";
      }
      if (made.empty() || (is_array && made[0] != '['))
        to.append_null();
      else if (is_array)
        append_items(made, *items, to);
      else
        to.append_string(made);
    });
  });
}

constexpr kernel_entry entries[] = {
    {"IS JSON", "s", make_is_json, false},
    {"JSON_EXISTS", "s", make_json_exists, true, true},
    {"JSON_QUERY", "s", make_json_query, false, true},
    {"JSON_VALUE", "ssss.", make_json_value, false, true},
};

} // namespace

std::span<const kernel_entry> json_search_kernels() { return entries; }

} // namespace headrace::graph
