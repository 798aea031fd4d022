#include "host/service/visitors.h"
#include "tests/support/temp_directory.h"

#include <fstream>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using testing::StartsWith;

std::string key_of(const std::string& link) {
  return link.substr(link.find("key=") + 4);
}

TEST(Visitors, ALinkIsGoodOnce) {
  const test::TempDirectory directory;
  Visitors visitors(directory / "browsers.json");
  visitors.set_address("127.0.0.1:4000");
  const std::string link = visitors.invite();
  EXPECT_THAT(link, StartsWith("http://127.0.0.1:4000" + visitors.path() + "/enter?key="));
  EXPECT_EQ(visitors.path().size(), 33U);
  EXPECT_EQ(key_of(link).size(), 64U);
  auto cookie = visitors.enter(key_of(link));
  ASSERT_TRUE(cookie);
  EXPECT_THAT(*cookie,
              testing::EndsWith("; Path=" + visitors.path() + "/; HttpOnly; SameSite=Strict"));
  cookie->erase(cookie->find(';'));
  EXPECT_TRUE(visitors.knows(*cookie));
  EXPECT_FALSE(visitors.enter(key_of(link))) << "the second time";
  EXPECT_TRUE(visitors.knows(*cookie));
}

TEST(Visitors, AndForFiveMinutes) {
  const test::TempDirectory directory;
  Visitors visitors(directory / "browsers.json");
  visitors.set_address("127.0.0.1:4000");
  const auto now = Visitors::Clock::now();
  EXPECT_TRUE(visitors.enter(key_of(visitors.invite(now)), now + 299s));
  const std::string late = key_of(visitors.invite(now));
  EXPECT_FALSE(visitors.enter(late, now + 301s));
  EXPECT_FALSE(visitors.enter(late, now)) << "it was tried";
}

TEST(Visitors, LinksDiffer) {
  const test::TempDirectory directory;
  Visitors visitors(directory / "browsers.json");
  visitors.set_address("127.0.0.1:4000");
  EXPECT_NE(visitors.invite(), visitors.invite());
}

TEST(Visitors, WhatIsNoKeyOpensNothing) {
  const test::TempDirectory directory;
  Visitors visitors(directory / "browsers.json");
  visitors.set_address("127.0.0.1:4000");
  const std::string key = key_of(visitors.invite());
  for (const std::string& other :
       {std::string(), key.substr(1), key + "0", std::string(64, '0'), std::string("key=") + key})
    EXPECT_FALSE(visitors.enter(other)) << other;
  EXPECT_TRUE(visitors.enter(key));
}

TEST(Visitors, TheCookieIsFoundAmongOthers) {
  const test::TempDirectory directory;
  Visitors visitors(directory / "browsers.json");
  visitors.set_address("127.0.0.1:4000");
  std::string ours = visitors.enter(key_of(visitors.invite())).value();
  ours.erase(ours.find(';'));
  for (const std::string& cookies :
       {ours, "a=b; " + ours, ours + "; a=b", "mqbridge=0; " + ours + ";", ";;  " + ours})
    EXPECT_TRUE(visitors.knows(cookies)) << cookies;
  for (const std::string& cookies :
       {std::string(), std::string("mqbridge="), std::string("mqbridge"), "x" + ours, ours + "0",
        ours.substr(0, ours.size() - 1), ours.substr(9), "a=" + ours})
    EXPECT_FALSE(visitors.knows(cookies)) << cookies;
}

TEST(Visitors, OldLinksMakeRoomForNewOnes) {
  const test::TempDirectory directory;
  Visitors visitors(directory / "browsers.json");
  visitors.set_address("127.0.0.1:4000");
  std::vector<std::string> links;
  for (int i = 0; i < 1000; ++i)
    links.push_back(visitors.invite());
  const auto good = std::ranges::count_if(
      links, [&](const auto& link) { return visitors.enter(key_of(link)).has_value(); });
  EXPECT_GT(good, 0);
  EXPECT_LE(good, 100) << "nothing grows";
  EXPECT_TRUE(visitors.enter(key_of(visitors.invite())));
}

TEST(Visitors, AnOpenPageGoesOnWithTheNextService) {
  const test::TempDirectory directory;
  std::string path, cookie;
  {
    Visitors visitors(directory / "browsers.json");
    EXPECT_EQ(visitors.port(), 0);
    visitors.set_address("127.0.0.1:4000");
    path = visitors.path();
    cookie = visitors.enter(key_of(visitors.invite())).value();
  }
  const Visitors again(directory / "browsers.json");
  EXPECT_EQ(again.port(), 4000);
  EXPECT_EQ(again.path(), path);
  EXPECT_TRUE(again.knows(cookie.substr(0, cookie.find(';'))));
}

TEST(Visitors, WhatTheFileSaysIsTakenWhereItMakesSense) {
  const test::TempDirectory directory;
  for (const char* text :
       {"", "{", "[]", R"({"port":1})", R"({"port":"x","path":"","cookies":[]})",
        R"({"port":1,"path":"../../../../../../../../etc/passw","cookies":[]})",
        R"({"port":-1,"path":"00000000000000000000000000000000","cookies":{}})"}) {
    std::ofstream(directory / "browsers.json") << text;
    const Visitors visitors(directory / "browsers.json");
    EXPECT_EQ(visitors.port(), 0) << text;
    EXPECT_EQ(visitors.path().size(), 33U) << text;
  }
  std::ofstream(directory / "browsers.json")
      << R"({"port":1,"path":"00000000000000000000000000000000","cookies":["", 7, "x"]})";
  EXPECT_FALSE(Visitors(directory / "browsers.json").knows("mqbridge="));
}

} // namespace
} // namespace mqbridge
