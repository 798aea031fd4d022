#pragma once

#include "host/dump/values/document.h"

namespace mqbridge {

/// The verdict on the job of a document. It uses the document alone: its ranks, and if the document
/// has earlier looks (Dump::earlier), the changes since. docs/verdict.md has the method and its
/// limits. Any thread.
Analysis analyze(const Dump& dump);

} // namespace mqbridge
