#include "host/cli/variable_findings.h"

#include "host/analysis/compare_variables.h"
#include "host/analysis/unexpected_lengths.h"

namespace mqbridge {

void add_variable_findings(Dump& dump, const VariablesChoice& choice) {
  if (choice.diff)
    dump.variable_differences = compare_variables(dump, choice.all);
  if (choice.unexpected)
    dump.unexpected_lengths = find_unexpected_lengths(dump, *choice.unexpected);
}

} // namespace mqbridge
