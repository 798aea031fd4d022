#include "tests/mqs/test_target.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace mqbridge {
namespace {

constexpr std::uint64_t page_size = 4096;
constexpr std::uint64_t first_address = 0x10000;

std::uint64_t size_of(int size) {
  return static_cast<std::uint64_t>(size);
}

} // namespace

ImageSet images_of(const std::string& file, const std::string& target_path, LoadBias bias) {
  Image image;
  image.target_path = target_path;
  image.file = ElfFile::open(file).value();
  image.bias = bias;
  std::vector<Image> images;
  images.push_back(std::move(image));
  return ImageSet(std::move(images));
}

TestWorker test_worker() {
  return std::getenv("MQBRIDGE_TEST_OUTSIDE") != nullptr ? sanitized_worker()
                                                         : TestWorker{MQBRIDGE_WORKER};
}

TestWorker sanitized_worker() {
#ifdef MQBRIDGE_WORKER_OUTSIDE
  return {MQBRIDGE_WORKER_OUTSIDE, false};
#else
  return {MQBRIDGE_WORKER};
#endif
}

const std::vector<Platform>& test_platforms() {
  static const std::vector<Platform> platforms = [] {
    std::vector<Platform> all;
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      Platform wide;
      wide.architecture = order == ByteOrder::little ? "x86_64" : "s390x";
      wide.byte_order = order;
      Platform narrow = wide;
      narrow.architecture = order == ByteOrder::little ? "i386" : "ppc";
      narrow.set_data_model(DataModel::ilp32);
      all.push_back(wide);
      all.push_back(narrow);
    }
    return all;
  }();
  return platforms;
}

std::string platform_name(const Platform& platform) {
  return (platform.byte_order == ByteOrder::little ? "le" : "be") +
         std::to_string(platform.pointer_size * 8);
}

void PrintTo(const Platform& platform, std::ostream* out) {
  *out << platform_name(platform);
}

void FakeTypes::add(const std::string& name, std::vector<TypeField> fields) {
  TypeLayout layout;
  layout.name = name;
  std::uint64_t alignment = 1;
  for (auto& field : fields) {
    const std::uint64_t own = field.size <= 8 ? field.size : 1; // longer ones are char arrays
    field.offset = (layout.size + own - 1) / own * own;
    layout.size = field.offset + field.size;
    alignment = std::max(alignment, own);
  }
  layout.size = (layout.size + alignment - 1) / alignment * alignment;
  layout.fields = std::move(fields);
  types_[name] = std::move(layout);
}

void FakeTypes::add(TypeLayout layout) {
  types_[layout.name] = std::move(layout);
}

Result<const TypeLayout*> FakeTypes::find(std::string_view name) {
  const auto found = types_.find(name);
  return found != types_.end() ? &found->second : nullptr;
}

TestTarget::TestTarget(const Platform& of, const std::vector<TestCommunicator>& communicators)
    : platform(of), images(images_of(MQBRIDGE_TEST_SYMBOLS, MQBRIDGE_TEST_SYMBOLS)),
      types_(std::make_shared<FakeTypes>()) {
  const auto pointer_size = size_of(platform.pointer_size);
  const auto int_size = size_of(platform.int_size);
  const auto long_size = size_of(platform.long_size);
  types_->add("struct test_communicator", {{"next", 0, pointer_size},
                                           {"id", 0, pointer_size},
                                           {"rank", 0, int_size},
                                           {"size", 0, int_size},
                                           {"name", 0, 64},
                                           {"operations", 0, pointer_size},
                                           {"members", 0, pointer_size}});
  types_->add("test_operation", {{"next", 0, pointer_size},
                                 {"op_class", 0, int_size},
                                 {"rank", 0, int_size},
                                 {"tag", 0, int_size},
                                 {"length", 0, long_size},
                                 {"buffer", 0, pointer_size}});
  images.add_type_source(types_);
  std::uint64_t next = 0;
  for (auto each = communicators.rbegin(); each != communicators.rend(); ++each)
    next = put(*each, next);
  memory.put({first_address}, std::move(heap_));
  set_root(next);
}

void TestTarget::widen_communicator(std::size_t fields) {
  TypeLayout wide = **types_->find("struct test_communicator");
  for (std::size_t i = 0; i < fields; ++i)
    wide.fields.push_back({"more" + std::to_string(i), wide.size++, 1});
  types_->add(std::move(wide));
}

void TestTarget::set_root(std::uint64_t address) {
  const std::uint64_t root = images.find_symbol("test_queue_root")->address.value;
  std::vector<std::uint8_t> page(page_size);
  write(std::span(page).subspan(root % page_size), address, platform.pointer_size);
  memory.put({root / page_size * page_size}, page);
}

std::uint64_t TestTarget::place(std::size_t size) {
  constexpr std::uint64_t gap = 200; // some structures lie across two pages
  const std::uint64_t address = first_address + heap_.size();
  const std::uint64_t used = heap_.size() + (size + 15) / 16 * 16 + gap;
  heap_.resize(used);
  return address;
}

void TestTarget::write(std::span<std::uint8_t> to, std::uint64_t value, int size) const {
  const auto width = size_of(size);
  for (std::uint64_t i = 0; i < width; ++i) {
    const auto byte = static_cast<std::uint8_t>(value >> (8 * i));
    to[platform.byte_order == ByteOrder::big ? width - 1 - i : i] = byte;
  }
}

void TestTarget::pointer(std::uint64_t address, std::uint64_t value) {
  write(std::span(heap_).subspan(address - first_address), value, platform.pointer_size);
}

void TestTarget::integer(std::uint64_t address, std::int64_t value, int size) {
  write(std::span(heap_).subspan(address - first_address), static_cast<std::uint64_t>(value), size);
}

std::uint64_t TestTarget::put(const TestCommunicator& communicator, std::uint64_t next) {
  std::uint64_t operations = 0;
  const auto& all = communicator.operations;
  for (auto each = all.rbegin(); each != all.rend(); ++each)
    operations = put(*each, operations);
  std::uint64_t members = 0;
  if (!communicator.group.empty()) {
    members = place(communicator.group.size() * 4);
    for (std::size_t i = 0; i < communicator.group.size(); ++i)
      integer(members + i * 4, communicator.group[i], 4);
  }
  const TypeLayout& layout = **types_->find("struct test_communicator");
  const std::uint64_t at = place(layout.size);
  const auto field = [&](const char* name) { return at + layout.find_field(name)->offset; };
  pointer(field("next"), next);
  pointer(field("id"), communicator.id);
  integer(field("rank"), communicator.rank, platform.int_size);
  integer(field("size"), static_cast<std::int64_t>(communicator.group.size()), platform.int_size);
  std::copy(communicator.name.begin(), communicator.name.end(),
            heap_.begin() + static_cast<std::ptrdiff_t>(field("name") - first_address));
  pointer(field("operations"), operations);
  pointer(field("members"), members);
  return at;
}

std::uint64_t TestTarget::put(const TestOperation& operation, std::uint64_t next) {
  const TypeLayout& layout = **types_->find("test_operation");
  const std::uint64_t at = place(layout.size);
  const auto field = [&](const char* name) { return at + layout.find_field(name)->offset; };
  pointer(field("next"), next);
  integer(field("op_class"), static_cast<int>(operation.op_class), platform.int_size);
  integer(field("rank"), operation.rank, platform.int_size);
  integer(field("tag"), operation.tag, platform.int_size);
  integer(field("length"), operation.length, platform.long_size);
  pointer(field("buffer"), operation.buffer);
  return at;
}

WalkRequest TestTarget::request(const std::string& dll) {
  const auto worker = test_worker();
  WalkRequest request{{worker.program,
                       std::string(MQBRIDGE_TEST_DLLS) + "/" + dll + ".so",
                       {images, memory, platform},
                       "solver"}};
  request.op_classes = {op_classes.begin(), op_classes.end()};
  request.sandboxed = worker.sandboxed;
  return request;
}

} // namespace mqbridge
