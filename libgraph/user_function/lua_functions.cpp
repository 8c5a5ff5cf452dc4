#include "libgraph/user_function/lua_functions.hpp"

#include "libgraph/user_function/lua_machine.hpp"
#include "libgraph/user_function/lua_values.hpp"

#include <lua.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace headrace::graph {
namespace {

/// The body as a function of the parameters, on its first line, so that lines are counted well.
std::string function_text(const user_function& of) {
  std::string out = "return function(";
  for (std::size_t i = 0; i < of.parameters.size(); ++i)
    out += (i > 0 ? ", " : "") + of.parameters[i].name;
  return out + ") " + of.source + "\nend";
}

/// Pushes the arguments of a row. @returns how many
int push_arguments(lua_State* lua, user_arguments arguments, std::size_t row) {
  luaL_checkstack(lua, static_cast<int>(arguments.size()) + 2, "too many arguments");
  for (const auto& each : arguments)
    push_value(lua, *each.values, each.at(row));
  return static_cast<int>(arguments.size());
}

/// A function that stays where Lua keeps it.
class kept_function {
public:
  /// Takes the function on top.
  void keep(lua_State* lua) { place_ = luaL_ref(lua, LUA_REGISTRYINDEX); }
  void push(lua_State* lua) const { lua_rawgeti(lua, LUA_REGISTRYINDEX, place_); }
  bool is_there() const { return place_ != LUA_NOREF; }

private:
  int place_ = LUA_NOREF;
};

class lua_scalar final : public user_scalar {
public:
  explicit lua_scalar(std::unique_ptr<lua_machine> machine) : machine_(std::move(machine)) {}

  status prepare(const user_function& of) {
    return machine_->run([&](lua_State* lua) {
      machine_->load(function_text(of));
      machine_->call(0, 1);
      function_.keep(lua);
    });
  }

  status compute(user_arguments arguments, user_rows rows, column_builder& out) override {
    return machine_->run([&](lua_State* lua) {
      for (std::size_t i = 0; i < rows.count; ++i) {
        function_.push(lua);
        machine_->call(push_arguments(lua, arguments, rows.at(i)), 1);
        append_value(lua, -1, out);
        lua_pop(lua, 1);
      }
    });
  }

private:
  std::unique_ptr<lua_machine> machine_;
  kept_function function_;
};

class lua_table final : public user_table {
public:
  lua_table(std::unique_ptr<lua_machine> machine, std::size_t width)
      : machine_(std::move(machine)), width_(width) {}

  status prepare(const user_function& of) {
    return machine_->run([&](lua_State* lua) {
      lua_pushlightuserdata(lua, this);
      lua_pushcclosure(lua, emit, 1);
      lua_setglobal(lua, "emit");
      machine_->load(function_text(of));
      machine_->call(0, 1);
      function_.keep(lua);
    });
  }

  result<std::size_t> make(user_arguments arguments, user_rows rows, std::size_t from,
                           std::size_t rows_max, std::vector<std::uint32_t>& parents,
                           batch_builder& out) override {
    parents_ = &parents;
    out_ = &out;
    auto next = from;
    const auto done = machine_->run([&](lua_State* lua) {
      for (; next < rows.count && parents.size() < rows_max; ++next) {
        parent_ = static_cast<std::uint32_t>(next);
        function_.push(lua);
        machine_->call(push_arguments(lua, arguments, rows.at(next)), 0);
      }
    });
    parents_ = nullptr;
    if (!done)
      return done.error();
    return next;
  }

private:
  /// emit(a, b, …): a row.
  static int emit(lua_State* lua) {
    auto& self = *static_cast<lua_table*>(lua_touserdata(lua, lua_upvalueindex(1)));
    if (self.parents_ == nullptr)
      return luaL_error(lua, "emit is for the calls of a table function");
    const auto width = static_cast<int>(self.width_);
    if (lua_gettop(lua) != width)
      return luaL_error(lua, "emit takes %d values, a column each, found %d", width,
                        lua_gettop(lua));
    if (self.parents_->size() >= rows_a_piece_max)
      return luaL_error(lua, "one call emits too many rows, at most %d",
                        static_cast<int>(rows_a_piece_max));
    for (int i = 0; i < width; ++i)
      append_value(lua, i + 1, self.out_->column(static_cast<std::size_t>(i)));
    self.out_->end_row();
    self.parents_->push_back(self.parent_);
    return 0;
  }

  static constexpr std::size_t rows_a_piece_max = 10'000'000;
  std::unique_ptr<lua_machine> machine_;
  std::size_t width_;
  kept_function function_;
  std::vector<std::uint32_t>* parents_ = nullptr; ///< of the calls that are made
  batch_builder* out_ = nullptr;
  std::uint32_t parent_ = 0;
};

class lua_aggregate final : public user_aggregate {
public:
  explicit lua_aggregate(std::unique_ptr<lua_machine> machine) : machine_(std::move(machine)) {}

  status prepare(const user_function& of) {
    return machine_->run([&](lua_State* lua) {
      machine_->load(of.source);
      machine_->call(0, 0);
      keep(lua, "create", create_);
      keep(lua, "accumulate", accumulate_);
      keep(lua, "retract", retract_);
      keep(lua, "merge", merge_);
      keep(lua, "result", result_);
      for (const auto& [name, function] :
           {std::pair("accumulate", &accumulate_), std::pair("result", &result_)})
        if (!function->is_there())
          luaL_error(lua,
                     "an aggregate defines function create(), accumulate(group, …) and "
                     "result(group); missing: %s",
                     name);
    });
  }
  bool has_retract() const { return retract_.is_there(); }
  bool has_merge() const { return merge_.is_there(); }

  status create(byte_string& group) override {
    return machine_->run([&](lua_State* lua) {
      if (create_.is_there()) {
        create_.push(lua);
        machine_->call(0, 1);
      } else {
        lua_newtable(lua);
      }
      pack_value(lua, -1, group);
    });
  }
  status accumulate(byte_string& group, user_arguments arguments, std::size_t row) override {
    return change(accumulate_, group, arguments, row);
  }
  status retract(byte_string& group, user_arguments arguments, std::size_t row) override {
    return change(retract_, group, arguments, row);
  }
  status merge(byte_string& group, byte_view other) override {
    return machine_->run([&](lua_State* lua) {
      push_packed(lua, group);
      merge_.push(lua);
      lua_pushvalue(lua, 1);
      push_packed(lua, other);
      machine_->call(2, 1);
      pack_changed(lua, group);
    });
  }
  status tell(byte_view group, column_builder& out) override {
    return machine_->run([&](lua_State* lua) {
      result_.push(lua);
      push_packed(lua, group);
      machine_->call(1, 1);
      append_value(lua, -1, out);
    });
  }

private:
  static void keep(lua_State* lua, const char* name, kept_function& into) {
    lua_getglobal(lua, name);
    if (lua_isfunction(lua, -1))
      into.keep(lua);
    else
      lua_pop(lua, 1);
  }
  status change(const kept_function& by, byte_string& group, user_arguments arguments,
                std::size_t row) {
    return machine_->run([&](lua_State* lua) {
      push_packed(lua, group);
      by.push(lua);
      lua_pushvalue(lua, 1);
      machine_->call(push_arguments(lua, arguments, row) + 1, 1);
      pack_changed(lua, group);
    });
  }
  /// What a function gives is the group from now on; when it gives nothing, it has changed what it
  /// got, which lies below.
  static void pack_changed(lua_State* lua, byte_string& group) {
    pack_value(lua, lua_isnil(lua, -1) ? 1 : -1, group);
  }

  std::unique_ptr<lua_machine> machine_;
  kept_function create_;
  kept_function accumulate_;
  kept_function retract_;
  kept_function merge_;
  kept_function result_;
};

template <class Made>
result<std::unique_ptr<Made>> prepared(std::unique_ptr<Made> made, const user_function& of) {
  HEADRACE_CHECK(made->prepare(of));
  return made;
}

result<std::unique_ptr<lua_aggregate>> prepared_aggregate(const user_function& of) {
  HEADRACE_TRY(auto machine, lua_machine::make(of.name, of.limits));
  return prepared(std::make_unique<lua_aggregate>(std::move(machine)), of);
}

} // namespace

result<std::unique_ptr<user_scalar>> make_lua_scalar(const user_function& of) {
  HEADRACE_TRY(auto machine, lua_machine::make(of.name, of.limits));
  HEADRACE_TRY(auto made, prepared(std::make_unique<lua_scalar>(std::move(machine)), of));
  return std::unique_ptr<user_scalar>(std::move(made));
}

result<std::unique_ptr<user_table>> make_lua_table(const user_function& of) {
  HEADRACE_TRY(auto machine, lua_machine::make(of.name, of.limits));
  HEADRACE_TRY(
      auto made,
      prepared(std::make_unique<lua_table>(std::move(machine), of.result.child_count()), of));
  return std::unique_ptr<user_table>(std::move(made));
}

result<std::unique_ptr<user_aggregate>> make_lua_aggregate(const user_function& of) {
  HEADRACE_TRY(auto made, prepared_aggregate(of));
  return std::unique_ptr<user_aggregate>(std::move(made));
}

status check_lua(user_function& of) {
  if (of.form == user_form::scalar)
    return make_lua_scalar(of) ? status() : make_lua_scalar(of).error();
  if (of.form == user_form::table)
    return make_lua_table(of) ? status() : make_lua_table(of).error();
  HEADRACE_TRY(const auto made, prepared_aggregate(of));
  of.has_retract = made->has_retract();
  of.has_merge = made->has_merge();
  return {};
}

bool is_lua_name(std::string_view name) {
  static constexpr std::array<std::string_view, 22> words{
      "and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
      "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
      "repeat",   "return", "then", "true", "until",  "while"};
  const auto is_letter = [](char each) {
    return each == '_' || (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
  };
  if (name.empty() || !is_letter(name[0]) ||
      std::find(words.begin(), words.end(), name) != words.end())
    return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char each) { return is_letter(each) || (each >= '0' && each <= '9'); });
}

} // namespace headrace::graph
