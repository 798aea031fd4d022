// Debian's own debug DLL on a live Open MPI process (openmpi_singleton.c), without any stub: what
// the process posted is what is listed.

#include "host/memory/page_store.h"
#include "host/memory/reader.h"
#include "host/mpi/mpi_roots.h"
#include "host/mpi/openmpi/known_objects.h"
#include "host/mpi/openmpi/ob1_types.h"
#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_process.h"
#include "host/mpi/repairs.h"
#include "host/mqs/walk.h"
#include "host/types/type_pack.h"
#include "host/types/types_file.h"
#include "tests/mpi/damaged_memory.h"
#include "tests/mqs/process_memory.h"
#include "tests/support/contains_page.h"
#include "tests/support/faults_tried.h"
#include "tests/support/host_mpi.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// openmpi_singleton.c, running, past the line in which it says "ready".
class Singleton {
public:
  explicit Singleton(const char* mode) {
    int output[2];
    if (::pipe(input_) != 0 || ::pipe(output) != 0)
      return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(input_[0], STDIN_FILENO);
      ::dup2(output[1], STDOUT_FILENO);
      ::close(input_[1]);
      ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 1);
      ::setenv("PMIX_MCA_gds", "hash", 1);
      ::setenv("OMPI_MCA_pml", "ob1", 1);
      ::setenv("OMPI_MCA_btl", "self", 1);
      ::execl(MQBRIDGE_TEST_SINGLETON, MQBRIDGE_TEST_SINGLETON, mode, nullptr);
      ::_exit(127);
    }
    ::close(output[1]);
    char line[200] = {};
    for (std::size_t size = 0; size < sizeof line - 1; ++size)
      if (::read(output[0], line + size, 1) <= 0 || line[size] == '\n')
        break;
    ::close(output[0]);
    ready = std::sscanf(line, "ready %llx %llx", &small, &large) == 2 ||
            std::string_view(line) == "ready\n";
  }
  Singleton(const Singleton&) = delete;
  Singleton& operator=(const Singleton&) = delete;
  ~Singleton() {
    ::close(input_[0]);
    ::close(input_[1]);
    if (pid_ <= 0)
      return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }

  bool ready = false;
  unsigned long long small = 0; ///< addresses of its buffers
  unsigned long long large = 0;

private:
  int input_[2] = {-1, -1};
  pid_t pid_ = -1;
};

class OpenMpiProcess : public testing::Test {
protected:
  void start(const char* mode) {
    singleton = std::make_unique<Singleton>(mode);
    ASSERT_TRUE(singleton->ready);
    ::kill(singleton->pid(), SIGSTOP);
    auto loaded = images_of_process(singleton->pid());
    ASSERT_TRUE(loaded) << loaded.error().message;
    images = std::make_unique<ImageSet>(std::move(*loaded));
    auto types = open_types_file(MQBRIDGE_TEST_PACK);
    ASSERT_TRUE(types) << types.error().message;
    images->add_type_source(*types);
    memory = std::make_unique<ProcessMemory>(singleton->pid());
    platform.architecture = "x86_64";
    auto identified = identify_mpi({*images, *memory, platform});
    ASSERT_TRUE(identified) << identified.error().message;
    ASSERT_TRUE(*identified);
    mpi = std::move(**identified);
  }

  WalkResult walk(Memory& through, std::chrono::milliseconds limit = std::chrono::seconds(5)) {
    WalkRequest request{MQBRIDGE_WORKER, mpi.dll_name, {*images, through, platform}, "singleton"};
    request.op_classes = {op_classes.begin(), op_classes.end()};
    request.cpu_limit = limit;
    request.max_operations = 10'000;
    return walk_queues(request);
  }

  /// The communicators as a dump has them.
  std::vector<Communicator> communicators() {
    auto result = walk(*memory);
    EXPECT_FALSE(result.failure) << result.failure->message;
    EXPECT_THAT(result.dll_messages, IsEmpty());
    EXPECT_TRUE(repair(result.communicators, mpi, {*images, *memory, platform}));
    return std::move(result.communicators);
  }

  static const Operation* with_tag(const Queue& queue, std::optional<std::int64_t> tag) {
    const auto found =
        std::find_if(queue.operations.begin(), queue.operations.end(),
                     [&](const Operation& operation) { return operation.tag.value == tag; });
    return found != queue.operations.end() ? &*found : nullptr;
  }

  std::unique_ptr<Singleton> singleton;
  std::unique_ptr<ImageSet> images;
  std::unique_ptr<ProcessMemory> memory;
  Platform platform;
  MpiLibrary mpi;
};

TEST_F(OpenMpiProcess, SaysWhatItIs) {
  start("");
  EXPECT_EQ(mpi.provider, "openmpi");
  EXPECT_EQ(mpi.name, "Open MPI");
  ASSERT_TRUE(mpi.version);
  EXPECT_EQ(*mpi.version, test::openmpi_version());
  EXPECT_THAT(mpi.dll_name, testing::EndsWith("/libompi_dbg_msgq.so"));
  ASSERT_NE(mpi.image, nullptr);
  EXPECT_THAT(mpi.image->target_path, HasSubstr("libmpi.so"));
  EXPECT_EQ(openmpi::read_state({*images, *memory, platform}).value(), MpiState::initialized);
  EXPECT_EQ(openmpi::read_transport({*images, *memory, platform}).value(), "ob1");
  const auto check = openmpi::check_types(
      [&](std::string_view name) { return images->find_type(name); }, {*images, *memory, platform});
  ASSERT_TRUE(check);
  EXPECT_TRUE(check->fits());
  EXPECT_THAT(check->missing, IsEmpty());
  EXPECT_THAT(check->mismatches, IsEmpty());
  EXPECT_GE(check->compared, 11);
}

/// ob1 of another build, as far as the types say: the running plugin says otherwise, and the debug
/// DLL is asked all the same.
TEST_F(OpenMpiProcess, TypesOfAnotherOb1AreRefusedAlone) {
  start("");
  auto pack = read_type_pack(MQBRIDGE_TEST_PACK);
  ASSERT_TRUE(pack);
  for (auto& type : pack->types)
    if (type.name == "mca_pml_ob1_comm_proc_t")
      type.size += 8;
  ImageSet others(images->images());
  others.add_type_source(type_source(*pack));
  const AddressSpace space{others, *memory, platform};
  EXPECT_TRUE(
      openmpi::check_types([&](std::string_view name) { return others.find_type(name); }, space)
          .value()
          .fits());
  const auto lacking = openmpi::lacking_ob1_types(space).value();
  ASSERT_TRUE(lacking);
  EXPECT_THAT(lacking->message,
              HasSubstr("mca_pml_ob1_comm_proc_t: 176 bytes, the library says 168"));
}

/// Takes down the pages that are read.
class ReadPages final : public Memory {
public:
  explicit ReadPages(Memory& below) : below_(below) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    for (const auto& range : ranges)
      for (std::size_t at = 0; at < range.into.size(); ++at)
        pages.push_back((range.address.value + at) / PageStore::page_size);
    return below_.read_ranges(ranges);
  }

  std::vector<std::uint64_t> pages;

private:
  Memory& below_;
};

TEST_F(OpenMpiProcess, WhatADumpAsksForFirstIsInTheRootPages) {
  start("");
  ReadPages read(*memory);
  const auto find = [&](std::string_view name) { return images->find_type(name); };
  ASSERT_TRUE(identify_mpi({*images, read, platform}).value());
  EXPECT_EQ(openmpi::read_state({*images, read, platform}).value(), MpiState::initialized);
  EXPECT_EQ(openmpi::read_transport({*images, read, platform}).value(), "ob1");
  EXPECT_TRUE(openmpi::check_types(find, {*images, read, platform}).value().fits());
  EXPECT_TRUE(openmpi::queue_extent({*images, read, platform}).value());
  EXPECT_TRUE(openmpi::has_made_unlisted_requests({*images, read, platform}).value());
  EXPECT_TRUE(openmpi::read_progress({*images, read, platform}).value());
  EXPECT_EQ(openmpi::lacking_ob1_types({*images, read, platform}).value(), std::nullopt);
  const auto roots = mpi_root_pages(*images);
  ASSERT_THAT(read.pages, Not(IsEmpty()));
  for (const auto& run : runs_of(read.pages))
    for (auto page = run.first; page < run.first + run.count; ++page)
      EXPECT_TRUE(contains_page(roots, page)) << std::hex << page;
  EXPECT_LE(count_pages(roots), 64U) << "they are read in any case";
}

TEST_F(OpenMpiProcess, SaysWhetherItHasMadeRequestsThatNoListShows) {
  start("");
  const auto made = [&] {
    return openmpi::has_made_unlisted_requests({*images, *memory, platform}).value();
  };
  EXPECT_THAT(made(), testing::Optional(false));
  start("generalized"); // MPI_Grequest_start
  EXPECT_THAT(made(), testing::Optional(true));
}

// Open MPI 5 makes four of each of these at MPI_Init.
TEST(UnlistedRequests, OfPartitionedMessagesAreKnownByAnObjectThatEachOneHas) {
  EXPECT_FALSE(openmpi::is_unlisted_request("mca_part_persist_psend_request_t"));
  EXPECT_FALSE(openmpi::is_unlisted_request("mca_part_persist_precv_request_t"));
  EXPECT_TRUE(openmpi::is_unlisted_request("mca_part_persist_list_t"));
}

TEST_F(OpenMpiProcess, SaysWhetherItCallsMpiBetweenTwoLooks) {
  start("");
  const auto progress = [&] {
    return openmpi::read_progress({*images, *memory, platform}).value();
  };
  const auto first = progress();
  ASSERT_TRUE(first);
  EXPECT_EQ(progress(), first); // it waits outside of MPI
  start("waitall");
  const auto before = progress();
  ::kill(singleton->pid(), SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_NE(progress(), before);
}

TEST_F(OpenMpiProcess, SaysHowMuchThereIsToLookAt) {
  start("");
  const auto extent = openmpi::queue_extent({*images, *memory, platform});
  ASSERT_TRUE(extent) << extent.error().message;
  ASSERT_TRUE(*extent);
  std::uint64_t posted = 0;
  for (const auto& communicator : communicators())
    for (const auto& queue : communicator.queues)
      posted += queue.operations.size();
  EXPECT_GE((*extent)->items, posted);
  EXPECT_LT((*extent)->items, 1000U) << "a free list grows by some dozens";
  // A receive of ob1 has 656 bytes in 4.1.4, and starts at a cache line.
  EXPECT_GE((*extent)->bytes, (*extent)->items * 500);
  EXPECT_LE((*extent)->bytes, (*extent)->items * 2000);
}

TEST_F(OpenMpiProcess, SizesThatCannotBeSayNothing) {
  start("");
  const auto list = images->find_symbol("mca_pml_base_recv_requests");
  ASSERT_TRUE(list);
  const auto* layout = images->find_type("opal_free_list_t").value();
  const auto* allocated = layout->find_field("fl_num_allocated");
  DamagedMemory patched(*memory, list->address + allocated->offset + 7, {std::byte{1}});
  const auto extent = openmpi::queue_extent({*images, patched, platform});
  ASSERT_TRUE(extent);
  EXPECT_FALSE(*extent);
}

TEST_F(OpenMpiProcess, ListsWhatWasPosted) {
  start("");
  const auto all = communicators();
  ASSERT_THAT(all, SizeIs(4)) << "world, self, a dup, a named dup; MPI_COMM_NULL is none";
  EXPECT_EQ(all[0].name, "MPI_COMM_WORLD");
  EXPECT_EQ(all[1].name, "MPI_COMM_SELF");
  EXPECT_EQ(all[2].name, test::openmpi_version() < "5" ? "MPI COMMUNICATOR 3 DUP FROM 0"
                                                       : "MPI COMM 3 DUP FROM 0")
      << "not the name of the communicator that was freed";
  EXPECT_EQ(all[3].name, "the-name-of-a-communicator-that-is-just-as-long-as-MPI-allows-6");
  for (const auto& communicator : all) {
    EXPECT_EQ(communicator.size, 1);
    EXPECT_EQ(communicator.local_rank, 0);
    EXPECT_THAT(*communicator.group, ElementsAre(0));
    EXPECT_EQ(communicator.queue(OpClass::unexpected).state, QueueState::unavailable);
    EXPECT_EQ(communicator.queue(OpClass::unexpected).reason, QueueReason::not_provided);
  }
  std::vector<std::optional<std::int64_t>> tags;
  for (const auto& operation : all[0].queue(OpClass::receive).operations)
    tags.push_back(operation.tag.value);
  EXPECT_THAT(tags, UnorderedElementsAre(17, 18, 22, 23, 24));
  EXPECT_EQ(all[0].queue(OpClass::send).total, 0U);
  EXPECT_EQ(all[2].queue(OpClass::send).total, 2U);
  EXPECT_EQ(all[3].queue(OpClass::receive).total, 1U);
}

TEST_F(OpenMpiProcess, ReceivesAreWhatTheyAre) {
  start("");
  const auto all = communicators();
  const auto& receives = all.at(0).queue(OpClass::receive);
  const auto* plain = with_tag(receives, 17);
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(plain->status, OpStatus::pending);
  EXPECT_EQ(plain->peer.local_rank, 0);
  EXPECT_EQ(plain->peer.global_rank, 0);
  EXPECT_EQ(plain->length.value, 16);
  EXPECT_EQ(plain->buffer, TargetAddress{singleton->small});
  EXPECT_FALSE(plain->actual);
  const auto* any_source = with_tag(receives, 18);
  ASSERT_NE(any_source, nullptr);
  EXPECT_TRUE(any_source->peer.any);
  EXPECT_EQ(any_source->raw.desired_local_rank, 4294967295);
  const auto* inactive = with_tag(receives, 22);
  ASSERT_NE(inactive, nullptr);
  EXPECT_EQ(inactive->status, OpStatus::inactive);
  EXPECT_EQ(inactive->length.value, 4);
  EXPECT_FALSE(inactive->actual);
  const auto* complete = with_tag(receives, 24);
  ASSERT_NE(complete, nullptr);
  EXPECT_EQ(complete->status, OpStatus::complete);
  EXPECT_EQ(complete->length.value, 4);
  ASSERT_TRUE(complete->actual);
  EXPECT_EQ(complete->actual->local_rank, 0);
  EXPECT_EQ(complete->actual->tag, 24);
  EXPECT_EQ(complete->actual->length, 4);
  const auto& any_tag = all.at(3).queue(OpClass::receive).operations.at(0);
  EXPECT_TRUE(any_tag.tag.any);
  EXPECT_EQ(any_tag.length.value, 16);
}

TEST_F(OpenMpiProcess, SendsAreWhatTheyAre) {
  start("");
  const auto all = communicators();
  const auto& sends = all.at(2).queue(OpClass::send);
  const auto* large = with_tag(sends, 20);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(large->status, OpStatus::pending);
  EXPECT_EQ(large->peer.local_rank, 0);
  EXPECT_EQ(large->length.value, 1 << 20);
  EXPECT_EQ(large->buffer, TargetAddress{singleton->large});
  EXPECT_FALSE(large->system_buffer);
  ASSERT_TRUE(large->actual);
  EXPECT_EQ(large->actual->length, 1 << 20);
  const auto* synchronous = with_tag(sends, 21);
  ASSERT_NE(synchronous, nullptr);
  EXPECT_EQ(synchronous->status, OpStatus::pending);
}

TEST_F(OpenMpiProcess, WhatARankWaitsForIsPendingThoughTheDllSaysComplete) {
  start("waitall");
  ::kill(singleton->pid(), SIGCONT);
  const auto offset =
      images->find_type("ompi_request_t").value()->find_field("req_complete")->offset;
  std::vector<Communicator> all;
  const Operation* waited_for = nullptr;
  std::uint64_t req_complete = 0;
  for (int attempt = 0; attempt < 200 && req_complete == 0; ++attempt) { // until in MPI_Waitall
    all = communicators();
    waited_for = with_tag(all.at(0).queue(OpClass::receive), 18);
    ASSERT_NE(waited_for, nullptr);
    req_complete = read_unsigned(*memory, platform, *waited_for->request + offset, 8).value();
    ::usleep(10'000);
  }
  ASSERT_GT(req_complete, 1U) << "the object that waits";
  all = communicators();
  waited_for = with_tag(all.at(0).queue(OpClass::receive), 18);
  const bool looks_complete = req_complete % 256 != 0; // the DLL reads one byte of the pointer
  EXPECT_EQ(waited_for->raw.status, looks_complete ? 2 : 0);
  EXPECT_EQ(waited_for->status, OpStatus::pending);
  EXPECT_EQ(waited_for->repairs.contains(Repair::status), looks_complete);
  EXPECT_EQ(with_tag(all[0].queue(OpClass::receive), 24)->status, OpStatus::complete);
}

TEST_F(OpenMpiProcess, TheTransportIsNamedWithoutTypes) {
  start("");
  ImageSet untyped(images_of_process(singleton->pid())->images());
  EXPECT_EQ(openmpi::read_transport({untyped, *memory, platform}).value(), "ob1");
}

TEST_F(OpenMpiProcess, BeforeMpiInitThereIsNothing) {
  start("early");
  EXPECT_EQ(openmpi::read_state({*images, *memory, platform}).value(), MpiState::not_initialized);
  EXPECT_EQ(openmpi::read_transport({*images, *memory, platform}).value(), std::nullopt);
  EXPECT_THAT(communicators(), IsEmpty());
}

TEST_F(OpenMpiProcess, TypesOfAnotherBuildAreNoticed) {
  start("");
  class Wider final : public TypeSource {
  public:
    Result<const TypeLayout*> find(std::string_view name) override {
      return name == layout_.name ? &layout_ : nullptr;
    }

  private:
    TypeLayout layout_{"opal_free_list_t", 4000, {}};
  };
  Wider wider;
  const auto check = openmpi::check_types([&](std::string_view name) { return wider.find(name); },
                                          {*images, *memory, platform});
  ASSERT_TRUE(check);
  EXPECT_FALSE(check->fits());
  EXPECT_THAT(check->mismatches, testing::Contains(HasSubstr("opal_free_list_t: 4000 bytes")));
}

/// Open MPI's DLL goes on after reads that failed, and shows what it has then: it must not even be
/// asked. Types that do not fit are types.mismatch (select_types.h), and no walk.
struct WrongPlatform : OpenMpiProcess {
  std::vector<std::string> mismatches() {
    const auto check =
        openmpi::check_types([&](std::string_view name) { return images->find_type(name); },
                             {*images, *memory, platform});
    EXPECT_TRUE(check) << check.error().message;
    return check ? check->mismatches : std::vector<std::string>();
  }
};

TEST_F(WrongPlatform, AFlippedByteOrderShows) {
  start("");
  platform.byte_order = ByteOrder::big;
  EXPECT_THAT(mismatches(), testing::Contains(HasSubstr("the library says")));
}

TEST_F(WrongPlatform, AFlippedPointerSizeShows) {
  start("");
  platform.set_data_model(DataModel::ilp32);
  EXPECT_THAT(mismatches(),
              ElementsAre("opal_list_item_t.opal_list_next: 8 bytes, a pointer of the "
                          "target has 4"));
}

/// Types of which one field is elsewhere, although its type's size is right.
class FieldElsewhere {
public:
  FieldElsewhere(ImageSet& images, std::string_view type, std::string_view field)
      : images_(images), type_(type) {
    layout_ = *images.find_type(type).value();
    for (auto& each : layout_.fields)
      if (each.name == field)
        each.offset += each.offset + 8 + each.size <= layout_.size ? 8 : std::uint64_t{0} - 8;
  }

  Result<const TypeLayout*> find(std::string_view name) const {
    return name == type_ ? Result<const TypeLayout*>(&layout_) : images_.find_type(name);
  }

private:
  ImageSet& images_;
  std::string_view type_;
  TypeLayout layout_;
};

TEST_F(OpenMpiProcess, AFieldThatIsElsewhereIsSeenFromOpenMpisOwnObjects) {
  start("");
  const AddressSpace space{*images, *memory, platform};
  const TypeFinder right = [&](std::string_view name) { return images->find_type(name); };
  EXPECT_THAT(openmpi::misread_objects(right, space).value(), IsEmpty());
  std::vector<std::pair<std::string_view, std::string_view>> fields = {
      {"ompi_communicator_t", "c_my_rank"},   {"ompi_communicator_t", "c_remote_group"},
      {"ompi_group_t", "grp_my_rank"},        {"ompi_group_t", "grp_flags"},
      {"ompi_request_t", "req_state"},        {"ompi_request_t", "req_status"},
      {"ompi_status_public_t", "MPI_SOURCE"}, {"ompi_status_public_t", "MPI_TAG"},
      {"ompi_datatype_t", "super"},           {"opal_datatype_t", "size"}};
  // From 5.0 on the context id is a structure, and the name a pointer: neither is compared.
  if (test::openmpi_version() < "5")
    fields.insert(fields.end(),
                  {{"ompi_communicator_t", "c_contextid"}, {"ompi_communicator_t", "c_name"}});
  else
    fields.emplace_back("ompi_communicator_t", "c_index");
  for (const auto& [type, field] : fields) {
    SCOPED_TRACE(testing::Message() << type << "." << field);
    const FieldElsewhere types(*images, type, field);
    const TypeFinder find = [&](std::string_view name) { return types.find(name); };
    EXPECT_THAT(openmpi::misread_objects(find, space).value(), Not(IsEmpty()));
    EXPECT_FALSE(openmpi::check_types(find, space).value().fits());
  }
}

TEST_F(OpenMpiProcess, ACorruptFreeListCostsAnErrorAndNotTheHost) {
  start("");
  const auto requests = images->find_symbol("mca_pml_base_recv_requests");
  ASSERT_TRUE(requests);
  const TypeLayout* list = images->find_type("opal_free_list_t").value();
  // Open MPI's DLL divides by fl_num_per_alloc.
  const TargetAddress divisor = requests->address + list->find_field("fl_num_per_alloc")->offset;
  DamagedMemory corrupt(*memory, divisor, std::vector<std::byte>(4));
  const auto result = walk(corrupt);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.crashed");
  EXPECT_THAT(result.failure->message, HasSubstr("SIGFPE"));
  EXPECT_EQ(result.communicators.at(0).name, "MPI_COMM_WORLD") << "found before";
}

TEST_F(OpenMpiProcess, ACyclicListEndsByTheParentsClock) {
  start("");
  const auto requests = images->find_symbol("mca_pml_base_recv_requests");
  ASSERT_TRUE(requests);
  const TypeLayout* list = images->find_type("opal_free_list_t").value();
  const TypeLayout* item = images->find_type("opal_list_item_t").value();
  const TypeLayout* chain = images->find_type("opal_list_t").value();
  const TargetAddress next = requests->address + list->find_field("fl_allocations")->offset +
                             chain->find_field("opal_list_sentinel")->offset +
                             item->find_field("opal_list_next")->offset;
  std::array<std::byte, 8> first{};
  ASSERT_EQ(memory->read(next, first).value(), first.size());
  std::uint64_t block = 0;
  std::memcpy(&block, first.data(), sizeof block);
  const TargetAddress next_of_block{block + item->find_field("opal_list_next")->offset};
  DamagedMemory cyclic(*memory, next_of_block, std::vector<std::byte>(first.begin(), first.end()));
  WalkRequest request{MQBRIDGE_WORKER, mpi.dll_name, {*images, cyclic, platform}, "singleton"};
  request.op_classes = {OpClass::receive};
  request.cpu_limit = std::chrono::milliseconds(500);
  request.max_operations = 1'000'000'000;
  request.keep = [](const Communicator&, OpClass, const Operation&) { return false; };
  const auto result = walk_queues(request);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.timeout");
  EXPECT_EQ(result.communicators.at(0).queue(OpClass::receive).truncated_by, TruncatedBy::time);
}

/// What a freed communicator, a list that was half written and a stray pointer leave behind. The
/// DLL may crash, loop, or believe it; the walk ends and names the DLL.
TEST_F(OpenMpiProcess, AnyFieldOfItsRootsMayBeGarbage) {
  start("");
  const std::pair<std::string, const char*> roots[] = {
      {"ompi_mpi_communicators", "opal_pointer_array_t"},
      {"mca_pml_base_recv_requests", "opal_free_list_t"},
      {"mca_pml_base_send_requests", "opal_free_list_t"},
  };
  std::size_t tried = 0;
  for (const auto& [symbol, type] : roots) {
    const auto root = images->find_symbol(symbol);
    ASSERT_TRUE(root) << symbol;
    for (const auto& field : images->find_type(type).value()->fields) {
      for (const int byte : {0x00, 0x01, 0xff}) {
        const auto size = std::clamp<std::uint64_t>(field.size, 1, 8);
        DamagedMemory corrupt(*memory, root->address + field.offset,
                              std::vector<std::byte>(size, static_cast<std::byte>(byte)));
        const auto result = walk(corrupt, std::chrono::milliseconds(400));
        ++tried;
        expect_ended(result, "libompi_dbg_msgq.so", symbol + field.name);
      }
    }
  }
  test::faults_tried(tried);
  EXPECT_GE(tried, 60U);
  EXPECT_THAT(communicators(), SizeIs(4)) << "the process itself is as it was";
}

/// The third communicator's place in the array leads to nothing, to something else, to a buffer.
TEST_F(OpenMpiProcess, AFreedCommunicatorCostsAtMostTheWalk) {
  start("");
  const auto array = images->find_symbol("ompi_mpi_communicators");
  ASSERT_TRUE(array);
  const auto* layout = images->find_type("opal_pointer_array_t").value();
  const auto elements =
      read_unsigned(*memory, platform, array->address + layout->find_field("addr")->offset, 8);
  ASSERT_TRUE(elements);
  for (const std::uint64_t leads_to :
       {std::uint64_t{0}, std::uint64_t{0xdead0000}, array->address.value,
        std::uint64_t{singleton->small}, std::uint64_t{singleton->large}}) {
    std::vector<std::byte> pointer(8);
    std::memcpy(pointer.data(), &leads_to, pointer.size());
    DamagedMemory freed(*memory, TargetAddress{*elements + 2 * 8}, pointer);
    const auto result = walk(freed, std::chrono::seconds(2));
    expect_ended(result, "libompi_dbg_msgq.so", fmt::format("{:#x}", leads_to));
    if (read_unsigned(*memory, platform, TargetAddress{leads_to}, 8))
      continue; // garbage that can be read: the DLL believes it, and may find nothing else
    const auto world =
        std::ranges::find(result.communicators, "MPI_COMM_WORLD", &Communicator::name);
    ASSERT_NE(world, result.communicators.end()) << leads_to;
    EXPECT_EQ(world->queue(OpClass::receive).total, 5U) << leads_to;
  }
}

} // namespace
} // namespace mqbridge
