#include "apps/shell/lua_script.hpp"

#include "apps/shell/lua_values.hpp"
#include "apps/shell/shell_sql.hpp"
#include "libactors/base/text.hpp"

#include <lua.hpp>

#include <cstdlib>
#include <memory>
#include <optional>

namespace headrace::shell {
namespace {

constexpr std::size_t script_bytes_max = std::size_t{256} << 20U;
constexpr int instructions_between_looks = 100'000;
constexpr const char* job_type = "headrace.job";

/// What a script's functions work with.
struct script_host {
  shell_session& session;
  const lua_options& options;
  std::size_t used_bytes = 0;
  std::optional<shell_sql> statements{}; ///< once there was one
  std::string rows{};                    ///< of the last one, an object a line
};

script_host& host_of(lua_State* lua) {
  return **static_cast<script_host**>(lua_getextraspace(lua));
}

/// Lua's allocator, with a limit.
void* allocate(void* host, void* old, std::size_t old_size, std::size_t new_size) {
  auto& used = static_cast<script_host*>(host)->used_bytes;
  const std::size_t given_back = old == nullptr ? 0 : old_size; // else it tells a type
  if (new_size == 0) {
    std::free(old);
    used -= given_back;
    return nullptr;
  }
  if (new_size > given_back && used - given_back + new_size > script_bytes_max)
    return nullptr;
  void* made = std::realloc(old, new_size);
  if (made != nullptr)
    used = used - given_back + new_size;
  return made;
}

void look_for_interrupt(lua_State* lua, lua_Debug* /*at*/) {
  if (!host_of(lua).session.is_interrupted())
    return;
  // What catches it does not go on, here and, of a coroutine, where the script began.
  lua_rawgeti(lua, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  for (auto* each : {lua, lua_tothread(lua, -1)})
    lua_sethook(each, look_for_interrupt, LUA_MASKCOUNT, 1);
  lua_pop(lua, 1);
  luaL_error(lua, "interrupted");
}

int raise(lua_State* lua, const error& why) {
  return luaL_error(lua, "%s", to_string(why).c_str());
}

/// The job that argument `at` names: a job of `submit`, an id, or the beginning of one.
job_id check_job(lua_State* lua, int at) {
  std::string words;
  if (luaL_testudata(lua, at, job_type) != nullptr)
    return *static_cast<job_id*>(lua_touserdata(lua, at));
  if (!lua_isnoneornil(lua, at))
    words = luaL_checkstring(lua, at);
  const auto found = host_of(lua).session.find_job(words);
  if (!found)
    raise(lua, found.error());
  return *found;
}

int push_job(lua_State* lua, const job_id& id) {
  *static_cast<job_id*>(lua_newuserdatauv(lua, sizeof(job_id), 0)) = id;
  luaL_setmetatable(lua, job_type);
  return 1;
}

std::chrono::milliseconds check_seconds(lua_State* lua, int at) {
  const double seconds = luaL_checknumber(lua, at);
  luaL_argcheck(lua, seconds >= 0 && seconds <= 1e9, at, "a time in seconds, not negative");
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000.0));
}

int submit(lua_State* lua) {
  auto& host = host_of(lua);
  submission what;
  what.settings = host.options.settings;
  what.path = luaL_checkstring(lua, 1);
  if (!lua_isnoneornil(lua, 2)) {
    if (auto read = read_submission(lua, 2, what); !read)
      return raise(lua, read.error());
  }
  const auto job = host.session.submit(what);
  return job ? push_job(lua, *job) : raise(lua, job.error());
}

/// Runs one statement after the other.
result<std::optional<job_id>> run_sql(script_host& host, std::string_view text) {
  if (!host.statements) {
    const auto take = [&host](std::string_view lines) {
      host.rows += lines;
      return status();
    };
    const auto tell = [&host](std::string_view lines) {
      host.options.print(lines);
      return status();
    };
    host.statements.emplace(host.session, host.options.settings,
                            sql_output{"json", take, tell, false});
  }
  std::optional<job_id> job;
  while (!trim_text(text).empty()) {
    const auto end = end_of_sql(text);
    host.rows.clear();
    HEADRACE_TRY(job, host.statements->run(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return job;
}

int sql(lua_State* lua) {
  auto& host = host_of(lua);
  std::size_t size = 0;
  const char* text = luaL_checklstring(lua, 1, &size);
  const auto job = run_sql(host, {text, size});
  if (!job)
    return raise(lua, job.error());
  if (*job)
    return push_job(lua, **job);
  push_rows(lua, host.rows);
  return 1;
}

int wait(lua_State* lua) {
  auto& session = host_of(lua).session;
  const auto job = check_job(lua, 1);
  std::chrono::milliseconds longest{0};
  if (!lua_isnoneornil(lua, 2))
    longest = std::max(check_seconds(lua, 2), std::chrono::milliseconds(1));
  const auto ended = session.wait(job, longest);
  if (!ended)
    return raise(lua, ended.error());
  push_status(lua, *ended);
  return 1;
}

int info(lua_State* lua) {
  const auto job = check_job(lua, 1);
  const auto status = host_of(lua).session.status_of(job);
  if (!status)
    return raise(lua, status.error());
  push_status(lua, *status);
  return 1;
}

int cancel(lua_State* lua) {
  const auto job = check_job(lua, 1);
  const auto done = host_of(lua).session.cancel(job);
  return done ? 0 : raise(lua, done.error());
}

int push_savepoint(lua_State* lua, bool ends_job) {
  const auto job = check_job(lua, 1);
  scheduler::savepoint_wish wish;
  if (ends_job)
    wish.stop = graph::savepoint_stop::suspend;
  if (!lua_isnoneornil(lua, 2)) {
    if (auto read = read_savepoint_wish(lua, 2, wish); !read)
      return raise(lua, read.error());
  }
  const auto path = host_of(lua).session.savepoint(job, wish);
  if (!path)
    return raise(lua, path.error());
  lua_pushlstring(lua, path->data(), path->size());
  return 1;
}

int stop(lua_State* lua) { return push_savepoint(lua, true); }
int savepoint(lua_State* lua) { return push_savepoint(lua, false); }

int jobs(lua_State* lua) {
  const auto known = host_of(lua).session.list_jobs();
  if (!known)
    return raise(lua, known.error());
  lua_createtable(lua, static_cast<int>(known->size()), 0);
  for (std::size_t i = 0; i < known->size(); ++i) {
    push_status(lua, (*known)[i]);
    lua_rawseti(lua, -2, static_cast<lua_Integer>(i + 1));
  }
  return 1;
}

int actors(lua_State* lua) {
  const auto listing = host_of(lua).session.list_actors();
  if (!listing)
    return raise(lua, listing.error());
  push_actors(lua, *listing);
  return 1;
}

int pause_for(lua_State* lua) {
  host_of(lua).session.pause(check_seconds(lua, 1));
  look_for_interrupt(lua, nullptr);
  return 0;
}

int print(lua_State* lua) {
  std::string text;
  for (int i = 1; i <= lua_gettop(lua); ++i) {
    std::size_t size = 0;
    const char* word = luaL_tolstring(lua, i, &size);
    text += i > 1 ? "\t" : "";
    text.append(word, size);
    lua_pop(lua, 1);
  }
  host_of(lua).options.print(text + '\n');
  return 0;
}

int job_text(lua_State* lua) {
  const auto text = to_string(*static_cast<job_id*>(luaL_checkudata(lua, 1, job_type)));
  lua_pushlstring(lua, text.data(), text.size());
  return 1;
}

/// As setmetatable, without finalizers: no hook runs in them, so that nothing could end their
/// loops. Its upvalue is setmetatable.
int set_metatable(lua_State* lua) {
  if (lua_istable(lua, 2)) {
    lua_pushliteral(lua, "__gc");
    if (lua_rawget(lua, 2) != LUA_TNIL)
      return luaL_error(lua, "a script's tables have no finalizers (__gc)");
    lua_pop(lua, 1);
  }
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, lua_gettop(lua) - 1, 1);
  return 1;
}

/// Puts script and line before what went wrong, where they are not there already.
int locate(lua_State* lua) {
  std::string text = luaL_tolstring(lua, 1, nullptr);
  lua_Debug at;
  for (int level = 1; lua_getstack(lua, level, &at) == 1; ++level) {
    lua_getinfo(lua, "Sl", &at);
    if (at.currentline <= 0)
      continue;
    const std::string script = std::string(&at.short_src[0]) + ':';
    if (!text.starts_with(script))
      text = script + std::to_string(at.currentline) + ": " + text;
    break;
  }
  lua_pushlstring(lua, text.data(), text.size());
  return 1;
}

/// What a script can do.
int open_sandbox(lua_State* lua) {
  static constexpr luaL_Reg libraries[] = {
      {LUA_GNAME, luaopen_base},       {LUA_STRLIBNAME, luaopen_string},
      {LUA_TABLIBNAME, luaopen_table}, {LUA_MATHLIBNAME, luaopen_math},
      {LUA_UTF8LIBNAME, luaopen_utf8}, {LUA_COLIBNAME, luaopen_coroutine},
  };
  for (const auto& library : libraries) {
    luaL_requiref(lua, library.name, library.func, 1);
    lua_pop(lua, 1);
  }
  for (const char* closed : {"dofile", "loadfile", "load", "collectgarbage", "warn"}) {
    lua_pushnil(lua);
    lua_setglobal(lua, closed);
  }
  lua_getglobal(lua, "setmetatable");
  lua_pushcclosure(lua, set_metatable, 1);
  lua_setglobal(lua, "setmetatable");
  static constexpr luaL_Reg functions[] = {
      {"submit", submit}, {"wait", wait},           {"info", info},     {"cancel", cancel},
      {"stop", stop},     {"jobs", jobs},           {"actors", actors}, {"sleep", pause_for},
      {"print", print},   {"savepoint", savepoint}, {"sql", sql},
  };
  for (const auto& function : functions)
    lua_register(lua, function.name, function.func);

  static constexpr luaL_Reg methods[] = {
      {"wait", wait},           {"info", info},   {"cancel", cancel}, {"stop", stop},
      {"savepoint", savepoint}, {"id", job_text}, {nullptr, nullptr}};
  luaL_newmetatable(lua, job_type);
  lua_pushcfunction(lua, job_text);
  lua_setfield(lua, -2, "__tostring");
  lua_newtable(lua);
  luaL_setfuncs(lua, &methods[0], 0);
  lua_setfield(lua, -2, "__index");
  lua_pushliteral(lua, "job");
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 1);

  push_texts(lua, host_of(lua).options.arguments);
  lua_setglobal(lua, "arguments");
  return 0;
}

error failure_of(lua_State* lua, const std::string& name) {
  const char* text = lua_tostring(lua, -1);
  return {errc::user_function_failed, text != nullptr ? text : name + " failed: memory is used up"};
}

} // namespace

status run_lua(shell_session& session, std::string_view text, const lua_options& options) {
  script_host host{session, options};
  const std::unique_ptr<lua_State, void (*)(lua_State*)> owner(lua_newstate(allocate, &host),
                                                               lua_close);
  lua_State* lua = owner.get();
  if (lua == nullptr)
    return error(errc::out_of_memory, "no memory for a script");
  *static_cast<script_host**>(lua_getextraspace(lua)) = &host;
  lua_sethook(lua, look_for_interrupt, LUA_MASKCOUNT, instructions_between_looks);

  lua_pushcfunction(lua, locate);
  lua_pushcfunction(lua, open_sandbox);
  if (lua_pcall(lua, 0, 0, 1) != LUA_OK)
    return failure_of(lua, options.name);
  // A script that begins with #!/… may be run as a program.
  const std::string chunk = (text.starts_with("#") ? "--" : "") + std::string(text);
  const std::string name = '@' + options.name;
  if (luaL_loadbufferx(lua, chunk.data(), chunk.size(), name.c_str(), "t") != LUA_OK ||
      lua_pcall(lua, 0, 0, 1) != LUA_OK)
    return failure_of(lua, options.name);
  return {};
}

} // namespace headrace::shell
