// MPIR_proctable as launchers of all platforms lay it out, and as liars do.

#include "host/job/proctable.h"
#include "tests/builders/elf_builder.h"
#include "tests/support/fake_memory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t table_at = 0x100000;
constexpr std::uint64_t names_at = 0x400000;
constexpr std::uint64_t name_room = 0x2000; ///< from one name to the next

/// A launcher: its symbols, and what its memory holds.
class LauncherWithTable {
public:
  explicit LauncherWithTable(const ElfShape& shape) : shape_(shape) {
    ElfBuilder builder(shape);
    const auto word = static_cast<std::size_t>(shape.word());
    table_ = {builder.add_data(std::string(word, '\0')).value};
    size_ = {builder.add_data(std::string(8, '\0')).value};
    builder.add_symbols(SHT_SYMTAB, {{"MPIR_proctable", table_.value, word},
                                     {"MPIR_proctable_size", size_.value, 4}});
    builder.write(directory_ / "mpirun");
    auto file = ElfFile::open(directory_ / "mpirun");
    EXPECT_TRUE(file);
    platform_ = (*file)->platform();
    Image image;
    image.file = *file;
    std::vector<Image> images;
    images.push_back(std::move(image));
    images_.emplace(std::move(images));
    put_word(table_, table_at);
  }

  /// The next entry; a text at its usual place.
  void add(const std::string& host, const std::string& executable, std::int64_t pid) {
    add_pointers(put_text(host), put_text(executable), pid);
  }
  void add_pointers(std::uint64_t host, std::uint64_t executable, std::int64_t pid) {
    const auto word = static_cast<std::uint64_t>(shape_.word());
    // {char*, char*, int}, and what fills it up to the alignment of a pointer
    const TargetAddress entry{table_at + entries_ * (word == 8 ? 24 : 12)};
    put_word(entry, host);
    put_word(entry + word, executable);
    memory_.put_integer(entry + 2 * word, static_cast<std::uint64_t>(pid), 4, big_endian());
    if (word == 8) // not zero in Slurm's srun
      memory_.put_integer(entry + 20, 0xdeadbeef, 4, big_endian());
    state_size(static_cast<std::int64_t>(++entries_));
  }
  std::uint64_t put_text(const std::string& text, bool ends = true) {
    const auto at = names_at + texts_++ * name_room;
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    if (ends)
      bytes.push_back(0);
    memory_.put({at}, std::move(bytes));
    return at;
  }
  void state_size(std::int64_t size) {
    memory_.put_integer(size_, static_cast<std::uint64_t>(size), 4, big_endian());
  }
  void point_to(std::uint64_t address) { put_word(table_, address); }

  Result<Proctable> read() { return read_proctable(*images_, memory_, platform_); }
  FakeMemory& memory() { return memory_; }

private:
  bool big_endian() const { return shape_.byte_order == ByteOrder::big; }
  void put_word(TargetAddress at, std::uint64_t value) {
    memory_.put_integer(at, value, static_cast<std::size_t>(shape_.word()), big_endian());
  }

  ElfShape shape_;
  TestDirectory directory_;
  Platform platform_;
  std::optional<ImageSet> images_;
  FakeMemory memory_;
  TargetAddress table_, size_;
  std::uint64_t entries_ = 0;
  std::uint64_t texts_ = 0;
};

struct ProctableOn : ::testing::TestWithParam<ElfShape> {
  LauncherWithTable launcher{GetParam()};

  std::string only_fault(const Proctable& table) {
    EXPECT_THAT(table.faults, SizeIs(1));
    return table.faults.empty() ? std::string() : table.faults.front().message;
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, ProctableOn, ::testing::ValuesIn(elf_shapes),
                         [](const auto& of) { return of.param.architecture; });

TEST_P(ProctableOn, HasTheRanksInOrder) {
  for (int rank = 0; rank < 5; ++rank)
    launcher.add(fmt::format("n{:03}", rank / 2), "/home/me/solver", 4000 + rank);
  const auto table = launcher.read();
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_THAT(table->faults, IsEmpty());
  ASSERT_THAT(table->entries, SizeIs(5));
  EXPECT_EQ(table->size, 5U);
  EXPECT_EQ(table->entries[3].rank, 3);
  EXPECT_EQ(table->entries[3].host, "n001");
  EXPECT_EQ(table->entries[3].executable, "/home/me/solver");
  EXPECT_EQ(table->entries[3].pid, 4003);
}

TEST_P(ProctableOn, OfAThousandRanksTakesFewBursts) {
  const auto long_path = "/" + std::string(900, 'p');
  for (int rank = 0; rank < 1000; ++rank)
    launcher.add(fmt::format("n{}", rank), rank % 2 == 0 ? "/solver" : long_path, 10 + rank);
  const auto table = launcher.read();
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_THAT(table->entries, SizeIs(1000));
  EXPECT_EQ(table->entries[999].executable, long_path);
  EXPECT_LE(launcher.memory().calls, 5); // pointer, size, table, names, the rest of long ones
}

TEST_P(ProctableOn, OneBadEntryCostsNoOther) {
  launcher.add("n0", "/solver", 10);
  launcher.add_pointers(0xdead0000, 0xdead0000, 11);
  launcher.add("n2", "/solver", -1);
  launcher.add("n0", "/solver", 10);
  launcher.add_pointers(launcher.put_text(std::string(300, 'x')), 0, 14);
  launcher.add_pointers(launcher.put_text("n5"), 0xdead0000, 15);
  const auto table = launcher.read();
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_THAT(table->entries, SizeIs(2));
  EXPECT_EQ(table->entries[1].rank, 5);
  EXPECT_EQ(table->entries[1].host, "n5");
  EXPECT_EQ(table->entries[1].executable, ""); // not known; a rank all the same
  std::string faults;
  for (const auto& fault : table->faults)
    faults += fault.message + "\n";
  EXPECT_THAT(faults, HasSubstr("a host name that cannot be read (rank 1: 0xdead0000)"));
  EXPECT_THAT(faults, HasSubstr("a number that is no process id (rank 2: -1)"));
  EXPECT_THAT(faults, HasSubstr("the process of another rank (rank 3: that of rank 0)"));
  EXPECT_THAT(faults, HasSubstr("a host name without end (rank 4"));
}

TEST_P(ProctableOn, AThousandBadEntriesAreFewWords) {
  for (int rank = 0; rank < 1000; ++rank)
    launcher.add_pointers(0x10, 0x10, 10 + rank);
  const auto table = launcher.read();
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_THAT(table->entries, IsEmpty());
  EXPECT_LT(only_fault(*table).size(), 300U);
  EXPECT_THAT(only_fault(*table), HasSubstr("1000 of 1000 entries"));
}

TEST_P(ProctableOn, ASizeThatNoJobHasIsAnError) {
  launcher.add("n0", "/solver", 10);
  for (const auto size : {std::int64_t{1'000'000'000}, std::int64_t{-1}}) {
    launcher.state_size(size);
    launcher.memory().bytes_asked = 0;
    const auto table = launcher.read();
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, "mpirun.proctable");
    EXPECT_THAT(table.error().message, HasSubstr(std::to_string(size)));
    EXPECT_LT(launcher.memory().bytes_asked, 100U);
  }
}

TEST_P(ProctableOn, EntriesThatAreNotThereAreCounted) {
  launcher.add("n0", "/solver", 10);
  launcher.add("n1", "/solver", 11);
  launcher.state_size(200'000);
  const auto table = launcher.read();
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_THAT(table->entries, SizeIs(2));
  EXPECT_THAT(only_fault(*table), HasSubstr("the last 199998 of 200000"));
}

TEST_P(ProctableOn, APointerToNowhereIsAnError) {
  launcher.add("n0", "/solver", 10);
  launcher.point_to(0x7000);
  const auto table = launcher.read();
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, "mpirun.proctable");
  EXPECT_THAT(table.error().message, HasSubstr("0x7000"));
}

TEST_P(ProctableOn, AnEmptyOneHasNotBeenFilledYet) {
  launcher.state_size(0);
  EXPECT_EQ(launcher.read().error().code, "mpirun.not_started");
  launcher.state_size(3);
  launcher.point_to(0);
  EXPECT_EQ(launcher.read().error().code, "mpirun.not_started");
}

TEST(Proctable, IsMissingWithoutItsSymbols) {
  const ImageSet images({});
  FakeMemory memory;
  EXPECT_EQ(read_proctable(images, memory, Platform()).error().code, "mpirun.no_proctable");
}

} // namespace
} // namespace mqbridge::test
