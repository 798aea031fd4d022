// The channel between mqbridge and the worker of the debug DLL, with foreign code at either end.
// The first byte chooses which message is read. Input of the worker's: messages, each behind its
// length (2 bytes).

#include "host/mqs/handle_results.h"
#include "host/mqs/lookups.h"
#include "host/mqs/message_log.h"
#include "host/mqs/results.h"
#include "host/types/type_pack.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/fake_memory.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

using test::FuzzInput;
using test::require;

std::shared_ptr<TypeSource> some_types() {
  TypePack pack;
  pack.types = {{"X", 16, {{"first", 0, 8}, {"second", 8, 8}}}, {"empty", 0, {}}};
  return type_source(std::move(pack));
}

/// What a walk has, without a worker.
struct Walked {
  explicit Walked(bool narrow) {
    if (narrow)
      platform.set_data_model(DataModel::ilp32);
    images.add_type_source(some_types());
    memory.put({0x1000}, std::vector<std::uint8_t>(0x2000, 7));
  }

  Platform platform;
  ImageSet images{std::vector<Image>{}};
  FakeMemory memory;
  WalkRequest request{{.worker = {}, .dll = {}, .space = {images, memory, platform}},
                      {OpClass::send, OpClass::receive},
                      50};
  WalkResult result;
  MessageLog log{result.dll_messages};
};

void results(FuzzInput& input) {
  Walked walk(input.number(1) % 2 == 1);
  ResultReader reader(walk.request, walk.result, walk.log);
  for (std::uint64_t number = 0; !input.empty(); ++number) {
    wire::Encoder batch; // without the right number in front it would be refused
    batch.put(wire::Kind::batch).put(number);
    batch.bytes(std::as_bytes(std::span(input.take(input.number(2)))));
    if (!reader.accept(batch.message()))
      break;
  }
  reader.accept_remainder(input.rest_bytes());
  reader.finish({}, TruncatedBy::nothing);
  require(walk.result.communicators.size() <= wire::max_communicators);
  for (const auto& communicator : walk.result.communicators) {
    require(!communicator.group || std::cmp_equal(communicator.group->size(), communicator.size));
    for (const auto& queue : communicator.queues)
      require(queue.operations.size() <= walk.request.max_operations);
  }
}

void handles(FuzzInput& input) {
  Walked walk(false);
  HandleRequest request{static_cast<const WorkerRequest&>(walk.request), {}};
  if (input.number(1) % 2 == 1)
    request.question.handles.push_back({HandleKind::communicator, 0});
  HandleResult result;
  HandleReader reader(request, result, walk.log);
  for (std::uint64_t number = 0; !input.empty(); ++number) {
    wire::Encoder batch;
    batch.put(wire::Kind::batch).put(number);
    batch.bytes(std::as_bytes(std::span(input.take(input.number(2)))));
    if (!reader.accept(batch.message()))
      break;
  }
  reader.finish({}, TruncatedBy::nothing, true);
  for (const auto& communicator : result.handles.communicators) {
    require(!communicator.rank || !communicator.size || *communicator.rank < *communicator.size);
    require(communicator.group.empty() || !communicator.size ||
            std::cmp_equal(communicator.group.size(), *communicator.size));
  }
  const auto& asked = request.question.handles;
  require(asked.empty() ||
          result.handles.communicators.size() + result.handles.refused.size() == asked.size());
}

void lookups(FuzzInput& input) {
  Walked walk(false);
  const auto store = PageStore::create(16 * PageStore::page_size);
  require(store.has_value());
  Lookups answers(walk.request.dll, walk.request.space, store->get(), walk.log);
  while (!input.empty()) {
    const auto reply = answers.answer(std::as_bytes(std::span(input.take(input.number(2)))));
    if (!reply) {
      require(reply.error().code == "dll.protocol" || reply.error().code == "dll.limit");
      break;
    }
    require(reply->message().size() <= wire::max_message);
  }
}

/// Which pages were looked at, as the worker has left it.
void touched(FuzzInput& input) {
  static const auto record = std::make_unique<page_table::TouchRecord>();
  for (auto& word : *record)
    word.store(0, std::memory_order_relaxed);
  const auto store = PageStore::create(8 * PageStore::page_size);
  require(store.has_value());
  auto& pages = **store;
  for (std::uint64_t number = 0; number < 4; ++number) {
    require(!pages.prepare(number * 3, 1).empty());
    pages.publish(number * 3, PageStore::all_lines, PageStore::all_lines);
  }
  while (!input.empty()) {
    const auto slot = input.number(2);
    (*record)[slot % record->size()].store(input.number(8), std::memory_order_relaxed);
  }
  pages.set_worker_record(record.get());
  require(pages.touched_pages() <= 4);
  pages.clear();
  static_cast<void>(pages.touched());
  pages.set_worker_record(nullptr);
}

/// What the DLL prints, as it comes through the pipe: pieces behind their lengths.
void output(FuzzInput& input) {
  std::vector<std::string> lines;
  MessageLog log(lines);
  while (!input.empty())
    log.add_stream(input.take(input.number(1)));
  log.end_stream();
  for (const auto& line : lines)
    require(line.find_first_of("\n\x1b") == line.npos);
}

template <class Message>
void stays_the_same(std::span<const std::byte> bytes) {
  const auto message = wire::decode<Message>(bytes);
  if (!message)
    return;
  const auto encoded = wire::encode(*message);
  const auto again = wire::decode<Message>(encoded.message());
  require(again && std::ranges::equal(wire::encode(*again).message(), encoded.message()));
}

/// Before the walk.
void first_messages(std::span<const std::byte> bytes) {
  stays_the_same<wire::StartMessage>(bytes);
  stays_the_same<wire::LoadingMessage>(bytes);
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  test::FuzzInput input(data, size);
  switch (input.number(1)) {
  case 'r':
    results(input);
    break;
  case 'h':
    handles(input);
    break;
  case 'l':
    lookups(input);
    break;
  case 't':
    touched(input);
    break;
  case 'o':
    output(input);
    break;
  default:
    first_messages(input.rest_bytes());
  }
  return 0;
}
