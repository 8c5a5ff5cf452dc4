// Measures one channel between two processes on this machine: a result partition writes batches, a
// consumer with an input gate reads them in place and gives credit back. Beside it, in the same
// run, a plain pair of sockets moves the same frames, under TLS or compressed where the exchange
// is. No side looks at the values. Prints one JSON line a workload, with the median of the repeats.
//
//     remote_exchange_bench [MEGABYTES] [--repeats N] [--workload numbers|texts|zstd]
//                           [--tls CERTIFICATE KEY CA]

#include "libtask/executor/data_connection_endpoint.hpp"
#include "libtask/executor/rpc_data_network.hpp"
#include "libtask/input/input_gate.hpp"
#include "libtask/network/exchange_directory.hpp"
#include "libtask/network/exchange_mail.hpp"
#include "libtask/network/partitioner.hpp"
#include "libtask/network/remote_consumer.hpp"
#include "libtask/network/result_partition.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/batch_codec.hpp"
#include "libactors/rpc/node.hpp"
#include "libactors/transport/rpc_system.hpp"

#include <openssl/ssl.h>
#include <zstd.h>

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using seconds = std::chrono::duration<double>;
using bench_clock = std::chrono::steady_clock;

const execution_attempt_id producer_attempt{{1, 1}, 0, 0};
const execution_attempt_id consumer_attempt{{1, 2}, 0, 0};
const result_id the_result{2, 2};
constexpr std::size_t batch_rows = 4096;
constexpr std::size_t batches_a_turn = 16;

[[noreturn]] void fail(const std::string& words) {
  std::fprintf(stderr, "remote_exchange_bench: %s\n", words.c_str());
  std::exit(1);
}

graph::row_type_ptr number_type() {
  std::vector<graph::logical_type::field> fields;
  for (const char* name : {"a", "b", "c", "d", "e"})
    fields.push_back({name, graph::logical_type::bigint().not_null(), {}});
  return std::make_shared<const graph::logical_type>(graph::logical_type::row(std::move(fields)));
}

graph::row_type_ptr text_type() {
  return std::make_shared<const graph::logical_type>(
      graph::logical_type::row({{"id", graph::logical_type::bigint().not_null(), {}},
                                {"url", graph::logical_type::string().not_null(), {}}}));
}

/// The second batch of a builder, which lies as all that follow do: the first one's blocks of
/// strings still grow.
graph::record_batch make_batch(const graph::row_type_ptr& type) {
  graph::batch_builder builder(type);
  std::uint64_t state = 7;
  const auto fill = [&] {
    for (std::size_t row = 0; row < batch_rows; ++row) {
      for (std::size_t i = 0; i < type->fields().size(); ++i) {
        state = mix64(state + 1);
        if (type->fields()[i].type == graph::logical_type::bigint().not_null())
          builder.column(i).append(static_cast<std::int64_t>(state % 1'000'000));
        else
          builder.column(i).append_string("https://example.com/item/" + std::to_string(state));
      }
      builder.end_row();
    }
    return builder.finish();
  };
  fill();
  return fill();
}

struct workload {
  const char* name;
  graph::row_type_ptr type;
  bool compresses = false;
  std::size_t batches = 0;
  std::size_t frame_bytes = 0; ///< an encoded batch
};

/// Does what a task executor does for its data connections: gives links to the one that there is.
class bench_executor final : public actors::endpoint {
public:
  bench_executor(exchange_directory& directory, data_network& network,
                 std::promise<actors::actor_ref>& connection, node_id peer)
      : directory_(directory), network_(network), connection_(connection), peer_(peer) {}

private:
  void on_start() override {
    network_.take_links(
        [to = self_ref()](const node_id& peer, std::shared_ptr<actors::frame_connection> link) {
          auto events = std::make_shared<link_relay>();
          to.send(std::make_unique<connection_report>(peer, link_offered{std::move(link), events}));
          return events;
        });
    if (!peer_.is_none())
      connection_.set_value(connection_to(peer_));
  }
  void on_mail(actors::mail_ptr content) override {
    auto& report = static_cast<connection_report&>(*content);
    if (auto* offered = std::get_if<link_offered>(&report.content))
      connection_to(report.peer)
          .send(std::make_unique<connection_order>(
              link_accepted{std::move(offered->link), std::move(offered->events)}));
    else if (const auto* failed = std::get_if<channel_failed>(&report.content))
      task::fail("channel failed: " + to_string(failed->cause));
  }
  void on_stop(const error&) override { network_.take_links({}); }
  actors::actor_ref connection_to(const node_id& peer) {
    if (child_ref("connection").is_none()) {
      data_connection_settings settings;
      settings.peer = peer;
      spawn(std::make_unique<data_connection_endpoint>(settings, directory_, network_,
                                                       std::make_shared<data_connection_metrics>(),
                                                       self_ref()),
            {"connection", "connection", actors::placement::control, actors::supervision::notify,
             false});
    }
    return child_ref("connection");
  }

  exchange_directory& directory_;
  data_network& network_;
  std::promise<actors::actor_ref>& connection_;
  node_id peer_;
};

class bench_producer final : public actors::endpoint {
public:
  bench_producer(exchange_directory& directory, const workload& work, std::promise<void>& found)
      : directory_(directory), found_(found), work_(work), batch_(make_batch(work.type)) {
    partitioner_setup setup;
    setup.spec.kind = graph::partitioner_kind::forward;
    auto split = make_partitioner(std::move(setup));
    partition_ = std::make_unique<result_partition>(std::move(*split), 1);
  }

private:
  void on_start() override {
    directory_.add(producer_attempt, self_ref());
    found_.set_value();
  }
  void on_stop(const error&) override { directory_.remove(producer_attempt); }
  void on_mail(actors::mail_ptr content) override {
    if (static_cast<mail_kind>(content->kind()) == mail_kind::attach_consumer) {
      auto& asked = static_cast<attach_consumer&>(*content);
      remote_consumer::setup setup;
      setup.link = link_ = asked.link;
      setup.route = asked.route;
      setup.options.compresses = work_.compresses;
      setup.fail = [](const error& cause) { task::fail(to_string(cause)); };
      partition_->attach(0, std::make_unique<remote_consumer>(std::move(setup)),
                         asked.credit_bytes);
    } else {
      partition_->add_credit(0, static_cast<const exchange_credit&>(*content).bytes);
    }
    turn();
  }
  void turn() {
    for (std::size_t i = 0; i < batches_a_turn && partition_->is_available() && left_ > 0; ++i) {
      partition_->emit(batch_, 0);
      --left_;
    }
    if (left_ == 0 && !closed_) {
      closed_ = true;
      partition_->close();
    } else if (left_ > 0 && partition_->is_available()) {
      later([this] { turn(); });
    }
    link_->send();
  }

  exchange_directory& directory_;
  std::promise<void>& found_;
  const workload& work_;
  graph::record_batch batch_;
  std::unique_ptr<result_partition> partition_;
  std::shared_ptr<link_writer> link_;
  std::size_t left_ = work_.batches;
  bool closed_ = false;
};

/// Reads as a subtask does, without operators.
class bench_consumer final : public actors::endpoint {
public:
  bench_consumer(exchange_directory& directory, graph::row_type_ptr type, std::promise<void>& found,
                 std::promise<std::size_t>& done)
      : directory_(directory), type_(std::move(type)), found_(found), done_(done) {}

private:
  void on_start() override {
    directory_.add(consumer_attempt, self_ref());
    found_.set_value();
  }
  void on_stop(const error&) override { directory_.remove(consumer_attempt); }
  void on_mail(actors::mail_ptr content) override {
    if (static_cast<mail_kind>(content->kind()) == mail_kind::remote_opened) {
      const auto& opened = static_cast<const remote_opened&>(*content);
      link_ = opened.link;
      route_ = opened.route;
      return;
    }
    auto& data = static_cast<remote_data&>(*content);
    auto decoded = decode_elements(std::move(data.elements), type_, nullptr);
    if (!decoded)
      fail(to_string(decoded.error()));
    gate_.enqueue(0, std::move(decoded->elements), data.closes, decoded->costs);
    wake();
  }
  void wake() {
    if (std::exchange(pending_, true))
      return;
    later([this] {
      pending_ = false;
      take_turn();
    });
  }
  void take_turn() {
    for (std::size_t i = 0; i < batches_a_turn; ++i) {
      auto event = gate_.poll(now_us());
      if (!event)
        break;
      if (const auto* batch = std::get_if<input_batch>(&*event))
        rows_ += batch->rows.size();
    }
    for (const auto& grant : gate_.take_grants())
      link_->add(route_credit{route_, grant.bytes});
    link_->send();
    if (gate_.has_input())
      wake();
    else if (gate_.all_closed() && !std::exchange(ended_, true))
      done_.set_value(rows_);
  }

  exchange_directory& directory_;
  graph::row_type_ptr type_;
  std::promise<void>& found_;
  std::promise<std::size_t>& done_;
  input_gate gate_{{0}, input_gate_limits::for_channels(1)};
  std::shared_ptr<link_writer> link_;
  route_id route_ = 0;
  std::size_t rows_ = 0;
  bool pending_ = false;
  bool ended_ = false;
};

/// What a process has of its own.
struct bench_node {
  explicit bench_node(const actors::tls_files& tls) : under(actors::make_node({})) {
    actors::rpc_settings settings;
    settings.tls = tls;
    auto started = actors::rpc_system::start(*under, settings);
    if (!started)
      fail(to_string(started.error()));
    rpc = std::move(*started);
    network = std::make_unique<rpc_data_network>(*rpc, actors::host_port{"127.0.0.1", rpc->port()});
  }
  ~bench_node() {
    under->shut_down();
    rpc->shut_down(std::chrono::milliseconds(1000));
  }
  void spawn(std::unique_ptr<actors::endpoint> what, const std::string& name,
             actors::placement where) {
    under->spawn(std::move(what), {name, name, where, actors::supervision::notify, true});
  }

  exchange_directory directory;
  std::unique_ptr<actors::node> under;
  std::unique_ptr<actors::rpc_system> rpc;
  std::unique_ptr<rpc_data_network> network;
};

void put(int pipe, const void* what, std::size_t size) {
  if (::write(pipe, what, size) != static_cast<ssize_t>(size))
    std::exit(1);
}
void get(int pipe, void* what, std::size_t size) {
  auto* at = static_cast<char*>(what);
  while (size > 0) {
    const auto got = ::read(pipe, at, size);
    if (got <= 0)
      std::exit(1);
    at += got;
    size -= static_cast<std::size_t>(got);
  }
}

struct greeting {
  node_id node;
  std::uint16_t port = 0;
};

void produce(const workload& work, const actors::tls_files& tls, int to_consumer,
             int from_consumer) {
  bench_node self(tls);
  std::promise<actors::actor_ref> unused;
  std::promise<void> found;
  self.spawn(std::make_unique<bench_producer>(self.directory, work, found), "producer",
             actors::placement::shared);
  found.get_future().wait(); // nobody asks for it before it is there
  self.spawn(std::make_unique<bench_executor>(self.directory, *self.network, unused, node_id{}),
             "executor", actors::placement::control);
  const greeting me{self.under->environment().node, self.rpc->port()};
  put(to_consumer, &me, sizeof(me));
  char bye = 0;
  get(from_consumer, &bye, 1);
}

double consume(const workload& work, const actors::tls_files& tls, int to_producer,
               int from_producer) {
  greeting producer;
  get(from_producer, &producer, sizeof(producer));
  bench_node self(tls);
  std::promise<void> found;
  std::promise<std::size_t> done;
  std::promise<actors::actor_ref> connection;
  self.spawn(std::make_unique<bench_consumer>(self.directory, work.type, found, done), "consumer",
             actors::placement::shared);
  found.get_future().wait(); // a channel of a consumer that is not there is not opened
  self.network->learn(producer.node, {"127.0.0.1", producer.port});
  self.spawn(
      std::make_unique<bench_executor>(self.directory, *self.network, connection, producer.node),
      "executor", actors::placement::control);
  auto ref = connection.get_future().get();
  const auto begin = bench_clock::now();
  ref.send(std::make_unique<connection_order>(
      open_channel{{consumer_attempt,
                    0,
                    {the_result, producer_attempt},
                    0,
                    input_gate_limits::for_channels(1).window_bytes,
                    0}}));
  done.get_future().wait();
  const auto elapsed = seconds(bench_clock::now() - begin).count();
  ref = {};
  put(to_producer, "!", 1);
  return elapsed;
}

double over_exchange(const workload& work, const actors::tls_files& tls) {
  int down[2];
  int up[2];
  if (::pipe(down) != 0 || ::pipe(up) != 0)
    std::exit(1);
  const auto child = ::fork(); // before any thread
  if (child == 0) {
    produce(work, tls, up[1], down[0]);
    std::exit(0);
  }
  const auto elapsed_child = [&] {
    int elapsed_pipe[2];
    if (::pipe(elapsed_pipe) != 0)
      std::exit(1);
    // A process of its own too, so that the next fork finds no thread.
    const auto consumer = ::fork();
    if (consumer == 0) {
      const auto elapsed = consume(work, tls, down[1], up[0]);
      put(elapsed_pipe[1], &elapsed, sizeof(elapsed));
      std::exit(0);
    }
    double elapsed = 0;
    get(elapsed_pipe[0], &elapsed, sizeof(elapsed));
    ::waitpid(consumer, nullptr, 0);
    return elapsed;
  }();
  ::waitpid(child, nullptr, 0);
  return elapsed_child;
}

/// A connected socket that blocks, bare or under TLS.
class socket_stream {
public:
  socket_stream(int fd, SSL_CTX* tls, bool is_dialed) : fd_(fd) {
    if (tls == nullptr)
      return;
    session_.reset(SSL_new(tls));
    SSL_set_fd(session_.get(), fd);
    if ((is_dialed ? SSL_connect(session_.get()) : SSL_accept(session_.get())) != 1)
      fail("no TLS session");
  }
  void write(const char* from, std::size_t size) {
    while (size > 0) {
      std::size_t moved = 0;
      if (session_)
        SSL_write_ex(session_.get(), from, size, &moved);
      else
        moved = static_cast<std::size_t>(std::max<ssize_t>(::write(fd_, from, size), 0));
      if (moved == 0)
        std::exit(1);
      from += moved;
      size -= moved;
    }
  }
  void read(char* to, std::size_t size) {
    while (size > 0) {
      std::size_t moved = 0;
      if (session_)
        SSL_read_ex(session_.get(), to, size, &moved);
      else
        moved = static_cast<std::size_t>(std::max<ssize_t>(::read(fd_, to, size), 0));
      if (moved == 0)
        std::exit(1);
      to += moved;
      size -= moved;
    }
  }

private:
  struct deleter {
    void operator()(SSL* gone) const { SSL_free(gone); }
  };
  int fd_;
  std::unique_ptr<SSL, deleter> session_;
};

SSL_CTX* plain_tls(const actors::tls_files& files) {
  if (files.is_none())
    return nullptr;
  SSL_CTX* out = SSL_CTX_new(TLS_method());
  SSL_CTX_set_min_proto_version(out, TLS1_3_VERSION);
  SSL_CTX_set_num_tickets(out, 0); // nobody would read them
  if (SSL_CTX_use_certificate_chain_file(out, files.certificate.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(out, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    fail("certificate or key cannot be read");
  return out;
}

/// Writes a frame again and again, compressing it each time where the workload says so.
void write_frames(const workload& work, socket_stream& to) {
  const graph::batch_encoding encoding(make_batch(work.type));
  const auto frame = graph::buffer::allocate(encoding.size_bytes());
  encoding.write_to(frame->mutable_data());
  std::vector<char> compressed(ZSTD_compressBound(frame->size_bytes()));
  ZSTD_CCtx* context = ZSTD_createCCtx();
  for (std::size_t i = 0; i < work.batches; ++i) {
    if (!work.compresses) {
      to.write(frame->as<char>(), frame->size_bytes());
      continue;
    }
    const std::uint64_t size = ZSTD_compressCCtx(context, compressed.data(), compressed.size(),
                                                 frame->data(), frame->size_bytes(), 1);
    to.write(reinterpret_cast<const char*>(&size), sizeof(size));
    to.write(compressed.data(), size);
  }
}

/// Reads each frame into a buffer of its own.
void read_frames(const workload& work, socket_stream& from) {
  std::vector<char> compressed(ZSTD_compressBound(work.frame_bytes));
  ZSTD_DCtx* context = ZSTD_createDCtx();
  for (std::size_t i = 0; i < work.batches; ++i) {
    const auto frame = graph::buffer::allocate(work.frame_bytes);
    if (!work.compresses) {
      from.read(reinterpret_cast<char*>(frame->mutable_data()), work.frame_bytes);
      continue;
    }
    std::uint64_t size = 0;
    from.read(reinterpret_cast<char*>(&size), sizeof(size));
    from.read(compressed.data(), size);
    if (ZSTD_decompressDCtx(context, frame->mutable_data(), work.frame_bytes, compressed.data(),
                            size) != work.frame_bytes)
      fail("a frame does not decompress");
  }
}

/// The same frames over a bare TCP connection between two processes of one thread each, without
/// credit, actors or formats.
double over_sockets(const workload& work, const actors::tls_files& tls) {
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(where);
  auto* address = reinterpret_cast<sockaddr*>(&where);
  if (::bind(listening, address, length) != 0 || ::listen(listening, 1) != 0 ||
      ::getsockname(listening, address, &length) != 0)
    std::exit(1);
  const auto child = ::fork();
  const int one = 1;
  if (child == 0) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(fd, address, length) != 0)
      std::exit(1);
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    socket_stream to(fd, plain_tls(tls), true);
    write_frames(work, to);
    std::exit(0);
  }
  const int fd = ::accept(listening, nullptr, nullptr);
  socket_stream from(fd, plain_tls(tls), false);
  const auto begin = bench_clock::now();
  read_frames(work, from);
  const auto elapsed = seconds(bench_clock::now() - begin).count();
  ::close(fd);
  ::close(listening);
  ::waitpid(child, nullptr, 0);
  return elapsed;
}

void measure(const workload& work, const actors::tls_files& tls, int repeats) {
  const auto bytes = static_cast<double>(work.batches * work.frame_bytes) / 1e6;
  std::vector<double> plain;
  std::vector<double> exchanged;
  for (int i = 0; i < repeats; ++i) {
    plain.push_back(bytes / over_sockets(work, tls));
    exchanged.push_back(bytes / over_exchange(work, tls));
  }
  std::sort(plain.begin(), plain.end());
  std::sort(exchanged.begin(), exchanged.end());
  const auto middle = static_cast<std::size_t>(repeats / 2);
  std::printf("{\"bench\":\"remote_exchange\",\"name\":\"%s\",\"tls\":%s,\"zstd\":%s,"
              "\"frame_bytes\":%zu,\"plain_socket_mb_per_s\":%.0f,\"exchange_mb_per_s\":%.0f,"
              "\"ratio\":%.2f}\n",
              work.name, tls.is_none() ? "false" : "true", work.compresses ? "true" : "false",
              work.frame_bytes, plain[middle], exchanged[middle],
              exchanged[middle] / plain[middle]);
  std::fflush(stdout);
}

} // namespace
} // namespace headrace::task

int main(int argc, char** argv) {
  using namespace headrace::task;
  headrace::actors::tls_files tls;
  std::size_t megabytes = 2000;
  int repeats = 5;
  std::string wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--tls") == 0 && i + 3 < argc) {
      tls = {.certificate = argv[i + 1], .key = argv[i + 2], .ca = argv[i + 3]};
      i += 3;
    } else if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) {
      repeats = std::max(std::atoi(argv[++i]), 1);
    } else if (std::strcmp(argv[i], "--workload") == 0 && i + 1 < argc) {
      wanted = argv[++i];
    } else if (megabytes = std::strtoull(argv[i], nullptr, 10); megabytes == 0) {
      std::fprintf(stderr, "usage: remote_exchange_bench [MEGABYTES] [--repeats N] "
                           "[--workload numbers|texts|zstd] [--tls CERTIFICATE KEY CA]\n");
      return 2;
    }
  }
  std::vector<workload> workloads{{"numbers", number_type(), false},
                                  {"texts", text_type(), false},
                                  {"texts", text_type(), true}};
  for (auto& work : workloads) {
    if (!wanted.empty() && wanted != (work.compresses ? "zstd" : work.name))
      continue;
    work.frame_bytes = headrace::graph::batch_encoding(make_batch(work.type)).size_bytes();
    work.batches = megabytes * 1'000'000 / work.frame_bytes;
    measure(work, {}, repeats);
    if (!tls.is_none())
      measure(work, tls, repeats);
  }
  return 0;
}
