#include "host/bridge/kept_files.h"

#include "host/bridge/guesses.h"
#include "host/bridge/requests.h"
#include "rsp/packet/file_reply.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

constexpr std::size_t first_window = 4;
constexpr std::size_t most_bytes_ahead = std::size_t{4} << 20;
constexpr std::size_t most_kept = std::size_t{1} << 30;
constexpr std::size_t most_opened = 10'000;

std::optional<std::string> decoded(std::string_view digits) {
  std::string text(digits.size() / 2, '\0');
  return rsp::decode_hex(digits, std::as_writable_bytes(std::span(text))) ? std::optional(text)
                                                                          : std::nullopt;
}

/// Whether what one reads there stays the same: "HEXPATH,0,MODE", opened for reading, and no file
/// that the kernel makes up.
bool may_be_kept(std::string_view words) {
  constexpr std::array<std::string_view, 3> changing{"/proc/", "/sys/", "/dev/"};
  const auto comma = words.find(',');
  const auto path = decoded(words.substr(0, comma));
  return comma != words.npos && words.substr(comma).starts_with(",0,") && path &&
         path->starts_with('/') && path->find("/../") == path->npos &&
         path->find("//") == path->npos && path->find("/./") == path->npos &&
         std::none_of(changing.begin(), changing.end(),
                      [&](std::string_view folder) { return path->starts_with(folder); });
}

/// The number of an opened file; empty: it was not opened.
std::string descriptor_in(std::string_view reply) {
  const auto parsed = rsp::parse_file_reply(reply);
  return parsed && parsed->result >= 0 ? fmt::format("{:x}", parsed->result) : "";
}

constexpr std::string_view bad_descriptor = "F-1,9"; // EBADF
constexpr std::string_view no_such_file = "F-1,2";   // ENOENT

/// What follows "vFile:open:" of a file that gdb reads.
std::string words_of(std::string_view path) {
  return rsp::encode_hex(path) + ",0,0";
}

/// Without the mode, which only a file has that is made.
std::string key_of(std::string_view root, std::string_view words) {
  return std::string(root) + " " + std::string(words.substr(0, words.rfind(',')));
}

} // namespace

KeptFiles::~KeptFiles() {
  for (const auto& [name, file] : files_)
    if (!file->key.empty() && file->pieces.size() > file->recalled)
      remembered_.keep(file->key, file->size, piece_size(), file->pieces);
}

std::size_t KeptFiles::piece_size() const {
  // Some bytes take two on the wire; a stub sends fewer where they do not fit.
  constexpr std::size_t least = 256;
  constexpr std::size_t most = std::size_t{32} << 10;
  return std::clamp(packet_size_ - packet_size_ / 8, least, most);
}

Result<std::string> KeptFiles::answer(const std::string& packet) {
  if (packet.starts_with(open_name))
    return open(packet);
  if (packet.starts_with(setfs_name)) {
    auto reply = stub_.request(packet);
    if (reply && *reply == "F0")
      root_ = packet.substr(setfs_name.size());
    return reply;
  }
  const auto about = parse_about_file(packet);
  constexpr std::array<std::string_view, 4> known{
      "vFile:pread:", "vFile:pwrite:", "vFile:close:", "vFile:fstat:"};
  if (!about || std::ranges::find(known, about->name) == known.end())
    return stub_.request(packet);
  const auto found = opened_.find(about->descriptor);
  if (found == opened_.end())
    return std::string(bad_descriptor);
  const Open opened = found->second;
  if (about->name == close_name)
    opened_.erase(found);
  if (!opened.file)
    return stub_.request(about->name + opened.stub_descriptor + about->rest);
  if (about->name == close_name) { // it may be opened again, if it is still kept
    const bool is_kept = opened.file.use_count() > 1;
    return is_kept || opened.file->stub_descriptor.empty()
               ? std::string("F0")
               : stub_.request(std::string(close_name) + opened.file->stub_descriptor);
  }
  const auto still = is_still(*opened.file);
  if (!still)
    return Failure(still.error());
  if (!*still)
    return std::string(bad_descriptor);
  if (about->name == "vFile:fstat:")
    return opened.file->status;
  const auto asked = parse_two_numbers(
      std::string_view(about->rest).substr(std::min<std::size_t>(1, about->rest.size())));
  if (about->name != "vFile:pread:" || !asked)
    return std::string("F-1,16"); // EINVAL, as the protocol numbers it
  return read(*opened.file, asked->second, asked->first);
}

/// Whether it can be read. Once the process has run, what is kept of it counts again if its status
/// is the same.
Result<bool> KeptFiles::is_still(File& file) {
  if (file.is_checked)
    return true;
  if (file.stub_descriptor.empty()) // know()
    return false;
  auto status = stub_.request("vFile:fstat:" + file.stub_descriptor);
  if (!status)
    return forward(std::move(status));
  if (*status == file.status) {
    file.is_checked = true;
    return true;
  }
  file.pieces.clear();
  file.key.clear();
  return take_status(file, std::move(*status));
}

bool KeptFiles::is_slow() const {
  const auto link = stub_.link_estimate();
  return link.bytes_per_second > 0 &&
         static_cast<double>(piece_size()) / link.bytes_per_second > link.round_trip;
}

/// What may come while a debugger waits, who gives up after some seconds.
std::size_t KeptFiles::bytes_in_time() const {
  constexpr std::size_t unknown = std::size_t{4} << 20;
  constexpr std::size_t most = std::size_t{64} << 20;
  const double rate = stub_.link_estimate().bytes_per_second; // in a second
  return rate > 0 ? static_cast<std::size_t>(std::min(rate, static_cast<double>(most))) : unknown;
}

std::string KeptFiles::number(Open opened) {
  std::uint64_t free = 3;
  while (opened_.contains(free))
    ++free;
  opened_.emplace(free, std::move(opened));
  return fmt::format("F{:x}", free);
}

Result<std::string> KeptFiles::open(const std::string& packet) {
  if (opened_.size() >= most_opened)
    return std::string("F-1,17"); // ENFILE
  const std::string words = packet.substr(open_name.size());
  const std::string key = key_of(root_, words);
  if (const auto path = decoded(words.substr(0, words.find(',')));
      path && std::ranges::find(expected_, *path) != expected_.end())
    if (auto opened = open_expected(); !opened)
      return forward(std::move(opened));
  const auto known = files_.find(key);
  if (known != files_.end() && known->second->is_checked)
    return number({known->second, {}});
  if (is_missing(key))
    return std::string(no_such_file);
  auto reply = stub_.request(packet);
  if (!reply)
    return reply;
  const std::string descriptor = descriptor_in(*reply);
  if (descriptor.empty())
    return reply;
  if (!may_be_kept(words) || is_slow())
    return number({nullptr, descriptor});
  auto file = std::make_shared<File>();
  file->stub_descriptor = descriptor;
  if (auto begun = begin({&file, 1}); !begun)
    return forward(std::move(begun));
  if (!file->is_checked) // no fstat: nothing would tell that it is another file
    return number({nullptr, descriptor});
  if (known != files_.end() && known->second->status == file->status) {
    file = known->second;
    const auto old = std::exchange(file->stub_descriptor, descriptor);
    file->is_checked = true;
    if (auto closed = stub_.request(std::string(close_name) + old); !closed)
      return closed;
  } else {
    if (auto room = make_room(); !room)
      return forward(std::move(room));
    files_[key] = file;
  }
  return number({std::move(file), {}});
}

bool KeptFiles::is_missing(const std::string& key) {
  constexpr std::chrono::seconds believed{5};
  const auto found = missing_.find(key);
  return found != missing_.end() && std::chrono::steady_clock::now() - found->second < believed;
}

/// What a debugger asks first: the status of each, its beginning, and its end, where ELF files have
/// their section headers. Sets is_checked, unless the stub has no status.
Result<void> KeptFiles::begin(std::span<const std::shared_ptr<File>> files) {
  constexpr std::size_t for_build_id = 4096; // more is not needed of a file that is known
  constexpr std::size_t at_its_beginning = 2;
  constexpr std::size_t at_its_end = 2;
  std::vector<std::string> requests;
  for (const auto& file : files) {
    requests.push_back("vFile:fstat:" + file->stub_descriptor);
    requests.push_back(fmt::format("vFile:pread:{},{:x},0", file->stub_descriptor,
                                   std::min(for_build_id, piece_size())));
  }
  auto replies = stub_.burst(requests);
  if (!replies)
    return forward(std::move(replies));
  auto reply = replies->begin();
  std::vector<std::pair<File*, std::size_t>> wanted;
  requests.clear();
  for (const auto& pointer : files) {
    File& file = *pointer;
    const bool is_known = take_status(file, std::move(*reply++));
    if (is_known)
      take(file, 0, *reply);
    ++reply;
    if (!is_known)
      continue;
    recall(file);
    file.next_piece = file.window = at_its_beginning;
    const auto pieces = (file.size + piece_size() - 1) / piece_size();
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      if (piece == at_its_beginning) // on to its end
        piece = std::max(piece, pieces - std::min(pieces, at_its_end));
      const auto known = file.pieces.find(piece);
      const auto have = known == file.pieces.end() ? 0 : known->second.size();
      if (have >= size_of(file, piece))
        continue;
      requests.push_back(fmt::format("vFile:pread:{},{:x},{:x}", file.stub_descriptor,
                                     size_of(file, piece) - have, piece * piece_size() + have));
      wanted.emplace_back(&file, piece);
    }
  }
  replies = stub_.burst(requests);
  if (!replies)
    return forward(std::move(replies));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    take(*wanted[i].first, wanted[i].second, (*replies)[i]);
  return read_sections(files);
}

/// Each would cost the debugger a round trip; they are read where all of them take less time.
Result<void> KeptFiles::read_sections(std::span<const std::shared_ptr<File>> files) {
  std::set<std::pair<File*, std::size_t>> wanted;
  std::size_t sections = 0;
  for (const auto& file : files) {
    if (!file->is_checked || file->pieces.empty())
      continue;
    std::string end;
    auto last = file->pieces.rbegin(); // those that follow one another
    for (auto next = last->first; last != file->pieces.rend() && last->first == next;
         ++last, --next)
      end.insert(0, last->second);
    for (const FileRange& range :
         sections_of(file->pieces[0], end, file->size - std::min(file->size, end.size()))) {
      ++sections;
      // gdb asks for as much as fits into a packet, wherever a section ends.
      const auto behind = std::min(file->size, range.offset + range.size + packet_size_);
      for (auto piece = range.offset / piece_size(); piece * piece_size() < behind; ++piece)
        if (!file->pieces.contains(piece))
          wanted.emplace(file.get(), piece);
    }
  }
  const auto link = stub_.link_estimate();
  const auto bytes = wanted.size() * piece_size();
  if (bytes > bytes_in_time() ||
      (link.bytes_per_second > 0 && static_cast<double>(bytes) / link.bytes_per_second >
                                        static_cast<double>(sections) * link.round_trip))
    return {};
  std::vector<std::string> requests;
  requests.reserve(wanted.size());
  for (const auto& [file, piece] : wanted)
    requests.push_back(fmt::format("vFile:pread:{},{:x},{:x}", file->stub_descriptor,
                                   size_of(*file, piece), piece * piece_size()));
  const auto replies = stub_.burst(requests);
  if (!replies)
    return Failure(replies.error());
  auto reply = replies->begin();
  for (const auto& [file, piece] : wanted)
    take(*file, piece, *reply++);
  return {};
}

bool KeptFiles::take_status(File& file, std::string reply) {
  const auto size = size_in_status(reply);
  if (!size)
    return false;
  file.size = *size;
  file.status = std::move(reply);
  file.is_checked = true;
  return true;
}

Result<void> KeptFiles::open_expected() {
  const auto first = std::exchange(expected_, {});
  if (is_slow())
    return {};
  // Of each file some pieces come, and the debugger waits for all of them. The others come with the
  // first of them that it opens.
  constexpr std::size_t pieces_of_each = 5;
  const auto most = std::max<std::size_t>(1, bytes_in_time() / (pieces_of_each * piece_size()));
  std::set<std::string> paths;
  for (const std::string& path : first)
    if (paths.size() < most)
      paths.insert(path);
    else
      expected_.push_back(path);
  std::vector<std::string> unknown;
  std::vector<std::string> requests;
  for (const std::string& path : paths)
    if (const auto words = words_of(path);
        !files_.contains(key_of(root_, words)) && may_be_kept(words)) {
      unknown.push_back(path);
      requests.push_back(std::string(open_name) + words);
    }
  const auto replies = stub_.burst(requests);
  if (!replies)
    return Failure(replies.error());
  std::vector<std::shared_ptr<File>> files;
  std::vector<std::string> opened;
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if (auto descriptor = descriptor_in((*replies)[i]); !descriptor.empty()) {
      files.push_back(std::make_shared<File>());
      files.back()->stub_descriptor = std::move(descriptor);
      opened.push_back(unknown[i]);
    }
  if (auto begun = begin(files); !begun)
    return begun;
  if (auto room = make_room(); !room)
    return room;
  std::vector<std::string> closing;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (files[i]->is_checked)
      files_[key_of(root_, words_of(opened[i]))] = files[i];
    else
      closing.push_back(std::string(close_name) + files[i]->stub_descriptor);
  if (const auto closed = stub_.burst(closing); !closed)
    return Failure(closed.error());
  return expect_debug_files(opened, files);
}

/// As a rule they are not there, and a debugger looks for each.
Result<void> KeptFiles::expect_debug_files(std::span<const std::string> paths,
                                           std::span<const std::shared_ptr<File>> files) {
  std::vector<std::string> requests;
  for (std::size_t i = 0; i < files.size(); ++i)
    for (const std::string& path : debug_files_of(paths[i], files[i]->pieces[0]))
      requests.push_back(std::string(open_name) + words_of(path));
  const auto replies = stub_.burst(requests);
  if (!replies)
    return Failure(replies.error());
  std::vector<std::string> closing;
  for (std::size_t i = 0; i < requests.size(); ++i)
    if ((*replies)[i] == no_such_file)
      missing_[key_of(root_, requests[i].substr(open_name.size()))] =
          std::chrono::steady_clock::now();
    else if (const auto descriptor = descriptor_in((*replies)[i]); !descriptor.empty())
      closing.push_back(std::string(close_name) + descriptor);
  const auto closed = stub_.burst(closing);
  return closed ? Result<void>() : Failure(closed.error());
}

void KeptFiles::know(const std::string& path, std::string contents) {
  auto file = std::make_shared<File>();
  file->status = "F-1,16"; // EINVAL: a file of /proc tells nothing by it
  file->size = contents.size();
  file->is_checked = true;
  for (std::size_t at = 0; at < contents.size(); at += piece_size())
    file->pieces[at / piece_size()] = contents.substr(at, piece_size());
  files_[key_of("0", words_of(path))] = std::move(file);
}

std::size_t KeptFiles::size_of(const File& file, std::size_t piece) const {
  return size_of_piece(piece, file.size, piece_size());
}

/// What the last session has read of the same file.
void KeptFiles::recall(File& file) {
  if (!file.pieces.empty())
    file.key = RememberedFiles::key(file.pieces.begin()->second, file.status, piece_size());
  if (file.key.empty())
    return;
  file.recalled = remembered_.recall(file.key, file.size, piece_size(), file.pieces);
  kept_bytes_ += file.recalled * piece_size(); // about
}

/// The reply may have less than was asked for, where it does not fit into a packet.
void KeptFiles::take(File& file, std::size_t piece, std::string_view reply) {
  const auto part = rsp::parse_file_reply(reply);
  if (!part || part->result <= 0)
    return;
  std::string& known = file.pieces[piece];
  const auto more = part->attachment.substr(0, size_of(file, piece) - known.size());
  known += more;
  kept_bytes_ += more.size();
}

Result<std::string> KeptFiles::read(File& file, std::size_t offset, std::size_t count) {
  count = std::min({count, packet_size_, file.size - std::min(file.size, offset)});
  std::string data;
  while (data.size() < count) {
    const auto at = offset + data.size();
    const auto piece = at / piece_size();
    const auto behind = at % piece_size();
    const auto known = [&] { return file.pieces[piece].size(); };
    if (const auto before = known(); before <= behind) {
      if (auto fetched = fetch(file, piece, (offset + count - 1) / piece_size()); !fetched)
        return forward(std::move(fetched));
      if (known() <= before)
        break;
    } else {
      data.append(file.pieces[piece], behind, count - data.size());
    }
  }
  if (data.empty() && count > 0)
    return std::string("F-1,5"); // EIO
  data.resize(fitting(data, packet_size_).size());
  return fmt::format("F{:x};", data.size()) + data;
}

/// Reads pieces `first` to `last`, and more behind them where the file is read from front to back.
Result<void> KeptFiles::fetch(File& file, std::size_t first, std::size_t last) {
  const bool goes_on = first == file.next_piece;
  file.window = goes_on ? std::min(2 * file.window, most_bytes_ahead / piece_size()) : first_window;
  const auto pieces_of_file = (file.size + piece_size() - 1) / piece_size();
  const auto end = std::min(std::max(last + 1, first + file.window), pieces_of_file);
  std::vector<std::size_t> pieces;
  std::vector<std::string> requests;
  for (auto piece = first; piece < end; ++piece) {
    const auto have = file.pieces[piece].size();
    if (have >= size_of(file, piece))
      continue;
    pieces.push_back(piece);
    requests.push_back(fmt::format("vFile:pread:{},{:x},{:x}", file.stub_descriptor,
                                   size_of(file, piece) - have, piece * piece_size() + have));
  }
  const auto replies = stub_.burst(requests);
  if (!replies)
    return Failure(replies.error());
  for (std::size_t i = 0; i < pieces.size(); ++i)
    take(file, pieces[i], (*replies)[i]);
  file.next_piece = end;
  return {};
}

/// A stub has some 1,000 descriptors, and needs some for itself.
Result<void> KeptFiles::make_room() {
  constexpr std::size_t most_files = 400;
  if (kept_bytes_ < most_kept && files_.size() < most_files)
    return {};
  std::vector<std::string> closing;
  for (const auto& [key, file] : files_) // those that are open go on with what they have
    if (file.use_count() == 1 && !file->stub_descriptor.empty())
      closing.push_back(std::string(close_name) + file->stub_descriptor);
  files_.clear();
  kept_bytes_ = 0;
  const auto closed = stub_.burst(closing);
  return closed ? Result<void>() : Failure(closed.error());
}

void KeptFiles::process_ran() {
  for (auto& [key, file] : files_)
    file->is_checked = false; // one may be open that is kept no longer
  std::erase_if(files_, [](const auto& known) { return known.second->stub_descriptor.empty(); });
  missing_.clear();
}

} // namespace mqbridge
