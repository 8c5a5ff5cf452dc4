#include "libactors/transport/body_pool.hpp"

#include <array>
#include <mutex>
#include <new>
#include <vector>

namespace headrace::actors {
namespace {

constexpr std::align_val_t alignment{aligned_bytes::alignment};

/// Sizes are rounded up to these steps, so that bodies of about a size share their memory.
constexpr std::size_t step_bytes = body_pool::body_bytes_least;
constexpr std::size_t steps_most = body_pool::body_bytes_most / step_bytes;

} // namespace

struct body_pool::shelf {
  ~shelf() {
    for (const auto& kept : by_steps) {
      for (char* memory : kept) {
        ::operator delete(memory, alignment);
      }
    }
  }
  char* find(std::size_t steps) {
    const std::lock_guard lock(guard);
    auto& kept = by_steps[steps - 1];
    if (kept.empty()) {
      return nullptr;
    }
    char* memory = kept.back();
    kept.pop_back();
    kept_bytes -= steps * step_bytes;
    return memory;
  }
  void give_back(char* memory, std::size_t steps) {
    {
      const std::lock_guard lock(guard);
      if (kept_bytes + steps * step_bytes <= kept_bytes_max) {
        by_steps[steps - 1].push_back(memory);
        kept_bytes += steps * step_bytes;
        return;
      }
    }
    ::operator delete(memory, alignment);
  }

  std::mutex guard;
  std::array<std::vector<char*>, steps_most> by_steps;
  std::size_t kept_bytes = 0;
};

body_pool::body_pool() : shelf_(std::make_shared<shelf>()) {
  for (auto& kept : shelf_->by_steps) {
    kept.reserve(kept_bytes_max / step_bytes); // so that giving back never allocates
  }
}

body_pool::~body_pool() = default;

aligned_bytes body_pool::take(std::size_t size) {
  if (size < body_bytes_least || size > body_bytes_most) {
    return aligned_bytes(size);
  }
  const auto steps = (size + step_bytes - 1) / step_bytes;
  char* memory = shelf_->find(steps);
  if (memory == nullptr) {
    memory = static_cast<char*>(::operator new(steps* step_bytes, alignment));
  }
  return {std::shared_ptr<char[]>(memory,
                                  [to = shelf_, steps](char* gone) { to->give_back(gone, steps); }),
          size};
}

std::size_t body_pool::kept_bytes() const {
  const std::lock_guard lock(shelf_->guard);
  return shelf_->kept_bytes;
}

} // namespace headrace::actors
