// What functions are called: names as linkers have them, and as the demangler writes them.

#include "host/stacks/unwinder/function_name.h"

#include <gtest/gtest.h>
#include <ostream>
#include <string>

namespace mqbridge::unwinder {
namespace {

struct NameCase {
  const char* symbol;
  const char* name;
};

void PrintTo(const NameCase& which, std::ostream* out) {
  *out << which.symbol;
}

class NameOf : public testing::TestWithParam<NameCase> {};

const NameCase of_symbols[] = {
    {"main", "main"},
    {"raise@@GLIBC_2.2.5", "raise"},
    {"compute.constprop.0", "compute.constprop.0"},
    {"_ZN4halo8Exchange3runEi", "halo::Exchange::run"},
    {"_ZNK4halo8Exchange3runERKSt6vectorIiSaIiEE", "halo::Exchange::run"},
    {"_ZN4halo8ExchangeD0Ev", "halo::Exchange::~Exchange"},
    {"_ZN4halo12_GLOBAL__N_16hiddenEv", "halo::(anonymous namespace)::hidden"},
    {"_Z3addIiET_S0_S0_", "add<int>"},
    {"_ZN4halo3runEi.cold", "halo::run"},
    {"_ZZ7plain_ciENKUlvE_clEv", "plain_c(int)::{lambda()#1}::operator()"},
    {"_ZN4haloplERKNS_1XES2_", "halo::operator+"},
    {"_ZN4halo1XcvbEv", "halo::X::operator bool"},
    {"_ZN4halo1XnaEm", "halo::X::operator new[]"},
    {"_ZN4haloltIiEEbRKNS_1YIT_EES5_", "halo::operator< <int>"},
    {"_ZN4halolsIiEERSoS1_RKNS_1YIT_EE", "halo::operator<< <int>"},
    {"_ZTv0_n24_N4halo1XD0Ev", "virtual thunk to halo::X::~X()"},
    {"_Z", "_Z"},
    {"_ZNnonsense", "_ZNnonsense"},
    {"__halo_MOD_exchange", "halo::exchange"},
    {"__MOD_", "__MOD_"},
    {"MAIN__", "MAIN__"},
    {"mpi_recv_", "mpi_recv_"},
};
INSTANTIATE_TEST_SUITE_P(Symbols, NameOf, testing::ValuesIn(of_symbols));

TEST_P(NameOf, IsWithoutTypes) {
  EXPECT_EQ(function_name(GetParam().symbol), GetParam().name);
}

TEST(WithoutParameters, LeavesAloneWhatLooksOtherwise) {
  for (const char* text : {"", "(", ")", "()", "a b", "f(", "f)", ")(", "operator", "operator(",
                           "<(>)", "a<b(c>)", "int (*f<int>(char))(int)"})
    EXPECT_FALSE(without_parameters(text).empty() && *text != '\0') << text;
  EXPECT_EQ(without_parameters("f(int (*)(char), g<(1)>)"), "f");
  EXPECT_EQ(without_parameters("std::ostream& f<int>(std::ostream&) const &"), "f<int>");
}

} // namespace
} // namespace mqbridge::unwinder
