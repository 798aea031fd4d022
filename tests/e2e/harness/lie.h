#pragma once

#include "tests/support/scripted_stub.h"
#include "tests/support/temp_directory.h"

#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace mqbridge::e2e {

/// A stub that fronts a live process as gdbserver would, before it learns to lie.
struct Liar {
  test::ScriptedStub& stub;
  pid_t process;                        ///< whose memory and files it gives
  pid_t shown;                          ///< the number that it says the process has
  const test::TempDirectory& directory; ///< for files that a lie names
};

/// What comes of a lie: an error, or nothing that the queues need; or it depends on where things
/// happen to stand in memory, and all is well that ends in time.
enum class Then { fails, is_complete, varies };

/// One lie, and what must come of it.
struct Lie {
  std::string name;
  std::function<void(const Liar&)> tell;
  std::vector<std::string> codes = {}; ///< of the error, where it fails
  std::string text = {};               ///< in that error's message
  Then then = Then::fails;
  std::string target_suffix = {}; ///< "@PID" where the lie is told to one who attaches
};

/// The lie of one packet: it is always answered so.
inline auto answers(std::string packet, std::string payload) {
  return [packet = std::move(packet), payload = std::move(payload)](const Liar& liar) {
    liar.stub.on(packet, test::Answer::packet(payload));
  };
}

// The tables, one for each thing that can be lied about.
std::vector<Lie> lies_about_itself(); ///< features, stop replies, threads, detaching
std::vector<Lie> lies_in_objects();   ///< auxv, exec-file, target.xml, libraries-svr4
std::vector<Lie> lies_in_link_map();  ///< walked in memory
std::vector<Lie> lies_in_memory();    ///< replies to reads, and what stands there
std::vector<Lie> lies_in_files();     ///< vFile

/// An object of qXfer that nobody has to keep: `piece` makes what stands at an offset. It never
/// ends if `piece` never gives less than the length asked for.
void serve_made_up(test::ScriptedStub& stub, const std::string& object,
                   std::function<std::string(std::size_t offset, std::size_t length)> piece);
/// `head`, and then `filler` for ever.
void serve_endless(test::ScriptedStub& stub, const std::string& object, std::string head,
                   std::string filler);
/// `text` as the whole object, kept once however often it is asked for.
void serve_text(test::ScriptedStub& stub, const std::string& object, std::string text);

/// `text`, `count` times.
std::string times(std::size_t count, std::string_view text);

} // namespace mqbridge::e2e
