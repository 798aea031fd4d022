#!/usr/bin/env bash
# Makes the C++ of a report's page, from the files in this folder: its style and its script stand in the page itself, and its policy
# allows those alone, by their hashes. Called by the build.
#   embed.sh OUTPUT.cpp
set -euo pipefail
output=$1
cd "$(dirname "${BASH_SOURCE[0]}")"

hash_of() { printf %s "$1" | sha256sum | cut -d' ' -f1 | tr -d '\n' | sed 's/../\\x&/g' | xargs -0 printf %b | base64; }

style=$(<page.css)
script=$(cat unpack.js graph.js elements.js show.js && echo 'open();')
policy="default-src 'none'; style-src 'sha256-$(hash_of "$style")'; script-src 'sha256-$(hash_of "$script")'; base-uri 'none'; form-action 'none'"
page=$(<page.html)
page=${page/@POLICY@/"$policy"}
page=${page/@STYLE@/"$style"}
page=${page/@SCRIPT@/"$script"}
{
  printf '#include "host/report/page.h"\n\nnamespace mqbridge::page {\n\n'
  printf 'const std::string_view before_document = R"~~~(%s)~~~";\n' "${page%%@DOCUMENT@*}"
  printf 'const std::string_view after_document = R"~~~(%s\n)~~~";\n' "${page#*@DOCUMENT@}"
  printf '\n} // namespace mqbridge::page\n'
} >"$output"
