#pragma once

#include "host/memory/page_table.h"
#include "host/mqs/worker/channel.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge::worker {

/// The target's memory as the debug DLL sees it: what the parent's PageStore has is copied from
/// there without a system call; for anything else the parent is asked, which mostly puts it, and
/// what is near, into the store before it answers.
class PageView {
public:
  /// `touched`: where to leave word of the pages looked at. Without attach() the parent is asked
  /// for every fetch, exactly as it was made (--cache none).
  PageView(Channel& channel, page_table::TouchRecord& touched)
      : channel_(channel), touched_(touched) {}

  /// The parent's store; the descriptor is closed. A store that cannot be mapped is done without.
  void attach(int descriptor);

  /// All of `into`, or false: some byte of it cannot be read. Then `into` may have been written to.
  bool fetch(std::uint64_t address, std::span<std::byte> into);

private:
  /// A page of the store, and which of its lines are there.
  struct Seen {
    std::uint64_t key = 0; ///< page number + 1; 0: none
    std::uint64_t readable = 0;
    const std::byte* bytes = nullptr;
  };

  bool from_store(std::uint64_t address, std::span<std::byte> into);
  void look_up(Seen& seen, std::uint64_t number);
  bool ask(std::uint64_t address, std::span<std::byte> into);
  void forget_seen() { seen_.fill({}); }

  Channel& channel_;
  page_table::TouchRecord& touched_;
  const page_table::Header* store_ = nullptr; ///< null: there is none
  std::uint64_t epoch_ = 0;
  /// Those looked at last, by page number. An operation of Open MPI takes 14 fetches from some 5
  /// pages: nearly all of them find theirs here.
  std::array<Seen, 64> seen_ = {};
};

} // namespace mqbridge::worker
