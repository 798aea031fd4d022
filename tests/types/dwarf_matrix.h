#pragma once

#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <vector>

namespace mqbridge {

/// One architecture for which a compiler makes programs that can run here.
struct MatrixPlatform {
  std::string name;     ///< as Platform::architecture
  std::string compiler; ///< looked up in PATH
  std::string emulator; ///< empty: this host runs its programs itself
  std::string packages; ///< what to install where one of them lacks
};
inline void PrintTo(const MatrixPlatform& platform, std::ostream* out) {
  *out << platform.name;
}

/// The types of samples/ in every form of DWARF that GCC and dwz write, compared with what a
/// program of that platform prints about itself.
class DwarfMatrix : public testing::TestWithParam<MatrixPlatform> {};

} // namespace mqbridge
