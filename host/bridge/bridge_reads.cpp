// What the debugger reads: of what is kept, or from the stub.

#include "host/bridge/bridge.h"
#include "host/bridge/guesses.h"
#include "host/bridge/requests.h"
#include "host/process/auxv.h"
#include "host/process/platform_probe.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <elf.h>
#include <utility>

namespace mqbridge {

Result<std::string> Bridge::read_memory(const std::string& packet) {
  if (symbols_.waits() || asks_for_files_) // the stub itself waits
    return stub_.request(packet);
  memory_.set_root(files_.root());
  const bool knew = !memory_.mappings().empty();
  auto reply = memory_.answer(packet);
  if (!knew)
    know_mappings();
  return reply;
}

/// gdb reads them, too, a piece at a time.
void Bridge::know_mappings() {
  if (!memory_.mappings().empty())
    for (const std::string& path : memory_.mappings_paths())
      files_.know(path, memory_.mappings());
}

Result<std::string> Bridge::read_file(const std::string& packet) {
  if (memory_.mappings().empty() && !symbols_.waits())
    for (const std::string& path : memory_.mappings_paths())
      if (packet.starts_with(std::string(open_name) + rsp::encode_hex(path) + ",")) {
        memory_.set_root(files_.root());
        if (auto known = memory_.know_mappings(); !known)
          return forward(std::move(known));
        know_mappings();
      }
  return files_.answer(packet);
}

/// What gdb 13 asks, one thing after the other, from its first object on until it reads the
/// program's file. In its order: before gdb has selected a thread, this object ends a gdbserver 13.
Result<void> Bridge::foresee() {
  if (!std::exchange(foresees_, false) || !stub_.no_ack() ||
      stub_.link_estimate().round_trip < KeptMemory::least_delay)
    return {};
  const auto replies =
      foreseen_.ask({objects_.first_packet("qXfer:features:read:target.xml:"), "qTStatus", "qTfV",
                     "qTsV", "?", objects_.first_packet("qXfer:threads:read::")});
  if (!replies)
    return Failure(replies.error());
  threads_.forget_selection(); // `?` selects
  const auto threads =
      replies->back().starts_with('l') ? threads_in(replies->back()) : std::vector<std::string>();
  const std::string process(threads.empty() ? std::string_view() : process_in(threads.front()));
  const bool is_only = std::ranges::all_of(
      threads, [&](const std::string& thread) { return process_in(thread) == process; });
  if (process.empty() || !is_only)
    return {};
  const std::string number = process.substr(1);
  const auto asked = foreseen_.ask({"qAttached:" + number,
                                    objects_.first_packet("qXfer:exec-file:read:" + number + ":"),
                                    "qOffsets", objects_.first_packet("qXfer:auxv:read::"),
                                    objects_.first_packet("qXfer:libraries-svr4:read::")});
  return asked ? Result<void>() : Failure(asked.error());
}

Result<std::string> Bridge::read_object(const std::string& packet) {
  if (packet.starts_with("qXfer:features:read:target.xml:0,"))
    if (auto asked = foresee(); !asked)
      return forward(std::move(asked));
  const bool knew = !objects_.libraries().empty();
  auto reply = objects_.answer(packet);
  if (reply && !knew && !objects_.libraries().empty())
    files_.expect(libraries_in(objects_.libraries()));
  return reply;
}

Result<std::string> Bridge::look(const std::string& packet) {
  constexpr std::string_view signals = "QProgramSignals:";
  if (packet.starts_with(signals))
    calls_.set_signals(packet.substr(signals.size()));
  constexpr std::string_view thread_local_address = "qGetTLSAddr:";
  if (packet.starts_with(thread_local_address))
    if (auto told = symbols_.tell(process_in("Hg" + packet.substr(thread_local_address.size())));
        !told)
      return forward(std::move(told));
  if (ThreadAnswers::is_question(packet))
    return ask_threads(packet);
  if (packet.starts_with('T')) // whether it lives: while the process stands still, no thread ends
    if (const auto all = threads_in(objects_.threads());
        std::ranges::find(all, "Hg" + packet.substr(1)) != all.end())
      return "OK";
  auto reply = foreseen_.answer(packet);
  is_extended_ = is_extended_ || (packet == "!" && reply && *reply == "OK");
  foresees_ = foresees_ && packet != "?";
  if (reply && packet == "?") {
    learn_process(*reply);
    threads_.forget_selection();
  }
  return reply;
}

Result<std::string> Bridge::select(const std::string& packet) {
  const bool is_general = packet.starts_with("Hg");
  auto process = selected_process(packet);
  const bool is_other = !process.empty() && process != selected_;
  if (is_general && !is_other && !process.empty()) { // a thread of the same process
    threads_.select(packet);
    for_guests_.selection = packet;
    return "OK";
  }
  if (is_other) {
    if (auto settled = breakpoints_.settle(); !settled)
      return forward(std::move(settled));
    if (!selected_.empty())
      process_ran(); // what is kept is that of the other one
    take_process(std::move(process));
  }
  auto reply = stub_.request(packet);
  if (reply && *reply == "OK" && is_general) {
    threads_.selected(packet);
    for_guests_.selection = packet;
  }
  return reply;
}

/// Of a thread, which the debugger asks for each.
Result<std::string> Bridge::ask_threads(const std::string& question) {
  auto all = threads_in(objects_.threads());
  std::erase_if(all, [&](const std::string& thread) {
    return process_in(thread) != process_in(for_guests_.selection);
  });
  return threads_.answer(question, all);
}

Result<void> Bridge::know_platform() {
  if (platform_)
    return {};
  const auto object = objects_.answer("qXfer:auxv:read::0,1000");
  if (!object)
    return Failure(object.error());
  const auto auxv = AuxiliaryVector::parse(std::string_view(*object).substr(!object->empty()));
  const auto platform =
      auxv ? probe_platform(memory_.of_stub(), *auxv) : Result<Platform>(Failure(auxv.error()));
  if (!platform && stub_.closed())
    return Failure(platform.error());
  entry_ = auxv ? auxv->find(AT_ENTRY) : std::nullopt;
  platform_ = platform ? std::optional(*platform) : std::nullopt;
  return {};
}

} // namespace mqbridge
