// What mqbridge reads of Open MPI's variables in the memory of a stopped process is what the
// process itself reads through MPI_T (tests/inferiors/tool_variables.c).

#include "host/mpi/mpi_support.h"
#include "host/types/type_pack.h"
#include "host/types/types_file.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/mpi/said_variables.h"
#include "tests/mqs/process_memory.h"
#include "tests/support/faults_tried.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace mqbridge {
namespace {

using e2e::SingleProcess;
using nlohmann::json;
using test::expect_said;
using test::said_by;
using test::shown;
using test::value_of;
using testing::HasSubstr;
using testing::IsEmpty;

std::string pack_of(std::string_view architecture) {
  return architecture == "amd64"
             ? MQBRIDGE_TEST_PACK
             : fmt::format("{}/openmpi-4.1.4-{}.types", MQBRIDGE_TEST_PACKS, architecture);
}

/// A process of this machine's kernel that stands still meanwhile.
class Stopped {
public:
  explicit Stopped(pid_t pid, const std::string& architecture = "amd64")
      : pid_(pid), memory(pid), images(images_of_process(pid).value()) {
    ::kill(pid, SIGSTOP);
    images.add_type_source(open_types_file(pack_of(architecture)).value());
    platform.architecture = architecture == "amd64" ? "x86_64" : architecture;
    if (architecture == "i386") {
      platform.set_data_model(DataModel::ilp32);
      platform.int64_alignment = 4;
    }
  }
  ~Stopped() { ::kill(pid_, SIGCONT); }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

  AddressSpace space() { return {images, memory, platform}; }
  Result<std::optional<ProcessVariables>> read() {
    return support_of("openmpi").read_variables(space(), warnings);
  }

private:
  pid_t pid_;

public:
  ProcessMemory memory;
  ImageSet images;
  Platform platform;
  Warnings warnings;
};

std::size_t count(const ProcessVariables& all, VariableKind kind) {
  return static_cast<std::size_t>(std::ranges::count(all.variables, kind, &Variable::kind));
}

const Variable* find(const ProcessVariables& all, std::string_view name) {
  const auto found = std::ranges::find(all.variables, name, &Variable::name);
  return found != all.variables.end() ? &*found : nullptr;
}

TEST(OpenMpiVariables, AreWhatTheProcessReadsThroughMpiT) {
  SingleProcess process("tool_variables");
  Stopped stopped(process.pid());
  const auto all = stopped.read();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_TRUE(*all);
  EXPECT_THAT(stopped.warnings, IsEmpty());
  EXPECT_TRUE((*all)->whole);
  EXPECT_THAT((*all)->sources, testing::ElementsAre(VariableSource::memory));
  EXPECT_GT(count(**all, VariableKind::control), 600U);
  EXPECT_GT(count(**all, VariableKind::performance), 2U);
  expect_said(**all, said_by(process.directory()));
}

TEST(OpenMpiVariables, OfAPlatformOf32Bits) {
  const auto& platform = e2e::foreign_platform("i386");
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  SingleProcess process([&](const auto& directory) {
    return foreign_command(platform, directory, {}, "tool_variables");
  });
  process.await_ready();
  Stopped stopped(process.pid(), "i386");
  const auto all = stopped.read();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE((*all)->whole);
  EXPECT_GT(count(**all, VariableKind::control), 600U);
  expect_said(**all, said_by(process.directory()));
}

/// With these variables in its environment.
std::unique_ptr<SingleProcess>
process_with(const std::vector<std::pair<std::string, std::string>>& environment) {
  auto process = std::make_unique<SingleProcess>([&](const auto& directory) {
    auto spec = SingleProcess::command("tool_variables", directory);
    spec.environment.insert(spec.environment.end(), environment.begin(), environment.end());
    return spec;
  });
  process->await_ready();
  return process;
}

TEST(OpenMpiVariables, SayWhoSetThem) {
  const test::TempDirectory directory;
  const auto file = directory / "params.conf";
  std::ofstream(file) << "mpi_abort_delay = 7\ncoll_tuned_priority = 3\n";
  const auto process = process_with({{"OMPI_MCA_mca_base_param_files", file.string()},
                                     {"OMPI_MCA_coll_tuned_priority", "2"},
                                     {"OMPI_MCA_mpi_show_mca_params_file", "a b"}});
  Stopped stopped(process->pid());
  const auto all = stopped.read().value().value();
  const auto expect = [&](std::string_view name, const std::string& set_by, const json& value) {
    const auto* variable = find(all, name);
    ASSERT_NE(variable, nullptr) << name;
    EXPECT_EQ(variable->set_by, set_by) << name;
    EXPECT_EQ(value_of(*variable), value) << name;
  };
  expect("mpi_abort_delay", "file " + file.string(), {7});
  expect("coll_tuned_priority", "environment", {2});
  expect("mpi_show_mca_params_file", "environment", "a b");
  expect("mpi_preconnect_mpi", "default", {0});
  // A synonym says of itself what it stands for.
  ASSERT_NE(find(all, "mpi_preconnect_all"), nullptr);
  EXPECT_EQ(find(all, "mpi_preconnect_all")->set_by, "default");
}

// What functions of the process would compute is read from ob1's own lists.
TEST(OpenMpiVariables, HaveTheLengthsOfQueues) {
  const std::vector<std::string> names = {"pml_ob1_unexpected_msgq_length",
                                          "pml_ob1_posted_recvq_length"};
  e2e::MpiJob job(e2e::JobSpec{.program = "tool_samples", .arguments = names});
  {
    Stopped stopped(job.pid(0));
    const auto all = stopped.read().value().value();
    const auto lines = test::samples_of(all, names);
    EXPECT_THAT(lines, testing::ContainerEq(test::samples_said_by(job.directory())));
    EXPECT_TRUE(lines.contains("pml_ob1_unexpected_msgq_length MPI_COMM_WORLD 0 2"));
  }
  EXPECT_EQ(job.finish(), "");
}

// What has been registered so far, with the values that MPI_T gives later.
TEST(OpenMpiVariables, OfAProcessThatNeverAskedMpiT) {
  SingleProcess asked("tool_variables");
  std::map<std::string, json> said;
  const json all_said = said_by(asked.directory());
  for (auto each : all_said["control"]) {
    each.erase("index");
    said[each["name"]] = each;
  }
  SingleProcess process("tool_variables", {"early"});
  Stopped stopped(process.pid());
  const auto all = stopped.read().value().value();
  EXPECT_THAT(stopped.warnings, IsEmpty());
  EXPECT_TRUE(all.whole);
  EXPECT_GT(all.variables.size(), 200U);
  std::size_t equal = 0;
  for (const auto& variable : all.variables)
    equal += said[variable.name] == shown(variable, all) ? 1 : 0;
  EXPECT_GT(equal, all.variables.size() - 20) << "paths and process ids differ";
  EXPECT_NE(find(all, "pml_ob1_unexpected_msgq_length"), nullptr);
}

TEST(OpenMpiVariables, BeforeInitThereAreNone) {
  SingleProcess process("mpi_state", {"before"});
  Stopped stopped(process.pid());
  const auto all = stopped.read();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, "variables.none");
}

/// The images with these types alone.
ImageSet with_types(const Stopped& stopped, const TypePack& pack) {
  ImageSet images(stopped.images.images());
  images.add_type_source(type_source(pack));
  return images;
}

TEST(OpenMpiVariables, WithoutTypesTheErrorSaysWhichLack) {
  SingleProcess process("tool_variables");
  Stopped stopped(process.pid());
  auto pack = read_type_pack(pack_of("amd64")).value();
  std::erase_if(pack.types, [](const auto& type) { return type.name == "mca_base_pvar_t"; });
  auto images = with_types(stopped, pack);
  const auto all = support_of("openmpi").read_variables({images, stopped.memory, stopped.platform},
                                                        stopped.warnings);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, "variables.no_types");
  EXPECT_THAT(all.error().message, HasSubstr("mca_base_pvar_t"));
  EXPECT_THAT(all.error().hint, HasSubstr("mqbridge types make"));
}

TEST(OpenMpiVariables, TypesOfAnotherBuildAreRefused) {
  SingleProcess process("tool_variables");
  Stopped stopped(process.pid());
  auto pack = read_type_pack(pack_of("amd64")).value();
  for (auto& type : pack.types)
    if (type.name == "mca_base_var_t")
      type.size += 8;
  auto images = with_types(stopped, pack);
  const auto all = support_of("openmpi").read_variables({images, stopped.memory, stopped.platform},
                                                        stopped.warnings);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, "variables.types_differ");
  EXPECT_THAT(all.error().message, HasSubstr("mca_base_var_t has 176 bytes, the library says 168"));
}

/// Memory of which one page is gone, or full of one byte.
class DamagedPages final : public Memory {
public:
  explicit DamagedPages(Memory& below) : below_(below) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    if (auto done = below_.read_ranges(ranges); !done)
      return done;
    for (auto& range : ranges)
      damage(range);
    return {};
  }

  static constexpr std::uint64_t page_size = 4096;
  std::set<std::uint64_t> seen;
  std::uint64_t damaged = 0;
  std::optional<std::byte> filling;

private:
  void damage(MemoryRange& range) {
    if (range.read == 0)
      return;
    const auto first = range.address.value / page_size;
    const auto end = range.address.value + range.read;
    for (auto page = first; page * page_size < end; ++page)
      seen.insert(page);
    const auto from = std::max(damaged * page_size, range.address.value);
    const auto to = std::min((damaged + 1) * page_size, end);
    if (from >= to)
      return;
    const auto offset = static_cast<std::size_t>(from - range.address.value);
    if (filling)
      std::ranges::fill(range.into.subspan(offset, static_cast<std::size_t>(to - from)), *filling);
    else
      range.read = offset;
  }

  Memory& below_;
};

// Every third page that is read is missing once, and damaged twice. There is an error, or a
// warning that says what lacks, or all variables are there; and no variable has a name that it has
// not.
TEST(OpenMpiVariables, OfDamagedMemoryNothingIsMissingUnsaid) {
  SingleProcess process("tool_variables", {"early"});
  Stopped stopped(process.pid());
  const auto truth = stopped.read().value().value();
  DamagedPages memory(stopped.memory);
  const AddressSpace space{stopped.images, memory, stopped.platform};
  Warnings warnings;
  ASSERT_TRUE(support_of("openmpi").read_variables(space, warnings));
  const auto pages = memory.seen;
  std::size_t tried = 0;
  std::size_t number = 0;
  for (const auto page : pages) {
    if (++number % 3 != 0) // the others say no more
      continue;
    memory.damaged = page;
    for (const auto filling : {std::optional<std::byte>(), std::optional(std::byte{0}),
                               std::optional(std::byte{0xff})}) {
      memory.filling = filling;
      warnings.clear();
      const auto read = support_of("openmpi").read_variables(space, warnings);
      ++tried;
      if (!read || filling)
        continue;
      EXPECT_TRUE((*read)->variables.size() == truth.variables.size() || !(*read)->whole) << page;
      EXPECT_EQ((*read)->whole, std::ranges::none_of(warnings,
                                                     [](const Error& warning) {
                                                       return warning.code != "variables.no_names";
                                                     }))
          << page;
    }
  }
  EXPECT_GT(tried, 130U);
  test::faults_tried(tried);
}

} // namespace
} // namespace mqbridge
