#include "rsp/commands/remote_file.h"
#include "tests/rsp/read_text.h"
#include "tests/support/connected.h"
#include "tests/support/gdb_server.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/temp_directory.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::connected;
using test::ScriptedStub;

constexpr std::uint64_t inode = 0x1234567;

/// struct stat as the protocol packs it.
std::string status_of(std::uint32_t mode, std::uint64_t size) {
  std::string bytes(64, '\0');
  const auto put = [&](std::size_t at, std::size_t width, std::uint64_t value) {
    for (std::size_t i = 0; i < width; ++i)
      bytes[at + i] = static_cast<char>(value >> (8 * (width - 1 - i)));
  };
  put(4, 4, inode);
  put(8, 4, mode);
  put(28, 8, size);
  put(56, 4, 1'700'000'000);
  put(60, 4, 1'700'000'001);
  return fmt::format("F{:x};", bytes.size()) + bytes;
}

constexpr std::uint32_t regular = 0100644;

struct Request {
  std::size_t count = 0;
  std::size_t offset = 0;
};

Request parse_pread(std::string_view payload) {
  Request request;
  payload.remove_prefix(payload.find(',') + 1);
  const auto comma = payload.find(',');
  std::from_chars(payload.data(), payload.data() + comma, request.count, 16);
  std::from_chars(payload.data() + comma + 1, payload.data() + payload.size(), request.offset, 16);
  return request;
}

/// Answers vFile:pread from `text`, with at most `longest` bytes at once.
void serve(ScriptedStub& stub, std::string text, std::size_t longest) {
  stub.on("vFile:setfs:", Answer::packet("F0"));
  stub.on("vFile:open:", Answer::packet("F5"));
  stub.on("vFile:fstat:5", Answer::packet(status_of(regular, text.size())));
  stub.on("vFile:close:", Answer::packet("F0"));
  stub.on("vFile:pread:5,", [text = std::move(text), longest](std::string_view payload) {
    const auto request = parse_pread(payload);
    const auto piece =
        text.substr(std::min(request.offset, text.size()), std::min(request.count, longest));
    return Answer::packet(fmt::format("F{:x};", piece.size()) + piece);
  });
}

/// The one file at that path; a failure of the test if it cannot be opened.
RemoteFile opened(Client& client, const RemotePath& path) {
  auto files = open_files(client, {&path, 1});
  EXPECT_TRUE(files) << files.error().message;
  EXPECT_TRUE(files && files->front()) << path.path;
  return files && files->front() ? *files->front() : RemoteFile{};
}

TEST(RemoteFiles, AreOpenedTogetherWithTheirSizes) {
  ScriptedStub stub;
  serve(stub, binary_text(1234), 4000);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const std::vector<RemotePath> paths = {{"/a", 0}, {"/b", 77}, {"/c", 77}};
  const auto probes = stub.count("vFile:setfs:0"); // the negotiation's
  const auto before = client->counters().round_trips;
  const auto files = open_files(*client, paths);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(client->counters().round_trips - before, 2U);
  for (const auto& file : *files) {
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->size, 1234U);
    EXPECT_EQ(file->modified, 1'700'000'000U);
    EXPECT_EQ(file->changed, 1'700'000'001U);
    EXPECT_EQ(file->inode, inode);
  }
  EXPECT_EQ(stub.count("vFile:setfs:0") - probes, 1U);
  EXPECT_EQ(stub.count("vFile:setfs:4d"), 2U);
  EXPECT_EQ(stub.count("vFile:open:2f62,0,0"), 1U);
}

TEST(RemoteFiles, EachHasItsOwnError) {
  struct Case {
    std::string setfs, open, fstat, code;
    std::size_t closed;
  };
  for (const auto& [setfs, open, fstat, code, closed] :
       {Case{"F0", "F-1,2", "", "vfile.open", 0}, Case{"F0", "", "", "vfile.unsupported", 0},
        Case{"F0", "OK", "", "stub.garbage", 0},
        Case{"F-1,1", "F5", "", "vfile.unsupported", 1}, // it is of the stub's own file system
        Case{"", "F5", "", "vfile.unsupported", 1}, Case{"F0", "F5", "", "vfile.unsupported", 1},
        Case{"F0", "F5", "F-1,5", "vfile.open", 1},
        Case{"F0", "F5", "F40;short", "stub.garbage", 1},
        Case{"F0", "F5", status_of(0010644, 0), "vfile.not_regular", 1},
        Case{"F0", "F5", status_of(0040755, 4096), "vfile.not_regular", 1}}) {
    ScriptedStub stub;
    stub.on("vFile:setfs:", Answer::packet(setfs)).on("vFile:open:", Answer::packet(open));
    stub.on("vFile:fstat:", Answer::packet(fstat)).on("vFile:close:", Answer::packet("F0"));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    const std::vector<RemotePath> paths = {{"/lib/libmpi.so", 77}};
    const auto files = open_files(*client, paths);
    ASSERT_TRUE(files) << files.error().message;
    ASSERT_FALSE(files->front()) << setfs << open << fstat;
    EXPECT_EQ(files->front().error().code, code) << setfs << open << fstat;
    EXPECT_THAT(files->front().error().message,
                testing::AnyOf(testing::HasSubstr("libmpi.so"), testing::HasSubstr("77")));
    EXPECT_EQ(stub.count("vFile:close:5"), closed) << "left open";
  }
}

TEST(RemoteFiles, AnotherFileThanWasMeantIsClosedAgain) {
  ScriptedStub stub;
  serve(stub, binary_text(100), 4000);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const std::vector<RemotePath> paths = {
      {"/a", 0, inode}, {"/b", 0, inode | std::uint64_t{1} << 40}, {"/c", 0, inode + 1}};
  const auto files = open_files(*client, paths);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_TRUE((*files)[0]);
  EXPECT_TRUE((*files)[1]) << "the protocol has 32 bits of it";
  ASSERT_FALSE((*files)[2]);
  EXPECT_EQ((*files)[2].error().code, "vfile.replaced");
  EXPECT_THAT((*files)[2].error().message, testing::HasSubstr("/c"));
  EXPECT_EQ(stub.count("vFile:close:5"), 1U);
}

TEST(RemoteFiles, PiecesThatComeShortAreAskedForAgain) {
  // 0x400 less framing and room for escapes: 868 bytes a piece.
  for (const std::size_t longest : {std::size_t{4000}, std::size_t{867}, std::size_t{500}}) {
    for (const std::size_t length : {0, 1, 867, 868, 869, 10'000}) {
      ScriptedStub stub({.packet_size = "400"});
      const auto text = binary_text(length);
      serve(stub, text, longest);
      const auto client = connected(stub);
      ASSERT_TRUE(client);
      const auto file = opened(*client, {"/x", 0});
      const auto whole = read_file_at(*client, file, 0, 12'000);
      ASSERT_TRUE(whole) << whole.error().message;
      EXPECT_EQ(*whole, text) << longest << " " << length;
      const auto part = read_file_at(*client, file, 100, 5000);
      ASSERT_TRUE(part);
      EXPECT_EQ(*part, text.substr(std::min<std::size_t>(100, length), 5000));
    }
  }
}

TEST(RemoteFiles, ShortPiecesCostNoRoundTripEach) {
  ScriptedStub stub({.packet_size = "400"});
  serve(stub, binary_text(60'000), 860);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto file = opened(*client, {"/x", 0});
  const auto before = client->counters();
  ASSERT_TRUE(read_file_at(*client, file, 0, 60'000));
  const auto after = client->counters();
  EXPECT_LE(after.round_trips - before.round_trips, 3U); // 70 pieces, then what they lacked
  EXPECT_LT(after.bytes_received - before.bytes_received, 80'000U);
}

TEST(RemoteFiles, GarbageForAPieceIsAnError) {
  for (const auto& [reply, code] : std::vector<std::pair<std::string, std::string>>{
           {"F3;ab", "stub.garbage"},
           {"F1;ab", "stub.garbage"},
           {"OK", "stub.garbage"},
           {"", "stub.garbage"},
           {"F-1,5", "vfile.read"},
           {"F1000000;" + std::string(0x1000, 'x'), "stub.garbage"}}) {
    ScriptedStub stub;
    stub.on("vFile:pread:", Answer::packet(reply));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    const auto read = read_file_at(*client, {"/x", 5, 100, 0}, 0, 100);
    ASSERT_FALSE(read) << reply;
    EXPECT_EQ(read.error().code, code) << reply;
  }
}

TEST(RemoteFiles, ARealGdbserverReadsWhatIsThere) {
  const test::TempDirectory directory;
  const auto text = binary_text(3'000'000);
  std::ofstream(directory / "file", std::ios::binary) << text;
  const test::GdbServer server(test::ServerMode::attach);
  const auto client = connected(server.endpoint());
  ASSERT_TRUE(client);
  const auto path = (directory / "file").string();
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  for (const std::int64_t process : {std::int64_t{0}, std::int64_t{server.inferior()}}) {
    const auto file = opened(*client, {path, process, status.st_ino});
    EXPECT_EQ(file.size, text.size());
    EXPECT_EQ(file.inode, static_cast<std::uint32_t>(status.st_ino));
    EXPECT_EQ(file.modified, static_cast<std::uint64_t>(status.st_mtime));
    EXPECT_EQ(file.changed, static_cast<std::uint64_t>(status.st_ctime));
    const auto read = read_file_at(*client, file, 1'000'000, 300'000);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, text.substr(1'000'000, 300'000));
    EXPECT_TRUE(close_files(*client, {&file, 1}));
    EXPECT_EQ(read_file_at(*client, file, 0, 10).error().code, "vfile.read") << "still open";
  }
  const std::vector<RemotePath> bad = {{directory.path().string(), 0}, {path + ".no", 0}};
  const auto none = open_files(*client, bad);
  ASSERT_TRUE(none);
  EXPECT_EQ((*none)[0].error().code, "vfile.not_regular");
  EXPECT_THAT((*none)[1].error().message, testing::HasSubstr("ENOENT"));
}

} // namespace
} // namespace mqbridge::rsp
