#include "host/stacks/capture.h"

#include "host/disk/work_budget.h"
#include "host/memory/pointer_scan.h"
#include "host/memory/prefetch_budget.h"
#include "host/stacks/capture_plan.h"
#include "host/stacks/captured_pages.h"
#include "host/stacks/system_calls.h"
#include "host/stacks/thread_registers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <span>
#include <utility>

namespace mqbridge {
namespace {

/// The size of the kernel's own object, if the map does not tell it.
constexpr std::uint64_t usual_vdso_size = 2 * PageStore::page_size;
/// Memory for the captured pages. With pages that are captured in part, it may be twice the budget.
constexpr std::size_t store_bytes = std::size_t{160} << 20;

/// Addresses of the first and last byte of an image's segments; nullopt: it has no file.
std::optional<std::pair<TargetAddress, TargetAddress>> bounds_of(const Image* image) {
  if (image == nullptr || !image->file || image->file->segments().empty())
    return std::nullopt;
  const auto& first = image->file->segments().front();
  const auto& last = image->file->segments().back();
  return std::pair(image->bias(first.address),
                   image->bias({last.address.value + last.memory_size}) - 1);
}

/// Captures the threads of one look, and a part of each stack.
class Capture {
public:
  Capture(StoppedProcess& process, const CaptureOptions& options)
      : process_(process), options_(options), platform_(process.platform()) {}

  Result<CapturedStacks> run() {
    if (auto done = read_threads(); !done)
      return forward(std::move(done));
    auto pages = CapturedPages::create(store_bytes);
    if (!pages)
      return forward(std::move(pages));
    pages_.emplace(std::move(*pages));
    if (auto done = read_stacks(); !done && !is_work_over(done.error()))
      return forward(std::move(done));
    else if (!done)
      result_.warnings.push_back(done.error()); // the registers alone tell where the threads are
    settle();
    say_what_is_missing();
    return std::move(result_);
  }

private:
  struct Plan {
    std::optional<CaptureExtent> extent; ///< nullopt: nothing is mapped where the thread stands
    std::size_t share = 0;               ///< position in shares_
  };

  Result<void> read_threads() {
    const auto link = process_.link_estimate();
    budget_ = capture_budget(link, time());
    // About as many bytes as a thread's registers take where links are slow.
    constexpr std::uint64_t registers = 1024;
    const auto affordable = static_cast<std::size_t>(budget_ / registers);
    auto threads = process_.threads(
        is_slow(link) ? std::clamp<std::size_t>(affordable, 1, most_captured_threads)
                      : most_captured_threads);
    if (!threads)
      return forward(std::move(threads));
    for (auto& thread : *threads) {
      const auto pointer = stack_pointer(thread, platform_);
      result_.threads.push_back({std::move(thread), pointer.value_or(0), {}});
    }
    return {};
  }

  std::chrono::duration<double> time() const {
    std::chrono::duration<double> time = options_.patience;
    if (options_.deadline) {
      const std::chrono::duration<double> left =
          *options_.deadline - std::chrono::steady_clock::now();
      time = std::min(time, left / 2);
    }
    return time;
  }

  Result<void> read_stacks() {
    if (auto over = work_over())
      return Failure(std::move(*over));
    plan();
    share_at_first(shares_, budget_);
    const bool with_vdso = wants_vdso_at_once();
    if (auto done = read(with_vdso); !done)
      return done;
    find_threads_in_mpi();
    is_short_ = share_rest(shares_, budget_);
    return read(!with_vdso && points_into_vdso());
  }

  /// The first thread is the main one or, in a core, the one that a signal has ended.
  void plan() {
    const auto& map = process_.map();
    plan_vdso(map);
    for (const auto& thread : result_.threads) {
      plans_.push_back(
          {stack_extent(thread.stack_pointer, thread_pointer(thread.thread, platform_).value_or(0),
                        map, platform_),
           shares_.size()});
      if (const auto& extent = plans_.back().extent)
        shares_.push_back({extent->end - extent->first, plans_.size() == 1});
    }
  }

  void plan_vdso(const MemoryMap& map) {
    const auto address = process_.vdso();
    if (!address)
      return;
    const auto* const range = map.find(*address);
    const auto size =
        range != nullptr && range->first == *address ? range->last - *address + 1 : usual_vdso_size;
    vdso_ = {address->value, address->value + std::min(size, most_of_other_stack),
             range != nullptr};
  }

  /// Reads in one burst.
  Result<void> read(bool with_vdso) {
    std::vector<CaptureExtent> extents;
    for (const auto& plan : plans_)
      if (plan.extent && shares_[plan.share].bytes > 0)
        extents.push_back({plan.extent->first, plan.extent->first + shares_[plan.share].bytes,
                           plan.extent->mapped});
    if (with_vdso)
      extents.push_back(vdso_);
    return pages_->read(process_.uncached(), extents);
  }

  bool has_vdso() const { return vdso_.end != 0; }

  /// The vDSO's code is seldom needed, and costs much time on a slow link.
  bool wants_vdso_at_once() const {
    const auto stands_there = [this](const CapturedThread& captured) {
      const auto counter = program_counter(captured.thread, platform_);
      return counter && *counter >= vdso_.first && *counter < vdso_.end;
    };
    return has_vdso() && (!is_slow(process_.link_estimate()) ||
                          std::ranges::any_of(result_.threads, stands_there));
  }

  bool points_into_vdso() const {
    return has_vdso() && std::ranges::any_of(plans_, [this](const Plan& plan) {
             return has_word(plan, {vdso_.first}, {vdso_.end - 1});
           });
  }

  void find_threads_in_mpi() {
    const auto library = bounds_of(options_.mpi_library);
    for (const auto& plan : plans_)
      if (library && plan.extent)
        shares_[plan.share].in_mpi = has_word(plan, library->first, library->second);
  }

  /// Whether a word of the first few KiB of the stack points into the range.
  bool has_word(const Plan& plan, TargetAddress first, TargetAddress last) const {
    if (!plan.extent)
      return false;
    const PointerShape shape{platform_.byte_order, static_cast<std::size_t>(platform_.pointer_size),
                             static_cast<std::size_t>(platform_.pointer_alignment), first, last};
    std::array<std::byte, first_of_stack> bytes{};
    const auto size = pages_->readable_to(plan.extent->first, plan.extent->first + bytes.size()) -
                      plan.extent->first;
    const auto some = std::span(bytes).first(static_cast<std::size_t>(size));
    std::vector<std::uint64_t> found(most_pointers(some.size(), shape));
    return !some.empty() && pages_->copy(plan.extent->first, some) &&
           scan_pointers(some, shape, found) > 0;
  }

  /// Notes how much of each thread's stack was captured.
  void settle() {
    const CodeReader code = [this](TargetAddress address, std::span<std::byte> into) {
      return pages_->copy(address.value, into) || read_file(address, into);
    };
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      auto& thread = result_.threads[i];
      thread.captured_to = {thread.stack_pointer};
      thread.system_call = current_system_call(thread.thread, platform_, code);
      if (!plans_[i].extent)
        continue;
      const auto& extent = *plans_[i].extent;
      const auto first = std::max(extent.first, thread.stack_pointer);
      thread.captured_to = {pages_->readable_to(first, extent.end)};
      const bool was_asked =
          thread.captured_to.value < extent.first + shares_[plans_[i].share].bytes;
      const bool lacks = extent.mapped || process_.memory().lack(thread.captured_to) != nullptr;
      thread.cut = thread.captured_to.value < extent.end && (!was_asked || lacks);
      if (was_asked && lacks)
        unreadable_.push_back(i);
    }
    result_.pages = pages_->store();
    const auto vdso_end = pages_->readable_to(vdso_.first, vdso_.end);
    if (vdso_end > vdso_.first) {
      result_.vdso = TargetAddress{vdso_.first};
      result_.vdso_size = vdso_end - vdso_.first;
    }
  }

  /// Reads code from the files of the loaded objects.
  bool read_file(TargetAddress address, std::span<std::byte> into) const {
    for (const auto& image : process_.images().images()) {
      if (!image.file)
        continue;
      const FileAddress at{(address.value - image.bias.value) & platform_.last_address()};
      for (const auto& segment : image.file->segments())
        if (!segment.writable && at >= segment.address &&
            at.value - segment.address.value < segment.size)
          return image.file->read(at, into) == into.size();
    }
    return false;
  }

  void say_what_is_missing() {
    const auto without = [this](auto condition) {
      return static_cast<std::size_t>(std::ranges::count_if(result_.threads, condition));
    };
    const auto refused = without([](const CapturedThread& one) { return !one.thread.registers; });
    static constexpr auto hint = "all of it is in a core: gcore -a PID, then core:FILE";
    if (result_.threads.size() > most_captured_threads)
      warn("stacks.threads",
           fmt::format("registers of {} of {} threads were read, those of the others were not",
                       result_.threads.size() - refused, result_.threads.size()),
           hint);
    else if (refused > 0)
      warn("stacks.no_registers",
           fmt::format("{} of {} threads have no registers that could be read", refused,
                       result_.threads.size()),
           hint);
    if (is_short_)
      warn("stacks.cut",
           fmt::format("of {} threads' stacks only {} KiB were read, as much as this link brings "
                       "in time",
                       result_.threads.size(), budget_ / 1024),
           hint);
    if (!unreadable_.empty()) {
      const auto& first = result_.threads[unreadable_.front()];
      warn(
          "stacks.unreadable",
          fmt::format("stacks of {} threads could not be read where memory is mapped, the first at "
                      "{:#x} of thread {}",
                      unreadable_.size(), first.captured_to.value, first.thread.tid),
          process_.is_alive() ? lack_of_stub.hint : lack_of_core.hint);
    }
  }

  void warn(std::string_view code, std::string message, std::string_view hint) {
    result_.warnings.push_back({code, std::move(message), std::string(hint)});
  }

  StoppedProcess& process_;
  const CaptureOptions& options_;
  const Platform& platform_;
  std::uint64_t budget_ = 0; ///< bytes
  std::optional<CapturedPages> pages_;
  CaptureExtent vdso_;      ///< empty: there is none
  std::vector<Plan> plans_; ///< of each thread
  std::vector<StackShare> shares_;
  bool is_short_ = false;
  std::vector<std::size_t> unreadable_; ///< threads
  CapturedStacks result_;
};

} // namespace

Result<CapturedStacks> capture_stacks(StoppedProcess& process, const CaptureOptions& options) {
  return Capture(process, options).run();
}

} // namespace mqbridge
