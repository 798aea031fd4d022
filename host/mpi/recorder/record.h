#pragma once

#include "dll/recorder/layout.h"
#include "host/memory/platform.h"
#include "host/memory/reader.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge::recorder {

/// The bytes of one structure of dll/recorder/layout.h. Fields beyond its end are 0: an older
/// recorder does not have them.
class Record {
public:
  Record() = default;
  Record(std::span<const std::byte> bytes, ByteOrder order) : bytes_(bytes), order_(order) {}

  std::uint64_t u64(std::size_t offset) const { return get(offset, 8); }
  std::uint32_t u32(std::size_t offset) const { return static_cast<std::uint32_t>(get(offset, 4)); }
  std::uint8_t u8(std::size_t offset) const { return static_cast<std::uint8_t>(get(offset, 1)); }
  std::size_t size() const { return bytes_.size(); }
  std::int32_t i32(std::size_t offset) const { return static_cast<std::int32_t>(u32(offset)); }
  std::uint16_t u16(std::size_t offset) const { return static_cast<std::uint16_t>(get(offset, 2)); }

private:
  std::uint64_t get(std::size_t offset, std::size_t size) const {
    return offset + size <= bytes_.size() ? decode_unsigned(bytes_.subspan(offset, size), order_)
                                          : 0;
  }

  std::span<const std::byte> bytes_;
  ByteOrder order_ = ByteOrder::little;
};

struct List {
  std::uint64_t first = 0; ///< address; 0: empty
  std::uint32_t count = 0;
};

inline List list_at(const Record& record, std::size_t offset) {
  return {record.u64(offset + offsetof(mqr_list, first)),
          record.u32(offset + offsetof(mqr_list, count))};
}

/// struct mqr_root.
struct Root {
  std::uint32_t state = 0; ///< enum mqr_state
  bool updating = false;   ///< the process stands in the middle of an update
  List communicators, threads, joints;
  std::uint32_t flags = 0; ///< enum mqr_root_flags
  std::uint32_t thread_level = 0;
  std::uint64_t library = 0;         ///< address of a text; 0: the MPI's calls are not recorded
  std::uint64_t variables = 0;       ///< address of a struct mqr_variables; 0: not kept
  std::uint64_t job = 0;             ///< address of a text; 0: not known
  std::size_t communicator_size = 0; ///< bytes that both the recorder and this program know
  std::size_t operation_size = 0;

  /// Whether it sees the program's calls beside an MPI, and counts messages, as since version 1.1.
  /// Otherwise an MPI fills in the lists by itself, and also knows which messages have arrived and
  /// which receives they have met.
  bool counts() const { return communicator_size >= MQR_COMMUNICATOR_SIZE_1_1 && library != 0; }
};

/// nullopt: there is no recorder, it cannot be read, or it is of another version; the debug DLL
/// then says why. Errors: those of Memory.
Result<std::optional<Root>> read_root(const AddressSpace& space);

/// One node of a list.
struct Node {
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;

  Record record(const AddressSpace& space) const { return {bytes, space.platform.byte_order}; }
};

struct Nodes {
  std::vector<Node> nodes;
  bool whole = true; ///< false: the list is damaged behind these
};

/// The nodes of a list; each begins with `magic` and has `size` bytes. The walk always ends: at a
/// node that is none or was there before, and after `most` nodes. Errors: those of Memory, except
/// memory.unreadable.
Result<Nodes> read_list(const AddressSpace& space, List list, std::uint32_t magic, std::size_t size,
                        bool updating, std::size_t most);

} // namespace mqbridge::recorder
