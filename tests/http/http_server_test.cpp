#include "http/http_server.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace bmad_mem::test::http_server_test {
namespace {

using namespace bmad_mem::cli;  // NOLINT(google-build-using-namespace): a test speaks its language.
using std::chrono::milliseconds;

/// Answers as the path says.
class Answers : public HttpHandler {
 public:
  [[nodiscard]] HttpAdmission admit(const HttpRequest& head) const override {
    HttpAdmission admission{.is_known = head.header_count("x-token") == 1, .body_size_max = 1000};
    if (head.path == "/refused") {
      admission.refusal = error_response(401, "unauthorized", "no");
    }
    return admission;
  }

  HttpResponse handle(const HttpRequest& request) override {
    HttpResponse response;
    response.content_type = "text/plain";
    if (request.path == "/whole" || request.path == "/broken") {
      response.write_body = [is_whole = request.path == "/whole"](HttpBodyWriter& body) {
        return body.write("one ") && body.write("two") && is_whole;
      };
    } else if (request.path == "/endless") {
      response.write_body = [this](HttpBodyWriter& body) {
        const std::string piece(100'000, 'x');
        while (body.write(piece)) {
        }
        ++ended;
        return false;
      };
    } else if (request.path == "/slow") {
      std::this_thread::sleep_for(milliseconds(300));
      response.body = "slow";
    } else if (request.path == "/events") {
      response.open_events = [this](std::shared_ptr<HttpEventSink> sink) {
        const std::scoped_lock lock(mutex);
        sinks.push_back(std::move(sink));
        // Gone when the stream is.
        return std::shared_ptr<void>(new int(0), [this](int* number) {
          delete number;
          ++ended;
        });
      };
    } else {
      response.body = request.body + "!";
    }
    return response;
  }

  /// The sink of the stream that was opened last.
  std::shared_ptr<HttpEventSink> sink() {
    while (true) {
      {
        const std::scoped_lock lock(mutex);
        if (!sinks.empty()) {
          return sinks.back();
        }
      }
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  std::atomic<int> ended = 0;
  std::mutex mutex;  // Guards sinks.
  std::vector<std::shared_ptr<HttpEventSink>> sinks;
};

/// A server with limits that a test can wait for.
class Served {
 public:
  Served() : server_(HttpServer::open(answers, options()).value()) {
    runs_ = std::thread([this] { has_ended = server_->run(); });
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() { stop(); }

  void stop() {
    if (runs_.joinable()) {
      server_->stop();
      runs_.join();
    }
  }
  [[nodiscard]] std::uint16_t port() const { return server_->port; }

  Answers answers;
  bool has_ended = false;

 private:
  static HttpServerOptions options() {
    return {.head_time = milliseconds(200),
            .body_time = milliseconds(200),
            .idle_time = milliseconds(400),
            .stuck_time = milliseconds(300),
            .heartbeat = milliseconds(150),
            .connections_max = 4,
            .strangers_max = 2,
            .streams_max = 2,
            .stream_size_max = 100'000,
            .bodies_size_max = 1500,
            .workers = 2,
            .writers = 1};
  }

  std::unique_ptr<HttpServer> server_;
  std::thread runs_;
};

class Client {
 public:
  explicit Client(const Served& served, int receive_size = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_size != 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_size, sizeof receive_size);
    }
    const timeval patience{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const sockaddr_in address{.sin_family = AF_INET,
                              .sin_port = htons(served.port()),
                              .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
                              .sin_zero = {}};
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as POSIX has it.
    const auto* const place = reinterpret_cast<const sockaddr*>(&address);
    REQUIRE(::connect(socket_, place, sizeof address) == 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(); }

  void close() {
    if (socket_ >= 0) {
      ::close(std::exchange(socket_, -1));
    }
  }
  void send(std::string_view text) const {
    REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }
  void get(std::string_view path, std::string_view more = {}) const {
    send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(more) + "\r\n");
  }
  /// Reads on until `text` was seen, or the server has closed: then what came is all there was.
  std::string until(std::string_view text) {
    std::array<char, 4096> buffer{};
    while (seen_.find(text) == std::string::npos) {
      const ssize_t size = ::recv(socket_, buffer.data(), buffer.size(), 0);
      is_closed = size == 0;
      is_broken = size < 0;
      if (size <= 0) {
        break;
      }
      seen_.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return seen_;
  }
  std::string all() { return until("\xFF"); }

  bool is_closed = false;
  bool is_broken = false;

 private:
  int socket_;
  std::string seen_;
};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether it comes true within some seconds.
bool becomes(const std::function<bool()>& what) {
  for (int i = 0; i < 500 && !what(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  return what();
}

}  // namespace

TEST_CASE("who begins a request and does not go on is told that it took too long") {
  const Served served;
  Client head(served);
  head.send("GET / HT");
  CHECK(has(head.all(), "HTTP/1.1 408 "));
  Client body(served);
  body.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe");
  CHECK(has(body.all(), "HTTP/1.1 408 "));
}

TEST_CASE("a connection without a request is closed without a word") {
  const Served served;
  Client fresh(served);
  CHECK(fresh.all().empty());
  CHECK(fresh.is_closed);
  Client kept(served);
  kept.get("/");
  CHECK(has(kept.until("!"), "HTTP/1.1 200 "));
  kept.all();
  CHECK(kept.is_closed);
}

TEST_CASE("a body in pieces ends with its last chunk, or not at all") {
  const Served served;
  Client whole(served);
  whole.get("/whole", "Connection: close\r\n");
  CHECK(has(whole.all(), "\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n"));
  Client broken(served);
  broken.get("/broken");
  CHECK_FALSE(has(broken.all(), "0\r\n\r\n"));
  Client old(served);
  old.send("GET /whole HTTP/1.0\r\nHost: x\r\n\r\n");
  CHECK(old.all().ends_with("\r\n\r\none two"));
  Client head(served);
  head.send("HEAD /whole HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(head.all().ends_with("\r\n\r\n"));
}

TEST_CASE("who does not read a body in pieces is closed, and its maker ends") {
  Served served;
  Client stuck(served, 4096);
  stuck.get("/endless");
  CHECK(becomes([&] { return served.answers.ended == 1; }));
  SUBCASE("and so when the client goes") {
    Client gone(served);
    gone.get("/endless");
    gone.until("xxx");
    gone.close();
    CHECK(becomes([&] { return served.answers.ended == 2; }));
  }
}

TEST_CASE("one body in pieces too many is put off") {
  Served served;
  Client first(served, 4096);
  first.get("/endless");
  first.until("xxx");
  Client second(served);
  second.get("/endless");
  CHECK(has(second.until("}}"), "HTTP/1.1 503 "));
  // The connection goes on.
  second.get("/");
  CHECK(has(second.until("!"), "HTTP/1.1 200 "));
}

TEST_CASE("what is slow delays nobody else") {
  const Served served;
  Client slow(served);
  slow.get("/slow");
  const auto begin = std::chrono::steady_clock::now();
  Client quick(served);
  quick.get("/");
  CHECK(has(quick.until("!"), "HTTP/1.1 200 "));
  CHECK(std::chrono::steady_clock::now() - begin < milliseconds(250));
  CHECK(has(slow.until("slow"), "HTTP/1.1 200 "));
}

TEST_CASE("a stream gets what is sent to it, and a heartbeat when nothing is") {
  Served served;
  Client client(served);
  client.get("/events");
  served.answers.sink()->send(std::make_shared<const std::string>("data: 1\n\n"));
  CHECK(has(client.until("data: 1"), "data: 1\n\n"));
  CHECK(has(client.until(": ka"), ": ka\n\n"));
  served.answers.sink()->send(std::make_shared<const std::string>("data: 2\n\n"));
  served.answers.sink()->close();
  CHECK(client.all().ends_with("data: 2\n\n"));
  CHECK(becomes([&] { return served.answers.ended == 1; }));
}

TEST_CASE("a client that goes is noticed at once") {
  Served served;
  Client client(served);
  client.get("/events");
  served.answers.sink();
  client.close();
  CHECK(becomes([&] { return served.answers.ended == 1; }));
  // Whoever still holds its sink may go on sending.
  served.answers.sink()->send(std::make_shared<const std::string>("data: 1\n\n"));
}

TEST_CASE("a stream that is not read is closed when too much waits for it") {
  Served served;
  Client client(served, 4096);
  client.get("/events");
  const auto text = std::make_shared<const std::string>(std::string(50'000, 'x'));
  const auto sink = served.answers.sink();
  CHECK(becomes([&] {
    sink->send(text);
    return served.answers.ended == 1;
  }));
}

TEST_CASE("streams count apart from other connections") {
  Served served;
  Client first(served);
  Client second(served);
  Client third(served);
  first.get("/events");
  second.get("/events");
  first.until("\r\n\r\n");
  second.until("\r\n\r\n");
  third.get("/events");
  CHECK(has(third.until("}}"), "HTTP/1.1 503 "));
  std::vector<std::unique_ptr<Client>> plain;
  for (int i = 0; i < 4; ++i) {
    plain.push_back(std::make_unique<Client>(served));
    plain.back()->get("/");
    plain.back()->until("!");
  }
}

TEST_CASE("the oldest client without a token makes room, and none with one does") {
  const Served served;
  std::vector<std::unique_ptr<Client>> known;
  for (int i = 0; i < 3; ++i) {
    known.push_back(std::make_unique<Client>(served));
    known.back()->get("/", "X-Token: 1\r\n");
    CHECK(has(known.back()->until("!"), "HTTP/1.1 200 "));
  }
  Client oldest(served);
  Client owner(served);
  owner.get("/", "X-Token: 1\r\n");
  CHECK(has(owner.until("!"), "HTTP/1.1 200 "));
  oldest.all();
  CHECK((oldest.is_closed || oldest.is_broken));
  Client one_too_many(served);
  CHECK(has(one_too_many.until("}}"), "HTTP/1.1 503 "));
}

TEST_CASE("the bodies of all requests together have a bound") {
  const Served served;
  const std::string head =
      "POST / HTTP/1.1\r\nHost: x\r\nX-Token: 1\r\nContent-Length: 1000\r\n\r\n";
  Client first(served);
  first.send(head + std::string(900, 'x'));
  Client second(served);
  second.send(head + std::string(900, 'x'));
  CHECK(has(second.until("}}"), "too_many_bodies"));
  first.send(std::string(100, 'x'));
  CHECK(has(first.until("!"), "HTTP/1.1 200 "));
  Client third(served);
  third.send(head + std::string(1000, 'x'));
  CHECK(has(third.until("!"), "HTTP/1.1 200 "));
}

TEST_CASE("a refused request ends its connection, though its body still comes") {
  const Served served;
  Client client(served);
  client.send("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  client.send(std::string(100'000, 'x'));
  CHECK(has(client.until("}}"), "HTTP/1.1 401 "));
  CHECK(has(client.until("}}"), "connection: close"));
}

TEST_CASE("at the end what is worked on is still answered") {
  Served served;
  Client stream(served);
  stream.get("/events");
  served.answers.sink();
  Client slow(served);
  slow.get("/slow");
  std::this_thread::sleep_for(milliseconds(50));
  served.stop();
  CHECK(served.has_ended);
  CHECK(has(slow.all(), "slow"));
  stream.all();
  CHECK(stream.is_closed);
}

}  // namespace bmad_mem::test::http_server_test
