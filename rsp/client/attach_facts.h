#pragma once

#include "rsp/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// What the server's /proc says about a process that may not be attached to. What could not be
/// read is not known.
struct AttachFacts {
  std::optional<bool> exists;
  bool zombie = false;
  std::optional<std::uint32_t> threads; ///< of the process, a main thread that has ended included
  std::optional<std::int64_t> tracer;   ///< 0: nobody traces it
  std::string tracer_name;
  std::optional<std::uint32_t> process_user; ///< real uid
  std::optional<std::uint32_t> stub_user;    ///< effective uid of the stub
  std::optional<bool> may_trace_any;         ///< the stub has CAP_SYS_PTRACE
  std::optional<int> yama_scope;             ///< nullopt: no Yama
};

/// Reads a file where the stub runs.
using FileSource = std::function<Result<std::string>(std::string_view path)>;

/// `stub_status` is the path of the stub's own status file: /proc/self/status as it sees it.
AttachFacts gather_attach_facts(const FileSource& files, std::int64_t pid,
                                std::string_view stub_status);

/// The refusal, told apart: attach.no_such_process, attach.exited, attach.main_ended,
/// ptrace.traced, ptrace.other_user, ptrace.yama, ptrace.capability, or ptrace.denied where the
/// facts do not say. `said` is what the stub said.
Error explain_refusal(const AttachFacts& facts, std::int64_t pid, std::string_view said);

/// The same before anybody has tried: nullopt where the facts do not speak against it.
std::optional<Error> foresee_refusal(const AttachFacts& facts, std::int64_t pid);

} // namespace mqbridge::rsp
