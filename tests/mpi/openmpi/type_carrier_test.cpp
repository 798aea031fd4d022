#include "host/mpi/openmpi/openmpi_carrier.h"
#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_files.h"
#include "host/mpi/openmpi/pack_maker.h"
#include "host/mpi/openmpi/types_check.h"
#include "host/mpi/type_carrier.h"
#include "host/types/pack_finder.h"
#include "host/types/types_file.h"
#include "tests/builders/elf_builder.h"
#include "tests/support/pack_part.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

openmpi::Libraries installed_libraries() {
  auto headers = openmpi::find_headers({}, {MQBRIDGE_TEST_CC});
  if (!headers)
    throw std::runtime_error(headers.error().message);
  auto library = openmpi::find_library(*headers);
  if (!library)
    throw std::runtime_error(library.error().message);
  auto libraries = openmpi::open_libraries(*library);
  if (!libraries)
    throw std::runtime_error(libraries.error().message);
  return *libraries;
}

class TypeCarrier : public testing::Test {
protected:
  CarrierRequest request(std::string_view output) {
    CarrierRequest request;
    request.compiler = {MQBRIDGE_TEST_CC};
    request.output = directory_ / output;
    return request;
  }
  std::shared_ptr<TypeSource> made(std::string_view output) {
    const auto asked = request(output);
    const auto done = make_type_carrier(asked);
    EXPECT_TRUE(done) << done.error().message;
    auto types = open_types_file(asked.output);
    EXPECT_TRUE(types) << types.error().message;
    return types ? *types : nullptr;
  }

  test::TestDirectory directory_;
};

TEST_F(TypeCarrier, KnowsEveryNeededTypeAsTheInstalledLibraryHasIt) {
  for (const auto* output : {"carrier.so", "pack.types"}) {
    const auto types = made(output);
    ASSERT_TRUE(types) << output;
    auto comparison = openmpi::check_types(*types, installed_libraries());
    ASSERT_TRUE(comparison) << comparison.error().message;
    EXPECT_THAT(comparison->missing, IsEmpty()) << output;
    EXPECT_THAT(comparison->mismatches, IsEmpty()) << output;
    EXPECT_GE(comparison->compared, 40) << output;

    // Every field that the debug DLL of 4.1 looks up.
    struct Fields {
      const char* type;
      std::vector<const char*> fields;
    };
    for (const auto& [type, fields] : std::vector<Fields>{
             {"opal_list_item_t", {"opal_list_next"}},
             {"opal_list_t", {"opal_list_sentinel"}},
             {"opal_free_list_t",
              {"fl_mpool", "fl_allocations", "fl_frag_class", "fl_frag_size", "fl_frag_alignment",
               "fl_max_to_alloc", "fl_num_per_alloc", "fl_num_allocated"}},
             {"opal_hash_table_t", {"ht_table", "ht_size"}},
             {"ompi_request_t",
              {"req_type", "req_status", "req_complete", "req_state", "req_f_to_c_index"}},
             {"mca_pml_base_request_t",
              {"req_addr", "req_count", "req_peer", "req_tag", "req_comm", "req_datatype",
               "req_proc", "req_sequence", "req_type", "req_pml_complete"}},
             {"mca_pml_base_send_request_t", {"req_addr", "req_bytes_packed", "req_send_mode"}},
             {"mca_pml_base_recv_request_t", {"req_bytes_packed"}},
             {"opal_pointer_array_t", {"lowest_free", "number_free", "size", "addr"}},
             {"ompi_communicator_t",
              {"c_name", "c_contextid", "c_my_rank", "c_local_group", "c_remote_group", "c_flags",
               "c_f_to_c_index", "c_topo", "c_keyhash"}},
             {"mca_topo_base_module_t", {"mtc", "reorder"}},
             {"mca_topo_base_comm_cart_2_2_0_t", {"ndims", "dims", "periods", "coords"}},
             {"mca_topo_base_comm_graph_2_2_0_t", {"nnodes", "index", "edges"}},
             {"mca_topo_base_comm_dist_graph_2_2_0_t",
              {"in", "inw", "out", "outw", "indegree", "outdegree", "weighted"}},
             {"ompi_group_t", {"grp_proc_count", "grp_proc_pointers", "grp_my_rank", "grp_flags"}},
             {"ompi_status_public_t",
              {"MPI_SOURCE", "MPI_TAG", "MPI_ERROR", "_ucount", "_cancelled"}},
             {"ompi_datatype_t", {"super", "name"}},
             {"opal_datatype_t", {"size"}}}) {
      const auto layout = types->find(type);
      ASSERT_TRUE(layout && *layout != nullptr) << type;
      for (const auto* field : fields)
        EXPECT_NE((*layout)->find_field(field), nullptr) << type << "." << field;
    }
  }
}

TEST_F(TypeCarrier, TheTransportsNameIsWhereTheTypesSay) {
  const auto types = made("carrier.so");
  ASSERT_TRUE(types);
  const auto component = types->find("mca_pml_base_component_t");
  const auto base = types->find("mca_base_component_t");
  ASSERT_TRUE(component && base && *component != nullptr && *base != nullptr);
  EXPECT_EQ((*component)->find_field("pmlm_version")->offset +
                (*base)->find_field("mca_component_name")->offset,
            84U);
}

TEST_F(TypeCarrier, TheShippedPackIsWhatTheInstalledHeadersGive) {
  ASSERT_TRUE(made("made.types"));
  const auto libraries = installed_libraries();
  const std::vector<fs::path> shipped = {MQBRIDGE_TEST_PACKS};
  const auto pack = find_pack(shipped, libraries.front()->build_id());
  ASSERT_TRUE(pack) << pack.error().message;
  ASSERT_TRUE(*pack) << "no shipped pack has the build-id of " << libraries.front()->path()
                     << ": make it with host/mpi/openmpi/packs/generate.sh";
  // Open MPI's own source gives the shipped one more: the types of ob1 and of libnbc, and more
  // sizes to compare.
  const auto made_pack = read_type_pack(directory_ / "made.types");
  ASSERT_TRUE(made_pack);
  const test::PackPart part((*pack)->pack, *made_pack);
  EXPECT_EQ(write_type_pack(part.pack), contents(directory_ / "made.types"));
  std::vector<std::string_view> more(openmpi::ob1_types().begin(), openmpi::ob1_types().end());
  more.insert(more.end(), {"ompi_coll_base_nbc_request_t", "ompi_coll_libnbc_component_t",
                           "ompi_coll_libnbc_request_t", "mca_pml_ob1_recv_request_t"});
  EXPECT_THAT(part.more, testing::ElementsAreArray(more));
  EXPECT_EQ((*pack)->pack.version, openmpi::library_version(*libraries.front()));
}

/// A tree with the private headers of ob1, and nothing else, of the installed version: types of the
/// sizes that the installed plugin states, and `more` bytes in one of them.
class SourceTree : public TypeCarrier {
protected:
  const std::string installed_version =
      openmpi::library_version(*installed_libraries().front()).value_or("?");

  fs::path make_source(std::string_view version, std::size_t more = 0) {
    std::string types = "#pragma once\n";
    for (const auto& fact : openmpi::size_facts(installed_libraries()))
      if (openmpi::owner_of(fact.type) == openmpi::TypesOf::ob1)
        types +=
            fmt::format("typedef struct {{ char bytes[{}]; }} {};\n",
                        fact.size + (fact.type == "mca_pml_ob1_recv_frag_t" ? more : 0), fact.type);
    for (const auto* header : {"hdr", "common_hdr", "match_hdr", "rendezvous_hdr"})
      types += fmt::format("typedef struct {{ int some; }} mca_pml_ob1_{}_t;\n", header);
    directory_.write("source/ompi/mca/pml/ob1/pml_ob1.h", types);
    for (const auto* header : {"comm", "hdr", "rdma", "rdmafrag", "recvfrag", "recvreq", "sendreq"})
      directory_.write(fmt::format("source/ompi/mca/pml/ob1/pml_ob1_{}.h", header), "");
    directory_.write("source/ompi_config.h", "#error the installed headers come first\n");
    const auto dots = std::pair(version.find('.'), version.rfind('.'));
    directory_.write("source/VERSION",
                     fmt::format("# major=0\nmajor={}\nminor={}\nrelease={}\ngreek=\n",
                                 version.substr(0, dots.first),
                                 version.substr(dots.first + 1, dots.second - dots.first - 1),
                                 version.substr(dots.second + 1)));
    return directory_ / "source";
  }

  Result<void> make(std::string_view output, const fs::path& source) {
    auto asked = request(output);
    asked.source = source;
    return make_type_carrier(asked);
  }
};

TEST_F(SourceTree, BringsTheTypesOfOb1) {
  const auto source = make_source(installed_version);
  for (const auto* output : {"carrier.so", "pack.types"}) {
    const auto done = make(output, source);
    ASSERT_TRUE(done) << done.error().message;
    const auto types = open_types_file(directory_ / output);
    ASSERT_TRUE(types);
    const auto comparison = openmpi::check_ob1_types(**types, installed_libraries());
    ASSERT_TRUE(comparison);
    EXPECT_TRUE(comparison->fits()) << output;
    EXPECT_GE(comparison->compared, 5);
  }
}

TEST_F(SourceTree, WithAHeaderOfToolsThatDoesNotCompileBringsAllOthers) {
  const auto source = make_source(installed_version);
  directory_.write("source/ompi/mca/coll/libnbc/coll_libnbc.h",
                   "#error this needs what is not installed");
  const auto done = make("carrier.so", source);
  ASSERT_TRUE(done) << done.error().message;
  const auto types = open_types_file(directory_ / "carrier.so");
  ASSERT_TRUE(types);
  EXPECT_TRUE(openmpi::check_types(**types, installed_libraries()).value().fits());
  EXPECT_TRUE(openmpi::check_ob1_types(**types, installed_libraries()).value().fits());
  EXPECT_EQ((*types)->find("mca_base_pvar_t").value(), nullptr);
}

TEST_F(SourceTree, OfAnotherBuildGivesNoPack) {
  const auto done = make("pack.types", make_source(installed_version, 8));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "types.mismatch");
  EXPECT_THAT(done.error().message, HasSubstr("mca_pml_ob1_recv_frag_t_class"));
  EXPECT_FALSE(fs::exists(directory_ / "pack.types"));
}

TEST_F(SourceTree, OfAnotherVersionIsRefused) {
  const auto done = make("carrier.so", make_source("3.0.9"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "types.source_version");
  EXPECT_THAT(done.error().message, HasSubstr("Open MPI 3.0.9"));
  EXPECT_THAT(done.error().message, HasSubstr(installed_version));
  EXPECT_FALSE(fs::exists(directory_ / "carrier.so"));
}

TEST_F(SourceTree, ThatIsNoneIsNamed) {
  const auto source = make_source(installed_version);
  fs::remove(source / "ompi/mca/pml/ob1/pml_ob1_comm.h");
  auto done = make("carrier.so", source);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "types.no_source");
  EXPECT_THAT(done.error().message, HasSubstr("pml_ob1_comm.h"));
  done = make("carrier.so", directory_ / "absent");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "types.no_source");
  EXPECT_THAT(done.error().message, HasSubstr("VERSION"));
}

TEST_F(SourceTree, WithoutThePluginGivesNoPack) {
  if (std::string_view(installed_version) >= "5")
    GTEST_SKIP() << "there is none: ob1 is in libmpi itself";
  auto asked = request("pack.types");
  asked.source = make_source(installed_version);
  asked.library = directory_ / "libmpi.so.40";
  fs::copy_file(installed_libraries().front()->path(), *asked.library);
  const auto done = make_type_carrier(asked);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "types.no_library");
  EXPECT_THAT(done.error().message, HasSubstr("mca_pml_ob1.so"));
}

TEST_F(TypeCarrier, WithoutASourceHasWhatTheInstalledHeadersSayOfOb1) {
  const auto types = made("carrier.so");
  ASSERT_TRUE(types);
  const auto comparison = openmpi::check_ob1_types(*types, installed_libraries());
  ASSERT_TRUE(comparison);
  EXPECT_THAT(comparison->missing, testing::Contains("mca_pml_ob1_comm_t"));
  EXPECT_THAT(comparison->missing,
              testing::Not(testing::AnyOf(testing::Contains("ompi_wait_sync_t"),
                                          testing::Contains("mca_btl_base_segment_t"))));
}

// The pack of another build must be refused by the sizes that the library states, not believed by
// its version.
TEST_F(TypeCarrier, TypesOfAnotherBuildAreRefused) {
  ASSERT_TRUE(made("good.types"));
  auto pack = read_type_pack(directory_ / "good.types");
  ASSERT_TRUE(pack);
  for (auto& type : pack->types) {
    if (type.name == "ompi_communicator_t")
      type.size += 8;
  }
  const auto types = type_source(*pack);
  const auto libraries = installed_libraries();
  auto comparison = openmpi::check_types(*types, libraries);
  ASSERT_TRUE(comparison);
  ASSERT_EQ(comparison->mismatches.size(), 1U);
  EXPECT_THAT(comparison->mismatches[0], HasSubstr("ompi_communicator_t_class"));
  const auto again = openmpi::make_pack(*types, libraries, false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "types.mismatch");
}

TEST_F(TypeCarrier, NamesThePackageWhenThereAreNoHeaders) {
  auto asked = request("carrier.so");
  asked.include_directories = {directory_.path()};
  const auto done = make_type_carrier(asked);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "types.no_headers");
  EXPECT_THAT(done.error().message, HasSubstr(directory_.path().string()));
  EXPECT_THAT(done.error().hint, HasSubstr("apt install libopenmpi-dev"));
}

TEST_F(TypeCarrier, ShowsWhatTheCompilerSaid) {
  directory_.write("include/openmpi/ompi/communicator/communicator.h", "");
  directory_.write("include/openmpi/ompi_config.h", "#error not a real header\n");
  for (const auto* include : {"include", "include/openmpi"}) {
    auto asked = request("carrier.so");
    asked.include_directories = {directory_ / include};
    const auto done = make_type_carrier(asked);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, "types.compile");
    EXPECT_THAT(done.error().message, HasSubstr("not a real header"));
    EXPECT_FALSE(fs::exists(asked.output));
  }
}

TEST_F(TypeCarrier, OtherFaultsHaveTheirOwnCodes) {
  auto asked = request("carrier.so");
  asked.mpi = "mpich";
  EXPECT_EQ(make_type_carrier(asked).error().code, "types.unknown_mpi");

  asked = request("carrier.so");
  asked.compiler = {"no-such-compiler-of-mqbridge"};
  EXPECT_EQ(make_type_carrier(asked).error().code, "command.start");

  directory_.write("file", "");
  asked = request("file/carrier.so");
  EXPECT_EQ(make_type_carrier(asked).error().code, "output.write");

  asked = request("pack.types");
  asked.library = directory_ / "file";
  EXPECT_EQ(make_type_carrier(asked).error().code, "elf.not_elf");
}

TEST_F(TypeCarrier, APackOfALibraryThatStatesNothingIsRefused) {
  test::ElfBuilder(test::elf_shapes[0]).write(directory_ / "libother.so");
  auto asked = request("pack.types");
  asked.library = directory_ / "libother.so";
  const auto done = make_type_carrier(asked);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "types.mismatch");
  EXPECT_FALSE(fs::exists(asked.output));
}

TEST_F(TypeCarrier, TypesFilesAreToldApartByTheirFirstBytes) {
  struct Case {
    const char* text;
    const char* code;
  };
  for (const auto& [text, code] : {Case{"", "pack.syntax"}, Case{"hello\n", "pack.syntax"},
                                   Case{"\x7f"
                                        "ELF",
                                        "elf.corrupt"}}) {
    const auto types = open_types_file(directory_.write("types", text));
    ASSERT_FALSE(types);
    EXPECT_EQ(types.error().code, code);
  }
  test::ElfBuilder(test::elf_shapes[0]).write(directory_ / "no_dwarf");
  EXPECT_EQ(open_types_file(directory_ / "no_dwarf").error().code, "dwarf.none");
  EXPECT_EQ(open_types_file(directory_ / "absent").error().code, "elf.open");
}

} // namespace
} // namespace mqbridge
