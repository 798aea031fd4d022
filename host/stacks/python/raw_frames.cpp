#include "host/stacks/python/raw_frames.h"

#include "host/process/structures.h"
#include "host/stacks/capture.h"

#include <chrono>
#include <set>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t most_interpreters = 64;
constexpr std::size_t most_frames = 8192;          ///< of a thread; Python itself allows 1,000
constexpr std::size_t frames_at_least = 16;        ///< of a thread, however long they take
constexpr std::chrono::milliseconds patience{250}; ///< for further ones

/// A thread on the way from its innermost frame outwards.
struct Follower {
  std::uint64_t frame = 0;  ///< the next one; 0: there is none
  std::uint64_t cframe = 0; ///< 0: there is none
  RawThread thread = {};
  bool between_calls = true;
  std::set<std::uint64_t> seen = {};
  bool lost = false;

  void give_up() {
    frame = 0;
    lost = true;
  }
};

class FrameReader {
public:
  FrameReader(const AddressSpace& space, const PythonLayout& layout,
              std::optional<TargetAddress> frame_type)
      : space_(space), layout_(layout), frame_type_(frame_type) {}

  Result<RawThreads> read(std::uint64_t interpreter) {
    if (auto done = find_threads(interpreter); !done)
      return forward(std::move(done));
    if (auto done = find_innermost_frames(); !done)
      return forward(std::move(done));
    const auto end = std::chrono::steady_clock::now() + patience;
    for (std::size_t depth = 0; go_on(); ++depth) {
      if (depth == most_frames ||
          (depth >= frames_at_least && std::chrono::steady_clock::now() > end))
        give_up_all();
      else if (auto done = read_frames(); !done)
        return forward(std::move(done));
    }
    return take_threads();
  }

private:
  Result<void> find_threads(std::uint64_t interpreter) {
    std::set<std::uint64_t> seen;
    while (interpreter != 0 && seen.size() < most_interpreters && seen.insert(interpreter).second) {
      const auto words =
          Words::of({&interpreter, 1}, {layout_.next_interpreter, layout_.first_thread}, space_);
      if (!words)
        return Failure(words.error());
      const auto first = words->get(interpreter, layout_.first_thread);
      if (!first)
        ++lost_;
      else if (auto done = find_threads_of(interpreter, *first); !done)
        return done;
      interpreter = words->get(interpreter, layout_.next_interpreter).value_or(0);
    }
    return {};
  }

  Result<void> find_threads_of(std::uint64_t interpreter, std::uint64_t state) {
    std::set<std::uint64_t> seen;
    while (state != 0 && followers_.size() < most_captured_threads) {
      const auto words = Words::of(
          {&state, 1}, {layout_.next_thread, layout_.interpreter, layout_.frame, layout_.thread_id},
          space_);
      if (!words)
        return Failure(words.error());
      const auto frame = words->get(state, layout_.frame);
      const auto next = words->get(state, layout_.next_thread);
      if (!frame || !next || words->get(state, layout_.interpreter) != interpreter ||
          !seen.insert(state).second) {
        ++lost_;
        return {};
      }
      Follower& follower = followers_.emplace_back();
      follower.frame = *frame;
      follower.thread.thread_id = words->get(state, layout_.thread_id);
      state = *next;
    }
    return {};
  }

  /// Where a thread's state names a variable on the C stack, that one has the frame.
  Result<void> find_innermost_frames() {
    if (!layout_.frame_of_cframe)
      return {};
    std::vector<std::uint64_t> cframes;
    for (const Follower& follower : followers_)
      cframes.push_back(follower.frame);
    const auto words = Words::of(cframes, {layout_.frame_of_cframe}, space_);
    if (!words)
      return Failure(words.error());
    for (Follower& follower : followers_) {
      follower.cframe = follower.frame;
      const auto frame = words->get(follower.cframe, layout_.frame_of_cframe);
      follower.lost = follower.cframe != 0 && !frame;
      follower.frame = frame.value_or(0);
    }
    return {};
  }

  /// Whether a thread has a further frame.
  bool go_on() {
    bool any = false;
    for (Follower& follower : followers_) {
      if (follower.frame != 0 && !follower.seen.insert(follower.frame).second)
        follower.give_up();
      any |= follower.frame != 0;
    }
    return any;
  }

  void give_up_all() {
    for (Follower& follower : followers_)
      if (follower.frame != 0)
        follower.give_up();
  }

  /// One frame of each thread.
  Result<void> read_frames() {
    std::vector<std::uint64_t> frames;
    for (const Follower& follower : followers_)
      if (follower.frame != 0)
        frames.push_back(follower.frame);
    const auto words = Words::of(frames,
                                 {layout_.type, layout_.code, layout_.previous, layout_.instruction,
                                  layout_.is_entry, layout_.owner},
                                 space_);
    if (!words)
      return Failure(words.error());
    for (Follower& follower : followers_)
      if (follower.frame != 0)
        take_frame(follower, *words);
    return {};
  }

  void take_frame(Follower& follower, const Words& words) const {
    const std::uint64_t frame = follower.frame;
    const bool is_object = layout_.instruction_unit != 0;
    const auto code = words.get(frame, layout_.code);
    const auto previous = words.get(frame, layout_.previous);
    const auto instruction = words.get(frame, layout_.instruction);
    const auto is_entry = is_object ? Words::Value(1) : words.get(frame, layout_.is_entry);
    const auto owner = words.get(frame, layout_.owner);
    const bool is_other =
        is_object && (!frame_type_ || words.get(frame, layout_.type) != frame_type_->value);
    if (!code || !previous || !instruction || (!is_entry && !owner) || is_other) {
      follower.give_up();
      return;
    }
    auto& calls = follower.thread.calls;
    if (follower.between_calls)
      calls.emplace_back();
    const bool is_variable = owner == PythonLayout::entry_owner;
    if (is_variable)
      calls.back().on_stack = TargetAddress{frame};
    else
      calls.back().frames.push_back({*code & ~layout_.code_tags, *instruction});
    follower.between_calls = is_variable || is_entry.value_or(0) != 0;
    follower.frame = *previous;
    follower.lost = follower.frame == 0 && !follower.between_calls; // its last call has no end
  }

  RawThreads take_threads() {
    RawThreads taken;
    taken.lost = lost_;
    for (Follower& follower : followers_) {
      if (follower.lost) {
        ++taken.lost;
        continue;
      }
      RawThread& thread = follower.thread;
      if (thread.calls.empty())
        continue;
      if (follower.cframe != 0)
        thread.calls.front().on_stack = TargetAddress{follower.cframe};
      taken.threads.push_back(std::move(thread));
    }
    return taken;
  }

  const AddressSpace& space_;
  const PythonLayout& layout_;
  std::optional<TargetAddress> frame_type_;
  std::vector<Follower> followers_;
  std::size_t lost_ = 0;
};

} // namespace

Result<RawThreads> read_raw_frames(const AddressSpace& space, const PythonLayout& layout,
                                   std::uint64_t interpreter,
                                   std::optional<TargetAddress> frame_type) {
  return FrameReader(space, layout, frame_type).read(interpreter);
}

} // namespace mqbridge
