#include "host/mpi/mpi_support.h"

#include <gmock/gmock.h>
#include <set>

namespace mqbridge {
namespace {

TEST(KnownMpis, EachIsFoundByItsProviderAndByItsName) {
  std::set<std::string_view> providers;
  for (const auto* mpi : known_mpis()) {
    const auto identity = mpi->identity();
    EXPECT_TRUE(providers.insert(identity.provider).second) << identity.provider;
    EXPECT_EQ(&support_of(identity.provider), mpi);
    EXPECT_EQ(&support_named(identity.name), mpi);
    EXPECT_FALSE(identity.symbols.empty()) << identity.provider;
  }
  EXPECT_THAT(providers, testing::ElementsAre("mpich", "openmpi", "recorder"));
}

TEST(KnownMpis, TheirLibrariesAreKnownByName) {
  const auto names = mpi_libraries();
  for (const auto* library : {"/usr/lib/libmpi.so.40", "libopen-pal.so.40", "/opt/libmpich.so.12",
                              "./libmqbridge-recorder.so"})
    EXPECT_TRUE(names.have(library)) << library;
  for (const auto* library : {"/usr/libmpi/libc.so.6", "", "/libm.so.6"})
    EXPECT_FALSE(names.have(library)) << library;
}

TEST(KnownMpis, OfAnotherNothingIsKnown) {
  const auto& other = support_of("other");
  EXPECT_EQ(&other, &support_of("intelmpi"));
  EXPECT_EQ(&other, &support_named("MPI"));
  EXPECT_EQ(other.identity().provider, "other");
  EXPECT_TRUE(other.identity().symbols.empty() && other.root_symbols().empty());
  EXPECT_TRUE(other.dll_limits().empty());
}

} // namespace
} // namespace mqbridge
