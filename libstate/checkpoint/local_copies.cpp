#include "libstate/checkpoint/local_copies.hpp"

#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace headrace::state {

namespace {

constexpr std::size_t buffer_bytes = 256U * 1024U;
constexpr std::string_view checkpoint_start = "chk-";

std::string last_part(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// Names of the shared files that a snapshot refers to.
std::set<std::string> shared_names(const task_state_snapshot& of) {
  std::set<std::string> out;
  for (const auto& [id, one] : of.operators) {
    for (const auto* handles : {&one.keyed, &one.raw_keyed}) {
      for (const auto& handle : *handles) {
        for (const auto& file : handle.shared)
          out.insert(last_part(file.segment.path));
      }
    }
  }
  return out;
}

} // namespace

/// Writes the stored file, and beside it the copy until that fails.
class local_copies::copied_output final : public state_output {
public:
  using failure_taker = std::function<void(error)>;
  /// Nothing: its name is not known yet. Null: there will be no copy.
  using opener = std::function<std::optional<std::unique_ptr<writable_file>>()>;
  /// @param stored  lives longer, or is held by `owned`
  copied_output(state_output& stored, std::unique_ptr<state_output> owned, opener open,
                failure_taker failed)
      : stored_(&stored), owned_(std::move(owned)), open_(std::move(open)),
        failed_(std::move(failed)) {}

  status append(byte_view data) override {
    HEADRACE_CHECK(stored_->append(data));
    if (is_given_up_)
      return {};
    held_.append(data);
    if (held_.size() >= buffer_bytes)
      write_held();
    return {};
  }
  std::uint64_t position() const override { return stored_->position(); }
  const std::string& path() const override { return stored_->path(); }
  status finish() override {
    HEADRACE_CHECK(stored_->finish());
    end_copy();
    return {};
  }
  void end_copy() {
    write_held();
    if (copy_ == nullptr)
      return;
    if (auto closed = copy_->close(); !closed)
      failed_(std::move(closed).error());
    copy_.reset();
  }

private:
  void write_held() {
    if (copy_ == nullptr && !is_given_up_) {
      auto opened = open_();
      if (!opened)
        return;
      copy_ = std::move(*opened);
      is_given_up_ = copy_ == nullptr;
    }
    if (copy_ != nullptr && !held_.empty()) {
      if (auto written = copy_->append(held_); !written) {
        copy_.reset();
        is_given_up_ = true;
        failed_(std::move(written).error());
      }
    }
    held_.clear();
  }

  state_output* stored_;
  std::unique_ptr<state_output> owned_;
  opener open_;
  failure_taker failed_;
  std::unique_ptr<writable_file> copy_;
  bool is_given_up_ = false;
  byte_string held_;
};

class local_copies::copied_target final : public subtask_target {
public:
  copied_target(local_copies& into, std::unique_ptr<subtask_target> stored, checkpoint_id id)
      : into_(&into), stored_(std::move(stored)), id_(id) {}
  ~copied_target() override {
    if (!is_finished_)
      into_->on_aborted(id_);
  }

  result<state_output*> output() override {
    if (output_ != nullptr)
      return output_.get();
    HEADRACE_TRY(auto* const stored, stored_->output());
    output_ = std::make_unique<copied_output>(
        *stored, nullptr, [this] { return begin_file(); }, failed());
    return output_.get();
  }
  result<std::unique_ptr<state_output>> create_shared(const std::string& name,
                                                      const std::string& local_source) override {
    HEADRACE_TRY(auto stored, stored_->create_shared(name, local_source));
    auto copy = into_->begin_shared(id_, last_part(stored->path()), local_source);
    if (copy == nullptr)
      return stored;
    auto& to = *stored;
    const auto held = std::make_shared<std::unique_ptr<writable_file>>(std::move(copy));
    std::unique_ptr<state_output> both = std::make_unique<copied_output>(
        to, std::move(stored), [held] { return std::optional(std::move(*held)); }, failed());
    return both;
  }
  void use_shared(const std::string& path, const std::string& local_source) override {
    into_->use_shared(id_, last_part(path), local_source);
  }
  bool shares(const std::string& path) const override { return stored_->shares(path); }
  status finish() override {
    HEADRACE_CHECK(stored_->finish());
    if (output_ != nullptr)
      output_->end_copy();
    is_finished_ = true;
    return {};
  }
  std::optional<stream_place> place() const override { return stored_->place(); }
  status settle() override {
    auto settled = stored_->settle();
    if (!settled)
      into_->on_aborted(id_);
    return settled;
  }

private:
  copied_output::failure_taker failed() {
    return [this](error cause) { into_->give_up(id_, std::move(cause)); };
  }
  /// The copy of the subtask's own stream, once it is known where that lies.
  std::optional<std::unique_ptr<writable_file>> begin_file() {
    const auto lies = stored_->place();
    if (!lies)
      return std::nullopt;
    const auto directory = into_->directory_of(id_);
    const auto name = local_first_files::name_of_piece(last_part(lies->path), lies->offset);
    auto made = into_->files_->create_directories(directory);
    auto file = made ? into_->files_->create(directory + "/" + name)
                     : result<std::unique_ptr<writable_file>>(std::move(made).error());
    if (file)
      return std::move(*file);
    into_->give_up(id_, std::move(file).error());
    return nullptr;
  }

  local_copies* into_;
  std::unique_ptr<subtask_target> stored_;
  checkpoint_id id_;
  std::unique_ptr<copied_output> output_;
  bool is_finished_ = false;
};

local_copies::local_copies(file_system& files, std::string directory, std::string stored)
    : files_(&files), directory_(std::move(directory)), stored_(std::move(stored)) {}

std::string local_copies::directory_of(checkpoint_id id) const {
  return directory_ + "/" + std::string(checkpoint_start) + std::to_string(id);
}

std::unique_ptr<subtask_target> local_copies::copy(std::unique_ptr<subtask_target> part,
                                                   checkpoint_id id) {
  const std::lock_guard lock(mutex_);
  is_used_.store(true, std::memory_order_relaxed);
  remove(book_.begin(id));
  return std::make_unique<copied_target>(*this, std::move(part), id);
}

std::unique_ptr<writable_file> local_copies::begin_shared(checkpoint_id id, const std::string& name,
                                                          const std::string& local_source) {
  const std::lock_guard lock(mutex_);
  if (!book_.keeps(id))
    return nullptr;
  const bool is_there = book_.keeps_shared(name);
  book_.use(id, name);
  if (is_there)
    return nullptr;
  if (!local_source.empty()) {
    link_shared(name, local_source);
    return nullptr;
  }
  auto made = files_->create_directories(shared_directory());
  auto file = made ? files_->create(shared_directory() + "/" + name)
                   : result<std::unique_ptr<writable_file>>(std::move(made).error());
  if (file)
    return std::move(*file);
  note(std::move(file).error());
  return nullptr;
}

void local_copies::use_shared(checkpoint_id id, const std::string& name,
                              const std::string& local_source) {
  const std::lock_guard lock(mutex_);
  const bool is_there = book_.keeps_shared(name);
  if (!book_.keeps(id) || (!is_there && local_source.empty()))
    return; // it was stored while there were no copies
  book_.use(id, name);
  if (!is_there)
    link_shared(name, local_source);
}

void local_copies::link_shared(const std::string& name, const std::string& local_source) {
  const auto path = shared_directory() + "/" + name;
  if (auto made = files_->create_directories(shared_directory()); !made) {
    note(std::move(made));
    return;
  }
  if (files_->link(local_source, path))
    return;
  note(files_->remove(path)); // what is in the way nobody names
  note(files_->link(local_source, path));
}

void local_copies::on_completed(checkpoint_id id) {
  const std::lock_guard lock(mutex_);
  remove(book_.complete(id));
}

void local_copies::on_aborted(checkpoint_id id) {
  const std::lock_guard lock(mutex_);
  remove(book_.abort(id));
}

void local_copies::give_up(checkpoint_id id, error cause) {
  const std::lock_guard lock(mutex_);
  note(std::move(cause));
  remove(book_.abort(id));
}

void local_copies::note(status outcome) {
  if (!outcome && !failure_)
    failure_ = std::move(outcome).error();
}

void local_copies::remove(const local_copy_book::removal& what) {
  for (const auto id : what.checkpoints)
    note(files_->remove_tree(directory_of(id)));
  for (const auto& name : what.shared)
    note(files_->remove(shared_directory() + "/" + name));
}

std::unique_ptr<local_first_files> local_copies::restoring() const {
  return std::make_unique<local_first_files>(*files_, stored_, directory_);
}

void local_copies::on_restored(checkpoint_id id, const task_state_snapshot& from) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> there; // of the checkpoint's shared files those that have a copy
  const auto named = shared_names(from);
  const auto shared = files_->list(shared_directory());
  for (const auto& file : shared ? *shared : std::vector<file_info>()) {
    if (named.contains(last_part(file.path)))
      there.insert(last_part(file.path));
    else
      note(files_->remove(file.path));
  }
  const auto own = directory_of(id);
  const auto entries = files_->list(directory_);
  for (const auto& entry : entries ? *entries : std::vector<file_info>()) {
    if (last_part(entry.path).starts_with(checkpoint_start) && entry.path != own)
      note(files_->remove_tree(entry.path));
  }
  book_.restore(id, std::move(there));
  is_used_.store(id != 0, std::memory_order_relaxed);
}

std::optional<error> local_copies::take_failure() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failure_, std::nullopt);
}

} // namespace headrace::state
