#pragma once

#include "host/dump/document.h"

namespace mqbridge {

/// The verdict on the job of a document, from what the document says alone: its ranks, and where it
/// has earlier looks (Dump::earlier), what changed since. docs/verdict.md has the method and its
/// limits. Any thread.
Analysis analyze(const Dump& dump);

} // namespace mqbridge
