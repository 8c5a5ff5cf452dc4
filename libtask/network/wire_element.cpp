#include "libtask/network/wire_element.hpp"

#include "libtask/network/exchange_mail.hpp"
#include "libgraph/data/batch_codec.hpp"
#include "libgraph/data/batch_layout.hpp"
#include "libactors/base/assert.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace headrace::task {

namespace {

using graph::batch_layout::align;

constexpr int compression_level = 1;

struct context_deleter {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

/// None when it would not become a tenth smaller at least.
std::shared_ptr<graph::buffer> compress(const graph::batch_encoding& encoding,
                                        const std::shared_ptr<graph::memory_budget>& budget) {
  thread_local const std::unique_ptr<ZSTD_CCtx, context_deleter> context(ZSTD_createCCtx());
  thread_local std::vector<std::byte> raw;
  thread_local byte_string scratch;
  raw.resize(encoding.size_bytes());
  encoding.write_to(raw.data());
  scratch.resize(raw.size() - raw.size() / 10);
  const auto written = ZSTD_compressCCtx(context.get(), scratch.data(), scratch.size(), raw.data(),
                                         raw.size(), compression_level);
  if (ZSTD_isError(written) != 0)
    return nullptr;
  auto out = graph::buffer::allocate(written, budget);
  std::memcpy(out->mutable_data(), scratch.data(), written);
  return out;
}

wire_batch write(const graph::batch_encoding& encoding, const wire_options& options,
                 const std::shared_ptr<graph::memory_budget>& budget) {
  wire_batch made;
  if (options.compresses && encoding.size_bytes() >= options.compressed_from_bytes) {
    if (const auto smaller = compress(encoding, budget)) {
      made.pieces.push_back({{smaller->as<char>(), smaller->size_bytes()}, smaller});
      made.size_bytes = smaller->size_bytes();
      made.raw_bytes = encoding.size_bytes();
      return made;
    }
  }
  made.pieces = encoding.pieces(budget);
  made.size_bytes = encoding.size_bytes();
  return made;
}

/// The bytes of a batch in one piece.
shared_bytes joined(const wire_batch& batch, const std::shared_ptr<graph::memory_budget>& budget) {
  if (batch.pieces.size() == 1)
    return batch.pieces.front();
  const auto copy = graph::buffer::allocate(batch.size_bytes, budget);
  auto* at = copy->mutable_data();
  for (const auto& piece : batch.pieces) {
    std::memcpy(at, piece.view.data(), piece.view.size());
    at += piece.view.size();
  }
  return {{copy->as<char>(), copy->size_bytes()}, copy};
}

result<graph::buffer_ptr> decompress(byte_view bytes, std::uint64_t raw_bytes,
                                     const std::shared_ptr<graph::memory_budget>& budget) {
  thread_local const std::unique_ptr<ZSTD_DCtx, context_deleter> context(ZSTD_createDCtx());
  if (raw_bytes > wire_batch_bytes_max ||
      ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != raw_bytes)
    return error(errc::malformed_message, "compressed batch of another size than it says");
  auto out = graph::buffer::allocate(static_cast<std::size_t>(raw_bytes), budget);
  const auto got = ZSTD_decompressDCtx(context.get(), out->mutable_data(), out->size_bytes(),
                                       bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0 || got != out->size_bytes())
    return error(errc::malformed_message, "batch does not decompress to its size");
  return graph::buffer_ptr(std::move(out));
}

/// Holds a frame alive, and counts the part of it that a batch takes.
class charged_part {
public:
  charged_part(shared_bytes part, std::shared_ptr<graph::memory_budget> budget)
      : part_(std::move(part)), budget_(std::move(budget)) {
    budget_->charge(part_.view.size());
  }
  ~charged_part() { budget_->release(part_.view.size()); }
  charged_part(const charged_part&) = delete;
  charged_part& operator=(const charged_part&) = delete;

private:
  shared_bytes part_;
  std::shared_ptr<graph::memory_budget> budget_;
};

result<graph::record_batch> decode(const wire_batch& batch, const graph::row_type_ptr& type,
                                   const std::shared_ptr<graph::memory_budget>& budget) {
  auto bytes = joined(batch, budget);
  if (batch.raw_bytes > 0) {
    HEADRACE_TRY(auto raw, decompress(bytes.view, batch.raw_bytes, budget));
    bytes = {{raw->as<char>(), raw->size_bytes()}, raw};
  } else if (batch.pieces.size() == 1 && batch.size_bytes < batch.pinned_bytes / 4) {
    const auto copy = graph::buffer::allocate(batch.size_bytes, budget);
    std::memcpy(copy->mutable_data(), bytes.view.data(), bytes.view.size());
    bytes = {{copy->as<char>(), copy->size_bytes()}, copy};
  } else if (batch.pieces.size() == 1 && budget != nullptr) {
    bytes.owner = std::make_shared<charged_part>(bytes, budget);
  }
  return graph::decode_batch(type, bytes.view, std::move(bytes.owner));
}

result<encoded_element> encode_batch(const graph::record_batch& all, const wire_options& options,
                                     const std::shared_ptr<graph::memory_budget>& budget,
                                     std::size_t bytes_max) {
  encoded_element out;
  auto rows = all;
  std::optional<graph::batch_encoding> encoding(std::in_place, rows);
  while (encoding->size_bytes() > bytes_max) {
    if (rows.size() <= 1)
      return error(errc::message_too_large, "row is too large for an exchange between processes: " +
                                                std::to_string(encoding->size_bytes()) +
                                                " bytes, at most " + std::to_string(bytes_max));
    rows = all.slice(0, rows.size() / 2);
    encoding.emplace(rows);
  }
  if (rows.size() < all.size())
    out.rest = all.slice(rows.size(), all.size() - rows.size());
  out.element.cost = std::max(exchange_cost(rows), encoding->size_bytes());
  out.element.content = write(*encoding, options, budget);
  return out;
}

} // namespace

std::size_t body_bytes(const wire_element& element) {
  const auto* batch = std::get_if<wire_batch>(&element.content);
  return batch == nullptr ? 0 : align(batch->size_bytes);
}

result<encoded_element> encode_element(const graph::stream_element& element,
                                       const wire_options& options,
                                       const std::shared_ptr<graph::memory_budget>& budget,
                                       std::size_t bytes_max) {
  if (const auto* rows = std::get_if<graph::record_batch>(&element))
    return encode_batch(*rows, options, budget, bytes_max);
  encoded_element out;
  out.element.cost = exchange_cost(element);
  std::visit(
      [&](const auto& control) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(control)>, graph::record_batch>)
          out.element.content = control;
      },
      element);
  return out;
}

result<decoded_elements> decode_elements(std::vector<wire_element> elements,
                                         const graph::row_type_ptr& type,
                                         const std::shared_ptr<graph::memory_budget>& budget) {
  decoded_elements out;
  out.elements.reserve(elements.size());
  out.costs.reserve(elements.size());
  for (auto& element : elements) {
    out.costs.push_back(static_cast<std::size_t>(element.cost));
    if (const auto* batch = std::get_if<wire_batch>(&element.content)) {
      HEADRACE_TRY(auto rows, decode(*batch, type, budget));
      out.elements.emplace_back(std::move(rows));
    } else {
      std::visit(
          [&](auto& control) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(control)>, wire_batch>)
              out.elements.emplace_back(control);
          },
          element.content);
    }
  }
  return out;
}

} // namespace headrace::task
