#pragma once

#include "host/document/json_report.h"
#include "host/document/sink.h"
#include "host/dump/values/document.h"
#include "host/report/text_report.h"

namespace mqbridge {

/// A page for a browser, whole in itself: the document of write_json(), compressed, and what shows
/// it. Nothing of a target stands in the markup: the page's script makes text of it, and the page's
/// policy lets nothing else run or load. `text.show` bounds the rows of a
/// queue, where it is more than the page's own bound.
void write_html(const Dump& dump, const JsonOptions& json, const TextOptions& text,
                const Sink& sink);

} // namespace mqbridge
