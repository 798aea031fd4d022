// What the recorder's core costs a call: everything that the recorder does for it beside MPI's own
// work. With four threads: MPI_THREAD_MULTIPLE, all of them on one communicator.

#include "dll/recorder/recorder.h"

#include <array>
#include <benchmark/benchmark.h>

namespace {

constexpr mqr_word type_double = {"MPI_DOUBLE"};
mqr_recorded_communicator* world;

void set_up(const benchmark::State& state) {
  const mqr_communicator_spec spec = {"MPI_COMM_WORLD", 1, 0, 16, nullptr, 0, nullptr, 0};
  mqr_init(nullptr);
  mqr_set_threads(state.threads() > 1 ? MQR_LEVEL_MULTIPLE : MQR_LEVEL_FUNNELED);
  mqr_communicator_add(&spec, &world);
}

void tear_down(const benchmark::State&) {
  mqr_finalize();
}

mqr_operation_spec spec_of(mqr_queue queue, mqr_function function, std::int32_t tag,
                           std::uint32_t flags) {
  mqr_operation_spec spec = {};
  spec.queue = queue;
  spec.function = function;
  spec.flags = flags;
  spec.peer = tag % 16;
  spec.tag = tag;
  spec.length = 8;
  spec.buffer = spec.site = &world;
  spec.count = 1;
  spec.datatype = &type_double;
  return spec;
}

void enter(mqr_function function) {
  const mqr_call_spec call = {function, &world, world, 0, 0, MQR_NO_ROOT};
  mqr_enter(&call);
}

/// MPI_Send, or MPI_Recv.
void blocking(benchmark::State& state, mqr_queue queue, mqr_function function) {
  std::int32_t tag = 0;
  for (auto _ : state) {
    const auto spec = spec_of(queue, function, tag, MQR_BLOCKING);
    mqr_recorded_operation* operation = nullptr;
    enter(function);
    mqr_operation_begin(world, &spec, &operation);
    mqr_wait_for(&operation, 1, nullptr, 0, 1, 0);
    if (queue == MQR_SEND)
      mqr_send_end(operation, 0);
    else
      mqr_receive_end(operation, tag % 16, tag, 0);
    mqr_leave();
    tag = (tag + 1) % 64;
  }
}

void blocking_send(benchmark::State& state) {
  blocking(state, MQR_SEND, MQR_Send);
}
void blocking_receive(benchmark::State& state) {
  blocking(state, MQR_RECEIVE, MQR_Recv);
}

/// MPI_Irecv so many times, then MPI_Waitall. A time for each operation.
void window_of_receives(benchmark::State& state) {
  constexpr std::int32_t most = 1024;
  const auto count = static_cast<std::int32_t>(state.range(0));
  std::array<mqr_recorded_operation*, most> operations{};
  std::array<char, most> requests{};
  while (state.KeepRunningBatch(count)) {
    for (std::int32_t i = 0; i < count; ++i) {
      const auto spec = spec_of(MQR_RECEIVE, MQR_Irecv, i % 64, 0);
      enter(MQR_Irecv);
      mqr_operation_begin(world, &spec, &operations[static_cast<std::size_t>(i)]);
      mqr_request_add(&requests[static_cast<std::size_t>(i)],
                      operations[static_cast<std::size_t>(i)]);
      mqr_leave();
    }
    enter(MQR_Waitall);
    for (std::int32_t i = 0; i < count; ++i)
      operations[static_cast<std::size_t>(i)] =
          mqr_request_take(&requests[static_cast<std::size_t>(i)]);
    mqr_wait_for(operations.data(), static_cast<std::size_t>(count), nullptr, 0,
                 static_cast<std::uint32_t>(count), 0);
    for (std::int32_t i = 0; i < count; ++i)
      mqr_receive_end(operations[static_cast<std::size_t>(i)], i % 16, i % 64, 0);
    mqr_leave();
  }
}

/// MPI_Test that finds nothing, MPI_Iprobe: nothing but the call.
void call_alone(benchmark::State& state) {
  for (auto _ : state) {
    enter(MQR_Iprobe);
    mqr_leave();
  }
}

void collective(benchmark::State& state) {
  for (auto _ : state) {
    const mqr_call_spec call = {
        MQR_Bcast, &world, world, 1, mqr_communicator_enter_collective(world), 0};
    mqr_enter(&call);
    mqr_leave();
  }
}

BENCHMARK(call_alone)->Setup(set_up)->Teardown(tear_down);
BENCHMARK(collective)->Setup(set_up)->Teardown(tear_down);
BENCHMARK(blocking_send)->Setup(set_up)->Teardown(tear_down);
BENCHMARK(blocking_receive)->Setup(set_up)->Teardown(tear_down);
BENCHMARK(window_of_receives)->Arg(8)->Arg(64)->Arg(1024)->Setup(set_up)->Teardown(tear_down);
BENCHMARK(blocking_send)->Threads(4)->UseRealTime()->Setup(set_up)->Teardown(tear_down);
BENCHMARK(blocking_receive)->Threads(4)->UseRealTime()->Setup(set_up)->Teardown(tear_down);

} // namespace
