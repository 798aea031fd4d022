// A pack of types in which one field is elsewhere, each in turn, although the build-id and all
// sizes are right: never another operation with status "ok".

#include "tests/e2e/harness/debian13.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/temp_directory.h"

#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <set>
#include <sstream>
#include <utility>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

std::string right_pack() {
  return fmt::format("{}/host/mpi/openmpi/packs/openmpi-{}-amd64.types", MQBRIDGE_SOURCES,
                     openmpi5_is_asked_for() ? "5.0.7" : "4.1.4");
}

/// Fields that hold whatever the program wants, so that no value is impossible. Of two, something
/// else that fits stands beside them.
const std::set<std::string> unnoticed = {
    "mca_pml_base_request_t.req_addr",
    "mca_pml_base_request_t.req_count",
    "mca_pml_base_request_t.req_datatype",
    "mca_pml_base_request_t.req_pml_complete",
    "mca_pml_base_request_t.req_sequence",
    "mca_pml_base_request_t.req_tag",
    "mca_pml_base_send_request_t.req_addr",
    "mca_pml_base_send_request_t.req_bytes_packed",
    "mca_pml_base_send_request_t.req_send_mode",
    "mca_pml_ob1_comm_proc_t.expected_sequence",
    "mca_pml_ob1_comm_proc_t.send_sequence",
    "mca_pml_ob1_comm_t.recv_sequence",
    "mca_pml_ob1_match_hdr_t.hdr_seq",
    "mca_pml_ob1_match_hdr_t.hdr_tag",
    "mca_pml_ob1_rendezvous_hdr_t.hdr_msg_length",
    "ompi_request_t.req_complete",
    "ompi_status_public_t._ucount",
};

/// Under 4.1.4 the DLL reads it, too; under 5.0.7 the members' ranks in the world are not known.
std::string unnoticed_of_release() {
  return openmpi5_is_asked_for() ? "ompi_group_t.grp_proc_pointers" : "opal_pointer_array_t.size";
}

struct Variant {
  std::string field; ///< "type.field"
  std::string text;  ///< of the pack
};

/// The pack with each field 8 bytes further, or, at its type's end, nearer.
std::vector<Variant> variants() {
  std::vector<std::string> lines;
  std::ifstream file(right_pack());
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  std::vector<Variant> all;
  std::string type;
  long type_size = 0;
  for (std::string& line : lines) {
    std::istringstream words(line);
    std::string kind;
    std::string name;
    long offset = 0;
    long size = 0;
    words >> kind >> name >> offset >> size;
    if (kind == "type") {
      type = name;
      type_size = offset;
    }
    if (kind != "field")
      continue;
    const long other = offset + 8 + size <= type_size ? offset + 8 : offset - 8;
    if (other < 0)
      continue;
    const std::string right =
        std::exchange(line, fmt::format("  field {} {} {}", name, other, size));
    Variant variant{type + "." + name, ""};
    for (const std::string& each : lines)
      variant.text += each + "\n";
    all.push_back(std::move(variant));
    line = right;
  }
  return all;
}

/// What is said of operations, without the words for who says it.
json operations_of(const json& document) {
  json all = json::array();
  for (const json& rank : document["ranks"]) {
    json communicators = comparable_communicators(rank);
    for (json& communicator : communicators)
      for (json& queue : communicator["queues"])
        for (json& operation : queue["operations"])
          for (const char* aside : {"raw", "text"})
            operation.erase(aside);
    all.push_back(communicators);
  }
  return all;
}

TEST(WrongTypes, AFieldThatIsElsewhereGivesNoOtherOperationsWithStatusOk) {
  const MpiJob job({.arguments = {"mix"}});
  const test::TempDirectory directory;
  const auto file = (directory.path() / "x.types").string();
  const auto dump = [&](const std::string& types) {
    return dump_json(
        {"--no-stacks", "--types", types, local_target(job.pid(0)), local_target(job.pid(1))});
  };
  const DumpOutcome right = dump(right_pack());
  ASSERT_EQ(right.status(), 0) << right.err;
  std::set<std::string> passed;
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.field);
    std::ofstream(file) << variant.text;
    const auto from = std::chrono::steady_clock::now();
    const DumpOutcome other = dump(file);
    EXPECT_LT(std::chrono::steady_clock::now() - from, 20s) << other.out;
    if (other.status() != 0)
      continue;
    if (operations_of(other.document) != operations_of(right.document))
      passed.insert(variant.field);
  }
  auto expected = unnoticed;
  expected.insert(unnoticed_of_release());
  EXPECT_EQ(passed, expected);
}

} // namespace
} // namespace mqbridge::e2e
