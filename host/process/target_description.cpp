#include "host/process/target_description.h"

#include "host/limits.h"
#include "host/memory/architecture.h"
#include "rsp/commands/qxfer.h"
#include "rsp/commands/xml.h"

#include <algorithm>
#include <deque>
#include <pugixml.hpp>

namespace mqbridge {
TargetDescription parse_target_description(std::string_view xml) {
  pugi::xml_document document;
  TargetDescription description;
  if (!rsp::load_xml(document, xml).empty())
    return description;
  const auto target = document.child("target");
  const std::string_view text = target.child("architecture").text().get();
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos)
    description.architecture = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  for (const auto include : target.children("xi:include"))
    if (description.includes.size() < limits::description_files)
      if (const auto annex = include.attribute("href"))
        description.includes.emplace_back(annex.value());
  return description;
}

Result<std::string> read_architecture(rsp::Client& client) {
  std::deque<std::string> annexes = {"target.xml"};
  for (int files = 0; files < limits::description_files && !annexes.empty(); ++files) {
    // Names come from the stub, and go into a packet: nothing in them may end it.
    const std::string annex = std::move(annexes.front());
    annexes.pop_front();
    if (annex.empty() || annex.find_first_of("#$}*:") != std::string::npos)
      continue;
    auto xml = rsp::read_object(client, "features", annex);
    if (!xml)
      return forward(std::move(xml));
    auto description = parse_target_description(xml->value_or(""));
    if (!description.architecture.empty())
      return std::move(description.architecture);
    annexes.insert(annexes.end(), description.includes.begin(), description.includes.end());
  }
  return std::string{};
}

bool describes(std::string_view name, const Platform& platform) {
  bool is_known = false;
  for (const auto& architecture : architectures()) {
    const auto fits = std::ranges::find_if(architecture.gdb_names, [&](const GdbName& one) {
      return !one.begin.empty() && name.starts_with(one.begin);
    });
    if (fits == architecture.gdb_names.end())
      continue;
    if (&architecture == &architecture_of(platform))
      return platform.pointer_size <= fits->widest_pointer;
    is_known = true;
  }
  return !is_known;
}

} // namespace mqbridge
