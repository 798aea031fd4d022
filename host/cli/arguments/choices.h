#pragma once

#include "host/files/fetch_options.h"
#include "host/memory/cache_mode.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace mqbridge {

/// A word that an option takes, and what it means.
template <class E>
struct Choice {
  std::string_view word;
  E value;
};

/// `dot`: who waits for whom, for Graphviz. `collect`: NDJSON as --collect on another computer
/// reads it.
enum class Format : std::uint8_t { text, json, ndjson, tsv, html, dot, collect };
inline constexpr Choice<Format> formats[] = {{"text", Format::text},      {"json", Format::json},
                                             {"ndjson", Format::ndjson},  {"tsv", Format::tsv},
                                             {"html", Format::html},      {"dot", Format::dot},
                                             {"collect", Format::collect}};

enum class When : std::uint8_t { automatic, always, never };
inline constexpr Choice<When> whens[] = {
    {"auto", When::automatic}, {"always", When::always}, {"never", When::never}};

inline constexpr Choice<CacheMode> cache_modes[] = {
    {"none", CacheMode::none}, {"page", CacheMode::page}, {"full", CacheMode::full}};

inline constexpr Choice<FetchMode> fetch_modes[] = {
    {"ask", FetchMode::ask}, {"always", FetchMode::always}, {"never", FetchMode::never}};

/// The word of a value that is among `choices`.
template <class E>
std::string_view word_of(std::type_identity_t<std::span<const Choice<E>>> choices, E value) {
  return std::ranges::find(choices, value, &Choice<E>::value)->word;
}

} // namespace mqbridge
