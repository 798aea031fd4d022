#pragma once

#include "host/memory/address.h"
#include "host/process/address_space.h"
#include "host/stacks/python/python_layout.h"
#include "host/stacks/python/python_stack.h"
#include "host/stacks/python/raw_frames.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// The types by which Python's objects are told from anything else.
struct PythonTypes {
  TargetAddress code;
  TargetAddress text;
  TargetAddress bytes;
};

/// The code of Python's functions: their names, files and lines. One thread.
class PythonCode {
public:
  /// `space` and `layout` outlive this.
  PythonCode(const AddressSpace& space, const PythonLayout& layout, PythonTypes types)
      : space_(space), layout_(layout), types_(types) {}

  /// Reads all that frame_of() needs of the code objects at these addresses, in three steps.
  /// Objects that are damaged are left out. Errors: those of Memory.
  Result<void> read(const std::set<std::uint64_t>& addresses);

  /// nullopt: its code is not known, or the instruction is not in it.
  std::optional<PythonFrame> frame_of(const RawFrame& raw) const;

private:
  struct Code {
    std::uint64_t count = 0; ///< of its instructions; not known where frames are objects
    std::int64_t first_line = 0;
    std::uint64_t file = 0; ///< addresses, as the next two
    std::uint64_t name = 0;
    std::uint64_t lines = 0;
  };
  /// What an object has behind its structure.
  struct Content {
    std::uint64_t address = 0;
    std::size_t width = 1; ///< bytes of a letter
    bool cut = false;      ///< further letters were left out
    std::vector<std::byte> bytes = {};
  };

  Result<void> read_codes(const std::set<std::uint64_t>& addresses);
  Result<void> find_contents();
  Result<void> read_contents();
  void add_content(std::uint64_t object, const Words& words);
  /// Removes what stands behind the last letter. False: that is not what should stand there.
  static bool take_end(Content& content);
  std::optional<std::string> text_at(std::uint64_t object) const;
  /// The number of the instruction; nullopt: there is none, as before the first one.
  std::optional<std::uint64_t> number_of(const RawFrame& raw) const;

  const AddressSpace& space_;
  const PythonLayout& layout_;
  PythonTypes types_;
  std::map<std::uint64_t, Code> codes_;       ///< by address
  std::map<std::uint64_t, Content> contents_; ///< by the object's address
  std::uint64_t bytes_ = 0;
};

} // namespace mqbridge
