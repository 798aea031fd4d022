#include "host/cli/commands/execute.h"
#include "host/cli/commands/write_report.h"
#include "host/cli/terminal/session.h"
#include "host/codes.h"
#include "host/disk/output_file.h"
#include "host/report/fitted_text.h"
#include "host/report/rank_lists.h"
#include "host/report/table.h"
#include "host/service/microhttpd.h"
#include "host/service/service.h"
#include "host/service/service_client.h"

#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace mqbridge {
namespace {

using nlohmann::json;

const std::string& path_of(const rsp::Endpoint& socket) {
  return std::get<rsp::UnixEndpoint>(socket.where).path;
}

/// Error: also service.refused, where no object is answered.
Result<json> ask_json(const std::string& socket, const std::string& method,
                      const std::string& path) {
  const auto answer = ask_service(socket, method, path);
  if (!answer)
    return Failure(answer.error());
  json value = json::parse(*answer, nullptr, false);
  return value.is_object() ? Result<json>(std::move(value))
                           : fail("service.refused", "what answers there is no service of mqbridge",
                                  "mqbridge serve");
}

/// How a browser of another computer gets here.
std::string words_for_browser(const std::string& link) {
  const auto address = std::string_view(link).substr(std::string_view("http://").size());
  const auto port = address.substr(address.find(':') + 1);
  const std::string number(port.substr(0, port.find('/')));
  return fmt::format("open {}\nfrom another computer: ssh -L {}:127.0.0.1:{} THIS_HOST, then the "
                     "same link there\n",
                     link, number, number);
}

/// Of a service that runs already; nullopt: there is none.
std::optional<Result<std::string>> link_of_running(const ServeCommand& command) {
  const auto answer = ask_json(path_of(command.listen), "POST", "/v1/links");
  if (!answer && answer.error().code == codes::service_not_running)
    return std::nullopt;
  if (!answer)
    return Failure(answer.error());
  return answer->value("link", "");
}

/// Another time it may be there, or not.
bool has_config(const ServeCommand& command) {
  std::error_code ignored;
  return command.needs_config || std::filesystem::exists(command.config, ignored);
}

Result<ServiceConfig> config_of(const ServeCommand& command) {
  return has_config(command) ? read_service_config(command.config)
                             : Result<ServiceConfig>(ServiceConfig());
}

/// When a job is looked at.
std::string occasions(const ServiceJob& job, double most_load) {
  std::string text;
  if (job.every)
    text += fmt::format(", every {} s, at most {}% of its time", job.every->count(), most_load);
  if (!job.output.empty())
    text += fmt::format(", once {} has not grown for {} s", job.output.string(), job.quiet.count());
  if (job.cpu_of != 0)
    text += fmt::format(", once its processes have used no CPU time for {} s", job.quiet.count());
  return text.empty() ? ", when it is asked for" : text;
}

std::string described(const ServeCommand& command, const ServiceConfig& config) {
  std::string text = fmt::format(
      "socket         {}\nkept in        {}: {} looks of a job, for {} days\nconfiguration  {}\n",
      path_of(command.listen), command.state.string(), config.history.looks,
      config.history.age.count() / 24, has_config(command) ? command.config.string() : "none");
  for (const ServiceJob& job : config.jobs)
    text += fmt::format("job            {}: {}{}\n", job.name, fmt::join(job.words, " "),
                        occasions(job, config.most_load));
  return text;
}

Result<void> run(const ServeCommand& command, ServiceConfig config,
                 const Installation& installation, Session& session) {
  const ServiceOptions options{.listen = command.listen,
                               .open = command.open,
                               .state = command.state,
                               .program = installation.program_directory / "mqbridge"};
  const auto jobs = config.jobs.size();
  session.signals.reload_on_hang_up();
  return serve(
      options, std::move(config),
      [&](const std::string& socket, const std::string& link) {
        session.output.write(fmt::format("ready: {}, {}\n", counted(jobs, "job"), socket));
        if (!link.empty())
          session.output.write(words_for_browser(link));
        session.output.flush();
      },
      [&]() -> std::optional<Result<ServiceConfig>> {
        if (!session.signals.await_reload())
          return std::nullopt;
        return config_of(command);
      },
      [](LogLine line) {
        line.message = printable_lines(line.message);
        if (!tell_journal(line))
          print_on_stderr(fmt::format("mqbridge: {}{}{}\n", line.code,
                                      line.code.empty() ? "" : ": ", line.message));
      });
}

/// A time of the service's, without its parts of a second.
std::string short_time(const json& time) {
  constexpr std::size_t to_seconds = 19;
  return time.is_string() ? time.get_ref<const std::string&>().substr(0, to_seconds) + "Z" : "";
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

std::string state_of(const json& job) {
  const json& look = job["last_look"];
  if (job["state"] != "idle")
    return job["state"];
  if (job["error"].is_string())
    return "the last look failed";
  if (!look.is_object())
    return "not looked at yet";
  const json& analysis = look["analysis"];
  if (!analysis.is_object())
    return look["error"].is_string() ? "could not be looked at" : "no verdict";
  const std::string verdict = text_of(analysis["verdict"]);
  const std::string sure = text_of(analysis["confidence"]);
  if (verdict != "deadlock" || job["stuck_since"].is_null())
    return verdict + (sure.empty() ? "" : " (" + sure + ")");
  // One that is certain cannot have moved in between.
  return fmt::format("DEADLOCK ({}){} since {}", sure, sure == "certain" ? "" : " seen",
                     short_time(job["stuck_since"]));
}

std::string table_of(const json& jobs, const Output& output, When color) {
  const Paint paint(wants_color(color, output));
  Table table({{.title = "JOB", .gap = 0},
               {.title = "STATE"},
               {.title = "LOOKS", .align = Align::right},
               {.title = "LAST LOOK"},
               {.title = "OPTIONS", .drop = 1}},
              text_width(output));
  std::vector<std::vector<Cell>> rows;
  for (const json& job : jobs) {
    const json& look = job["last_look"];
    rows.push_back(
        {{job["name"]},
         {state_of(job)},
         {job["looks"].dump()},
         {look.is_object() ? short_time(look["taken_at"]) : "-"},
         {fmt::format("{}", fmt::join(job["options"].get<std::vector<std::string>>(), " "))}});
    table.fit(rows.back());
  }
  table.narrow();
  std::string text = table.titles(paint) + "\n";
  for (const auto& row : rows)
    text += table.line(row, paint) + "\n";
  return text;
}

/// Asks for a look, and waits for it: its id.
Result<std::string> look_of_service(const std::string& socket, const std::string& name) {
  const std::string path = "/v1/jobs/" + name;
  const auto id_of_last = [](const json& state) {
    return state["last_look"].is_object() ? state["last_look"].value("id", "") : "";
  };
  auto state = ask_json(socket, "POST", path + "/looks");
  const std::string before = state ? id_of_last(*state) : "";
  constexpr std::chrono::milliseconds pause{200};
  while (state && (*state)["state"] != "idle") {
    std::this_thread::sleep_for(pause);
    state = ask_json(socket, "GET", path);
  }
  if (!state)
    return forward(std::move(state));
  const json& look = (*state)["last_look"];
  std::string id = id_of_last(*state);
  if (id.empty() || id == before)
    return fail("service.no_look",
                (*state)["error"].is_string() ? (*state)["error"] : "the look was cancelled",
                "mqbridge jobs");
  if (!look["ranks"].is_object())
    return fail("service.no_look", look["error"].is_string() ? look["error"] : "no rank was seen",
                "mqbridge serve --check prints the options of each job");
  return id;
}

} // namespace

int execute(const ServeCommand& command, const Installation& installation) {
  auto session = Session::open("", {});
  if (!session) {
    print_error(session.error());
    return exit_output;
  }
  const auto failed = [&](const Error& error) {
    print_error(error);
    return (*session)->close(exit_partial);
  };
  auto config = config_of(command);
  if (!config) {
    print_error(config.error());
    return (*session)->close(exit_usage);
  }
  if (command.check) {
    (*session)->output.write(described(command, *config));
    if (microhttpd() == nullptr)
      return failed({"service.library", fmt::format("{} cannot be loaded", microhttpd_name()),
                     "apt install libmicrohttpd12"});
    return (*session)->close(exit_ok);
  }
  if (const auto link = command.open ? link_of_running(command) : std::nullopt) {
    if (!*link)
      return failed(link->error());
    (*session)->output.write(words_for_browser(**link));
    return (*session)->close(exit_ok);
  }
  const auto served = run(command, std::move(*config), installation, **session);
  return served ? (*session)->close(exit_ok) : failed(served.error());
}

int execute(const JobsCommand& command, const Installation&) {
  auto output = Output::open(command.output);
  if (!output) {
    print_error(output.error());
    return exit_output;
  }
  auto jobs = ask_json(path_of(command.service), "GET", "/v1/jobs");
  if (!jobs) {
    print_error(jobs.error());
    return exit_partial;
  }
  if (command.format == Format::json)
    output->write(jobs->dump() + "\n");
  else if ((*jobs)["jobs"].empty())
    output->write("the service knows no job: mqbridge serve --open, or its configuration\n");
  else
    output->write(table_of((*jobs)["jobs"], *output, command.color));
  return finish(*output, exit_ok);
}

int execute(const ServiceLookCommand& command, const Installation& installation) {
  const std::string& socket = path_of(command.service);
  const auto id = look_of_service(socket, command.job);
  const auto text =
      id ? ask_service(socket, "GET", "/v1/jobs/" + command.job + "/looks/" + *id + "/document")
         : Result<std::string>(Failure(id.error()));
  const auto directory = TemporaryDirectory::make();
  ShowCommand show = command.show;
  if (directory)
    show.document = directory->path() / "look.ndjson";
  const auto written = !text        ? Result<void>(Failure(text.error()))
                       : !directory ? Result<void>(Failure(directory.error()))
                                    : write_file(show.document, *text);
  if (!written) {
    print_error(written.error());
    return exit_nothing;
  }
  return execute(show, installation);
}

} // namespace mqbridge
