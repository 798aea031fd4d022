#pragma once

#include "host/disk/file_descriptor.h"
#include "host/memory/page_table.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge::sandbox {

/// Where a PageView gets what its store does not have.
class Elsewhere {
public:
  virtual ~Elsewhere() = default;
  /// All of `into`, or false: some byte of it cannot be read. May fill the store meanwhile.
  virtual bool fetch(std::uint64_t address, std::span<std::byte> into) = 0;
};

/// The target's memory as a confined process sees it: what the parent's PageStore has is copied
/// from there without a system call.
class PageView {
public:
  /// Without attach() everything is elsewhere (--cache none). `elsewhere`: null: there is nothing.
  /// `touched`: where to leave word of the pages looked at; null: nowhere.
  explicit PageView(Elsewhere* elsewhere = nullptr, page_table::TouchRecord* touched = nullptr)
      : elsewhere_(elsewhere), touched_(touched) {}

  /// The parent's store, if there is one. A store that cannot be mapped is done without. Not behind
  /// a filter, which lets nothing shared be mapped.
  void attach(FileDescriptor store);
  /// Everything is elsewhere again, and nothing of the store is kept.
  void detach();

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
  void forget_seen() { seen_.fill({}); }

  Elsewhere* elsewhere_;
  page_table::TouchRecord* touched_;
  const page_table::Header* store_ = nullptr; ///< null: there is none
  std::size_t store_bytes_ = 0;
  std::uint64_t epoch_ = 0;
  /// Those looked at last, by page number. An operation of Open MPI takes 14 fetches from some 5
  /// pages: nearly all of them find theirs here.
  std::array<Seen, 64> seen_ = {};
};

} // namespace mqbridge::sandbox
