// local_walk --pid PID [--dll FILE [--types FILE] [--worker FILE]]
//
// The cost of a walk without a stub and a link: on the node itself, by process_vm_readv. It walks
// the recorder's list node by node. With --dll it runs the debug DLL in mqbridge's own worker,
// which waits already, on mqbridge's own page store, filled in bulk with the pages that an earlier
// walk has looked at. The process runs on meanwhile: it must be one that waits.

#include "bench/peers/local_list.h"
#include "bench/peers/report_line.h"
#include "dll/recorder/layout.h"
#include "host/memory/page_cache.h"
#include "host/mqs/walk.h"
#include "host/mqs/worker_process.h"
#include "host/types/types_file.h"
#include "tests/mqs/process_memory.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace {

using namespace mqbridge;
using namespace mqbridge::peers;

constexpr std::string_view tool = "local_walk";

struct Options {
  pid_t pid = 0;
  std::string dll;
  std::vector<std::string> types;
  std::string worker =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../mqbridge-worker")
          .string();
};

/// One walk that was timed.
struct Timed {
  AnswerChecksum answer;
  Clock::duration time{};
};

Result<Timed> walk_recorder(const ImageSet& images, Memory& memory) {
  auto root = images.find_symbol(MQR_ROOT_SYMBOL);
  if (!root)
    return fail("list.missing", "the process has no recorder",
                "name the debug DLL of its MPI with --dll");
  Timed timed;
  const auto start = Clock::now();
  if (auto walked = walk_list(memory, root->address, timed.answer); !walked)
    return forward(std::move(walked));
  timed.time = Clock::now() - start;
  return timed;
}

/// A queue that the DLL does not provide is left out; a queue on which it fails is an error.
Result<void> add_queue(const Queue& queue, OpClass op_class, AnswerChecksum& answer) {
  if (queue.state == QueueState::error)
    return fail("list.corrupt", queue.error.value_or("the debug DLL could not read a queue"));
  answer.begin_queue(static_cast<std::uint8_t>(op_class));
  for (const auto& operation : queue.operations)
    answer.add(operation.buffer.value_or(TargetAddress{}).value, operation.tag.value.value_or(0),
               operation.tag.any);
  return {};
}

Result<AnswerChecksum> answer_of(const WalkResult& walk) {
  if (walk.failure)
    return tl::unexpected(*walk.failure);
  AnswerChecksum answer;
  for (const auto& communicator : walk.communicators) {
    for (const auto op_class : op_classes) {
      if (auto added = add_queue(communicator.queue(op_class), op_class, answer); !added)
        return forward(std::move(added));
    }
  }
  return answer;
}

Result<Timed> walk_by_dll(const Options& options, ImageSet& images, Memory& below) {
  for (const auto& file : options.types) {
    auto source = open_types_file(file);
    if (!source)
      return forward(std::move(source));
    images.add_type_source(*source);
  }
  auto store = PageStore::create();
  if (!store)
    return forward(std::move(store));
  PageCache cache(below, **store);
  WalkRequest request{
      WorkerRequest{.worker = options.worker,
                    .dll = options.dll,
                    .space = {images, cache, images.images().front().file->platform()},
                    .world_rank_hint = 0,
                    .store = store->get()}};
  request.op_classes = {op_classes.begin(), op_classes.end()};
  if (auto looked = answer_of(walk_queues(request)); !looked)
    return forward(std::move(looked));
  const PageRuns pages = (*store)->touched();
  cache.clear();
  auto worker = WorkerProcess::start(options.worker);
  if (!worker)
    return forward(std::move(worker));
  request.started = &*worker;

  const auto start = Clock::now();
  if (auto loaded = cache.preload(pages); !loaded)
    return forward(std::move(loaded));
  const WalkResult walk = walk_queues(request);
  const auto time = Clock::now() - start;
  auto answer = answer_of(walk);
  if (!answer)
    return forward(std::move(answer));
  return Timed{*answer, time};
}

int run(const Options& options) {
  const auto start = Clock::now();
  auto images = images_of_process(options.pid);
  if (!images)
    return complain(tool, images.error());
  const auto before_walk = Clock::now() - start;
  ProcessMemory memory(options.pid);
  auto walked =
      options.dll.empty() ? walk_recorder(*images, memory) : walk_by_dll(options, *images, memory);
  if (!walked)
    return complain(tool, walked.error());
  report(tool, walked->time, before_walk + walked->time, walked->answer);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Walks the queues of a process on this machine, without a stub"};
  Options options;
  app.add_option("--pid", options.pid, "the process")->required();
  app.add_option("--program", "what it runs; found by itself")->type_name("FILE");
  app.add_option("--dll", options.dll, "the debug DLL; without it the recorder's list is walked");
  app.add_option("--types", options.types, "a type carrier or pack, where the MPI is stripped");
  app.add_option("--worker", options.worker, "mqbridge-worker");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
