#include "tests/mqs/hostile/hostile_cases.h"

#include <algorithm>
#include <array>
#include <ostream>

namespace mqbridge::test {
namespace {

constexpr std::array before = {
    "constructor",
    "mqs_setup_basic_callbacks",
    "mqs_version_string",
    "mqs_version_compatibility",
    "mqs_dll_taddr_width",
    "mqs_setup_image",
    "mqs_image_has_queues",
    "mqs_setup_process",
    "mqs_process_has_queues",
    "mqs_update_communicator_list",
    "mqs_setup_communicator_iterator",
};
constexpr std::array within = {
    "mqs_get_communicator", "mqs_get_comm_group",   "mqs_setup_operation_iterator",
    "mqs_next_operation",   "mqs_dll_error_string", "mqs_next_communicator",
};
constexpr std::array after = {"mqs_destroy_process_info", "mqs_destroy_image_info"};

constexpr auto next = "mqs_next_operation";
constexpr auto set_up = "mqs_setup_process";
constexpr auto forbidden = "not allowed in the sandbox";

using Cases = std::vector<HostileCase>;

template <class Places>
void in_each(Cases& cases, const Places& places, const HostileCase& like) {
  for (const char* place : places) {
    cases.push_back(like);
    cases.back().place = place;
  }
}

void in_every_function(Cases& cases, const HostileCase& like) {
  in_each(cases, before, like);
  in_each(cases, within, like);
  in_each(cases, after, like);
}

void add_crashes(Cases& cases) {
  in_every_function(cases, {"segv", "", "dll.crashed", {"SIGSEGV"}});
  for (const char* place : {"constructor", next, "mqs_destroy_image_info"})
    cases.push_back({"abrt", place, "dll.crashed", {"SIGABRT"}});
  const std::pair<const char*, const char*> by_signal[] = {
      {"segv_in_a_wild_place", "SIGSEGV"},
      {"fpe", "SIGFPE"},
      {"ill", "SIGILL"},
      {"bus", "SIGBUS"},
      {"stack_overflow", "SIGSEGV"},
      {"jump_to_a_wild_place", "SIGSEGV"},
      {"execute_data", "SIGSEGV"},
      {"smash_the_stack", "SIGSEGV"},
      {"write_to_code", "SIGSEGV"},
      {"write_to_callback_table", "SIGSEGV"},
      {"kill_itself", "SIGKILL"},
      {"terminate_itself", "SIGTERM"},
      {"throw_something", "SIGABRT"},
      {"free_twice", "SIGABRT"},
      {"free_a_part", "SIGABRT"},
      {"free_what_is_not", "SIG"},
      {"exit_0", "exit status 0"},
      {"exit_at_once", "exit status 0"},
  };
  for (const auto& [evil, how] : by_signal)
    for (const char* place : {set_up, next})
      cases.push_back({evil, place, "dll.crashed", {how}});
  for (const char* evil : {"jump_back", "write_behind_what_was_allocated"})
    cases.push_back({evil, next, "any"});
  cases.push_back({"exit_into_a_loop", next, "dll.timeout", {"did not finish within"}, true});
  cases.push_back({"stop", next, "dll.timeout", {"did not finish within"}, true});
}

void add_endless(Cases& cases) {
  in_every_function(cases, {"loop", "", "dll.timeout", {"did not finish within"}, true});
  for (const char* evil : {"sleep_for_ever", "loop_in_callbacks", "write_lines_for_ever",
                           "write_one_line_for_ever", "write_rubbish_for_ever", "print_for_ever"})
    cases.push_back({evil, next, "dll.timeout", {"did not finish within"}, true});
  for (const char* evil : {"ask_for_symbols_for_ever", "ask_for_types_for_ever"})
    cases.push_back({evil, next, "dll.limit", {"asks for symbols, types and fields without end"}});
  cases.push_back({"fetch_for_ever", next, "dll.limit", {"reads memory that is not there"}});
  cases.push_back({"allocate_and_never_look", next, "dll.crashed", {"SIGSEGV"}});
  cases.push_back({"map_for_ever", next, "dll.crashed", {"SIGABRT"}});
  for (const char* evil : {"allocate_until_none_is_left", "ask_for_more_than_there_is", "leak",
                           "print_an_endless_text"})
    cases.push_back({evil, next, ""});
  cases.push_back({"list_communicators_for_ever",
                   next,
                   "walk.max_operations",
                   {"more operations in this rank"}});
}

void add_answers(Cases& cases) {
  for (const char* evil : {"no_text", "text_without_an_end", "text_of_controls"})
    for (const char* place : {"mqs_version_string", "mqs_dll_error_string"})
      cases.push_back({evil, place, ""});
  for (const char* place : {"mqs_version_string", "mqs_dll_error_string"})
    cases.push_back({"wild_text", place, "dll.crashed", {"SIGSEGV"}});
  for (const char* place : {"mqs_image_has_queues", "mqs_process_has_queues"}) {
    cases.push_back({"message_of_directives", place, ""});
    cases.push_back(
        {"refuse_with_directives", place, "dll.no_queues", {"%nsolver%s%s%d%1000000d"}});
    cases.push_back({"wild_message", place, "dll.crashed", {"SIGSEGV"}});
  }
  cases.push_back({"print_directives", next, ""});
  for (const char* evil : {"size_minus_1", "size_int_max", "size_2_40", "size_min", "size_max",
                           "size_as_large_as_is_read", "rank_beyond_size", "name_without_an_end",
                           "name_of_controls", "name_of_half_a_letter", "beyond_the_communicator"})
    cases.push_back({evil, "mqs_get_communicator", ""});
  cases.push_back({"beyond_the_group", "mqs_get_comm_group", ""});
  for (const char* evil : {"beyond_the_operation", "text_lines_without_an_end",
                           "text_lines_of_controls", "extreme_fields"})
    cases.push_back({evil, next, ""});
  cases.push_back({"far_beyond_the_group", "mqs_get_comm_group", "dll.crashed", {"SIGSEGV"}});
  cases.push_back(
      {"far_beyond_the_communicator", "mqs_get_communicator", "dll.crashed", {"SIGSEGV"}});
  cases.push_back({"far_beyond_the_operation", next, "dll.crashed", {"SIGSEGV"}});
  cases.push_back({"look_behind_the_sizes", set_up, ""});
}

void add_callbacks(Cases& cases) {
  for (const char* evil : {"pass_nothing", "pass_foreign_objects"}) {
    in_each(cases, before, {evil, "", ""});
    cases.erase(std::find_if(cases.begin(), cases.end(), [&](const HostileCase& each) {
      return each.evil == evil && each.place == "constructor"; // it has no callbacks yet
    }));
    in_each(cases, within, {evil, "", ""});
    in_each(cases, after, {evil, "", ""});
  }
  for (const char* place : {set_up, next, "mqs_destroy_process_info", "mqs_destroy_image_info"})
    for (const char* evil : {"use_a_kept_type", "use_the_callbacks_of_level_3",
                             "write_to_error_strings", "fetch_more_than_there_is"})
      cases.push_back({evil, place, ""});
  for (const char* place : {set_up, next})
    cases.push_back({"pass_endless_names", place, ""});
  cases.push_back({"put_no_infos", next, ""});
  cases.push_back({"put_wild_infos", next, ""}); // its own destructors crash, after all was said
  cases.push_back({"write_to_kept_structures", "mqs_next_communicator", "any"});
  const std::pair<const char*, const char*> wild[] = {
      {"print_a_wild_text", "mqs_dprints"},
      {"name_a_wild_symbol", "mqs_find_symbol"},
      {"name_a_wild_type", "mqs_find_type"},
      {"fetch_to_a_wild_place", "mqs_fetch_data"},
      {"convert_to_a_wild_place", "mqs_target_to_host"},
  };
  for (const auto& [evil, callback] : wild)
    cases.push_back({evil, next, "dll.crashed", {"SIGSEGV", std::string("callback: ") + callback}});
  for (const char* place : {"constructor", set_up, next, "mqs_destroy_image_info"})
    cases.push_back({"call_back_from_a_thread", place, ""}); // no thread starts
}

void add_descriptors(Cases& cases) {
  for (const char* evil : {"close_socket", "close_everything"}) {
    cases.push_back({evil, "constructor", ""}); // there they are the loader's
    cases.push_back({evil, next, "dll.crashed"});
  }
  for (const char* evil : {"close_shared_memory", "leave_a_reply_unread"})
    cases.push_back({evil, next, ""});
  cases.push_back({"use_up_descriptors", "constructor", ""});
  for (const char* evil : {"replace_the_socket", "shut_the_socket"})
    cases.push_back({evil, next, "dll.forbidden", {forbidden}});
  for (const char* evil :
       {"send_rubbish", "send_nothing", "send_too_much", "send_a_kind_alone",
        "say_an_unknown_failure", "send_a_batch_out_of_turn", "send_descriptors"})
    for (const char* place : {"constructor", next})
      cases.push_back({evil, place, "dll.protocol"});
  cases.push_back({"say_that_all_is_done", next, "any"});
  cases.push_back({"ask_and_never_read", next, "any"});
  cases.push_back(
      {"wait_for_a_reply_to_nothing", next, "dll.timeout", {"did not finish within"}, true});
}

void add_processes(Cases& cases) {
  for (const char* evil : {"fill_shared_memory_with_ones", "fill_shared_memory_with_zeros",
                           "unmap_shared_memory", "unmap_the_pages", "map_over_the_pages"})
    cases.push_back({evil, "constructor", "any"});
  cases.push_back({"write_to_the_pages", "constructor", ""});
  cases.push_back(
      {"handle_its_own_crash", "constructor", "dll.timeout", {"did not finish within"}, true});
  cases.push_back(
      {"return_from_a_crash", "constructor", "dll.timeout", {"did not finish within"}, true});
  cases.push_back({"ignore_all_signals_and_loop",
                   "constructor",
                   "dll.timeout",
                   {"did not finish within"},
                   true});
  cases.push_back(
      {"block_all_signals_and_loop", next, "dll.timeout", {"did not finish within"}, true});
  for (const char* evil : {"handle_its_own_crash", "ignore_all_signals_and_loop", "leave_a_child",
                           "raise_its_limits", "set_an_alarm", "leave_the_directory"})
    cases.push_back({evil, next, "dll.forbidden", {forbidden}});
  for (const char* evil :
       {"leave_a_child", "raise_its_limits", "set_an_alarm", "leave_the_directory"})
    cases.push_back({evil, "constructor", "dll.forbidden", {forbidden}});
  for (const char* place : {"constructor", next})
    for (const char* evil : {"change_the_arithmetic", "change_the_environment", "close_its_streams",
                             "buffer_its_output"})
      cases.push_back({evil, place, ""});
  cases.push_back({"change_the_locale", "constructor", ""});
}

template <class Places>
bool is_among(const Places& places, std::string_view place) {
  return std::find(places.begin(), places.end(), place) != places.end();
}

} // namespace

std::string name_of(const HostileCase& which) {
  return which.evil + "_in_" + which.place;
}

void PrintTo(const HostileCase& which, std::ostream* stream) {
  *stream << which.evil << " in " << which.place;
}

void PrintTo(const CodeCase& which, std::ostream* stream) {
  *stream << which.evil << " of " << which.place;
}

Stage stage_of(std::string_view place) {
  if (is_among(before, place))
    return Stage::before;
  return is_among(after, place) ? Stage::after : Stage::within;
}

std::vector<HostileCase> hostile_cases() {
  Cases cases;
  add_crashes(cases);
  add_endless(cases);
  add_answers(cases);
  add_callbacks(cases);
  add_descriptors(cases);
  add_processes(cases);
  return cases;
}

std::vector<CodeCase> code_cases() {
  using Cost = CodeCase::Cost;
  const CodeCase places[] = {
      {"", "mqs_version_compatibility", Cost::walk, "dll.version"},
      {"", "mqs_dll_taddr_width", Cost::walk, "dll.width"},
      {"", "mqs_setup_image", Cost::walk, "dll.failed"},
      {"", "mqs_image_has_queues", Cost::walk, "dll.no_queues"},
      {"", "mqs_setup_process", Cost::walk, "dll.failed"},
      {"", "mqs_process_has_queues", Cost::walk, "dll.no_queues"},
      {"", "mqs_update_communicator_list", Cost::walk, "dll.failed"},
      {"", "mqs_setup_communicator_iterator", Cost::walk, "dll.failed"},
      {"", "mqs_get_communicator", Cost::walk, "dll.failed"},
      {"", "mqs_next_communicator", Cost::walk, "dll.failed"},
      {"", "mqs_get_comm_group", Cost::group},
      {"", "mqs_setup_operation_iterator", Cost::queue},
      {"", "mqs_next_operation", Cost::queue},
      {"", "mqs_destroy_process_info", Cost::nothing},
      {"", "mqs_destroy_image_info", Cost::nothing},
  };
  std::vector<CodeCase> cases;
  for (const char* evil : {"code_minus_1", "code_57", "code_of_the_user", "code_min", "code_max"})
    for (CodeCase place : places) {
      place.evil = evil;
      cases.push_back(std::move(place));
    }
  return cases;
}

} // namespace mqbridge::test
