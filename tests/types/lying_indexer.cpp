// Stands in for mqbridge-indexer: answers as its name says. Started as that is.

#include "host/confined/confine.h"
#include "host/types/indexer_wire.h"

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
using wire::IndexerKind;

void send(const Encoder& message) {
  if (!wire::send_message(sandbox::child_socket, message.message(), true))
    std::_Exit(0);
}

IndexerKind receive() {
  static std::array<std::byte, wire::max_message> buffer;
  const auto received = wire::receive_message(sandbox::child_socket, buffer, true);
  if (received.outcome != wire::Received::Outcome::message)
    std::_Exit(0);
  return wire::Decoder(received.message).get<IndexerKind>();
}

void await(IndexerKind kind) {
  while (receive() != kind) {
  }
}

Encoder message(IndexerKind kind) {
  Encoder encoder;
  encoder.put(kind);
  return encoder;
}

void be_ready() {
  await(IndexerKind::no_file);
  send(message(IndexerKind::ready));
  await(IndexerKind::read_names);
}

/// There is a struct X.
void be_ready_for_layouts() {
  be_ready();
  send(message(IndexerKind::names).put(NamedPlace{name_hash(NameKind::structure, "X"), {}}));
  send(message(IndexerKind::names_end).put(0U).put(0U).text("").text("").put(0U));
  await(IndexerKind::read_layout);
}

using Lie = void (*)();
const std::map<std::string, Lie> lies = {
    {"crashes",
     [] {
       std::signal(SIGSEGV, SIG_DFL); // sanitized, it would report first
       std::raise(SIGSEGV);
     }},
    {"prints",
     [] {
       std::fputs("heap is \x1b[31mbroken\n", stderr);
       std::abort();
     }},
    {"ends", [] { std::_Exit(3); }},
    {"silent", [] { ::pause(); }},
    {"unknown_kind", [] { send(message(static_cast<IndexerKind>(200))); }},
    {"another_answer", [] { send(message(IndexerKind::layout).put(true).put(std::uint64_t{8})); }},
    {"more_than_said", [] { send(message(IndexerKind::ready).put(std::uint64_t{8})); }},
    {"too_long",
     [] {
       send(message(IndexerKind::ready).bytes(std::vector<std::byte>(2 * wire::max_message)));
     }},
    {"cannot_confine_itself",
     [] { send(message(IndexerKind::no_sandbox).text("no seccomp\x1b[2J")); }},
    {"unsorted_names",
     [] {
       be_ready();
       send(message(IndexerKind::names).put(NamedPlace{2, {}}).put(NamedPlace{1, {}}));
       send(message(IndexerKind::names_end).put(0U).put(0U).text("").text("").put(0U));
     }},
    {"half_a_name",
     [] {
       be_ready();
       send(message(IndexerKind::names).put(std::uint64_t{1}));
     }},
    {"names_that_end_early",
     [] {
       be_ready();
       send(message(IndexerKind::names_end).put(7U).put(9U).text("").text("").put(2U).text("a"));
     }},
    {"fault_of_an_unknown_file",
     [] {
       be_ready();
       send(message(IndexerKind::fault).put(77U).text("no such file"));
     }},
    {"names_of_nothing_for_ever",
     [] {
       be_ready();
       for (;;)
         send(message(IndexerKind::names));
     }},
    {"asks_for_ever",
     [] {
       be_ready();
       for (;;) {
         send(message(IndexerKind::want_split).put(0U).text("/nowhere").text("x.dwo"));
         await(IndexerKind::no_file);
       }
     }},
    {"asks_and_never_listens",
     [] {
       be_ready();
       for (;;)
         send(message(IndexerKind::want_split).put(0U).text("/nowhere").text("x.dwo"));
     }},
    {"asks_for_what_is_no_elf",
     [] {
       be_ready();
       send(message(IndexerKind::want_split).put(0U).text("/etc").text("passwd"));
       if (receive() == IndexerKind::no_file)
         std::_Exit(7); // as it should be
       send(message(static_cast<IndexerKind>(200)));
     }},
    {"asks_for_candidates_too_early",
     [] {
       be_ready();
       send(message(IndexerKind::want_candidates).put(NameKind::structure).text("X"));
     }},
    {"fields_for_ever",
     [] {
       be_ready_for_layouts();
       for (;;) {
         auto fields = message(IndexerKind::fields);
         while (fields.message().size() < wire::max_fields_chunk)
           fields.text("field").put(std::uint64_t{0}).put(std::uint64_t{8});
         send(fields);
       }
     }},
    {"a_field_of_gigabytes",
     [] {
       be_ready_for_layouts();
       send(message(IndexerKind::fields).put(0x7fffffffU));
     }},
    {"half_a_layout",
     [] {
       be_ready_for_layouts();
       send(message(IndexerKind::layout).put(true));
     }},
};

} // namespace

int main(int, char** arguments) {
  const std::string path = arguments[0];
  lies.at(path.substr(path.rfind('/') + 1))();
  ::pause();
}
