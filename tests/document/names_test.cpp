#include "host/document/names.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

enum class Whole { none, one, two };
enum class Missing { none, one, two };
enum class Swapped { one, two };
enum class Doubled { one, two };
enum class Wordless { one };

} // namespace

template <>
inline constexpr std::array document_words<Whole> = {Word{Whole::none, ""}, Word{Whole::one, "one"},
                                                     Word{Whole::two, "two"}};
template <>
inline constexpr std::array document_words<Missing> = {Word{Missing::none, ""},
                                                       Word{Missing::one, "one"}};
template <>
inline constexpr std::array document_words<Swapped> = {Word{Swapped::two, "two"},
                                                       Word{Swapped::one, "one"}};
template <>
inline constexpr std::array document_words<Doubled> = {Word{Doubled::one, "one"},
                                                       Word{Doubled::two, "one"}};

namespace {

static_assert(words_are_complete<Whole>());
static_assert(!words_are_complete<Missing>());
static_assert(!words_are_complete<Swapped>());
static_assert(!words_are_complete<Doubled>());
static_assert(!Worded<Wordless>);

TEST(Names, GoBothWays) {
  EXPECT_EQ(name_of(Whole::two), "two");
  EXPECT_EQ(value_named<Whole>("two"), Whole::two);
  EXPECT_EQ(value_named<OpClass>("unexpected"), OpClass::unexpected);
}

TEST(Names, NullHasNoWord) {
  EXPECT_EQ(name_of(Whole::none), "");
  EXPECT_EQ(value_named<Whole>(""), std::nullopt);
}

TEST(Names, WhatIsNoneIsNone) {
  EXPECT_EQ(value_named<Whole>("three"), std::nullopt);
  EXPECT_EQ(name_of(static_cast<Whole>(3)), "");
}

} // namespace
} // namespace mqbridge
