#include "apps/cluster/working_directory.hpp"

#include "apps/cluster/process_settings.hpp"

#include <unistd.h>

namespace headrace::cluster {

working_directory::working_directory(file_system& files, const configuration& settings)
    : files_(files), path_(temporary_base(settings) + "/run-" + std::to_string(getpid())) {}

working_directory::~working_directory() { static_cast<void>(files_.remove_tree(path_)); }

} // namespace headrace::cluster
