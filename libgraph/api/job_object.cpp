#include "libgraph/api/job_object.hpp"

#include "libgraph/api/environment.hpp"
#include "libgraph/api/job_stamp.hpp"
#include "libgraph/function/failure.hpp"
#include "libgraph/job_graph/structure_hash.hpp"
#include "libgraph/stream_graph/job_graph_builder.hpp"
#include "libactors/base/text.hpp"

#include <elf.h>

#include <cstring>
#include <dlfcn.h>
#include <optional>

namespace headrace::api {
namespace {

constexpr std::uint64_t object_bytes_max = std::uint64_t{1} << 30U;
constexpr std::size_t stamp_bytes_max = 4096;

error unloadable(const std::string& path, const std::string& why) {
  return {errc::job_object_unloadable, "job object cannot be loaded: " + path + ": " + why};
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

result<std::string> stamp_of(const std::string& path, byte_view content) {
  const auto header = struct_at<Elf64_Ehdr>(content, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return unloadable(path, "no shared object (not an ELF file)");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_type != ET_DYN || header->e_shentsize != sizeof(Elf64_Shdr))
    return unloadable(path, "no 64-bit little-endian shared object");
  const auto stamp = section_named(content, *header, HEADRACE_STAMP_SECTION);
  if (!stamp || stamp->size() > stamp_bytes_max)
    return unloadable(path, "no job in it: HEADRACE_JOB is missing");
  return std::string(stamp->substr(0, stamp->find('\0')));
}

std::map<std::string, std::string, std::less<>> lines_of(const std::string& stamp) {
  std::map<std::string, std::string, std::less<>> lines;
  for (const auto line : split_text(stamp, '\n'))
    if (const auto equals = line.find('='); equals != std::string_view::npos)
      lines[std::string(line.substr(0, equals))] = std::string(line.substr(equals + 1));
  return lines;
}

std::string digest_of(byte_view content) {
  const auto [high, low] = graph::structure_hash(content);
  return to_hex(high, low);
}

std::string last_dl_error() {
  const char* words = dlerror();
  return words == nullptr ? "unknown reason" : words;
}

} // namespace

result<built_job> build_job(environment& env, std::int32_t default_parallelism) {
  auto& program = env.program();
  built_job out;
  HEADRACE_TRY(out.graph, graph::build_job_graph(program, default_parallelism));
  out.graph.arguments = env.arguments().all();
  auto code = std::make_shared<graph::job_code>();
  code->functions = std::move(program.functions);
  program = {};
  out.code = std::move(code);
  return out;
}

result<std::string> read_job_stamp(file_system& files, const std::string& path) {
  auto content = files.read_all(path, object_bytes_max);
  if (!content)
    return error(errc::job_object_unloadable, "job object cannot be loaded: " + path,
                 std::move(content).error());
  return stamp_of(path, *content);
}

std::string stamp_difference(const std::string& of_job, const std::string& own) {
  const auto theirs = lines_of(of_job);
  std::vector<std::string> differences;
  for (const auto& [name, value] : lines_of(own)) {
    const auto found = theirs.find(name);
    const auto given = found == theirs.end() ? std::string("none") : found->second;
    if (given != value)
      differences.push_back(name + ": the job has " + given + ", this is " + value);
  }
  return join_text(differences, "; ");
}

// ---- object_loader --------------------------------------------------------------------------

struct object_loader::loaded_object {
  using entry_function = void(environment*);

  void* handle = nullptr; ///< never closed
  entry_function* entry = nullptr;
  std::mutex running; ///< entries of one object share its statics

  /// Runs the entry; what it throws becomes an error.
  result<built_job> build(const std::string& path, const std::vector<std::string>& arguments,
                          std::int32_t default_parallelism) {
    const std::lock_guard lock(running);
    const auto failed = [&](const std::string& what) {
      return error(errc::user_function_failed,
                   "the entry of the job failed: " + path + ": " + what);
    };
    try {
      environment env(arguments);
      entry(&env);
      if (auto unwanted = env.arguments().unwanted(); !unwanted.empty())
        return error(errc::bad_usage, std::move(unwanted));
      return build_job(env, default_parallelism);
    } catch (const graph::failure& thrown) {
      return error(thrown.cause());
    } catch (const std::exception& thrown) {
      return failed(thrown.what());
    } catch (...) {
      return failed("it threw what is no std::exception");
    }
  }
};

object_loader::object_loader(file_system& files) : files_(files) {}
object_loader::~object_loader() = default;

result<std::string> object_loader::path_to_load(const std::string& path, const std::string& digest,
                                                byte_view content) {
  const auto [found, fresh] = digests_.emplace(path, digest);
  if (fresh || found->second == digest)
    return path;
  // dlopen would give the old object again for the same path.
  auto beside = path + "." + digest.substr(0, 16);
  HEADRACE_CHECK(files_.write_atomically(beside, content));
  return beside;
}

result<std::shared_ptr<object_loader::loaded_object>>
object_loader::object_at(const std::string& path) {
  const std::lock_guard lock(mutex_);
  auto content = files_.read_all(path, object_bytes_max);
  if (!content)
    return error(errc::job_object_unloadable, "job object cannot be loaded: " + path,
                 std::move(content).error());
  const auto digest = digest_of(*content);
  if (const auto found = objects_.find(digest); found != objects_.end())
    return found->second;
  HEADRACE_TRY(const auto stamp, stamp_of(path, *content));
  if (const auto difference = stamp_difference(stamp, HEADRACE_STAMP); !difference.empty())
    return error(errc::job_object_incompatible,
                 "job object was built for another headrace, rebuild the job against this one: " +
                     path + ": " + difference);
  HEADRACE_TRY(auto loadable, path_to_load(path, digest, *content));
  if (loadable.find('/') == std::string::npos)
    loadable = "./" + loadable; // else the system's library path is searched
  auto made = std::make_shared<loaded_object>();
  made->handle = dlopen(loadable.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (made->handle == nullptr)
    return unloadable(path, last_dl_error());
  made->entry =
      reinterpret_cast<loaded_object::entry_function*>(dlsym(made->handle, HEADRACE_ENTRY_NAME));
  if (made->entry == nullptr)
    return unloadable(path, last_dl_error());
  objects_.emplace(digest, made);
  return made;
}

result<built_job> object_loader::build(const std::string& object_path,
                                       const std::vector<std::string>& arguments,
                                       std::int32_t default_parallelism) {
  HEADRACE_TRY(const auto object, object_at(object_path));
  HEADRACE_TRY(auto job, object->build(object_path, arguments, default_parallelism));
  // The functions point into the object, which stays; `loaded` says so to those who ask.
  auto code = std::make_shared<graph::job_code>(*job.code);
  code->loaded = object;
  job.code = std::move(code);
  return job;
}

result<std::shared_ptr<const graph::job_code>>
object_loader::load(const std::string& object_path, const std::vector<std::string>& arguments,
                    const std::string& graph_hash) {
  HEADRACE_TRY(auto job, build(object_path, arguments, 0));
  if (const auto difference = graph::graph_difference(job.graph, graph_hash); !difference.empty())
    return error(
        errc::graph_mismatch,
        "the job object describes another job here than where it was submitted: " + object_path +
            ": " + difference + "; its entry must depend on nothing but its arguments");
  return std::move(job.code);
}

} // namespace headrace::api
