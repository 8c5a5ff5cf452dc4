// Writes a savepoint from which the fraud detector begins with accounts that it is warned of, and
// reads one back:
//
//     seed_accounts write DIRECTORY ACCOUNT...
//     headrace run libfraud_detector.so --from-savepoint DIRECTORY
//     seed_accounts read DIRECTORY

#include "libstate/processor/state_processor.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace processor = headrace::processor;

namespace {

headrace::status write(headrace::file_system& files, const std::string& directory,
                       const std::vector<std::int64_t>& accounts) {
  HEADRACE_TRY(auto savepoint, processor::savepoint_writer::create(files, directory));
  HEADRACE_TRY(auto detector,
               processor::keyed_operator_writer<std::int64_t>::add(savepoint, "fraud-detector"));
  for (const auto account : accounts)
    HEADRACE_CHECK(detector.value("was small", account, true));
  return savepoint.finish();
}

headrace::status read(headrace::file_system& files, const std::string& directory) {
  HEADRACE_TRY(const auto savepoint, processor::savepoint_reader::open(files, directory));
  HEADRACE_TRY(const auto detector,
               processor::keyed_operator_reader<std::int64_t>::find(savepoint, "fraud-detector"));
  return detector.values<bool>("was small", [](std::int64_t account, bool was_small) {
    std::printf("%lld %s\n", static_cast<long long>(account), was_small ? "was small" : "-");
  });
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  const auto files = headrace::make_local_file_system();
  headrace::status done;
  if (what == "write") {
    std::vector<std::int64_t> accounts;
    for (int i = 3; i < argc; ++i)
      accounts.push_back(std::atoll(argv[i]));
    done = write(*files, argv[2], accounts);
  } else if (what == "read") {
    done = read(*files, argv[2]);
  } else {
    std::fputs("usage: seed_accounts write|read DIRECTORY [ACCOUNT...]\n", stderr);
    return 2;
  }
  if (done)
    return 0;
  std::fprintf(stderr, "seed_accounts: %s\n", to_string(done.error()).c_str());
  return 1;
}
