#pragma once

#include "host/report/text_report.h"
#include "tests/document/sample_dump.h"

#include <string>

namespace mqbridge::test {

inline std::string text_of(const Dump& dump, const TextOptions& options = {}) {
  return written([&](const Sink& sink) { write_text(dump, options, sink); });
}

} // namespace mqbridge::test
