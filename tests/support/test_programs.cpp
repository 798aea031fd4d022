#include "tests/support/test_programs.h"

namespace mqbridge::test {

std::string inferior_program() {
  return MQBRIDGE_INFERIOR_LOOP;
}

std::string guardian_program() {
  return MQBRIDGE_GUARDIAN;
}

std::string kill_victim_program() {
  return MQBRIDGE_KILL_VICTIM;
}

} // namespace mqbridge::test
