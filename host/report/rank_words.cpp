#include "host/report/rank_words.h"

#include "host/codes.h"
#include "host/document/names.h"
#include "host/report/causes.h"
#include "host/report/fitted_text.h"
#include "host/report/inside_lines.h"
#include "host/report/text_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace mqbridge {
namespace {

/// The process's statement about its queues, if there is neither a communicator nor a message to
/// make it.
std::string without_communicators(const RankDump& rank) {
  for (const RankError& error : rank.errors)
    if (error.code == codes::mpi_not_initialized)
      return "";
  if (rank.mpi && rank.mpi->state == MpiState::not_initialized)
    return "MPI is not initialized: there are no queues yet";
  if (rank.mpi && rank.mpi->state == MpiState::finalized)
    return "MPI is finalized: there are no queues any more";
  if (rank.mpi && rank.mpi->state == MpiState::finalizing && rank.status == RankStatus::ok)
    return "MPI_Finalize has freed the communicators: there are no queues any more";
  if (rank.status == RankStatus::ok)
    return "no communicator has a name that --comm gives";
  return rank.status == RankStatus::failed ? "" : "no communicator was read (unknown, not empty)";
}

std::string repairs_note(const RankDump& rank, bool raw) {
  std::set<std::string> repairs;
  for (const Communicator& communicator : rank.communicators) {
    for (const Queue& queue : communicator.queues)
      for (const Operation& operation : queue.operations)
        for (const Repair repair : operation.repairs)
          if (repair != Repair::text) // nothing of it is shown
            repairs.insert(std::string(name_of(repair)));
  }
  std::string text;
  for (std::string repair : repairs) {
    std::replace(repair.begin(), repair.end(), '_', ' ');
    text += (text.empty() ? "* repaired: " : ", ") + repair;
  }
  return text.empty() || raw ? text : text + " (--raw shows the DLL's value)";
}

std::string types_note(const RankDump& rank) {
  if (!rank.mpi || rank.mpi->types_match != TypesMatch::version)
    return {};
  return fmt::format("types from {}: not known to be of this very build; sizes checked",
                     rank.mpi->types_source.value_or("a pack"));
}

} // namespace

std::string platform_text(const RankDump& rank) {
  if (!rank.platform)
    return "-";
  return fmt::format("{:6} {}{}", printable(rank.platform->architecture),
                     rank.platform->byte_order == ByteOrder::little ? "LE" : "BE",
                     rank.platform->pointer_size * 8);
}

std::string mpi_text(const RankDump& rank) {
  if (!rank.mpi)
    return "-";
  std::string text = printable(rank.mpi->name);
  if (rank.mpi->version)
    text += fmt::format(" {}", printable(*rank.mpi->version));
  if (rank.mpi->transport)
    text += fmt::format(" ({})", printable(*rank.mpi->transport));
  return text;
}

std::string held_text(const RankDump& rank) {
  if (!rank.stopped_ms || !std::isfinite(*rank.stopped_ms))
    return "-";
  const char* before = rank.stopped_before_us ? ">" : "";
  if (*rank.stopped_ms >= 10'000)
    return fmt::format("{}{:.1f}s", before, *rank.stopped_ms / 1000);
  return fmt::format("{}{:.0f}ms", before, *rank.stopped_ms);
}

Cell status_cell(const RankGroup& group) {
  const RankDump& rank = group.example();
  const RankError* error = first_error(rank);
  const std::string code = error ? fmt::format(" {}", printable(error->code)) : "";
  if (rank.status == RankStatus::failed)
    return {"FAILED" + code, Style::bad};
  if (rank.status == RankStatus::partial)
    return {"partial" + code, Style::warning};
  std::string text = "ok";
  if (rank.mpi && rank.mpi->state == MpiState::finalizing)
    text += ", finalizing";
  if (rank.mpi && rank.mpi->state == MpiState::finalized)
    text += ", finalized";
  if (const std::string inside = group.queues_alike ? inside_words(rank) : ""; !inside.empty())
    text += ", " + inside;
  if (const auto warnings = count_of(causes_of(rank.errors)); warnings > 0)
    text += fmt::format(", {} {}", warnings, warnings == 1 ? "warning" : "warnings");
  return {text, Style::good};
}

std::vector<std::string> rank_notes(const RankDump& rank, bool raw) {
  std::vector<std::string> notes;
  for (std::string note : {rank.communicators.empty() ? without_communicators(rank) : "",
                           repairs_note(rank, raw), types_note(rank)})
    if (!note.empty())
      notes.push_back(std::move(note));
  return notes;
}

} // namespace mqbridge
