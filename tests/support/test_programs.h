#pragma once

#include <string>

namespace mqbridge::test {

// Paths of programs that tests start.

std::string inferior_program();    ///< inferior_loop.c: something to attach to
std::string guardian_program();    ///< mqbridge-guardian
std::string kill_victim_program(); ///< kill_victim.cpp

} // namespace mqbridge::test
