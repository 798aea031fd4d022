# The recorder on machines without any operating system: inferiors/bare_poster-ARCH, for QEMU's boards.
# Where a compiler is missing its program is missing, as those of cross.cmake.
set(bare_link_m68k -Wl,-Ttext-segment=0x10000)
set(bare_link_riscv64 -mcmodel=medany -Wl,-Ttext-segment=0x80000000) # where the board's memory begins
set(bare_sources ${CMAKE_CURRENT_SOURCE_DIR}/bare/bare_poster.c
  ${CMAKE_CURRENT_SOURCE_DIR}/bare/bare_libc.c ${MQBRIDGE_RECORDER_SOURCES})
set(bare_programs)
foreach(architecture m68k riscv64)
  set(compiler ${MQBRIDGE_CROSS_${architecture}})
  if(NOT compiler)
    continue()
  endif()
  set(program ${CMAKE_BINARY_DIR}/inferiors/bare_poster-${architecture})
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/inferiors
    # Nothing is set up for relaxed addressing, position-independent code or stack protection.
    COMMAND ${compiler} -std=c17 -D_GNU_SOURCE -DMQR_THREAD_LOCAL= -O1 -ffreestanding -fno-stack-protector -fno-pic
      -no-pie -static -nostdlib -Wl,--build-id -Wl,--no-relax ${bare_link_${architecture}}
      -Wall -Wextra -Wconversion -Wshadow $<$<BOOL:${MQBRIDGE_WERROR}>:-Werror>
      -I${CMAKE_SOURCE_DIR} ${bare_sources} -lgcc -o ${program}
    DEPENDS ${bare_sources}
    COMMENT "Cross-compiling bare_poster for ${architecture}"
    COMMAND_EXPAND_LISTS # as cross.cmake
    VERBATIM)
  list(APPEND bare_programs ${program})
endforeach()
add_custom_target(bare_poster_cross DEPENDS ${bare_programs})
