#pragma once

#include "libgraph/api/row_adaptors.hpp"
#include "libgraph/api/watermark_generator.hpp"
#include "libgraph/function/failure.hpp"
#include "libgraph/spec/operator_spec.hpp"
#include "libgraph/transformation/pipeline.hpp"

#include <chrono>
#include <memory>
#include <type_traits>
#include <utility>

namespace headrace::api {

/// Makes the factory of an adaptor: a fresh copy for each subtask.
template <class Interface, class Adaptor, class... Arguments>
graph::function_factory factory_of(Arguments... arguments) {
  return [... arguments = std::move(arguments)] {
    return graph::any_function(std::unique_ptr<Interface>(std::make_unique<Adaptor>(arguments...)));
  };
}

/// How the rows of a stream of T get event times and watermarks. A value.
template <class T>
class watermark_strategy {
public:
  /// Watermarks follow the greatest timestamp at this distance.
  static watermark_strategy bounded_out_of_orderness(std::chrono::milliseconds bound) {
    watermark_strategy out;
    out.spec_.kind = graph::watermark_kind::bounded_out_of_orderness;
    out.spec_.bound_ms = bound.count();
    return out;
  }
  /// Timestamps never fall within one subtask of the source.
  static watermark_strategy monotonous() {
    watermark_strategy out;
    out.spec_.kind = graph::watermark_kind::monotonous;
    return out;
  }
  /// Watermarks of one's own. @param generator  a watermark_generator<T>
  template <class G>
  static watermark_strategy for_generator(G generator) {
    static_assert(std::is_same_v<typename G::input_type, T>, "the generator is for other rows");
    watermark_strategy out;
    out.spec_.kind = graph::watermark_kind::generated;
    out.generator_ = factory_of<graph::watermark_generator, watermark_generator_adaptor<G>>(
        std::move(generator));
    return out;
  }
  /// Timestamps only.
  static watermark_strategy no_watermarks() { return {}; }

  /// A subtask without rows for so long no longer holds others back.
  watermark_strategy with_idleness(std::chrono::milliseconds timeout) const {
    auto out = *this;
    out.spec_.idle_timeout_ms = timeout.count();
    return out;
  }
  /// `time` is a field of T that holds the event time (milliseconds, or a timestamp), or a function
  /// from T to it. Without one, rows keep the timestamps that they have.
  template <class F>
  watermark_strategy with_timestamp_assigner(F time) const {
    auto out = *this;
    if constexpr (std::is_member_object_pointer_v<F>) {
      using member = typename member_pointer<F>::member;
      static_assert(std::is_same_v<member, timestamp_ms> || sizeof(member) == sizeof(std::int64_t),
                    "the field of the event time is an int64 of milliseconds or a timestamp");
      out.spec_.time_column = field_index<T>(time);
      if (out.spec_.time_column < 0)
        throw graph::failure(
            {errc::invalid_graph, "the field of the event time is not in HEADRACE_STRUCT"});
    } else {
      using argument = argument_t<F, T>;
      out.assigner_ =
          factory_of<graph::timestamp_assigner, timestamp_adaptor<argument, F>>(std::move(time));
    }
    return out;
  }
  /// Watermarks advance at each row, not once a batch, so that what is late does not depend on how
  /// rows fall into batches.
  watermark_strategy on_event() const {
    auto out = *this;
    out.spec_.on_event = true;
    return out;
  }

  /// For the API: what the operator gets, the assigner added to the functions of the job.
  graph::watermark_spec spec(graph::pipeline& program) const {
    auto out = spec_;
    if (assigner_)
      out.assigner = program.add(assigner_);
    if (generator_)
      out.generator = program.add(generator_);
    return out;
  }

private:
  graph::watermark_spec spec_;
  graph::function_factory assigner_;
  graph::function_factory generator_;
};

} // namespace headrace::api
