#include "libgraph/user_function/lua_machine.hpp"

#include "libactors/base/data_errc.hpp"

#include <lua.hpp>

#include <cstdlib>

namespace headrace::graph {
namespace {

constexpr int instructions_a_look = 1000;
/// What a function that runs in C may go through at once.
constexpr lua_Integer elements_max = 10'000'000;

void forget(lua_State* lua, std::initializer_list<const char*> names) {
  for (const auto* each : names) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, each);
  }
}

/// Puts another function in place of one, which it gets as its upvalue. The table is on top.
void replace(lua_State* lua, const char* name, lua_CFunction by) {
  lua_getfield(lua, -1, name);
  lua_pushcclosure(lua, by, 1);
  lua_setfield(lua, -2, name);
}

/// Calls what was replaced with the arguments.
int pass_on(lua_State* lua) {
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
  return lua_gettop(lua);
}

/// Functions of table run in C over as many elements as the metatable says there are.
int plain_table(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  if (lua_getmetatable(lua, 1) != 0)
    return luaL_argerror(lua, 1, "a table without metatable is wanted here");
  luaL_argcheck(lua, lua_rawlen(lua, 1) <= static_cast<lua_Unsigned>(elements_max), 1, "too long");
  return pass_on(lua);
}

int move_elements(lua_State* lua) {
  luaL_argcheck(lua, lua_getmetatable(lua, 1) == 0, 1, "a table without metatable is wanted here");
  const auto from = luaL_checkinteger(lua, 2);
  const auto to = luaL_checkinteger(lua, 3);
  luaL_argcheck(lua, from > to || to - elements_max < from, 3, "too many elements to move");
  return pass_on(lua);
}

/// Copies of nothing would be counted in C, one by one.
int repeat(lua_State* lua) {
  std::size_t size = 0;
  std::size_t between = 0;
  luaL_checklstring(lua, 1, &size);
  luaL_optlstring(lua, 3, "", &between);
  if (size + between == 0) {
    lua_pushliteral(lua, "");
    return 1;
  }
  return pass_on(lua);
}

/// Finalizers would run uncounted, and after the last call.
int set_metatable(lua_State* lua) {
  if (lua_istable(lua, 2)) {
    lua_pushliteral(lua, "__gc");
    lua_rawget(lua, 2);
    luaL_argcheck(lua, lua_isnil(lua, -1), 2, "__gc is not allowed here");
    lua_pop(lua, 1);
  }
  return pass_on(lua);
}

} // namespace

lua_machine& lua_machine::of(lua_State* lua) {
  return **static_cast<lua_machine**>(lua_getextraspace(lua));
}

void* lua_machine::allocate(void* of, void* old, std::size_t old_size, std::size_t new_size) {
  auto& self = *static_cast<lua_machine*>(of);
  const std::size_t given_back = old == nullptr ? 0 : old_size; // else it tells a type
  if (new_size == 0) {
    std::free(old);
    self.used_bytes_ -= given_back;
    return nullptr;
  }
  if (new_size > given_back && self.used_bytes_ - given_back + new_size > self.limits_.memory_bytes)
    return nullptr;
  void* made = std::realloc(old, new_size);
  if (made != nullptr)
    self.used_bytes_ = self.used_bytes_ - given_back + new_size;
  return made;
}

void lua_machine::count(lua_State* lua, lua_Debug* /*at*/) {
  auto& self = of(lua);
  self.instructions_ += instructions_a_look;
  if (self.limits_.instructions == 0 || self.instructions_ <= self.limits_.instructions)
    return;
  self.is_exhausted_ = true;
  luaL_error(lua, "a call took more than %I instructions (table.exec.lua.instruction-limit)",
             static_cast<lua_Integer>(self.limits_.instructions));
}

/// What ended because of a bound is not to be caught.
int lua_machine::guarded_pcall(lua_State* lua) {
  luaL_checkany(lua, 1);
  const int outcome = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
  if (outcome != LUA_OK && (of(lua).is_exhausted_ || outcome == LUA_ERRMEM))
    return lua_error(lua);
  lua_pushboolean(lua, outcome == LUA_OK ? 1 : 0);
  lua_insert(lua, 1);
  return lua_gettop(lua);
}

/// The script's handler of an error, which gets none that a bound raised: it would run within the
/// hook, where nothing is counted.
int lua_machine::handle_error(lua_State* lua) {
  if (of(lua).is_exhausted_)
    return 1;
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, 1, 1);
  return 1;
}

int lua_machine::guarded_xpcall(lua_State* lua) {
  luaL_checktype(lua, 2, LUA_TFUNCTION);
  lua_pushvalue(lua, 2);
  lua_pushcclosure(lua, handle_error, 1);
  lua_replace(lua, 2);
  lua_pushvalue(lua, 1); // the function above its handler
  lua_remove(lua, 1);
  const int arguments = lua_gettop(lua) - 2;
  lua_insert(lua, 2);
  const int outcome = lua_pcall(lua, arguments, LUA_MULTRET, 1);
  if (outcome != LUA_OK && (of(lua).is_exhausted_ || outcome == LUA_ERRMEM))
    return lua_error(lua);
  lua_pushboolean(lua, outcome == LUA_OK ? 1 : 0);
  lua_replace(lua, 1);
  return lua_gettop(lua);
}

void lua_machine::open_libraries(lua_State* lua) {
  const auto open = [&](const char* name, lua_CFunction library) {
    luaL_requiref(lua, name, library, 1);
  };
  open(LUA_GNAME, luaopen_base);
  forget(lua, {"collectgarbage", "dofile", "load", "loadfile", "loadstring", "print", "require",
               "warn"});
  replace(lua, "setmetatable", set_metatable);
  for (const auto& [name, function] :
       {std::pair("pcall", &guarded_pcall), std::pair("xpcall", &guarded_xpcall)}) {
    lua_pushcfunction(lua, function);
    lua_setfield(lua, -2, name);
  }
  open(LUA_STRLIBNAME, luaopen_string);
  forget(lua, {"dump"});
  replace(lua, "rep", repeat);
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1); // is seen by nobody
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 2);
  open(LUA_TABLIBNAME, luaopen_table);
  for (const auto* name : {"concat", "insert", "remove", "sort"})
    replace(lua, name, plain_table);
  replace(lua, "move", move_elements);
  open(LUA_MATHLIBNAME, luaopen_math);
  open(LUA_UTF8LIBNAME, luaopen_utf8);
  lua_settop(lua, 0);
}

result<std::unique_ptr<lua_machine>> lua_machine::make(std::string name, const lua_limits& limits) {
  std::unique_ptr<lua_machine> made(new lua_machine(std::move(name), limits));
  made->lua_ = lua_newstate(allocate, made.get());
  if (made->lua_ == nullptr)
    return error(data_errc::user_code_failed,
                 made->name_ +
                     " failed: table.exec.lua.memory-limit is too small for any function");
  *static_cast<lua_machine**>(lua_getextraspace(made->lua_)) = made.get();
  HEADRACE_CHECK(made->run(open_libraries));
  lua_sethook(made->lua_, count, LUA_MASKCOUNT, instructions_a_look);
  return made;
}

lua_machine::~lua_machine() {
  if (lua_ != nullptr)
    lua_close(lua_);
}

status lua_machine::run(const std::function<void(lua_State*)>& body) {
  const lua_CFunction within = [](lua_State* lua) {
    const auto& wanted =
        *static_cast<const std::function<void(lua_State*)>*>(lua_touserdata(lua, 1));
    lua_settop(lua, 0);
    wanted(lua);
    return 0;
  };
  instructions_ = 0;
  is_exhausted_ = false;
  lua_settop(lua_, 0);
  lua_pushcfunction(lua_, within);
  lua_pushlightuserdata(lua_, const_cast<std::function<void(lua_State*)>*>(&body));
  const int outcome = lua_pcall(lua_, 1, 0, 0);
  if (outcome == LUA_OK)
    return {};
  std::string why = "it raised what is no text";
  if (outcome == LUA_ERRMEM)
    why = "not enough memory (table.exec.lua.memory-limit)";
  else if (lua_type(lua_, -1) == LUA_TSTRING)
    why = lua_tostring(lua_, -1);
  lua_settop(lua_, 0);
  return error(data_errc::user_code_failed, name_ + " failed: " + why);
}

void lua_machine::load(std::string_view text) {
  const auto chunk = "=" + name_;
  if (luaL_loadbufferx(lua_, text.data(), text.size(), chunk.c_str(), "t") != LUA_OK)
    lua_error(lua_);
}

void lua_machine::call(int arguments, int results) {
  instructions_ = 0;
  lua_call(lua_, arguments, results);
}

} // namespace headrace::graph
