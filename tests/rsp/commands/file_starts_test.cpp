#include "rsp/commands/file_starts.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/temp_directory.h"

#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge::rsp {
namespace {

using State = FileText::State;
using test::Answer;
using test::connected;
using test::ScriptedStub;
using test::TempDirectory;
using testing::HasSubstr;
using testing::IsSupersetOf;

/// A real gdbserver that is attached to nothing, started by `shell`.
std::unique_ptr<Client> unattached(const std::string& shell = "exec") {
  auto client = connected("exec:" + shell + " gdbserver --once --multi - 2>/dev/null");
  if (client)
    client->set_detach_packet("");
  return client;
}

/// What has come of each, in the order of `wanted`.
Result<std::vector<FileText>> read_starts(Client& client, const std::vector<FileStart>& wanted) {
  std::vector<FileText> texts(wanted.size());
  std::vector<int> taken(wanted.size());
  auto done = read_file_starts(client, wanted, [&](std::size_t index, FileText text) {
    texts.at(index) = std::move(text);
    ++taken.at(index);
  });
  if (!done)
    return Failure(done.error());
  EXPECT_THAT(taken, testing::Each(1));
  return texts;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FileStarts, OfManyFilesTakeFewRoundTrips) {
  const auto client = unattached();
  ASSERT_TRUE(client);
  const auto own = fmt::format("/proc/{}/", ::getpid());
  std::vector<FileStart> wanted;
  for (int i = 0; i < 500; ++i) {
    wanted.push_back({own + "environ", 1U << 20});
    wanted.push_back({own + "stat", 1024});
  }
  const auto before = client->counters().round_trips;
  const auto texts = read_starts(*client, wanted);
  ASSERT_TRUE(texts) << texts.error().message;
  EXPECT_LE(client->counters().round_trips - before, 5U);
  const auto environment = contents(own + "environ");
  for (std::size_t i = 0; i < texts->size(); i += 2) {
    EXPECT_EQ((*texts)[i].text, environment);
    EXPECT_TRUE((*texts)[i].whole);
    EXPECT_THAT((*texts)[i + 1].text, HasSubstr("(rsp_tests)"));
    EXPECT_TRUE((*texts)[i + 1].whole);
  }
}

TEST(FileStarts, OfListsThatComeByThePageAreJoined) {
  const auto client = unattached();
  ASSERT_TRUE(client);
  const pid_t still = ::fork(); // the own list changes while it is read
  if (still == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto maps = fmt::format("/proc/{}/maps", still);
  const std::vector<FileStart> wanted{{maps, 1U << 20, true}, {maps, 5000, true}};
  const auto texts = read_starts(*client, wanted);
  ASSERT_TRUE(texts) << texts.error().message;
  const auto expected = contents(maps);
  EXPECT_GT(expected.size(), 4096U);
  EXPECT_EQ((*texts)[0].text, expected);
  EXPECT_TRUE((*texts)[0].whole);
  EXPECT_EQ((*texts)[1].text, expected.substr(0, 5000));
  EXPECT_FALSE((*texts)[1].whole);
  ::kill(still, SIGKILL);
  ::waitpid(still, nullptr, 0);
}

TEST(FileStarts, AnyBytesComeRightAndOnlySoManyAsWereWanted) {
  TempDirectory directory;
  std::string text(300'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(i % 3 == 0 ? '}' : i * 31 + i / 256); // every third is escaped
  const auto path = (directory.path() / "file").string();
  std::ofstream(path, std::ios::binary) << text;
  const auto client = unattached();
  ASSERT_TRUE(client);
  const std::vector<FileStart> wanted{{path, 1U << 20}, {path, 100'001}, {path, 0}};
  const auto texts = read_starts(*client, wanted);
  ASSERT_TRUE(texts) << texts.error().message;
  EXPECT_TRUE((*texts)[0].text == text);
  EXPECT_TRUE((*texts)[0].whole);
  EXPECT_TRUE((*texts)[1].text == text.substr(0, 100'001));
  EXPECT_FALSE((*texts)[1].whole);
  EXPECT_EQ((*texts)[2].text, "");
}

TEST(FileStarts, OfAStubWithFewDescriptorsCome) {
  const auto client = unattached("ulimit -n 32; exec");
  ASSERT_TRUE(client);
  const auto stat = fmt::format("/proc/{}/stat", ::getpid());
  const std::vector<FileStart> wanted(200, {stat, 1024});
  const auto texts = read_starts(*client, wanted);
  ASSERT_TRUE(texts) << texts.error().message;
  for (const auto& text : *texts)
    EXPECT_EQ(text.state, State::read);
}

TEST(FileStarts, FilesThatAreNotThereCostNoOther) {
  const auto client = unattached();
  ASSERT_TRUE(client);
  const std::vector<FileStart> wanted{
      {"/nowhere", 10}, {"/proc/self/stat", 1024}, {"/proc", 10}, {"/proc/self/stat", 4}};
  const auto texts = read_starts(*client, wanted);
  ASSERT_TRUE(texts) << texts.error().message;
  EXPECT_EQ((*texts)[0].state, State::missing);
  EXPECT_THAT((*texts)[1].text, HasSubstr("(gdbserver)"));
  EXPECT_EQ((*texts)[2].state, State::failed); // a directory
  EXPECT_EQ((*texts)[3].text.size(), 4U);
}

TEST(FileStarts, WhatIsDeniedIsSaidSo) {
  ScriptedStub stub;
  stub.on("vFile:setfs:", Answer::packet("F0"));
  stub.on("vFile:open:", Answer::packet("F-1,d"));
  const auto client = connected(stub);
  const std::vector<FileStart> wanted{{"/proc/1/environ", 10}};
  const auto texts = read_starts(*client, wanted);
  ASSERT_TRUE(texts) << texts.error().message;
  EXPECT_EQ(texts->front().state, State::denied);
}

TEST(FileStarts, AreClosedWithTheNextExchange) {
  ScriptedStub stub;
  stub.on("vFile:setfs:", Answer::packet("F0"));
  stub.on("vFile:open:", Answer::packet("F5"));
  stub.on("vFile:pread:", Answer::packet("F3;abc"));
  stub.on("vFile:close:", Answer::packet("F0"));
  const auto client = connected(stub);
  const std::vector<FileStart> wanted{{"/a", 1000}};
  const auto texts = read_starts(*client, wanted);
  ASSERT_TRUE(texts) << texts.error().message;
  EXPECT_EQ(texts->front().text, "abc");
  EXPECT_EQ(stub.count("vFile:close:5"), 0U);
  ASSERT_TRUE(read_starts(*client, wanted));
  EXPECT_EQ(stub.count("vFile:close:5"), 1U);
}

/// What reading one file of such a stub comes to.
FileText read_of(const std::string& pread) {
  ScriptedStub stub;
  stub.on("vFile:setfs:", Answer::packet("F0"));
  stub.on("vFile:open:", Answer::packet("F5"));
  stub.on("vFile:pread:", Answer::packet(pread));
  stub.on("vFile:close:", Answer::packet("F0"));
  const auto client = connected(stub);
  const std::vector<FileStart> wanted{{"/proc/7/environ", 1U << 20, true}};
  const auto texts = read_starts(*client, wanted);
  return texts ? texts->front() : FileText();
}

TEST(FileStarts, AStubThatTricklesOrLiesCostsThatFile) {
  EXPECT_EQ(read_of("F1;a").state, State::failed); // a byte at a time, for ever
  EXPECT_EQ(read_of("F7fffffff;abc").state, State::failed);
  EXPECT_EQ(read_of("garbage").state, State::failed);
  EXPECT_EQ(read_of("F-1,270f").state, State::missing); // its process has ended
}

TEST(FileStarts, OfAStubWithoutFilesAreAnError) {
  ScriptedStub stub;
  const auto client = connected(stub);
  const std::vector<FileStart> wanted{{"/proc/7/environ", 10}};
  const auto texts = read_starts(*client, wanted);
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.error().code, "vfile.unsupported");
}

} // namespace
} // namespace mqbridge::rsp
