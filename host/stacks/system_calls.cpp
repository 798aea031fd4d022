#include "host/stacks/system_calls.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <seccomp.h>
#include <string_view>

namespace mqbridge {
namespace {

struct Numbering {
  std::string_view architecture; ///< Platform::architecture
  ByteOrder byte_order;
  std::uint32_t token; ///< of libseccomp, which has the tables
};

constexpr auto numberings = std::to_array<Numbering>({
    {"x86_64", ByteOrder::little, SCMP_ARCH_X86_64},
    {"i386", ByteOrder::little, SCMP_ARCH_X86},
    {"aarch64", ByteOrder::little, SCMP_ARCH_AARCH64},
    {"arm", ByteOrder::little, SCMP_ARCH_ARM},
    {"s390x", ByteOrder::big, SCMP_ARCH_S390X},
    {"ppc", ByteOrder::big, SCMP_ARCH_PPC},
    {"ppc64", ByteOrder::big, SCMP_ARCH_PPC64},
    {"ppc64", ByteOrder::little, SCMP_ARCH_PPC64LE},
    {"ppc64le", ByteOrder::little, SCMP_ARCH_PPC64LE},
    {"riscv64", ByteOrder::little, SCMP_ARCH_RISCV64},
});

} // namespace

std::optional<std::string> system_call_name(const Platform& platform, int number) {
  const auto* const known = std::ranges::find_if(numberings, [&](const Numbering& one) {
    return one.architecture == platform.architecture && one.byte_order == platform.byte_order;
  });
  if (known == numberings.end())
    return std::nullopt;
  const std::unique_ptr<char, decltype(&std::free)> name(
      ::seccomp_syscall_resolve_num_arch(known->token, number), &std::free);
  return name ? std::optional<std::string>(name.get()) : std::nullopt;
}

} // namespace mqbridge
