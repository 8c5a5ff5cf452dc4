#pragma once

#include "libgraph/user_function/user_function.hpp"
#include "libactors/base/result.hpp"

#include <functional>
#include <memory>
#include <string>

struct lua_State;
struct lua_Debug;

namespace headrace::graph {

/// Lua 5.4 in a sandbox: without files, processes, modules, loading of code, finalizers, coroutines
/// or changes to the metatable of texts. Its memory is bounded, and so are the instructions of a
/// call; what exceeds a bound cannot be caught by the script. What runs in C at once is not
/// counted: a search by a pattern. Of one thread.
class lua_machine {
public:
  /// @param name  of the function, for errors
  static result<std::unique_ptr<lua_machine>> make(std::string name, const lua_limits& limits);
  ~lua_machine();
  lua_machine(const lua_machine&) = delete;
  lua_machine& operator=(const lua_machine&) = delete;

  /// Runs `body` where errors of Lua are caught. @errors data_errc::user_code_failed
  status run(const std::function<void(lua_State*)>& body);
  /// Compiles a text into a function, which is pushed. Within `run`.
  void load(std::string_view text);
  /// Calls the function below its `arguments`, with instructions anew. Within `run`.
  void call(int arguments, int results);

private:
  lua_machine(std::string name, const lua_limits& limits)
      : name_(std::move(name)), limits_(limits) {}
  static void* allocate(void* of, void* old, std::size_t old_size, std::size_t new_size);
  static void count(lua_State* lua, lua_Debug* at);
  static lua_machine& of(lua_State* lua);
  static void open_libraries(lua_State* lua);
  static int guarded_pcall(lua_State* lua);
  static int guarded_xpcall(lua_State* lua);
  static int handle_error(lua_State* lua);

  std::string name_;
  lua_limits limits_;
  lua_State* lua_ = nullptr;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t instructions_ = 0; ///< of the current call
  bool is_exhausted_ = false;
};

} // namespace headrace::graph
