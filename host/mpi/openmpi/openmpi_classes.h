#pragma once

#include "host/elf/elf_file.h"
#include "host/types/types.h"
#include "rsp/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The sizes that an Open MPI library states for its own types although it is stripped: sizes of
/// global objects in .dynsym, and class descriptors. They serve to check a type carrier or pack,
/// against the file of the library (types_check.h) or against the running process. Everything here
/// is pure: no memory, no file is read.
namespace mqbridge::openmpi {

/// A global object whose symbol size is the size of a type.
struct SizedSymbol {
  std::string_view symbol;
  std::string_view type;
};

inline constexpr std::array sized_symbols = {
    SizedSymbol{"mca_pml_base_recv_requests", "opal_free_list_t"},
    SizedSymbol{"mca_pml_base_send_requests", "opal_free_list_t"},
    SizedSymbol{"ompi_mpi_communicators", "opal_pointer_array_t"},
    SizedSymbol{"mca_pml_base_selected_component", "mca_pml_base_component_t"},
};

/// The owner of a type. Types of the plugin mca_pml_ob1 are private to it: no installed header has
/// them. They are optional, and are compared separately.
enum class TypesOf { library, ob1 };

/// By the name of a type.
TypesOf owner_of(std::string_view type);

/// One exported class descriptor (opal_class_t, opal/class/opal_object.h). Its last word is `size_t
/// cls_sizeof`, the size of the type whose objects it describes: opal_list_t for opal_list_t_class.
/// The word is initialised data: the same in the file and in the process.
struct ClassSymbol {
  std::string_view type; ///< refers to the symbol's name: valid as long as the file
  FileAddress size_word; ///< where cls_sizeof is
  /// Where `int cls_initialized` is: 0 until the first object of the class is made.
  FileAddress initialized;
  int size_word_size = 8; ///< bytes of a size_t
};

/// Whether an object of this type shows that the process has made a request that no list shows: a
/// generalized one, one of a file, of a window or of a partitioned message.
bool is_unlisted_request(std::string_view type);

/// All class descriptors that `file` exports, by name. Empty for a file that is no part of Open
/// MPI.
std::vector<ClassSymbol> class_symbols(const ElfFile& file);

/// The size of a type, as the library itself states it.
struct SizeFact {
  std::string type;
  std::uint64_t size = 0;
  std::string symbol; ///< the symbol that says it
};

/// The facts of sized_symbols that `file` defines. For those of class_symbols() their words must be
/// read first.
std::vector<SizeFact> symbol_sizes(const ElfFile& file);

struct TypeComparison {
  std::vector<std::string>
      missing; ///< types, or "type.field", that the debug DLL or the repairs need
  std::vector<std::string>
      mismatches; ///< "opal_free_list_t: 376 bytes, the library says 384 (opal_free_list_t_class)"
  std::vector<std::string> unstated; ///< of ob1: types with a class whose size no fact states
  int compared = 0;                  ///< facts whose type is known

  bool fits() const {
    return missing.empty() && mismatches.empty() && unstated.empty() && compared > 0;
  }
};

/// Whether all needed types are known, and have the sizes that the library states. Facts about
/// types that `find` does not know, and facts about ob1's types, are ignored. Errors: those of
/// `find`.
Result<TypeComparison> compare_types(const TypeFinder& find, std::span<const SizeFact> facts);

/// The same for ob1_types() and the facts about types of ob1.
Result<TypeComparison> compare_ob1_types(const TypeFinder& find, std::span<const SizeFact> facts);

/// Types that libompi_dbg_msgq.so asks for by name (ompi_fill_in_type_info), then those that the
/// repairs need.
std::span<const std::string_view> needed_types();

/// Types that the reader of ob1's own objects needs (pending and unexpected messages, sequence
/// numbers, what a call waits for). Without them everything else works.
std::span<const std::string_view> ob1_types();

/// Types that are needed to read MPI_T's variables, and by the DLL for handles. Without them
/// everything else works.
std::span<const std::string_view> tool_types();

} // namespace mqbridge::openmpi
