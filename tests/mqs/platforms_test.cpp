// Random structures, written as each platform's compiler would lay them out, and read back through
// the callbacks by a debug DLL (dlls/properties.c) in the real worker. And the proof that a wrong
// byte order or pointer size shows, instead of passing for values.

#include "host/mpi/mpi_support.h"
#include "host/mpi/plausible.h"
#include "tests/mqs/test_target.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>

namespace mqbridge {
namespace {

using testing::ElementsAreArray;
using testing::SizeIs;

constexpr int layouts_a_platform = 6;
constexpr std::size_t records_a_layout = 40;
constexpr std::size_t fields_a_record = 5; // lines of extra_text
constexpr std::size_t array_elements = 7;

struct NamedPlatform {
  std::string name;
  Platform platform;
};

void PrintTo(const NamedPlatform& of, std::ostream* out) {
  *out << of.name;
}

/// Every data model in both byte orders; the 32-bit ones with the alignments of i386 and m68k, too.
std::vector<NamedPlatform> platforms() {
  std::vector<NamedPlatform> all;
  for (const auto order : {ByteOrder::little, ByteOrder::big}) {
    const std::string suffix = order == ByteOrder::little ? "_le" : "_be";
    Platform platform;
    platform.byte_order = order;
    for (const auto& [name, model] : {std::pair{"lp64", DataModel::lp64},
                                      {"llp64", DataModel::llp64},
                                      {"ilp32", DataModel::ilp32}}) {
      platform.set_data_model(model);
      all.push_back({name + suffix, platform});
    }
    platform.int64_alignment = 4;
    all.push_back({"ilp32_aligned_4" + suffix, platform});
    platform.int64_alignment = platform.pointer_alignment = 2;
    all.push_back({"ilp32_aligned_2" + suffix, platform});
  }
  return all;
}

/// What one field of a record is, and what stands in it: one number, or the elements of an array,
/// most significant byte first.
struct RecordField {
  std::string name;
  std::size_t width;
  std::size_t count;
  std::size_t offset = 0;
};

/// A list of records in a process that is only bytes, of a random layout.
class Records {
public:
  Records(const Platform& of, std::mt19937_64::result_type seed)
      : platform(of), target_(of), random_(seed), types_(std::make_shared<FakeTypes>()) {
    lay_out();
    for (std::size_t i = 0; i < records_a_layout; ++i)
      append();
    link();
    target_.memory.put({base()}, heap_);
    target_.set_root(addresses.front());
    target_.images.add_type_source(types_);
  }

  WalkRequest request() { return target_.request("properties"); }
  /// From now on the process is taken for one of another platform than its bytes are.
  void mistake_for(const Platform& wrong) { target_.platform = wrong; }

  Platform platform;
  std::vector<std::uint64_t> addresses;
  std::vector<std::vector<std::string>> lines; ///< of each record, as the DLL should print them

private:
  /// Where the other pointer size, and sign extension, make another address of it.
  std::uint64_t base() const { return platform.pointer_size == 8 ? 0x7f1234560000 : 0xfff00000; }

  std::size_t pick(std::size_t below) { return random_() % below; }

  RecordField random_field(std::size_t index) {
    const auto size = [](int bytes) { return static_cast<std::size_t>(bytes); };
    const std::string number = std::to_string(index);
    switch (pick(7)) {
    case 0:
      return {"s" + number, size(platform.short_size), 1};
    case 1:
      return {"i" + number, size(platform.int_size), 1};
    case 2:
      return {"l" + number, size(platform.long_size), 1};
    case 3:
      return {"L" + number, size(platform.long_long_size), 1};
    case 4:
      return {"p" + number, size(platform.pointer_size), 1};
    case 5:
      return {"a" + number, size(platform.int_size), array_elements};
    default: {
      const auto width = 1 + pick(16);
      return {fmt::format("b{}_{}", width, index), width, 1};
    }
    }
  }

  /// As C does: each field aligned, the end padded to the strictest alignment.
  void lay_out() {
    std::size_t end = 0;
    std::size_t strictest = 1;
    const auto place = [&](RecordField& field) {
      const bool scalar = field.width <= 8 && (field.width & (field.width - 1)) == 0;
      const auto alignment =
          scalar ? static_cast<std::size_t>(platform.alignment_of(static_cast<int>(field.width)))
                 : 1;
      field.offset = (end + alignment - 1) / alignment * alignment;
      end = field.offset + field.width * field.count;
      strictest = std::max(strictest, alignment);
    };
    const auto link_at = pick(fields_a_record);
    link_ = {"next", static_cast<std::size_t>(platform.pointer_size), 1};
    for (std::size_t i = 0; i < fields_a_record; ++i) {
      if (i == link_at)
        place(link_);
      fields_.push_back(random_field(i));
      place(fields_.back());
    }
    size_ = (end + strictest - 1) / strictest * strictest;
    alignment_ = strictest;
    TypeLayout layout{"struct test_record", size_, {{"next", link_.offset, link_.width}}};
    for (const auto& field : fields_)
      layout.fields.push_back({field.name, field.offset, field.width * field.count});
    types_->add(std::move(layout));
  }

  void append() {
    // Gaps, so that addresses have every alignment that the platform allows, and pages are crossed.
    heap_.resize(heap_.size() + alignment_ * (1 + pick(90)));
    heap_.resize((heap_.size() + alignment_ - 1) / alignment_ * alignment_);
    addresses.push_back(base() + heap_.size());
    heap_.resize(heap_.size() + size_);
    auto& record_lines = lines.emplace_back();
    for (const auto& field : fields_) {
      auto& line = record_lines.emplace_back();
      for (std::size_t element = 0; element < field.count; ++element) {
        std::vector<std::uint8_t> number(field.width); // most significant byte first
        for (auto& byte : number)
          byte = random_byte();
        write(addresses.back() + field.offset + element * field.width, number);
        for (const auto byte : number)
          line += fmt::format("{:02x}", byte);
      }
    }
  }

  /// The extremes more often than chance has them.
  std::uint8_t random_byte() {
    constexpr std::uint8_t extremes[] = {0x00, 0xff, 0x80, 0x7f};
    return pick(3) == 0 ? extremes[pick(4)] : static_cast<std::uint8_t>(pick(256));
  }

  void link() {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const std::uint64_t next = i + 1 < addresses.size() ? addresses[i + 1] : 0;
      std::vector<std::uint8_t> number;
      for (std::size_t byte = link_.width; byte-- > 0;)
        number.push_back(static_cast<std::uint8_t>(next >> (8 * byte)));
      write(addresses[i] + link_.offset, number);
    }
  }

  void write(std::uint64_t address, std::span<const std::uint8_t> most_significant_first) {
    const auto width = most_significant_first.size();
    for (std::size_t i = 0; i < width; ++i) {
      const auto at = platform.byte_order == ByteOrder::big ? i : width - 1 - i;
      heap_[address - base() + at] = most_significant_first[i];
    }
  }

  TestTarget target_;
  std::mt19937_64 random_;
  std::shared_ptr<FakeTypes> types_;
  std::vector<RecordField> fields_;
  RecordField link_;
  std::size_t size_ = 0;
  std::size_t alignment_ = 1;
  std::vector<std::uint8_t> heap_;
};

class OnPlatform : public testing::TestWithParam<NamedPlatform> {};

INSTANTIATE_TEST_SUITE_P(, OnPlatform, testing::ValuesIn(platforms()),
                         [](const auto& of) { return of.param.name; });

TEST_P(OnPlatform, RandomStructuresAreReadAsTheyWereWritten) {
  for (int seed = 0; seed < layouts_a_platform; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Records records(GetParam().platform, static_cast<std::uint64_t>(seed));
    const auto result = walk_queues(records.request());
    ASSERT_FALSE(result.failure) << result.failure->message;
    ASSERT_THAT(result.communicators, SizeIs(1));
    const auto& operations = result.communicators[0].queue(OpClass::receive).operations;
    ASSERT_EQ(operations.size(), records_a_layout);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      ASSERT_THAT(operations[i].text, ElementsAreArray(records.lines[i])) << i;
      ASSERT_EQ(operations[i].buffer, TargetAddress{records.addresses[i]}) << i;
    }
  }
}

TEST_P(OnPlatform, AddressesThatTheDllSignExtendsAreTheTargets) {
  Records records(GetParam().platform, 1);
  const auto result = walk_queues(records.request());
  ASSERT_THAT(result.communicators, SizeIs(1));
  const bool narrow = GetParam().platform.pointer_size == 4;
  EXPECT_EQ(result.communicators[0].id.value, narrow ? 0x80001234 : 0xffffffff80001234);
}

/// The walk failed, or found what no MPI has; and nothing passed for a value.
void expect_loud(Records& records, const Platform& wrong) {
  records.mistake_for(wrong);
  const auto result = walk_queues(records.request());
  EXPECT_TRUE(result.failure || find_implausible(result.communicators, support_of("other")));
  for (const auto& communicator : result.communicators)
    EXPECT_EQ(communicator.queue(OpClass::receive).operations.size(), 0U);
}

TEST_P(OnPlatform, AFlippedByteOrderFailsLoudly) {
  Records records(GetParam().platform, 2);
  Platform wrong = GetParam().platform;
  wrong.byte_order = wrong.byte_order == ByteOrder::big ? ByteOrder::little : ByteOrder::big;
  expect_loud(records, wrong);
}

TEST_P(OnPlatform, AFlippedPointerSizeFailsLoudly) {
  Records records(GetParam().platform, 3);
  Platform wrong = GetParam().platform;
  wrong.set_data_model(wrong.pointer_size == 8 ? DataModel::ilp32 : DataModel::lp64);
  expect_loud(records, wrong);
}

TEST(Plausible, WhatNoMpiHas) {
  struct Case {
    const char* name;
    std::int64_t size;
    std::optional<std::int64_t> rank;
    bool plausible;
  };
  for (const auto& [name, size, rank, fits] :
       {Case{"MPI_COMM_WORLD", 4, 3, true}, Case{"MPI_COMM_WORLD", 4, 4, false},
        Case{"MPI_COMM_WORLD", 4, std::nullopt, false},
        Case{"MPI_COMM_WORLD", 0x04000000, 1, false}, Case{"MPI_COMM_SELF", 0x01000000, 0, false},
        Case{"halo", 0x00ffffff, 0, true}, Case{"halo", -5, 0, false}, Case{"inter", 2, 7, true},
        Case{"not a member", 3, std::nullopt, true}}) {
    std::vector<Communicator> communicators(2);
    communicators[0].name = "MPI_COMM_WORLD";
    communicators[0].size = 1;
    communicators[0].local_rank = 0;
    communicators[1].name = name;
    communicators[1].size = size;
    communicators[1].local_rank = rank;
    communicators[1].named_by_mpi = true;
    const auto error = find_implausible(communicators, support_of("other"));
    EXPECT_EQ(!error, fits) << name << " " << size;
    if (error) {
      EXPECT_EQ(error->code, "walk.implausible");
      EXPECT_THAT(error->message, testing::HasSubstr(name));
    }
  }
  EXPECT_TRUE(find_implausible({}, support_of("other")));
}

/// A walk that crashed or was cut has found garbage just as one that came to its end.
TEST(Plausible, GarbageIsDroppedHoweverTheWalkEnded) {
  for (const bool complete : {true, false}) {
    std::vector<Communicator> communicators(1);
    communicators[0].name = "MPI_COMM_WORLD";
    communicators[0].size = 4;
    communicators[0].local_rank = 3;
    EXPECT_FALSE(drop_implausible(communicators, support_of("other"), complete));
    EXPECT_EQ(communicators.size(), 1U);
    communicators[0].local_rank = 77'000;
    EXPECT_TRUE(drop_implausible(communicators, support_of("other"), complete));
    EXPECT_TRUE(communicators.empty());
  }
  std::vector<Communicator> none;
  EXPECT_TRUE(drop_implausible(none, support_of("other"), true));
  EXPECT_FALSE(drop_implausible(none, support_of("other"), false)) << "it came to none";
}

/// A program may give that name to what this process has another rank in.
TEST(Plausible, ANameThatTheProgramGaveProvesNothing) {
  std::vector<Communicator> communicators(2);
  communicators[0].size = 1;
  communicators[0].local_rank = 0;
  communicators[1].id = {9};
  communicators[1].name = "MPI_COMM_WORLD";
  communicators[1].size = 2;
  communicators[1].local_rank = 7;
  EXPECT_FALSE(find_implausible(communicators, support_of("openmpi")));
  communicators[1].name = "MPI_COMM_SELF";
  EXPECT_FALSE(find_implausible(communicators, support_of("openmpi")));
}

/// What Open MPI's debug DLL says of MPI_COMM_WORLD is the id 0.
TEST(Plausible, WhereThereIsNoWorldOrSeveral) {
  struct Case {
    std::vector<std::uint64_t> ids;
    const char* says; ///< "": no doubt
  };
  for (const auto& [ids, says] : {Case{{}, ""}, Case{{0}, ""}, Case{{1, 0, 3}, ""},
                                  Case{{1, 3},
                                       "of the 2 communicators that the debug DLL listed "
                                       "none is MPI_COMM_WORLD"},
                                  Case{{0, 1, 0}, "several are MPI_COMM_WORLD"}}) {
    std::vector<Communicator> communicators(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
      communicators[i].id = {ids[i]};
    const auto doubt = doubt_without_world(communicators, support_of("openmpi"), false);
    EXPECT_EQ(doubt.has_value(), *says != '\0') << testing::PrintToString(ids);
    if (doubt) {
      EXPECT_EQ(doubt->code, "walk.no_world");
      EXPECT_THAT(doubt->message, testing::HasSubstr(says));
    }
    // By its name alone, which a program may give to any: no reason for doubt.
    EXPECT_FALSE(doubt_without_world(communicators, support_of("other"), false));
    // A session has none; but never several.
    const bool several = std::ranges::count(ids, std::uint64_t{0}) > 1;
    EXPECT_EQ(doubt_without_world(communicators, support_of("openmpi"), true).has_value(), several);
  }
}

} // namespace
} // namespace mqbridge
