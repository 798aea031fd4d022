#pragma once

#include "host/disk/file_descriptor.h"
#include "host/memory/page_table.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mqbridge::sandbox {

/// The source of bytes that a PageView's store does not have.
class Elsewhere {
public:
  virtual ~Elsewhere() = default;
  /// Fills all of `into`, or returns false: some byte of it cannot be read. May fill the store
  /// meanwhile.
  virtual bool fetch(std::uint64_t address, std::span<std::byte> into) = 0;
};

/// The target's memory as a confined process sees it: bytes that the parent's PageStore has are
/// copied from there without a system call.
class PageView {
public:
  /// Without attach() all bytes come from `elsewhere` (--cache none); null: there is nothing.
  /// `touched`: where to record the pages looked at; null: nowhere.
  explicit PageView(Elsewhere* elsewhere = nullptr, page_table::TouchRecord* touched = nullptr)
      : elsewhere_(elsewhere), touched_(touched) {}

  /// Maps the parent's store, if there is one. A store that cannot be mapped is not used. To be
  /// called before a filter is in force, since that forbids shared mappings.
  void attach(FileDescriptor store);
  /// Unmaps the store: all bytes come from elsewhere again.
  void detach();

  /// Fills all of `into`, or returns false: some byte of it cannot be read. Then `into` may have
  /// been changed.
  bool fetch(std::uint64_t address, std::span<std::byte> into);

private:
  /// A page of the store, and which of its lines are known.
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
  /// The last pages, by page number. An operation of Open MPI takes 14 fetches from some 5 pages:
  /// nearly all of them find their page here.
  std::array<Seen, 64> seen_ = {};
};

} // namespace mqbridge::sandbox
