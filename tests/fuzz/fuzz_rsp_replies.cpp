// Replies as rsp/ reads them, one parser at a time. The first byte chooses which; replies to reads
// of memory say in the bytes behind it what was asked for.

#include "rsp/client/attach_facts.h"
#include "rsp/client/negotiation.h"
#include "rsp/client/quirks.h"
#include "rsp/commands/memory_reply.h"
#include "rsp/commands/vfile_reply.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/stop_reply.h"
#include "rsp/packet/thread_id.h"
#include "tests/fuzz/fuzz_input.h"

#include <array>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::FuzzInput;
using test::require;

void check(const Error& error) {
  require(!error.code.empty() && !error.message.empty());
}

void stop_reply(std::string_view text) {
  if (const auto reply = parse_stop_reply(text); !reply)
    check(reply.error());
  static_cast<void>(parse_thread_id(text));
}

void features(std::string_view text) {
  auto parsed = parse_features(text);
  require(parsed.packet_size >= 2 && parsed.max_hex_read() > 0);
  static_cast<void>(identify_by_announcement(text));
}

/// Answers of a stub to the questions that tell its kind, one on each line.
void identity(FuzzInput& input) {
  Features known = parse_features(input.take_until('\n'));
  const auto probes = identity_probes(known.kind);
  std::vector<std::string> answers;
  while (answers.size() < probes.size())
    answers.emplace_back(input.take_until('\n'));
  identify_by_answers(known, answers);
  require(known.max_hex_read() > 0 && !known.stub_name.empty());
}

void file_reply(FuzzInput& input) {
  const std::size_t wanted = input.number(1);
  const auto reply = input.rest();
  if (const auto parsed = parse_file_reply(reply); parsed && parsed->result < 0)
    check(refused_file("vfile.open", "cannot open", "/f", *parsed).value());
  const auto piece = parse_file_piece("/f", reply, wanted);
  if (piece)
    require(piece->size() <= wanted);
  else
    check(piece.error());
}

/// Ranges that follow each other, cut into pieces as one request asks for them.
void memory_reply(FuzzInput& input) {
  constexpr std::array forms = {ReadForm::hex, ReadForm::binary, ReadForm::bare_binary,
                                ReadForm::many, ReadForm::file};
  const ReadForm form = forms[input.number(1) % forms.size()];
  const std::size_t count = form == ReadForm::many ? 1 + input.number(1) % 4 : 1;
  std::vector<std::vector<std::byte>> bytes;
  std::vector<ReadRequest> requests;
  for (std::uint64_t address = 0x1000; bytes.size() < count;) {
    bytes.emplace_back(1 + input.number(1));
    requests.push_back({address, bytes.back()});
    address += bytes.back().size() + 0x100;
  }
  auto ranges = join(requests, 256, 1);
  std::vector<MemoryPiece> pieces;
  for (auto& range : ranges) {
    const std::size_t length = range.next_piece();
    const std::uint64_t address = range.next_address();
    pieces.push_back({&range, address, length, range.asked(length)});
  }
  std::vector<PieceBytes> got(pieces.size());
  if (const auto taken = take_reply(form, pieces, input.rest(), got); !taken) {
    check(taken.error());
    return;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    require(!got[i] || *got[i] <= pieces[i].length);
}

/// Files of /proc as a server gives them, told apart by a newline of their own.
void refusal(FuzzInput& input) {
  const std::array texts = {input.take_until('\f'), input.take_until('\f'), input.take_until('\f'),
                            input.take_until('\f')};
  std::size_t turn = 0;
  const auto files = [&](std::string_view) -> Result<std::string> {
    const auto text = texts[turn++ % texts.size()];
    if (text.empty())
      return fail("vfile.open", "none");
    return std::string(text);
  };
  const auto facts = gather_attach_facts(files, 4242, "/proc/self/status");
  check(explain_refusal(facts, 4242, input.rest()));
}

void hexadecimal(std::string_view text) {
  std::vector<std::byte> bytes(text.size() / 2);
  const bool decoded = decode_hex(text, bytes);
  if (decoded)
    require(!is_error_reply(text));
  if (parse_hex(text))
    require(text.find_first_not_of("0123456789abcdefABCDEF") == text.npos);
  const auto back = encode_hex(text);
  std::vector<std::byte> again(text.size());
  require(decode_hex(back, again));
  require(std::equal(again.begin(), again.end(), std::as_bytes(std::span(text)).begin()));
}

} // namespace
} // namespace mqbridge::rsp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge::rsp;
  mqbridge::test::FuzzInput input(data, size);
  switch (input.number(1)) {
  case 's':
    stop_reply(input.rest());
    break;
  case 'q':
    features(input.rest());
    break;
  case 'i':
    identity(input);
    break;
  case 'F':
    file_reply(input);
    break;
  case 'm':
    memory_reply(input);
    break;
  case 'r':
    refusal(input);
    break;
  default:
    hexadecimal(input.rest());
  }
  return 0;
}
