#pragma once

#include <functional>

namespace mqbridge::sandbox {

/// Runs `work` on a thread that lives as long as this program, and returns when it is done. A child
/// that is to die with its parent (PR_SET_PDEATHSIG) dies with the thread that started it: started
/// here, it may have owners on any thread, one after the other. `work` must be short, and throw
/// nothing. Thread-safe. Where no thread is to be had, it runs on the caller's.
void run_on_lasting_thread(const std::function<void()>& work);

} // namespace mqbridge::sandbox
