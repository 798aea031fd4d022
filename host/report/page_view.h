#pragma once

#include "host/dump/values/document.h"
#include "host/report/text_report.h"

#include <nlohmann/json_fwd.hpp>

namespace mqbridge {

// What a report's page shows beside the document: the words that the text report has, too, so that
// both say the same. Strings are fit to be shown.

class PageView {
public:
  /// `options.show` bounds the rows of a queue. Refers to both.
  PageView(const Dump& dump, const TextOptions& options);

  /// {header, filters, verdict, more, tone, labels: {finding's kind: its heading}, changes}
  nlohmann::ordered_json all() const;
  /// {name, place, platform, mpi, call, held, status, counts, communicators: [{name, facts, rows,
  /// lines}], lines, threads: [{name, helper, calls: [[function, file, line]]}]}. A row has the
  /// cells of operation_columns() and a note.
  nlohmann::ordered_json rank(const RankDump& rank) const;

private:
  const Dump& dump_;
  const TextOptions& options_;
  const bool several_jobs_;
};

} // namespace mqbridge
