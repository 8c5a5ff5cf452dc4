#include "libstate/rocksdb/table_files.hpp"

#include "libstate/rocksdb/native_format.hpp"
#include "libstate/rocksdb/rocksdb_status.hpp"
#include "libstate/rocksdb/scratch_env.hpp"
#include "libstate/snapshot/block_codec.hpp"
#include "libstate/storage/stored_file.hpp"

#include <rocksdb/env.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace headrace::state {

namespace {

result<std::unique_ptr<rocksdb::SequentialFile>> open_local(const std::string& path) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  HEADRACE_CHECK(to_status(scratch_env().NewSequentialFile(path, &file, rocksdb::EnvOptions()),
                           "open " + path));
  return file;
}

result<std::unique_ptr<rocksdb::WritableFile>> create_local(const std::string& path) {
  std::unique_ptr<rocksdb::WritableFile> file;
  HEADRACE_CHECK(to_status(scratch_env().NewWritableFile(path, &file, rocksdb::EnvOptions()),
                           "create " + path));
  return file;
}

/// Reads a whole piece; less only at the end.
status read_piece(rocksdb::SequentialFile& file, byte_string& piece, const std::string& path) {
  piece.resize(table_piece_bytes);
  std::size_t done = 0;
  while (done < piece.size()) {
    rocksdb::Slice got;
    HEADRACE_CHECK(
        to_status(file.Read(piece.size() - done, &got, piece.data() + done), "read " + path));
    if (got.empty())
      break;
    if (got.data() != piece.data() + done)
      std::copy_n(got.data(), got.size(), piece.data() + done);
    done += got.size();
  }
  piece.resize(done);
  return {};
}

/// @returns the checksum of what was copied
result<std::uint64_t> copy_out(const std::string& path, std::uint64_t size_bytes, state_output& out,
                               const std::atomic<bool>& is_canceled) {
  HEADRACE_TRY(const auto file, open_local(path));
  byte_string piece;
  std::uint64_t checksum = 0;
  std::uint64_t done = 0;
  for (;;) {
    if (is_canceled.load(std::memory_order_relaxed))
      return error(errc::checkpoint_expired, "snapshot was canceled");
    HEADRACE_CHECK(read_piece(*file, piece, path));
    if (piece.empty())
      break;
    checksum = checksum_of(piece, checksum);
    done += piece.size();
    HEADRACE_CHECK(out.append(piece));
  }
  if (done != size_bytes)
    return error(errc::storage_failed,
                 "local file has another size than its database says: " + path + ", " +
                     std::to_string(done) + " instead of " + std::to_string(size_bytes));
  return checksum;
}

} // namespace

status make_local_directories(const std::string& path) {
  for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    HEADRACE_CHECK(to_status(scratch_env().CreateDirIfMissing(path.substr(0, slash)),
                             "create " + path.substr(0, slash)));
    if (slash == std::string::npos)
      return {};
  }
}

void remove_local_directory(const std::string& path) {
  auto& env = scratch_env();
  std::vector<std::string> names;
  if (!env.GetChildren(path, &names).ok())
    return;
  for (const auto& name : names)
    env.DeleteFile(path + "/" + name).PermitUncheckedError();
  env.DeleteDir(path).PermitUncheckedError();
}

result<byte_string> read_local(const std::string& path, std::uint64_t bytes) {
  HEADRACE_TRY(const auto file, open_local(path));
  byte_string out;
  byte_string piece;
  while (out.size() < bytes) {
    HEADRACE_CHECK(read_piece(*file, piece, path));
    if (piece.empty())
      return error(errc::storage_failed, "local file ends early: " + path);
    out.append(piece, 0, static_cast<std::size_t>(bytes) - out.size());
  }
  return out;
}

status write_local(const std::string& path, byte_view content) {
  HEADRACE_TRY(const auto file, create_local(path));
  HEADRACE_CHECK(to_status(file->Append(to_slice(content)), "write " + path));
  return to_status(file->Close(), "close " + path);
}

/// Reads all of a local file. @errors corrupt_snapshot  it is not what was stored
status verify_local(const std::string& path, std::uint64_t size_bytes, std::uint64_t checksum) {
  HEADRACE_TRY(const auto file, open_local(path));
  byte_string piece;
  std::uint64_t found = 0;
  std::uint64_t done = 0;
  do {
    HEADRACE_CHECK(read_piece(*file, piece, path));
    if (!piece.empty())
      found = checksum_of(piece, found);
    done += piece.size();
  } while (piece.size() == table_piece_bytes && done < size_bytes);
  if (done == size_bytes && found == checksum)
    return {};
  return error(errc::corrupt_snapshot, "local copy is not what was stored: " + path + ", " +
                                           std::to_string(done) + " bytes of " +
                                           std::to_string(size_bytes));
}

status take_over(local_first_files& files, const shared_file& from, std::uint64_t checksum,
                 const std::string& directory) {
  const auto local = files.local_path(from.segment.path);
  // One that lies in a segment is copied out of it.
  if (local && from.segment.path.ends_with(from.name)) {
    // What is no file may never end, or begin.
    const auto found = files.stat(*local);
    auto verified = found && found->is_regular
                        ? verify_local(*local, from.segment.size_bytes, checksum)
                    : found ? error(errc::storage_failed, "no regular file: " + *local)
                            : found.error();
    if (!verified)
      files.refuse(from.segment.path, verified.error());
    else if (scratch_env().LinkFile(*local, directory + "/" + from.name).ok()) {
      files.count_local(from.segment.size_bytes);
      return {};
    }
  }
  return download(files, from, checksum, directory);
}

status read_table(file_system& files, const shared_file& from, std::uint64_t checksum,
                  const std::function<status(byte_view)>& take) {
  const auto corrupt = [&](const std::string& what) {
    return error(errc::corrupt_snapshot,
                 "corrupt snapshot of RocksDB: " + what + ", in " + from.segment.path);
  };
  HEADRACE_TRY(const auto stored, open_stored(files, from.segment.path));
  byte_string piece;
  std::uint64_t found = 0;
  for (std::uint64_t done = 0; done < from.segment.size_bytes;) {
    const auto wanted = std::min<std::uint64_t>(table_piece_bytes, from.segment.size_bytes - done);
    piece.resize(static_cast<std::size_t>(wanted));
    for (std::size_t filled = 0; filled < piece.size();) {
      HEADRACE_TRY(const auto got, stored->read_at(from.segment.offset + done + filled,
                                                   {piece.data() + filled, piece.size() - filled}));
      if (got == 0)
        return corrupt("a file ends early");
      filled += got;
    }
    found = checksum_of(piece, found);
    done += piece.size();
    HEADRACE_CHECK(take(piece));
  }
  return found == checksum ? status() : corrupt("checksum of a file does not fit");
}

status download(file_system& files, const shared_file& from, std::uint64_t checksum,
                const std::string& directory) {
  const auto path = directory + "/" + from.name;
  HEADRACE_TRY(const auto file, create_local(path));
  HEADRACE_CHECK(read_table(files, from, checksum, [&](byte_view piece) {
    return to_status(file->Append(to_slice(piece)), "write " + path);
  }));
  return to_status(file->Close(), "close " + path);
}

status check_native(file_system& files, const keyed_state_handle& handle) {
  HEADRACE_TRY(const auto stored, read_native(files, handle));
  for (std::size_t at = 0; at < handle.shared.size(); ++at)
    HEADRACE_CHECK(read_table(files, handle.shared[at], stored.checksums[at],
                              [](byte_view) { return status(); }));
  return {};
}

result<uploaded_files::uploaded> uploaded_files::upload(checkpoint_id checkpoint,
                                                        const live_files& live,
                                                        const std::string& directory,
                                                        const std::string& owner,
                                                        snapshot_target& target, file_system& files,
                                                        const std::atomic<bool>& is_canceled) {
  const std::lock_guard turn(uploading_);
  std::set<std::string_view> names;
  for (const auto& table : live.tables)
    names.insert(table.name);
  HEADRACE_CHECK(files_.keep_only(names, files));
  HEADRACE_CHECK(files_.forget_removed(files));
  uploaded out;
  for (const auto& table : live.tables) {
    const auto local = directory + "/" + table.name;
    if (auto known = files_.use(table.name, checkpoint, target)) {
      target.use_shared(known->file.segment.path, local);
      out.files.push_back(std::move(known->file));
      out.checksums.push_back(known->checksum);
      continue;
    }
    std::unique_ptr<state_output> own;
    if (table.size_bytes > inline_bytes_max_) {
      HEADRACE_TRY(own, target.create_shared(owner + "-" + table.name, local));
    }
    auto* to = own.get();
    if (to == nullptr) {
      HEADRACE_TRY(to, target.output());
    }
    const auto offset = to->position();
    HEADRACE_TRY(const auto checksum, copy_out(local, table.size_bytes, *to, is_canceled));
    shared_file written{table.name, {to->path(), offset, table.size_bytes}};
    if (own != nullptr) {
      HEADRACE_CHECK(own->finish());
      if (target.shares(own->path())) // else the target keeps it to itself
        files_.add({written, checksum}, checkpoint);
    }
    out.files.push_back(std::move(written));
    out.checksums.push_back(checksum);
  }
  return out;
}

void uploaded_files::adopt(const std::vector<shared_file>& files,
                           const std::vector<std::uint64_t>& checksums) {
  for (std::size_t i = 0; i < files.size(); ++i)
    files_.adopt({files[i], checksums[i]});
}

} // namespace headrace::state
