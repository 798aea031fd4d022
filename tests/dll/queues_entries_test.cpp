// mqbridge's own DLL in the hands of a debugger that does not keep to the order of MQD 4.2: an
// error with a text, never a crash. Loaded into this process, without any target.

#include "dll/mqs_interface.h"

#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace {

// A host that keeps one image info and one process info, and knows nothing.
mqs_image_info* image_info;
mqs_process_info* process_info;
bool has_memory = true;

const mqs_basic_callbacks basic_callbacks = {
    [](size_t size) { return has_memory ? std::calloc(1, size) : nullptr; },
    [](void* buffer) { std::free(buffer); },
    [](const char*) {},
    [](int) -> char* { return nullptr; },
    [](mqs_image*, mqs_image_info* info) { image_info = info; },
    [](mqs_image*) { return image_info; },
    [](mqs_process*, mqs_process_info* info) { process_info = info; },
    [](mqs_process*) { return process_info; },
};

const mqs_image_callbacks image_callbacks = {
    [](mqs_process*, mqs_target_type_sizes* sizes) {
      *sizes = {2, 4, 8, 8, 8};
    },
    [](mqs_image*, char*, mqs_lang_code, mqs_taddr_t*) -> int { return mqs_no_information; },
    [](mqs_image*, char*, mqs_taddr_t*) -> int { return mqs_no_information; },
    [](mqs_image*, char*, mqs_lang_code) -> mqs_type* { return nullptr; },
    [](mqs_type*, char*) { return -1; },
    [](mqs_type*) { return -1; },
};

const mqs_process_callbacks process_callbacks = {
    [](mqs_process*) { return -1; },
    [](mqs_process*) -> mqs_image* { return nullptr; },
    [](mqs_process*, mqs_taddr_t, int, void*) -> int { return mqs_no_information; },
    [](mqs_process*, const void*, void*, int) {},
};

class QueuesEntries : public testing::Test {
protected:
  void SetUp() override {
    library_ = ::dlopen(MQBRIDGE_QUEUES_DLL, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    find<decltype(mqs_setup_basic_callbacks)>("mqs_setup_basic_callbacks")(&basic_callbacks);
    image_info = nullptr;
    process_info = nullptr;
    has_memory = true;
  }
  void TearDown() override {
    if (process_info != nullptr)
      find<decltype(mqs_destroy_process_info)>("mqs_destroy_process_info")(process_info);
    if (image_info != nullptr)
      find<decltype(mqs_destroy_image_info)>("mqs_destroy_image_info")(image_info);
    ::dlclose(library_);
  }

  template <class Function>
  Function* find(const char* name) {
    auto* const function = reinterpret_cast<Function*>(::dlsym(library_, name));
    EXPECT_NE(function, nullptr) << name;
    return function;
  }

  std::string text(int code) {
    return find<decltype(mqs_dll_error_string)>("mqs_dll_error_string")(code);
  }

  void expect_refusal(int code, const char* function) {
    EXPECT_GE(code, mqs_first_user_code) << function;
    EXPECT_NE(text(code), "unknown error code") << function;
  }

  void expect_all_refuse() {
    for (const char* function : {"mqs_update_communicator_list", "mqs_setup_communicator_iterator",
                                 "mqs_next_communicator"})
      expect_refusal(find<int(mqs_process*)>(function)(nullptr), function);
    expect_nothing_current();
  }

  void expect_nothing_current() {
    mqs_communicator communicator = {};
    expect_refusal(
        find<decltype(mqs_get_communicator)>("mqs_get_communicator")(nullptr, &communicator),
        "mqs_get_communicator");
    int rank = 0;
    expect_refusal(find<decltype(mqs_get_comm_group)>("mqs_get_comm_group")(nullptr, &rank),
                   "mqs_get_comm_group");
    expect_refusal(find<decltype(mqs_setup_operation_iterator)>("mqs_setup_operation_iterator")(
                       nullptr, mqs_pending_sends),
                   "mqs_setup_operation_iterator");
  }

  int set_up_image() {
    return find<decltype(mqs_setup_image)>("mqs_setup_image")(nullptr, &image_callbacks);
  }
  int set_up_process() {
    return find<decltype(mqs_setup_process)>("mqs_setup_process")(nullptr, &process_callbacks);
  }

private:
  void* library_ = nullptr;
};

TEST_F(QueuesEntries, EveryCodeHasATextOfItsOwn) {
  std::set<std::string> texts;
  int code = mqs_first_user_code;
  for (; text(code) != "unknown error code"; ++code)
    EXPECT_TRUE(texts.insert(text(code)).second) << code;
  EXPECT_GE(code, mqs_first_user_code + 10);
  for (const int unknown : {-1, 3, mqs_first_user_code - 1, code, 1 << 30})
    EXPECT_EQ(text(unknown), "unknown error code");
  EXPECT_EQ(text(mqs_end_of_list), "end of list");
}

TEST_F(QueuesEntries, NothingWasSetUp) {
  char* message = nullptr;
  expect_refusal(find<decltype(mqs_image_has_queues)>("mqs_image_has_queues")(nullptr, &message),
                 "mqs_image_has_queues");
  expect_refusal(
      find<decltype(mqs_process_has_queues)>("mqs_process_has_queues")(nullptr, &message),
      "mqs_process_has_queues");
  expect_refusal(set_up_process(), "mqs_setup_process");
  expect_all_refuse();
  mqs_pending_operation operation = {};
  expect_refusal(find<decltype(mqs_next_operation)>("mqs_next_operation")(nullptr, &operation),
                 "mqs_next_operation");
}

TEST_F(QueuesEntries, NoCommunicatorIsCurrent) {
  ASSERT_EQ(set_up_image(), mqs_ok);
  ASSERT_EQ(set_up_process(), mqs_ok);
  expect_nothing_current();
  mqs_pending_operation operation = {};
  EXPECT_EQ(find<decltype(mqs_next_operation)>("mqs_next_operation")(nullptr, &operation),
            mqs_end_of_list);
}

TEST_F(QueuesEntries, TheHostHasNoMemory) {
  has_memory = false;
  expect_refusal(set_up_image(), "mqs_setup_image");
  has_memory = true;
  ASSERT_EQ(set_up_image(), mqs_ok);
  has_memory = false;
  expect_refusal(set_up_process(), "mqs_setup_process");
}

} // namespace
