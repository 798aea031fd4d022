// Stands in for mqbridge-unwinder: answers as its name says. Started as that is.

#include "host/confined/confine.h"
#include "host/stacks/unwinder_wire.h"

#include <algorithm>
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

/// 0x401000 is in the module, 7 in none.
wire::PlainFrame frame(std::uint64_t address = 0x401000) {
  wire::PlainFrame plain;
  plain.address = address;
  return plain;
}

void be_ready() {
  await(UnwinderKind::modules);
  send(message(UnwinderKind::ready));
  await(UnwinderKind::thread);
}

/// That many frames in the module, each `step` bytes behind the one before.
void unwind(std::uint64_t frames = 1, std::uint64_t step = 0) {
  be_ready();
  for (std::uint64_t i = 0; i < frames;) {
    auto some = message(UnwinderKind::frames);
    for (const auto end = std::min(i + wire::max_frames_chunk, frames); i < end; ++i)
      some.put(frame(0x401000 + i * step));
    send(some);
  }
  send(message(UnwinderKind::thread_end).put(std::uint8_t{0}).put(std::uint8_t{0}));
  await(UnwinderKind::names);
}

Encoder call(std::uint32_t index, std::int64_t line, const std::string& function = "f") {
  auto calls = message(UnwinderKind::calls);
  calls.put(index).put(false).put(true).text(function);
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
    {"kept_by_no_frame",
     [] {
       be_ready();
       send(message(UnwinderKind::kept).put(wire::KeptRegister{}));
     }},
    {"kept_for_ever",
     [] {
       be_ready();
       send(message(UnwinderKind::frames).put(frame(7)));
       for (;;)
         send(message(UnwinderKind::kept).put(wire::KeptRegister{}));
     }},
    {"frames_for_ever",
     [] {
       be_ready();
       for (;;)
         send(message(UnwinderKind::frames).put(frame(7)));
     }},
    {"talks_before_it_is_asked",
     [] {
       for (;;)
         send(message(UnwinderKind::frames));
     }},
    {"nothing_for_ever",
     [] {
       be_ready();
       for (;;)
         send(message(UnwinderKind::frames));
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
    {"calls_without_names",
     [] {
       constexpr std::uint32_t addresses = 3000;
       constexpr int most_calls = 256;
       unwind(addresses, 1);
       for (std::uint32_t index = 0; index < addresses; ++index) {
         auto calls = message(UnwinderKind::calls);
         for (int i = 0; i < most_calls; ++i) {
           calls.put(index).put(false).put(false).put(false).put(std::uint64_t{0});
           calls.put(false).put(false).put(std::int64_t{0});
         }
         send(calls);
       }
       send(message(UnwinderKind::calls_end));
     }},
    {"deep_with_a_long_name",
     [] {
       unwind(30'000);
       send(call(0, 7, std::string(wire::max_text, 'f')));
       send(message(UnwinderKind::calls_end));
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
