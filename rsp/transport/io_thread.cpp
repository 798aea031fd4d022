#include "rsp/transport/io_thread.h"

#include <asio/executor_work_guard.hpp>
#include <csignal>
#include <thread>

namespace mqbridge::rsp {
namespace {

asio::io_context* start() {
  auto* const context = new asio::io_context(1);
  // Signals are for the threads that wait for them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([context] {
    const auto work = asio::make_work_guard(*context);
    context->run();
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return context;
}

} // namespace

asio::io_context& io_context() {
  // Never destroyed: the end of the process must not wait for a name server that a resolver still
  // asks.
  static asio::io_context* const context = start();
  return *context;
}

} // namespace mqbridge::rsp
