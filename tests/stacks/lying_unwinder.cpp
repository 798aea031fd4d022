// Stands in for mqbridge-unwinder: answers as its name says. Started as that is.

#include "host/confined/descriptors.h"
#include "host/stacks/unwinder_wire.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace mqbridge;
using wire::Encoder;
using wire::UnwinderKind;

void send(const Encoder& message) {
  if (!wire::send_message(sandbox::child_socket, message.message(), true))
    std::_Exit(0);
}

void await(UnwinderKind kind) {
  static std::array<std::byte, wire::max_message> buffer;
  for (;;) {
    const auto received = wire::receive_message(sandbox::child_socket, buffer, true);
    if (received.outcome != wire::Received::Outcome::message)
      std::_Exit(0);
    if (wire::Decoder(received.message).get<UnwinderKind>() == kind)
      return;
  }
}

Encoder message(UnwinderKind kind) {
  Encoder encoder;
  encoder.put(kind);
  return encoder;
}

wire::PlainFrame frame(std::uint32_t module) {
  wire::PlainFrame plain;
  plain.address = 0x401000;
  plain.module = module;
  return plain;
}

void be_ready() {
  await(UnwinderKind::modules);
  send(message(UnwinderKind::ready));
  await(UnwinderKind::thread);
}

/// One frame in the first module.
void unwind() {
  be_ready();
  send(message(UnwinderKind::frames).put(frame(0)));
  send(message(UnwinderKind::thread_end).put(std::uint8_t{0}).put(std::uint8_t{0}));
  await(UnwinderKind::names);
}

Encoder call(std::uint32_t index, std::int64_t line) {
  auto calls = message(UnwinderKind::calls);
  calls.put(index).put(false).put(true).text("f");
  calls.put(false).put(std::uint64_t{0}).put(true).text("f.c").put(true).put(line);
  return calls;
}

using Lie = void (*)();
const std::map<std::string, Lie> lies = {
    {"crashes",
     [] {
       std::signal(SIGSEGV, SIG_DFL); // sanitized, it would report first
       be_ready();
       std::raise(SIGSEGV);
     }},
    {"prints",
     [] {
       be_ready();
       std::fputs("heap is \x1b[31mbroken\n", stderr);
       std::abort();
     }},
    {"silent",
     [] {
       be_ready();
       ::pause();
     }},
    {"unknown_kind",
     [] {
       be_ready();
       send(message(static_cast<UnwinderKind>(200)));
     }},
    {"half_a_frame",
     [] {
       be_ready();
       send(message(UnwinderKind::frames).put(7));
     }},
    {"frames_for_ever",
     [] {
       be_ready();
       for (;;)
         send(message(UnwinderKind::frames).put(frame(wire::no_module)));
     }},
    {"nothing_for_ever",
     [] {
       be_ready();
       for (;;)
         send(message(UnwinderKind::frames));
     }},
    {"frame_of_an_unknown_module",
     [] {
       be_ready();
       send(message(UnwinderKind::frames).put(frame(7)));
     }},
    {"end_of_an_unknown_kind",
     [] {
       be_ready();
       send(message(UnwinderKind::thread_end).put(std::uint8_t{77}).put(std::uint8_t{0}));
     }},
    {"asks_for_an_unknown_module",
     [] {
       be_ready();
       send(message(UnwinderKind::want_file).put(7U));
     }},
    {"asks_for_ever",
     [] {
       be_ready();
       for (;;) {
         send(message(UnwinderKind::want_debug).put(0U));
         await(UnwinderKind::no_file);
       }
     }},
    {"asks_and_never_listens",
     [] {
       be_ready();
       for (;;)
         send(message(UnwinderKind::want_debug).put(0U));
     }},
    {"crashes_over_names",
     [] {
       unwind();
       std::_Exit(3);
     }},
    {"names_of_what_was_not_asked",
     [] {
       unwind();
       send(call(1, 7));
     }},
    {"no_names",
     [] {
       unwind();
       send(message(UnwinderKind::calls_end));
     }},
    {"line_before_the_first",
     [] {
       unwind();
       send(call(0, -3));
     }},
    {"calls_for_ever",
     [] {
       unwind();
       for (;;)
         send(call(0, 7));
     }},
    {"a_name_of_gigabytes",
     [] {
       unwind();
       auto calls = message(UnwinderKind::calls);
       send(calls.put(0U).put(false).put(true).put(0x7fffffffU));
     }},
};

} // namespace

int main(int, char** arguments) {
  const std::string path = arguments[0];
  lies.at(path.substr(path.rfind('/') + 1))();
  ::pause();
}
