#!/usr/bin/env bash
# Makes the C++ of the service's page and of the description of its interface, from the files in this folder. Called by the build.
#   embed.sh OUTPUT.cpp
set -euo pipefail
output=$1
cd "$(dirname "${BASH_SOURCE[0]}")"
shared=../../report/page
text() { printf 'R"~~~(%s)~~~"' "$1"; }
{
  printf '#include "host/service/page.h"\n\n#include <algorithm>\n#include <array>\n\nnamespace mqbridge::page {\n\n'
  printf 'const std::string_view openapi = %s;\n' "$(text "$(<openapi.json)")"
  printf 'const std::array files = {\n'
  printf '    File{"", "text/html; charset=utf-8", %s},\n' "$(text "$(<index.html)")"
  printf '    File{"service.css", "text/css", %s},\n' "$(text "$(cat $shared/page.css service.css)")"
  printf '    File{"service.js", "text/javascript", %s}};\n\n' "$(text "$(cat $shared/elements.js service.js)")"
  printf 'const File* find(std::string_view name) {\n  const auto found = std::ranges::find(files, name, &File::name);\n'
  printf '  return found == files.end() ? nullptr : &*found;\n}\n\n} // namespace mqbridge::page\n'
} >"$output"
