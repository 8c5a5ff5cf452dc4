#include "libstate/rocksdb/sorted_import.hpp"

#include "libstate/rocksdb/rocksdb_status.hpp"

namespace headrace::state {

sorted_import::sorted_import(rocksdb_instance& into, rocksdb::ColumnFamilyHandle* family,
                             std::uint64_t file_bytes)
    : into_(&into), family_(family), options_(into.db().GetOptions(family)),
      file_bytes_(file_bytes), path_(into.directory() + "/import.sst") {}

status sorted_import::add(byte_view name, byte_view value) {
  if (writer_ == nullptr) {
    writer_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), options_, family_);
    HEADRACE_CHECK(to_status(writer_->Open(path_), "create " + path_));
  }
  HEADRACE_CHECK(to_status(writer_->Put(to_slice(name), to_slice(value)), "write " + path_));
  return writer_->FileSize() < file_bytes_ ? status() : finish();
}

status sorted_import::finish() {
  if (writer_ == nullptr)
    return {};
  HEADRACE_CHECK(to_status(writer_->Finish(), "finish " + path_));
  writer_.reset();
  rocksdb::IngestExternalFileOptions taking;
  taking.move_files = true;
  return to_status(into_->db().IngestExternalFile(family_, {path_}, taking), "take in " + path_);
}

} // namespace headrace::state
