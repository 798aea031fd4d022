# mqbridge_cross_inferior(NAME SOURCES... [FOR ARCHITECTURES...: with what a debugger reads]): static C programs for other platforms, each from its own
# Debian cross compiler: inferiors/NAME-ARCH. Where a compiler is missing its program is missing, and
# the tests that need it say so. Stripped of everything but what a debugger needs of the recorder
# and of a launcher: their symbols.
set(cross_architectures aarch64 armhf i386 m68k mips ppc ppc64 riscv64 s390x sparc64)
set(cross_triplet_aarch64 aarch64-linux-gnu)
set(cross_triplet_armhf arm-linux-gnueabihf)
set(cross_triplet_i386 i686-linux-gnu)
set(cross_triplet_m68k m68k-linux-gnu)
set(cross_triplet_mips mips-linux-gnu)
set(cross_triplet_ppc powerpc-linux-gnu)
set(cross_triplet_ppc64 powerpc64-linux-gnu)
set(cross_triplet_riscv64 riscv64-linux-gnu)
set(cross_triplet_s390x s390x-linux-gnu)
set(cross_triplet_sparc64 sparc64-linux-gnu)

function(mqbridge_cross_inferior name)
  cmake_parse_arguments(PARSE_ARGV 1 own "" "" FOR)
  set(optimization -O1)
  if(own_FOR)
    set(cross_architectures ${own_FOR})
    set(optimization -O0 -g)
  endif()
  list(TRANSFORM own_UNPARSED_ARGUMENTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]" OUTPUT_VARIABLE sources)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h
    ${CMAKE_SOURCE_DIR}/dll/recorder/*.h)
  set(programs)
  foreach(architecture ${cross_architectures})
    set(triplet ${cross_triplet_${architecture}})
    find_program(MQBRIDGE_CROSS_${architecture} ${triplet}-gcc)
    if(NOT MQBRIDGE_CROSS_${architecture})
      message(STATUS "no ${name} for ${architecture}: ${triplet}-gcc is missing")
      continue()
    endif()
    set(program ${CMAKE_BINARY_DIR}/inferiors/${name}-${architecture})
    set(strip ${triplet}-strip -K mqbridge_recorder -K mqbridge_recorder_version -K MPIR_dll_name -K MPIR_proctable
      -K MPIR_proctable_size ${program})
    if(own_FOR)
      set(strip ${CMAKE_COMMAND} -E true)
    endif()
    add_custom_command(OUTPUT ${program}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/inferiors
      COMMAND ${MQBRIDGE_CROSS_${architecture}} -std=c17 -D_GNU_SOURCE ${optimization} -static
        -Wall -Wextra -Wconversion -Wshadow $<$<BOOL:${MQBRIDGE_WERROR}>:-Werror>
        -I${CMAKE_SOURCE_DIR} ${sources} -o ${program}
      COMMAND ${strip}
      DEPENDS ${sources} ${headers}
      COMMENT "Cross-compiling ${name} for ${architecture}"
      COMMAND_EXPAND_LISTS # no empty argument where warnings are no errors
      VERBATIM)
    list(APPEND programs ${program})
  endforeach()
  add_custom_target(${name}_cross DEPENDS ${programs})
endfunction()
