#include "rsp/commands/memory_reply.h"

#include "rsp/codes.h"
#include "rsp/packet/file_reply.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"

#include <cstring>
#include <fmt/format.h>
#include <iterator>

namespace mqbridge::rsp {
namespace {

Failure garbage(ReadForm form, std::span<const MemoryPiece> pieces, std::string_view reply,
                std::string_view why) {
  std::string request;
  if (form == ReadForm::file)
    request = fmt::format("vFile:pread of memory at {:x}", pieces.front().address);
  else
    append_request(request, form, pieces);
  return fail(codes::stub_garbage,
              fmt::format("{}: the stub answered '{}' ({} bytes): {}", shorten(request),
                          shorten(reply), reply.size(), why),
              "look at what the stub says with --trace FILE");
}

bool place_hex(const MemoryPiece& piece, std::string_view digits) {
  RangePlace place = piece.place;
  while (!digits.empty()) {
    const auto room = piece.range->room(place, digits.size() / 2);
    if (!decode_hex(digits.substr(0, 2 * room.size()), room))
      return false;
    digits.remove_prefix(2 * room.size());
  }
  return true;
}

void place_bytes(const MemoryPiece& piece, std::string_view bytes) {
  RangePlace place = piece.place;
  while (!bytes.empty()) {
    const auto room = piece.range->room(place, bytes.size());
    std::memcpy(room.data(), bytes.data(), room.size());
    bytes.remove_prefix(room.size());
  }
}

Result<PieceBytes> take_hex(const MemoryPiece& piece, std::string_view reply) {
  if (reply.empty()) {
    return fail("memory.unsupported", "the stub does not answer `m`: it cannot read memory",
                "use gdbserver, or another stub that reads memory");
  }
  if (reply.size() > 2 * piece.length)
    return garbage(ReadForm::hex, {&piece, 1}, reply, "more than it was asked for");
  if (reply.size() % 2 != 0 || !place_hex(piece, reply))
    return garbage(ReadForm::hex, {&piece, 1}, reply, "not hexadecimal");
  return PieceBytes(reply.size() / 2);
}

Result<PieceBytes> take_binary(ReadForm form, const MemoryPiece& piece, std::string_view reply) {
  if (form == ReadForm::binary) {
    if (!reply.starts_with('b'))
      return garbage(form, {&piece, 1}, reply, "not a binary reply");
    reply.remove_prefix(1);
  }
  if (reply.size() > piece.length)
    return garbage(form, {&piece, 1}, reply, "more than it was asked for");
  if (reply.empty())
    return PieceBytes();
  place_bytes(piece, reply);
  return PieceBytes(reply.size());
}

/// Takes "LENGTH,LENGTH,...;" and the bytes; an unreadable range has the length 0.
Result<void> take_many(std::span<const MemoryPiece> pieces, std::string_view reply,
                       std::span<PieceBytes> got) {
  const auto header_end = reply.find(';');
  if (header_end == std::string_view::npos)
    return garbage(ReadForm::many, pieces, reply, "no list of lengths");
  std::string_view lengths = reply.substr(0, header_end);
  std::string_view bytes = reply.substr(header_end + 1);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto number = lengths.substr(0, lengths.find(','));
    lengths.remove_prefix(std::min(lengths.size(), number.size() + 1));
    const auto length = parse_hex(number);
    if (!length || *length > pieces[i].length || *length > bytes.size())
      return garbage(ReadForm::many, pieces, reply, "lengths that do not fit");
    place_bytes(pieces[i], bytes.substr(0, *length));
    bytes.remove_prefix(*length);
    got[i] = *length == 0 ? PieceBytes() : PieceBytes(*length);
  }
  if (!lengths.empty() || !bytes.empty())
    return garbage(ReadForm::many, pieces, reply, "more than it was asked for");
  return {};
}

/// If fewer bytes come than were asked for, a hole follows them; a refusal is a hole, too.
Result<PieceBytes> take_file(const MemoryPiece& piece, std::string_view reply) {
  const auto answer = parse_file_reply(reply);
  if (!answer)
    return garbage(ReadForm::file, {&piece, 1}, reply, "no answer of vFile:pread");
  if (answer->result <= 0)
    return PieceBytes();
  if (static_cast<std::size_t>(answer->result) != answer->attachment.size())
    return garbage(ReadForm::file, {&piece, 1}, reply, "another number of bytes than it says");
  if (answer->attachment.size() > piece.length)
    return garbage(ReadForm::file, {&piece, 1}, reply, "more than it was asked for");
  place_bytes(piece, answer->attachment);
  return PieceBytes(answer->attachment.size());
}

} // namespace

void append_request(std::string& payload, ReadForm form, std::span<const MemoryPiece> pieces) {
  const auto end = std::back_inserter(payload);
  if (form != ReadForm::many) {
    fmt::format_to(end, "{}{:x},{:x}", form == ReadForm::hex ? 'm' : 'x', pieces.front().address,
                   pieces.front().length);
    return;
  }
  payload += "MultiMemRead:ranges:";
  for (const MemoryPiece& piece : pieces)
    fmt::format_to(end, "{:x},{:x}{}", piece.address, piece.length,
                   &piece == &pieces.back() ? ';' : ',');
}

Result<void> take_reply(ReadForm form, std::span<const MemoryPiece> pieces, std::string_view reply,
                        std::span<PieceBytes> got) {
  // A refusal of the whole request does not tell a hole: holes have the length 0 in this form.
  if (form == ReadForm::many)
    return take_many(pieces, reply, got);
  const MemoryPiece& piece = pieces.front();
  // Bare memory may begin like an error ("E."): then the reply has exactly the length asked for.
  const bool is_all_of_it = form == ReadForm::bare_binary && reply.size() == piece.length;
  if (is_error_reply(reply) && !is_all_of_it) {
    got.front() = std::nullopt;
    return {};
  }
  auto bytes = form == ReadForm::hex    ? take_hex(piece, reply)
               : form == ReadForm::file ? take_file(piece, reply)
                                        : take_binary(form, piece, reply);
  if (!bytes)
    return forward(std::move(bytes));
  got.front() = *bytes;
  return {};
}

bool is_in_place(const MemoryPiece& piece, std::string_view bytes) {
  RangePlace place = piece.place;
  while (!bytes.empty()) {
    const auto room = piece.range->room(place, bytes.size());
    if (std::memcmp(room.data(), bytes.data(), room.size()) != 0)
      return false;
    bytes.remove_prefix(room.size());
  }
  return true;
}

} // namespace mqbridge::rsp
