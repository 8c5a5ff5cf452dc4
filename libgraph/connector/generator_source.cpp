#include "libgraph/connector/generator_source.hpp"

#include "libgraph/connector/fixed_enumerator.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace headrace::graph {
namespace {

constexpr std::uint8_t version = 1;
constexpr std::uint64_t block_rows_most = 4096;

/// Few rows where few come a second, so that readers stay side by side.
std::uint64_t derived_block_rows(double rows_per_second) {
  if (rows_per_second <= 0)
    return block_rows_most;
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rows_per_second / 100), 1,
                                   block_rows_most);
}

class generator_reader final : public split_reader {
public:
  generator_reader(row_type_ptr type, generator_options options,
                   std::unique_ptr<row_generator> generator, reader_context context)
      : options_(options), generator_(std::move(generator)), context_(std::move(context)),
        limiter_(options.rows_per_second / std::max(context_.parallelism, 1)),
        rows_(std::move(type)) {}

  status add_split(source_split split) override {
    HEADRACE_TRY(auto decoded, generator_split::decode(split.state));
    splits_.push_back({std::move(split.id), decoded});
    return {};
  }

  result<std::optional<fetched>> fetch(const fetch_budget& budget) override {
    if (splits_.empty())
      return std::optional<fetched>();
    auto current = std::move(splits_.front());
    splits_.pop_front();
    auto& split = current.split;
    fetched out;
    out.split_id = current.id;
    const auto allowed = limiter_.allowance(context_.time.now_us());
    const auto limit = options_.rows.value_or(std::numeric_limits<std::uint64_t>::max());
    const auto left = limit - std::min(split.next, limit);
    const auto count = std::min<std::uint64_t>({budget.rows_max, allowed, split.run(), left});
    if (count > 0) {
      HEADRACE_CHECK(generator_->fill(split.next, static_cast<std::size_t>(count), rows_));
      out.rows = rows_.finish();
      split.advance(count);
      limiter_.take(static_cast<std::size_t>(count));
    } else if (left > 0) {
      out.wait = limiter_.wait();
    }
    out.state_after = split.encode();
    out.split_finished = split.next >= limit;
    if (!out.split_finished)
      splits_.push_back(std::move(current)); // splits take turns
    return std::optional(std::move(out));
  }

private:
  struct open_split {
    std::string id;
    generator_split split;
  };
  generator_options options_;
  std::unique_ptr<row_generator> generator_;
  reader_context context_;
  rate_limiter limiter_;
  batch_builder rows_;
  std::deque<open_split> splits_;
};

result<generator_split> read_split(byte_reader& in) {
  generator_split out;
  HEADRACE_TRY(out.stripe, in.get_varint());
  HEADRACE_TRY(out.stripes, in.get_varint());
  HEADRACE_TRY(out.block_rows, in.get_varint());
  HEADRACE_TRY(out.next, in.get_varint());
  if (!in.at_end() || out.block_rows == 0 || out.stripe >= out.stripes ||
      out.next / out.block_rows % out.stripes != out.stripe)
    return error(errc::malformed_message, "values contradict each other");
  return out;
}

} // namespace

byte_string generator_split::encode() const {
  byte_string out;
  byte_writer writer(out);
  writer.put(version);
  writer.put_varint(stripe);
  writer.put_varint(stripes);
  writer.put_varint(block_rows);
  writer.put_varint(next);
  return out;
}

result<generator_split> generator_split::decode(byte_view bytes) {
  byte_reader in(bytes);
  const auto found = in.get<std::uint8_t>();
  if (found && *found != version)
    return error(errc::unsupported_snapshot_version,
                 "state of a generator has an unknown version: " + std::to_string(*found) +
                     ", this release reads " + std::to_string(version));
  auto split = found ? read_split(in) : result<generator_split>(found.error());
  if (!split)
    return error(errc::corrupt_snapshot, "state of a generator is corrupt",
                 std::move(split).error());
  return split;
}

void generator_split::advance(std::uint64_t count) {
  next += count;
  if (next % block_rows == 0)
    next += (stripes - 1) * block_rows;
}

result<std::unique_ptr<split_enumerator>>
generator_source::create_enumerator(enumerator_context& context,
                                    std::optional<byte_string> restored) const {
  std::vector<source_split> splits;
  const auto stripes = static_cast<std::uint64_t>(std::max(context.reader_count(), 1));
  const auto block_rows = derived_block_rows(options_.rows_per_second);
  for (std::uint64_t stripe = 0; stripe < stripes; ++stripe) {
    const generator_split split{stripe, stripes, block_rows, stripe * block_rows};
    splits.push_back({"generator-" + std::to_string(stripe), split.encode()});
  }
  return fixed_enumerator::create(context, std::move(splits), restored);
}

bool generator_source::project(row_type_ptr produced) {
  if (can_project_)
    type_ = std::move(produced);
  return can_project_;
}

result<std::unique_ptr<split_reader>>
generator_source::create_reader(reader_context context) const {
  HEADRACE_TRY(auto generator, factory_(context, type_));
  return std::unique_ptr<split_reader>(std::make_unique<generator_reader>(
      type_, options_, std::move(generator), std::move(context)));
}

} // namespace headrace::graph
