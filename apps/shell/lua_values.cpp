#include "apps/shell/lua_values.hpp"

#include "apps/client/job_text.hpp"
#include "apps/shell/shell_words.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/text.hpp"

#include <lua.hpp>
#include <nlohmann/json.hpp>

namespace headrace::shell {
namespace {

using json = nlohmann::json;

void push_json(lua_State* lua, const json& value) {
  luaL_checkstack(lua, 4, "value nests too deep");
  if (value.is_object()) {
    lua_newtable(lua);
    for (const auto& [key, each] : value.items()) {
      lua_pushlstring(lua, key.data(), key.size());
      push_json(lua, each);
      lua_rawset(lua, -3);
    }
  } else if (value.is_array()) {
    lua_createtable(lua, static_cast<int>(value.size()), 0);
    lua_Integer place = 0;
    for (const auto& each : value) {
      push_json(lua, each);
      lua_rawseti(lua, -2, ++place);
    }
  } else if (value.is_boolean()) {
    lua_pushboolean(lua, value.get<bool>() ? 1 : 0);
  } else if (value.is_number_integer()) {
    lua_pushinteger(lua, value.get<std::int64_t>());
  } else if (value.is_number()) {
    lua_pushnumber(lua, value.get<double>());
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    lua_pushlstring(lua, text.data(), text.size());
  } else {
    lua_pushnil(lua);
  }
}

void set(lua_State* lua, const char* key, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
  lua_setfield(lua, -2, key);
}
void set(lua_State* lua, const char* key, std::int64_t number) {
  lua_pushinteger(lua, number);
  lua_setfield(lua, -2, key);
}
void set(lua_State* lua, const char* key, std::uint64_t number) {
  set(lua, key, static_cast<std::int64_t>(number));
}
void set_real(lua_State* lua, const char* key, double number) {
  lua_pushnumber(lua, number);
  lua_setfield(lua, -2, key);
}
/// Nothing is set when nothing failed.
void set_failure(lua_State* lua, const char* key, const error& failure) {
  if (failure.code != errc::none)
    set(lua, key, to_string(failure));
}

void push_vertex(lua_State* lua, const scheduler::vertex_status& vertex) {
  lua_newtable(lua);
  set(lua, "id", to_string(vertex.id));
  set(lua, "name", vertex.name);
  set(lua, "parallelism", static_cast<std::int64_t>(vertex.parallelism));
  set(lua, "records_in", vertex.records_in);
  set(lua, "records_out", vertex.records_out);
  set(lua, "skipped_records", vertex.skipped_records);
  set(lua, "late_records", vertex.late_records);
  set_real(lua, "busy", static_cast<double>(vertex.busy_share));
  set_real(lua, "back_pressured", static_cast<double>(vertex.back_pressured_share));
  set_real(lua, "idle", static_cast<double>(vertex.idle_share));
}

error wrong(std::string_view what) { return {errc::bad_usage, "submit: " + std::string(what)}; }

/// A list of texts or numbers at the top of the stack.
status read_texts(lua_State* lua, std::vector<std::string>& into) {
  if (!lua_istable(lua, -1))
    return wrong("arguments is a list");
  const auto count = static_cast<lua_Integer>(lua_rawlen(lua, -1));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(lua, -1, i);
    const char* text = lua_tostring(lua, -1);
    if (text == nullptr)
      return wrong("arguments are texts");
    into.emplace_back(text);
    lua_pop(lua, 1);
  }
  return {};
}

status read_settings(lua_State* lua, configuration& into) {
  if (!lua_istable(lua, -1))
    return wrong("settings is a table: [\"key\"] = value");
  for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
    if (lua_type(lua, -2) != LUA_TSTRING)
      return wrong("settings is a table: [\"key\"] = value");
    const char* value = lua_isboolean(lua, -1) ? (lua_toboolean(lua, -1) != 0 ? "true" : "false")
                                               : lua_tostring(lua, -1);
    if (value == nullptr)
      return wrong("a setting is a text, a number, or true or false");
    HEADRACE_CHECK(into.set(lua_tostring(lua, -2), value));
  }
  return {};
}

status read_field(lua_State* lua, std::string_view key, submission& into) {
  if (key == "arguments")
    return read_texts(lua, into.arguments);
  if (key == "settings")
    return read_settings(lua, into.settings);
  if (key == "savepoint") {
    if (lua_type(lua, -1) != LUA_TSTRING)
      return wrong("savepoint is the directory of a savepoint or checkpoint, a text");
    return into.settings.set("execution.state-recovery.path", lua_tostring(lua, -1));
  }
  if (key != "parallelism")
    return wrong("unknown field " + std::string(key) +
                 ", known are arguments, parallelism, savepoint and settings");
  int is_number = 0;
  const auto number = lua_tointegerx(lua, -1, &is_number);
  if (is_number == 0 || number < 1 || number > graph::max_parallelism_limit) {
    const std::string given = luaL_tolstring(lua, -1, nullptr);
    lua_pop(lua, 1);
    return wrong("parallelism is a whole number from 1 to " +
                 std::to_string(graph::max_parallelism_limit) + ": " + given);
  }
  into.parallelism = static_cast<std::int32_t>(number);
  return {};
}

} // namespace

void push_rows(lua_State* lua, std::string_view lines) {
  lua_newtable(lua);
  lua_Integer place = 0;
  for (const auto line : split_text(lines, '\n')) {
    if (line.empty())
      continue;
    push_json(lua, json::parse(line, nullptr, false));
    lua_rawseti(lua, -2, ++place);
  }
}

void push_texts(lua_State* lua, const std::vector<std::string>& texts) {
  lua_createtable(lua, static_cast<int>(texts.size()), 0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lua_pushlstring(lua, texts[i].data(), texts[i].size());
    lua_rawseti(lua, -2, static_cast<lua_Integer>(i + 1));
  }
}

void push_status(lua_State* lua, const scheduler::job_status& status) {
  lua_newtable(lua);
  set(lua, "id", to_string(status.id));
  set(lua, "name", status.name);
  set(lua, "state", scheduler::name_of(status.state));
  set(lua, "restarts", static_cast<std::int64_t>(status.restarts));
  set(lua, "checkpoints", static_cast<std::int64_t>(status.completed_checkpoints));
  set(lua, "last_checkpoint", status.last_checkpoint);
  set(lua, "last_checkpoint_path", status.last_checkpoint_path);
  set(lua, "restored_checkpoint", status.restored_checkpoint);
  set(lua, "records", scheduler::records_read(status));
  set_real(lua, "runtime",
           static_cast<double>(client::runtime_ms(status, system_clock().wall_ms())) / 1000.0);
  set(lua, "waiting_for", status.waiting_for);
  set_failure(lua, "failure", status.failure);
  lua_createtable(lua, 0, static_cast<int>(status.accumulators.size()));
  for (const auto& each : status.accumulators)
    set(lua, each.name.c_str(), each.value);
  lua_setfield(lua, -2, "accumulators");
  lua_createtable(lua, static_cast<int>(status.vertices.size()), 0);
  for (std::size_t i = 0; i < status.vertices.size(); ++i) {
    push_vertex(lua, status.vertices[i]);
    lua_rawseti(lua, -2, static_cast<lua_Integer>(i + 1));
  }
  lua_setfield(lua, -2, "vertices");
}

void push_actors(lua_State* lua, const client::actor_list& listing) {
  lua_createtable(lua, static_cast<int>(listing.actors.size()), 1);
  lua_Integer at = 0;
  for (const auto& actor : listing.actors) {
    lua_newtable(lua);
    set(lua, "id", actor.id);
    set(lua, "name", actor.name);
    set(lua, "kind", actor.kind);
    set(lua, "parent", actor.parent);
    set(lua, "node", actor.node);
    set(lua, "state", actor.state);
    set(lua, "queue", actor.queue);
    set(lua, "taken", actor.taken);
    set(lua, "refused", actor.refused);
    set_real(lua, "busy", static_cast<double>(actor.busy_us) / 1e6);
    if (!actor.error.empty())
      set(lua, "error", actor.error);
    lua_rawseti(lua, -2, ++at);
  }
  push_texts(lua, listing.silent_nodes);
  lua_setfield(lua, -2, "silent");
}

status read_submission(lua_State* lua, int index, submission& into) {
  if (!lua_istable(lua, index))
    return wrong("the second argument is a table: {arguments = {…}, parallelism = 2}");
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_pop(lua, 1)) {
    if (lua_type(lua, -2) != LUA_TSTRING)
      return wrong("fields have names: arguments, parallelism, savepoint, settings");
    HEADRACE_CHECK(read_field(lua, lua_tostring(lua, -2), into));
  }
  return {};
}

status read_savepoint_wish(lua_State* lua, int index, scheduler::savepoint_wish& into) {
  const auto bad = [](const std::string& what) {
    return error(errc::bad_usage, "savepoint: " + what);
  };
  if (!lua_istable(lua, index))
    return bad("options are a table: {directory = \"…\", type = \"native\"}");
  const bool ends_job = into.stop != graph::savepoint_stop::none;
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_pop(lua, 1)) {
    const std::string key = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
    const std::string text = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "";
    if (key == "directory" && !text.empty())
      into.target_directory = text;
    else if (key == "type" && (text == "native" || text == "canonical"))
      into.is_native = text == "native";
    else if (key == "drain" && ends_job && lua_isboolean(lua, -1))
      into.stop = lua_toboolean(lua, -1) != 0 ? graph::savepoint_stop::drain
                                              : graph::savepoint_stop::suspend;
    else
      return bad("not understood, known are directory = TEXT, type = \"native\" or "
                 "\"canonical\"" +
                 std::string(ends_job ? ", drain = true or false" : "") + ": " + key);
  }
  return {};
}

} // namespace headrace::shell
