#include "host/bridge/symbol_questions.h"

#include "rsp/packet/hex.h"

#include <array>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::string_view offer = "qSymbol::";
constexpr std::string_view question_name = "qSymbol:";
/// What a gdbserver asks for before the others.
constexpr std::string_view first_of_threads = "__nptl_version";

/// The rest of what glibc's libthread_db asks for (nptl_db, of 2.36).
constexpr auto thread_symbols = std::to_array<std::string_view>({
    "_thread_db_sizeof_pthread",
    "_thread_db_pthread_list",
    "_thread_db_pthread_report_events",
    "_thread_db_pthread_tid",
    "_thread_db_pthread_start_routine",
    "_thread_db_pthread_cancelhandling",
    "_thread_db_pthread_schedpolicy",
    "_thread_db_pthread_schedparam_sched_priority",
    "_thread_db_pthread_specific",
    "_thread_db_pthread_eventbuf",
    "_thread_db_pthread_eventbuf_eventmask",
    "_thread_db_pthread_eventbuf_eventmask_event_bits",
    "_thread_db_pthread_nextevent",
    "_thread_db_sizeof_list_t",
    "_thread_db_list_t_next",
    "_thread_db_list_t_prev",
    "_thread_db_sizeof_td_thr_events_t",
    "_thread_db_td_thr_events_t_event_bits",
    "_thread_db_sizeof_td_eventbuf_t",
    "_thread_db_td_eventbuf_t_eventnum",
    "_thread_db_td_eventbuf_t_eventdata",
    "__nptl_create_event",
    "__nptl_death_event",
    "__nptl_threads_events",
    "__nptl_nthreads",
    "_thread_db___nptl_nthreads",
    "__nptl_last_event",
    "_thread_db___nptl_last_event",
    "__nptl_initial_report_events",
    "_thread_db___nptl_initial_report_events",
    "__pthread_keys",
    "_thread_db___pthread_keys",
    "_thread_db_sizeof_pthread_key_struct",
    "_thread_db_pthread_key_struct_seq",
    "_thread_db_pthread_key_struct_destr",
    "_thread_db_sizeof_pthread_key_data",
    "_thread_db_pthread_key_data_seq",
    "_thread_db_pthread_key_data_data",
    "_thread_db_sizeof_pthread_key_data_level2",
    "_thread_db_pthread_key_data_level2_data",
    "_thread_db_link_map_l_tls_modid",
    "_thread_db_link_map_l_tls_offset",
    "_thread_db_dtv_dtv",
    "_thread_db_dtv_t_pointer_val",
    "_thread_db_dtv_t_counter",
    "_thread_db_pthread_dtvp",
    "__nptl_rtld_global",
    "_thread_db___nptl_rtld_global",
    "_thread_db_rtld_global__dl_tls_dtv_slotinfo_list",
    "_dl_tls_dtv_slotinfo_list",
    "_thread_db__dl_tls_dtv_slotinfo_list",
    "_thread_db_rtld_global__dl_stack_user",
    "_dl_stack_user",
    "_thread_db__dl_stack_user",
    "_thread_db_rtld_global__dl_stack_used",
    "_dl_stack_used",
    "_thread_db__dl_stack_used",
    "_thread_db_sizeof_dtv_slotinfo_list",
    "_thread_db_dtv_slotinfo_list_len",
    "_thread_db_dtv_slotinfo_list_next",
    "_thread_db_dtv_slotinfo_list_slotinfo",
    "_thread_db_sizeof_dtv_slotinfo",
    "_thread_db_dtv_slotinfo_gen",
    "_thread_db_dtv_slotinfo_map",
    "_thread_db_const_thread_area",
    "_thread_db_register64",
    "_thread_db_register32",
    "_thread_db_register64_thread_area",
    "_thread_db_register32_thread_area",
});

/// "1000" and "6d61696e" of "qSymbol:1000:6d61696e".
struct SymbolAnswer {
  std::string value; ///< empty: unknown
  std::string name;
};
SymbolAnswer answer_in(std::string_view packet) {
  packet.remove_prefix(question_name.size());
  const auto colon = std::min(packet.find(':'), packet.size() - 1);
  return {std::string(packet.substr(0, colon)), std::string(packet.substr(colon + 1))};
}

std::string question_for(std::string_view name) {
  return std::string(question_name) + rsp::encode_hex(name);
}

} // namespace

Result<std::string> SymbolQuestions::answer(const std::string& packet, std::string_view selected) {
  if (packet.size() <= question_name.size())
    return stub_.request(packet);
  if (collecting_ && packet != offer)
    return collect(packet);
  collecting_.reset();
  const bool offers = packet == offer;
  const bool says_unknown = !offers && packet.starts_with(offer);
  if (offers && is_settled_)
    return "OK";
  if (offers && !unknown_.empty()) {
    guessed_ = true;
    return unknown_;
  }
  if (std::exchange(guessed_, false)) {
    if (says_unknown)
      return "OK";
    auto question = stub_.request(offer); // the symbol is there now
    if (question && question->starts_with(question_name))
      asked_ = *question;
    if (!question || *question != std::exchange(unknown_, ""))
      return question;
  }
  const std::string asked = std::exchange(asked_, "");
  if (!offers && !says_unknown && asked == question_for(first_of_threads)) {
    auto next = put_off(asked);
    if (!next || !is_settled_)
      return next;
    const SymbolAnswer first = answer_in(packet);
    process_ = selected;
    values_[process_] = {{first.name, first.value}};
    collecting_ = 0;
    return question_for(thread_symbols.front());
  }
  auto reply = stub_.request(packet);
  if (!reply)
    return reply;
  if (values_.contains(std::string(selected)) && *reply == question_for(first_of_threads))
    return put_off(*reply);
  if (says_unknown && *reply == "OK")
    unknown_ = asked;
  if (reply->starts_with(question_name))
    asked_ = *reply;
  return reply;
}

/// The debugger's answer to a question of our own.
std::string SymbolQuestions::collect(const std::string& packet) {
  SymbolAnswer answer = answer_in(packet);
  values_[process_][std::move(answer.name)] = std::move(answer.value);
  if (++*collecting_ < thread_symbols.size())
    return question_for(thread_symbols[*collecting_]);
  collecting_.reset();
  return "OK";
}

/// The stub waits for the answer to this question, and asks it again at the next offer.
Result<std::string> SymbolQuestions::put_off(const std::string& question) {
  auto next = stub_.request(std::string(offer) + question.substr(question_name.size()));
  is_settled_ = next && *next == "OK";
  if (next && next->starts_with(question_name))
    asked_ = *next;
  return next;
}

Result<void> SymbolQuestions::tell(std::string_view process) {
  const auto kept = values_.extract(std::string(process));
  if (kept.empty())
    return {};
  constexpr int most_questions = 1000;
  const auto& values = kept.mapped();
  auto reply = stub_.request(offer);
  for (int questions = 0; questions < most_questions; ++questions) {
    if (!reply)
      return forward(std::move(reply));
    if (!reply->starts_with(question_name))
      break;
    const std::string name = reply->substr(question_name.size());
    const auto known = values.find(name);
    reply = stub_.request(std::string(question_name) +
                          (known == values.end() ? "" : known->second) + ":" + name);
  }
  forget();
  return {};
}

void SymbolQuestions::forget() {
  asked_.clear();
  unknown_.clear();
  guessed_ = false;
  is_settled_ = false;
}

void SymbolQuestions::forget_program() {
  forget();
  values_.clear();
}

} // namespace mqbridge
