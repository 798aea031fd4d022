#include "host/stacks/unwind.h"

#include "host/confined/child_conversation.h"
#include "host/disk/work_budget.h"
#include "host/stacks/unwind_with.h"

#include <fmt/format.h>

namespace mqbridge {
namespace {

Result<std::unique_ptr<sandbox::Conversation>> start(const UnwindOptions& options) {
  auto child = sandbox::ChildConversation::start(
      {.program = options.program,
       .patience = options.patience,
       .doing = "unwound the stacks",
       .hint =
           "--no-stacks does without them; gdb -p PID -batch -ex 'thread apply all bt' has them, "
           "too",
       .crashed = "stacks.crashed",
       .timeout = "stacks.timeout",
       .protocol = "stacks.protocol"});
  if (!child)
    return forward(std::move(child));
  return std::unique_ptr<sandbox::Conversation>(std::move(*child));
}

} // namespace

Result<std::vector<UnwoundThread>> unwind(const CapturedStacks& captured,
                                          std::span<const Image> images, const Platform& platform,
                                          const UnwindOptions& options, Warnings& warnings) {
  auto conversation = start(options);
  if (!conversation)
    return forward(std::move(conversation));
  return unwind_with(**conversation, captured, images, platform, options, warnings);
}

} // namespace mqbridge
