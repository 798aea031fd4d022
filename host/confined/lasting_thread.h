#pragma once

#include <functional>

namespace mqbridge::sandbox {

/// Runs `work` on a thread that lives as long as this program, and returns when it is done. A child
/// that is to die with its parent (PR_SET_PDEATHSIG) really dies with the thread that started it:
/// if it is started here, threads may hand it over to each other. `work` must be short, and throw
/// nothing. Thread-safe. If no thread can be started, it runs on the caller's.
void run_on_lasting_thread(const std::function<void()>& work);

} // namespace mqbridge::sandbox
