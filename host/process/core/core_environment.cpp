#include "host/process/core/core_environment.h"

#include "host/limits.h"
#include "host/memory/reader.h"
#include "host/process/auxv.h"

#include <algorithm>
#include <elf.h>
#include <string_view>

namespace mqbridge {
namespace {

/// The stack at the start of a process. From the lowest address on it has: argc, argv, 0, envp, 0,
/// the auxiliary vector; some bytes; the texts of argv, those of envp, and the one of AT_EXECFN
/// (psABI, "Process Initialization").
class InitialStack {
public:
  InitialStack(const CoreFile& core, Memory& memory, std::uint64_t name)
      : word_(static_cast<std::size_t>(core.platform().pointer_size)),
        order_(core.platform().byte_order) {
    for (const auto& segment : core.segments()) {
      if (segment.first.value > name || segment.last.value < name)
        continue;
      const auto size = std::min<std::uint64_t>(name - segment.first.value, limits::environment);
      first_ = name - size;
      bytes_.resize(static_cast<std::size_t>(size));
      const auto read = memory.read({first_}, std::as_writable_bytes(std::span(bytes_)));
      if (!read || *read != bytes_.size())
        bytes_.clear();
      return;
    }
  }

  std::string environment(std::string_view auxv) const {
    const auto vector = bytes_.rfind(auxv);
    if (auxv.empty() || vector == std::string::npos || vector < 2 * word_)
      return {};
    auto at = vector - word_;
    if (word(at) != 0) // the end of envp
      return {};
    std::uint64_t first_text = 0;
    while (at >= word_ && word(at - word_) != 0) {
      at -= word_;
      first_text = word(at);
    }
    const bool is_inside = first_text > first_ + vector && first_text - first_ < bytes_.size();
    return is_inside ? bytes_.substr(static_cast<std::size_t>(first_text - first_)) : std::string();
  }

private:
  std::uint64_t word(std::size_t at) const {
    return decode_unsigned(std::as_bytes(std::span(bytes_)).subspan(at, word_), order_);
  }

  std::size_t word_;
  ByteOrder order_;
  std::uint64_t first_ = 0; ///< address of the first of `bytes_`, which end before AT_EXECFN's text
  std::string bytes_;
};

} // namespace

std::string initial_environment(const CoreFile& core, Memory& memory) {
  const auto auxv = AuxiliaryVector::parse(core.notes().auxv);
  const auto name = auxv ? auxv->find(AT_EXECFN) : std::nullopt;
  return name ? InitialStack(core, memory, *name).environment(core.notes().auxv) : std::string();
}

} // namespace mqbridge
