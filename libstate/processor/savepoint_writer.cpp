#include "libstate/processor/savepoint_writer.hpp"

#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libgraph/data/key_group.hpp"
#include "libgraph/job_graph/structure_hash.hpp"

namespace headrace::processor {

result<savepoint_writer> savepoint_writer::create(file_system& files, std::string directory,
                                                  std::int32_t max_parallelism) {
  if (max_parallelism < 1 || max_parallelism > graph::max_parallelism_most)
    return error(errc::bad_usage, "max parallelism is a number from 1 to " +
                                      std::to_string(graph::max_parallelism_most) + ": " +
                                      std::to_string(max_parallelism));
  const auto storage = state::make_file_checkpoint_storage(files, {}, {});
  HEADRACE_CHECK(storage->begin_savepoint(directory));
  return savepoint_writer(files, std::move(directory), max_parallelism);
}

result<keyed_state_writer*> savepoint_writer::add_operator(const std::string& uid,
                                                           graph::row_type_ptr key_type) {
  for (const auto& [known, writer] : operators_) {
    if (known == uid)
      return error(errc::duplicate_uid, "savepoint has the operator already: uid `" + uid + "`");
  }
  operators_.emplace_back(
      uid, std::make_unique<keyed_state_writer>(std::move(key_type), max_parallelism_));
  return operators_.back().second.get();
}

status savepoint_writer::finish(std::int64_t now_ms) {
  const auto storage = state::make_file_checkpoint_storage(*files_, {}, {});
  state::completed_checkpoint content;
  content.id = 1;
  content.kind = state::checkpoint_kind::savepoint;
  content.triggered_ms = now_ms;
  content.completed_ms = now_ms;
  content.directory = directory_;
  HEADRACE_TRY(const auto target, storage->open(directory_, {}, true));
  for (const auto& [uid, writer] : operators_) {
    HEADRACE_TRY(auto* const out, target->output());
    HEADRACE_TRY(auto handle, writer->write(*out));
    const auto id = graph::id_of_uid(uid);
    auto& stored = content.operators[id];
    stored.id = id;
    stored.uid = uid;
    stored.name = uid;
    stored.max_parallelism = max_parallelism_;
    stored.subtasks[0].keyed.push_back(std::move(handle));
  }
  HEADRACE_CHECK(target->finish());
  return storage->complete(content);
}

} // namespace headrace::processor
