#include "libgraph/user_function/native_function.hpp"

#include "libgraph/user_function/object_stamp.hpp"
#include "libgraph/user_function/shared_object.hpp"
#include "libactors/base/text.hpp"

#include <exception>
#include <utility>

namespace headrace::graph {
namespace {

const native_function* find_in(const shared_object& library, const std::string& name) {
  using entry = const native_function*();
  auto* const found = reinterpret_cast<entry*>(library.symbol(HEADRACE_FUNCTION_PREFIX + name));
  return found == nullptr ? nullptr : found();
}

/// A function of a library, for one thread. Looked up at the first call.
template <class Made>
class instance {
public:
  using factory = std::function<std::unique_ptr<Made>()> native_function::*;
  instance(const user_function& of, factory make)
      : name_(of.name), symbol_(of.symbol), digest_(of.source), make_(make) {}

  /// Calls `body(function)`. What the user's code throws is an error that names the function.
  template <class Body>
  auto call(Body body) -> decltype(body(std::declval<Made&>())) {
    try {
      if (made_ == nullptr)
        HEADRACE_CHECK(look_up());
      return body(*made_);
    } catch (const std::exception& thrown) {
      return failed(thrown.what());
    } catch (...) {
      return failed("it threw what is no std::exception");
    }
  }

private:
  status look_up() {
    const auto library = find_shared_object(digest_);
    if (library == nullptr)
      return error(errc::job_object_unloadable,
                   "library of function " + name_ + " is not loaded: " + digest_);
    const auto* code = find_in(*library, symbol_);
    if (code == nullptr || !(code->*make_))
      return error(errc::job_object_unloadable,
                   "library of function " + name_ + " has no such function: " + symbol_);
    made_ = (code->*make_)();
    return {};
  }
  error failed(const std::string& why) const {
    return {errc::user_function_failed, name_ + " failed: " + why};
  }

  std::string name_;
  std::string symbol_;
  std::string digest_;
  factory make_;
  std::unique_ptr<Made> made_;
};

class native_scalar final : public user_scalar {
public:
  explicit native_scalar(const user_function& of) : code_(of, &native_function::make_scalar) {}
  status compute(user_arguments arguments, user_rows rows, column_builder& out) override {
    return code_.call(
        [&](user_scalar& function) { return function.compute(arguments, rows, out); });
  }

private:
  instance<user_scalar> code_;
};

class native_table final : public user_table {
public:
  explicit native_table(const user_function& of) : code_(of, &native_function::make_table) {}
  result<std::size_t> make(user_arguments arguments, user_rows rows, std::size_t from,
                           std::size_t rows_max, std::vector<std::uint32_t>& parents,
                           batch_builder& out) override {
    return code_.call([&](user_table& function) {
      return function.make(arguments, rows, from, rows_max, parents, out);
    });
  }

private:
  instance<user_table> code_;
};

class native_aggregate final : public user_aggregate {
public:
  explicit native_aggregate(const user_function& of)
      : code_(of, &native_function::make_aggregate) {}
  status create(byte_string& group) override {
    return code_.call([&](user_aggregate& function) { return function.create(group); });
  }
  status accumulate(byte_string& group, user_arguments arguments, std::size_t row) override {
    return code_.call(
        [&](user_aggregate& function) { return function.accumulate(group, arguments, row); });
  }
  status retract(byte_string& group, user_arguments arguments, std::size_t row) override {
    return code_.call(
        [&](user_aggregate& function) { return function.retract(group, arguments, row); });
  }
  status merge(byte_string& group, byte_view other) override {
    return code_.call([&](user_aggregate& function) { return function.merge(group, other); });
  }
  status tell(byte_view group, column_builder& out) override {
    return code_.call([&](user_aggregate& function) { return function.tell(group, out); });
  }

private:
  instance<user_aggregate> code_;
};

} // namespace

result<loaded_function> load_native_function(file_system& files, const std::string& path,
                                             const std::string& name) {
  HEADRACE_TRY(const auto library, load_shared_object(files, path, object_use::functions));
  const auto* code = find_in(*library, name);
  if (code == nullptr)
    return error(errc::job_object_unloadable, "library has no function " + name + ": " + path +
                                                  "; it has " +
                                                  join_text(library->functions(), ", "));
  return loaded_function{library->digest(), code};
}

result<loaded_function> find_native_function(const std::string& digest, const std::string& name) {
  const auto object = find_shared_object(digest);
  if (object == nullptr)
    return error(errc::job_object_unloadable, "no such object is loaded: " + digest);
  const auto* code = find_in(*object, name);
  if (code == nullptr)
    return error(errc::job_object_unloadable,
                 "the job object has no function " + name +
                     (object->functions().empty()
                          ? std::string(": HEADRACE_SCALAR_FUNCTION and "
                                        "the like make some")
                          : "; it has " + join_text(object->functions(), ", ")));
  return loaded_function{digest, code};
}

std::unique_ptr<user_scalar> make_native_scalar(const user_function& of) {
  return std::make_unique<native_scalar>(of);
}
std::unique_ptr<user_table> make_native_table(const user_function& of) {
  return std::make_unique<native_table>(of);
}
std::unique_ptr<user_aggregate> make_native_aggregate(const user_function& of) {
  return std::make_unique<native_aggregate>(of);
}

} // namespace headrace::graph
