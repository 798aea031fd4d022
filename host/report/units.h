#pragma once

#include <cstdint>
#include <string>

namespace mqbridge {

/// Bytes for people. Exact wherever it can be read: whole multiples as "4 MiB", others as bytes up
/// to seven digits ("65537 B"), beyond that one decimal ("7.5 GiB").
std::string size_text(std::int64_t bytes);

/// Milliseconds for people: "0.42 ms", "53 ms", "12.3 s".
std::string duration_text(double milliseconds);

/// "0x7ffe25e6c1cc"
std::string hexadecimal(std::uint64_t value);

/// Bytes a second for people, in powers of ten as links are: "11.5 kB/s", "112 MB/s".
std::string rate_text(double bytes_per_second);

} // namespace mqbridge
