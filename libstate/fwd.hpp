#pragma once

namespace headrace::state {

class key_schema;
class key_batch;
class keyed_table;
class keyed_backend;
class state_backend;
class snapshot_job;
class snapshot_target;
class state_output;
class state_input;
class timer_service;
class operator_state_backend;
class checkpoint_storage;

struct keyed_state_handle;
struct operator_state_handle;
struct state_description;

} // namespace headrace::state
