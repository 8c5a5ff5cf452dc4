#include "libstate/operator_state/element_reader.hpp"

#include "libstate/snapshot/block_codec.hpp"
#include "libstate/storage/stored_file.hpp"

namespace headrace::state {

namespace {

constexpr std::uint64_t run_bytes_max = 4U << 20U; ///< read at once, unless one element is larger

} // namespace

error element_reader::corrupt(std::string what) const {
  return {errc::corrupt_snapshot,
          "corrupt operator state: " + std::move(what) + ", in " + segment_.path};
}

status element_reader::read_exactly(std::uint64_t begin, std::uint64_t end, byte_string& out) {
  if (!file_) {
    HEADRACE_TRY(file_, open_stored(*files_, segment_.path));
  }
  const auto size = file_->size_bytes();
  if (segment_.offset > size || end > size - segment_.offset || end > segment_.size_bytes)
    return corrupt("file is cut off at " + std::to_string(size) + " bytes");
  out.resize(static_cast<std::size_t>(end - begin));
  std::size_t done = 0;
  while (done < out.size()) {
    HEADRACE_TRY(const auto got, file_->read_at(segment_.offset + begin + done,
                                                {out.data() + done, out.size() - done}));
    if (got == 0)
      return corrupt("file ends early");
    done += got;
  }
  return {};
}

result<std::vector<byte_string>>
element_reader::read(const std::vector<operator_state_handle::list::element>& elements) {
  std::vector<byte_string> out;
  out.reserve(elements.size());
  byte_string run;
  for (std::size_t first = 0; first < elements.size();) {
    // Elements that lie behind one another are read together.
    auto end = first + 1;
    while (end < elements.size() && elements[end].begin == elements[end - 1].end &&
           elements[end].end >= elements[end].begin &&
           elements[end].end - elements[first].begin <= run_bytes_max)
      ++end;
    const auto start = elements[first].begin;
    if (elements[first].end < start)
      return corrupt("impossible place of an element");
    HEADRACE_CHECK(read_exactly(start, elements[end - 1].end, run));
    for (; first < end; ++first) {
      const auto& element = elements[first];
      out.push_back(run.substr(static_cast<std::size_t>(element.begin - start),
                               static_cast<std::size_t>(element.end - element.begin)));
      if (checksum_of(out.back()) != element.checksum)
        return corrupt("checksum does not fit, at offset " +
                       std::to_string(segment_.offset + element.begin));
    }
  }
  return out;
}

} // namespace headrace::state
