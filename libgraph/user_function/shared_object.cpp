#include "libgraph/user_function/shared_object.hpp"

#include "libgraph/user_function/object_stamp.hpp"
#include "libactors/base/digest.hpp"
#include "libactors/base/file_failure.hpp"
#include "libactors/base/text.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace headrace::graph {
namespace {

constexpr std::uint64_t object_bytes_max = std::uint64_t{1} << 30U;
constexpr std::size_t stamps_bytes_max = std::size_t{16} << 20U; ///< one a function
constexpr std::size_t stamp_bytes_max = 4096;

std::string_view what_is(object_use use) {
  return use == object_use::job ? "job object" : "library of functions";
}
std::string_view short_name(object_use use) {
  return use == object_use::job ? "the job" : "the library";
}

error unloadable(object_use use, const std::string& path, const std::string& why) {
  return {errc::job_object_unloadable,
          std::string(what_is(use)) + " cannot be loaded: " + path + ": " + why};
}

/// Reads a struct of the ELF format out of the file's bytes, if it lies in them.
template <class T>
std::optional<T> struct_at(byte_view content, std::uint64_t offset) {
  if (offset > content.size() || content.size() - offset < sizeof(T))
    return std::nullopt;
  T out;
  std::memcpy(&out, content.data() + offset, sizeof(T));
  return out;
}

std::optional<byte_view> bytes_at(byte_view content, std::uint64_t offset, std::uint64_t size) {
  if (offset > content.size() || content.size() - offset < size)
    return std::nullopt;
  return content.substr(offset, size);
}

std::optional<Elf64_Shdr> section_header(byte_view content, const Elf64_Ehdr& header,
                                         std::uint64_t index) {
  return struct_at<Elf64_Shdr>(content, header.e_shoff + index * sizeof(Elf64_Shdr));
}

/// Finds the content of a section by its name.
std::optional<byte_view> section_named(byte_view content, const Elf64_Ehdr& header,
                                       std::string_view wanted) {
  const auto names_header = section_header(content, header, header.e_shstrndx);
  if (!names_header)
    return std::nullopt;
  const auto names = bytes_at(content, names_header->sh_offset, names_header->sh_size);
  if (!names)
    return std::nullopt;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = section_header(content, header, i);
    if (!section || section->sh_name >= names->size())
      continue;
    const auto name = names->substr(section->sh_name);
    if (name.substr(0, name.find('\0')) == wanted)
      return bytes_at(content, section->sh_offset, section->sh_size);
  }
  return std::nullopt;
}

/// The texts of a section: each object file of the library adds its own, the linker zeros.
std::vector<std::string> texts_of(byte_view section) {
  std::vector<std::string> out;
  for (const auto each : split_text(section, '\0'))
    if (!each.empty())
      out.emplace_back(each);
  std::sort(out.begin(), out.end()); // compilers emit them in any order
  return out;
}

/// What an object tells of itself.
struct object_words {
  std::vector<std::string> stamps; ///< at least one
  std::vector<std::string> functions;
};

result<object_words> read_words(const std::string& path, byte_view content, object_use use) {
  const auto header = struct_at<Elf64_Ehdr>(content, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return unloadable(use, path, "no shared object (not an ELF file)");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_type != ET_DYN || header->e_shentsize != sizeof(Elf64_Shdr))
    return unloadable(use, path, "no 64-bit little-endian shared object");
  const auto nothing = [&] {
    return unloadable(use, path,
                      use == object_use::job
                          ? "no job in it: HEADRACE_JOB is missing"
                          : "no function in it: HEADRACE_SCALAR_FUNCTION, HEADRACE_TABLE_FUNCTION "
                            "and HEADRACE_AGGREGATE_FUNCTION are missing");
  };
  object_words out;
  if (const auto stamps = section_named(content, *header, HEADRACE_STAMP_SECTION);
      stamps && stamps->size() <= stamps_bytes_max)
    out.stamps = texts_of(*stamps);
  if (const auto names = section_named(content, *header, HEADRACE_FUNCTIONS_SECTION))
    out.functions = texts_of(*names);
  if (out.stamps.empty() || (use == object_use::functions && out.functions.empty()))
    return nothing();
  for (const auto& each : out.stamps)
    if (each.size() > stamp_bytes_max)
      return nothing();
  return out;
}

std::map<std::string, std::string, std::less<>> lines_of(const std::string& stamp) {
  std::map<std::string, std::string, std::less<>> lines;
  for (const auto line : split_text(stamp, '\n'))
    if (const auto equals = line.find('='); equals != std::string_view::npos)
      lines[std::string(line.substr(0, equals))] = std::string(line.substr(equals + 1));
  return lines;
}

std::string last_dl_error() {
  const char* words = dlerror();
  return words == nullptr ? "unknown reason" : words;
}

result<byte_string> content_of(file_system& files, const std::string& path, object_use use) {
  auto content = files.read_all(path, object_bytes_max);
  if (content)
    return content;
  auto cause = std::move(content).error();
  // Else it may pass, and is for the restart strategy.
  const bool stays = cause.has(errc::file_not_found) || cause.has(file_unusable);
  return error(stays ? errc::job_object_unloadable : cause.code,
               std::string(what_is(use)) + " cannot be loaded: " + path, std::move(cause));
}

/// What the process has loaded. One a process, as what the dynamic linker has loaded is: it gives
/// the same object again for a path, whoever asks.
class loaded_objects {
public:
  static loaded_objects& of_process() {
    static loaded_objects all;
    return all;
  }

  /// Does not wait for those who load.
  std::shared_ptr<const shared_object> find(std::string_view digest) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(digest);
    return found == objects_.end() ? nullptr : found->second;
  }

  result<std::shared_ptr<const shared_object>> load(file_system& files, const std::string& path,
                                                    object_use use) {
    const std::lock_guard loading(loading_);
    HEADRACE_TRY(const auto content, content_of(files, path, use));
    HEADRACE_TRY(auto words, read_words(path, content, use));
    auto digest = sha256_hex(content);
    if (auto known = find(digest); known != nullptr)
      return known;
    for (const auto& stamp : words.stamps)
      if (const auto difference = stamp_difference(stamp, HEADRACE_STAMP, use); !difference.empty())
        return error(errc::job_object_incompatible,
                     std::string(what_is(use)) + " was built for another headrace, rebuild " +
                         std::string(short_name(use)) + " against this one: " + path + ": " +
                         difference);
    HEADRACE_TRY(auto loadable, path_to_load(files, path, digest, content));
    if (loadable.find('/') == std::string::npos)
      loadable = "./" + loadable; // else the system's library path is searched
    auto* const handle = dlopen(loadable.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
      return unloadable(use, path, last_dl_error());
    const auto made =
        std::make_shared<const shared_object>(handle, digest, std::move(words.functions));
    const std::lock_guard lock(mutex_);
    objects_.emplace(std::move(digest), made);
    return made;
  }

private:
  result<std::string> path_to_load(file_system& files, const std::string& path,
                                   const std::string& digest, byte_view content) {
    const auto [found, fresh] = digests_.emplace(path, digest);
    if (fresh || found->second == digest)
      return path;
    // dlopen would give the old object again for the same path.
    auto beside = path + "." + digest.substr(0, 16);
    HEADRACE_CHECK(files.write_atomically(beside, content));
    return beside;
  }

  std::mutex loading_;                         ///< one after the other
  std::map<std::string, std::string> digests_; ///< by path that was loaded; of those who load
  std::mutex mutex_;                           ///< of the objects
  std::map<std::string, std::shared_ptr<const shared_object>, std::less<>> objects_; ///< by digest
};

} // namespace

void* shared_object::symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

result<std::shared_ptr<const shared_object>>
load_shared_object(file_system& files, const std::string& path, object_use use) {
  return loaded_objects::of_process().load(files, path, use);
}

std::shared_ptr<const shared_object> find_shared_object(std::string_view digest) {
  return loaded_objects::of_process().find(digest);
}

result<std::string> read_stamp(file_system& files, const std::string& path, object_use use) {
  HEADRACE_TRY(const auto content, content_of(files, path, use));
  HEADRACE_TRY(const auto words, read_words(path, content, use));
  return words.stamps.front();
}

std::string stamp_difference(const std::string& of_object, const std::string& own, object_use use) {
  const auto theirs = lines_of(of_object);
  std::vector<std::string> differences;
  for (const auto& [name, value] : lines_of(own)) {
    const auto found = theirs.find(name);
    const auto given = found == theirs.end() ? std::string("none") : found->second;
    if (given != value)
      differences.push_back(name + ": " + std::string(short_name(use)) + " has " + given +
                            ", this is " + value);
  }
  return join_text(differences, "; ");
}

} // namespace headrace::graph
