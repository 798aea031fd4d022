#include "rsp/commands/threads.h"

#include "rsp/codes.h"
#include "rsp/commands/qxfer.h"
#include "rsp/commands/xml.h"
#include "rsp/limits.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/thread_id.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <pugixml.hpp>
#include <span>
#include <string_view>
#include <utility>

namespace mqbridge::rsp {
namespace {

Failure garbage(std::string what) {
  return fail(codes::stub_garbage, std::move(what), "look at what the stub says with --trace FILE");
}

Result<std::vector<ThreadInfo>> parse_xml(const std::string& xml) {
  pugi::xml_document document;
  const std::string fault = load_xml(document, xml);
  const pugi::xml_node root = document.child("threads");
  if (!fault.empty() || !root) {
    return garbage(fmt::format("the stub's list of threads is no XML of that kind: {}",
                               fault.empty() ? "no <threads>" : fault));
  }
  std::vector<ThreadInfo> threads;
  for (const pugi::xml_node& node : root.children("thread")) {
    const std::string_view text = node.attribute("id").as_string();
    const auto id = parse_thread_id(text);
    if (!id)
      return garbage(fmt::format("'{}' in the stub's list of threads is no thread", shorten(text)));
    if (threads.size() == limits::threads)
      return garbage(fmt::format("the stub lists more than {} threads", limits::threads));
    threads.push_back({id->pid, id->tid, node.attribute("name").as_string()});
  }
  return threads;
}

/// Adds the threads of "mID,ID,..." to `threads`; false at "l", the end.
Result<bool> take_page(std::string_view reply, std::vector<ThreadInfo>& threads) {
  if (reply == "l")
    return false;
  if (!reply.starts_with('m'))
    return garbage(fmt::format("'{}' is no list of threads", shorten(reply)));
  reply.remove_prefix(1);
  while (!reply.empty()) {
    const auto comma = reply.find(',');
    const auto id = parse_thread_id(reply.substr(0, comma));
    if (!id) {
      return garbage(fmt::format("'{}' in the stub's list of threads is no thread",
                                 shorten(reply.substr(0, comma))));
    }
    if (threads.size() == limits::threads)
      return garbage(fmt::format("the stub lists more than {} threads", limits::threads));
    threads.push_back({id->pid, id->tid, {}});
    reply.remove_prefix(comma == std::string_view::npos ? reply.size() : comma + 1);
  }
  return true;
}

Result<std::vector<ThreadInfo>> read_pages(Client& client) {
  std::vector<ThreadInfo> threads;
  auto reply = client.request("qfThreadInfo");
  if (reply && reply->empty()) {
    return fail("threads.unsupported",
                fmt::format("the stub at {} cannot list its threads", client.endpoint().text),
                "use gdbserver 7 or later, or a stub that answers qfThreadInfo");
  }
  for (std::size_t packets = 0; packets < limits::thread_packets; ++packets) {
    if (!reply)
      return forward(std::move(reply));
    const std::size_t before = threads.size();
    auto more = take_page(*reply, threads);
    if (!more)
      return forward(std::move(more));
    if (!*more)
      return threads;
    if (threads.size() == before)
      return garbage("the stub's list of threads goes on without threads");
    // The first thread is listed again: the stub goes round in circles.
    if (before != 0 && threads[before].pid == threads.front().pid &&
        threads[before].tid == threads.front().tid)
      return garbage("the stub's list of threads begins again where it should end");
    reply = client.request("qsThreadInfo");
  }
  return garbage(fmt::format("the stub's list of threads does not end within {} packets",
                             limits::thread_packets));
}

Result<std::vector<ThreadInfo>> read_all_threads(Client& client) {
  if (client.features().qxfer_threads) {
    auto xml = read_object(client, "threads", "");
    if (!xml)
      return forward(std::move(xml));
    if (*xml)
      return parse_xml(**xml);
  }
  return read_pages(client);
}

void drop_those_of_others(const Client& client, std::vector<ThreadInfo>& threads) {
  if (const auto own = client.held_process())
    std::erase_if(threads, [own](const ThreadInfo& thread) {
      return thread.pid != 0 && std::cmp_not_equal(thread.pid, *own);
    });
}

/// The first requests of read_all_threads(): the replies to them hold all of a list that is not
/// long.
std::vector<std::string> first_questions(const Features& features) {
  if (features.qxfer_threads)
    return {object_piece_request(features, "threads", "", 0)};
  return {"qfThreadInfo", "qsThreadInfo"};
}

/// nullopt: the answers to first_questions() are not all of the list.
std::optional<std::vector<ThreadInfo>> whole_list(const Features& features,
                                                  std::span<const std::string> answers) {
  if (features.qxfer_threads) {
    const std::string& piece = answers.front();
    auto threads = piece.starts_with('l') ? parse_xml(piece.substr(1)) : garbage("");
    return threads ? std::optional(std::move(*threads)) : std::nullopt;
  }
  std::vector<ThreadInfo> threads;
  const auto first = take_page(answers.front(), threads);
  const auto second = first && *first ? take_page(answers.back(), threads) : Result<bool>(true);
  return second && !*second ? std::optional(std::move(threads)) : std::nullopt;
}

} // namespace

Result<std::vector<ThreadInfo>> read_threads(Client& client) {
  auto threads = read_all_threads(client);
  if (threads)
    drop_those_of_others(client, *threads);
  return threads;
}

void ask_threads_ahead(Client& client) {
  for (auto& question : first_questions(client.features()))
    client.ask_ahead(std::move(question));
}

std::optional<std::vector<ThreadInfo>> threads_asked_ahead(Client& client) {
  const auto questions = first_questions(client.features());
  if (!std::ranges::all_of(questions, [&](const auto& one) { return client.answered_ahead(one); }))
    return std::nullopt;
  std::vector<std::string> answers;
  answers.reserve(questions.size());
  for (const auto& question : questions)
    answers.push_back(*client.answer_ahead(question));
  auto threads = whole_list(client.features(), answers);
  if (threads)
    drop_those_of_others(client, *threads);
  return threads;
}

} // namespace mqbridge::rsp
