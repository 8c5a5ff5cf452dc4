#include "libtask/task/in_flight.hpp"
#include "libtask/task/subtask.hpp"

#include <utility>

namespace headrace::task {

namespace {

/// Where states are files, opening them is I/O, and may rewrite all that was restored.
bool opens_slowly(const headrace::state::state_backend& backend) {
  return backend.name() != "hashmap";
}

} // namespace

void subtask::restore() {
  // The chain is not touched here until the step has returned.
  struct outcome {
    status done;
    std::vector<stored_in_flight> in_flight;
    headrace::state::restore_tally read;
  };
  auto restored = std::make_shared<outcome>();
  const auto began_us = now_us();
  run_blocking(
      [chain = task_->shared_chain(), restored, backend = backend_, from = std::move(what_.state),
       checkpoint = what_.restored_checkpoint, copies = copies_, &files = around_.files,
       directory = around_.state_directory + "/" + to_string(what_.job.id) + "/" +
                   to_string(what_.attempt)] {
        try {
          const auto read =
              copies != nullptr
                  ? copies->restoring()
                  : std::make_unique<headrace::state::local_first_files>(files, "", "");
          restored->done = [&]() -> status {
            HEADRACE_TRY(restored->in_flight, read_in_flight(*read, from));
            return chain->restore(*backend, from, directory, *read);
          }();
          restored->read = read->tally();
          if (copies != nullptr && restored->done)
            copies->on_restored(checkpoint, from);
        } catch (const std::exception& failure) {
          restored->done = error(errc::internal, failure.what());
        }
      },
      [this, restored, began_us] {
        guarded([&]() -> status {
          tell_restored(restored->read, began_us);
          HEADRACE_CHECK(std::move(restored->done));
          HEADRACE_TRY(auto placed, place_in_flight(what_, std::move(restored->in_flight)));
          task_->restore(std::move(placed));
          open();
          return {};
        });
      });
}

void subtask::tell_restored(const headrace::state::restore_tally& read, std::int64_t began_us) {
  for (const auto& one : read.refusals) {
    const std::initializer_list<log_field> about = {
        {"task", what_.display_name()}, {"file", one.path}, {"cause", to_string(one.why)}};
    if (one.why.has(errc::file_not_found))
      log().info("no local copy of state, the stored file is read", about);
    else
      log().warn("local copy of state is refused, the stored file is read", about);
  }
  metrics_->restored_bytes.add(read.bytes);
  metrics_->restored_local_bytes.add(read.local_bytes);
  if (what_.restored_checkpoint != 0)
    log().info("state restored", {{"task", what_.display_name()},
                                  {"checkpoint", std::to_string(what_.restored_checkpoint)},
                                  {"bytes", std::to_string(read.bytes)},
                                  {"local_bytes", std::to_string(read.local_bytes)},
                                  {"copies_refused", std::to_string(read.refused)},
                                  {"ms", std::to_string((now_us() - began_us) / 1000)}});
}

void subtask::open() {
  if (opens_slowly(*backend_) && task_->chain().is_keyed()) {
    open_elsewhere();
    return;
  }
  guarded([this] { return task_->chain().open(what_.job.may_drop_state); });
  if (!closing_)
    begin_running();
}

void subtask::open_elsewhere() {
  services_->hold();
  ++blocking_steps_;
  endpoint::run_blocking<status>(
      // All that the chain needs when the subtask is stopped meanwhile.
      [chain = task_->shared_chain(), services = services_, metrics = metrics_,
       may_drop_state = what_.job.may_drop_state] {
        return caught([&] { return chain->open(may_drop_state); });
      },
      [this](status opened) {
        --blocking_steps_;
        if (closing_ || !opened)
          services_->drop();
        if (closing_) {
          if (opened)
            task_->chain().close();
          end_if_closed();
          return;
        }
        if (!opened) {
          fail(std::move(opened).error());
          return;
        }
        services_->grant();
        begin_running();
      });
}

void subtask::begin_running() {
  opened_ = true;
  change(task_state::RUNNING);
  if (!what_.channels().empty())
    report(partitions_wanted{task_->gate().window_bytes()});
  wake();
}

} // namespace headrace::task
