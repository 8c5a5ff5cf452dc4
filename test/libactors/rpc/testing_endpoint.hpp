#pragma once

#include "libactors/rpc/node.hpp"
#include "schema/error.capnp.h"
#include "schema/ids.capnp.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headrace::testing {

/// Carries a number, and nothing else.
class number_mail final : public actors::mail {
public:
  explicit number_mail(std::uint32_t number) : mail(number) {}
};

inline message<schema::ExecutionAttempt> number(std::int32_t value) {
  message_builder<schema::ExecutionAttempt> made;
  made->setSubtask(value);
  return made.finish();
}
inline std::int32_t value_of(const message<schema::ExecutionAttempt>& read) {
  return read.view()->getSubtask();
}
inline message<schema::Acknowledge> acknowledge() {
  return message_builder<schema::Acknowledge>().finish();
}

/// An endpoint whose protected side is open, and whose turns are functions of the test.
class testing_endpoint final : public actors::endpoint {
public:
  using request = schema::ExecutionAttempt;

  std::function<void(testing_endpoint&)> when_started;
  std::function<void(testing_endpoint&, std::uint32_t)> when_mail;
  std::function<void(testing_endpoint&, std::int32_t, actors::reply_to<request>)> when_asked;
  std::function<void(testing_endpoint&, std::int32_t, const actors::address&)> when_told;
  std::function<void(testing_endpoint&, const std::string&, const error&)> when_child_ended;
  std::function<void(testing_endpoint&, const actors::address&, const error&)> when_peer_ended;
  std::function<void(testing_endpoint&, const error&)> when_stopped;

  testing_endpoint() {
    on_ask<request, request>([this](const auto& what, auto back) {
      if (when_asked) {
        when_asked(*this, value_of(what), std::move(back));
      } else {
        back.send(number(value_of(what) + 1));
      }
    });
    on_tell<schema::Id128>([this](const auto& what, const auto& from) {
      if (when_told) {
        when_told(*this, static_cast<std::int32_t>(what.view()->getHigh()), from);
      }
    });
  }

  using endpoint::after;
  using endpoint::ask;
  using endpoint::cancel_timer;
  using endpoint::child_ref;
  using endpoint::environment;
  using endpoint::fatal;
  using endpoint::later;
  using endpoint::log;
  using endpoint::monitor;
  using endpoint::now_us;
  using endpoint::quit;
  using endpoint::run_blocking;
  using endpoint::self;
  using endpoint::self_ref;
  using endpoint::set_fencing_token;
  using endpoint::spawn;
  using endpoint::stop_child;
  using endpoint::tell;

  void ask_number(const actors::address& to, std::int32_t value, int timeout_ms,
                  std::function<void(result<message<request>>)> then, fencing_token fence = {}) {
    ask<request>(to, number(value), std::chrono::milliseconds(timeout_ms), std::move(then), fence);
  }
  void tell_number(const actors::address& to, std::int32_t value, fencing_token fence = {}) {
    message_builder<schema::Id128> made;
    made->setHigh(static_cast<std::uint64_t>(value));
    tell(to, made.finish(), fence);
  }

protected:
  void on_start() override {
    if (when_started) {
      when_started(*this);
    }
  }
  void on_stop(const error& cause) override {
    if (when_stopped) {
      when_stopped(*this, cause);
    }
  }
  void on_mail(actors::mail_ptr content) override {
    if (when_mail) {
      when_mail(*this, content->kind());
    }
  }
  void on_child_ended(const std::string& name, const error& cause) override {
    if (when_child_ended) {
      when_child_ended(*this, name, cause);
    }
  }
  void on_peer_ended(const actors::address& peer, const error& cause) override {
    if (when_peer_ended) {
      when_peer_ended(*this, peer, cause);
    }
  }
};

/// Makes one, lets `set_up` fill in what it does, and starts it below the root.
template <class SetUp>
actors::address start(actors::node& on, const std::string& name, SetUp&& set_up,
                      actors::placement where = actors::placement::control,
                      actors::supervision policy = actors::supervision::notify) {
  auto made = std::make_unique<testing_endpoint>();
  set_up(*made);
  return on.spawn(
      std::move(made),
      {.name = name, .kind = "testing", .where = where, .policy = policy, .addressable = true});
}

inline actors::mail_ptr mail_of(std::uint32_t value) {
  return std::make_unique<number_mail>(value);
}

} // namespace headrace::testing
