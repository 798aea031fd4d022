// delaying-link [--round-trip MS] [--baud N | --bits N] [--listen PORT] SERVER
//
// A link of that length and width to SERVER (HOST:PORT or unix:PATH), until it is interrupted.

#include "bench/delaying_link/delaying_link.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>

namespace {

using namespace mqbridge;

int run(const std::string& server, const bench::LinkSpec& spec, std::uint16_t port) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const auto link = bench::DelayingLink::open(server, spec, port);
  if (!link) {
    fmt::print(stderr, "delaying-link: {}\n  {}\n", link.error().message, link.error().hint);
    return 1;
  }
  fmt::print("listening on {}\n", (*link)->endpoint());
  std::fflush(stdout);
  int which = 0;
  sigwait(&ends, &which);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"A TCP relay that delays like a link of a given length and width"};
  std::string server;
  double round_trip_ms = 0;
  double baud = 0;
  double bits = 0;
  std::uint16_t port = 0;
  app.add_option("--round-trip", round_trip_ms, "milliseconds, half of them each way")
      ->check(CLI::Range(0.0, 1e6));
  auto* const serial = app.add_option("--baud", baud, "as a serial line: 10 bits a byte")
                           ->check(CLI::Range(1.0, 1e9));
  app.add_option("--bits", bits, "bits a second each way")
      ->check(CLI::Range(1.0, 1e12))
      ->excludes(serial);
  app.add_option("--listen", port, "on 127.0.0.1; one that is free unless given");
  app.add_option("SERVER", server, "HOST:PORT or unix:PATH")->required();
  CLI11_PARSE(app, argc, argv);
  const std::chrono::duration<double, std::milli> round_trip(round_trip_ms);
  const bench::LinkSpec spec{std::chrono::duration_cast<std::chrono::nanoseconds>(round_trip),
                             baud > 0 ? bench::LinkSpec::of_baud(baud)
                                      : bench::LinkSpec::of_bits(bits)};
  return run(server, spec, port);
}
