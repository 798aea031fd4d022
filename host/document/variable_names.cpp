#include "host/document/names.h"

namespace mqbridge {

// The words of MPI_T, as MPI has them but for their beginnings.

std::string_view name_of(VariableKind value) {
  switch (value) {
  case VariableKind::control:
    return "control";
  case VariableKind::performance:
    return "performance";
  }
  return {};
}

std::string_view name_of(Verbosity value) {
  switch (value) {
  case Verbosity::user_basic:
    return "user_basic";
  case Verbosity::user_detail:
    return "user_detail";
  case Verbosity::user_all:
    return "user_all";
  case Verbosity::tuner_basic:
    return "tuner_basic";
  case Verbosity::tuner_detail:
    return "tuner_detail";
  case Verbosity::tuner_all:
    return "tuner_all";
  case Verbosity::mpidev_basic:
    return "mpidev_basic";
  case Verbosity::mpidev_detail:
    return "mpidev_detail";
  case Verbosity::mpidev_all:
    return "mpidev_all";
  }
  return {};
}

std::string_view name_of(Binding value) {
  switch (value) {
  case Binding::no_object:
    return "no_object";
  case Binding::comm:
    return "comm";
  case Binding::datatype:
    return "datatype";
  case Binding::errhandler:
    return "errhandler";
  case Binding::file:
    return "file";
  case Binding::group:
    return "group";
  case Binding::op:
    return "op";
  case Binding::request:
    return "request";
  case Binding::win:
    return "win";
  case Binding::message:
    return "message";
  case Binding::info:
    return "info";
  case Binding::session:
    return "session";
  }
  return {};
}

std::string_view name_of(VariableScope value) {
  switch (value) {
  case VariableScope::constant:
    return "constant";
  case VariableScope::readonly:
    return "readonly";
  case VariableScope::local:
    return "local";
  case VariableScope::group:
    return "group";
  case VariableScope::group_eq:
    return "group_eq";
  case VariableScope::all:
    return "all";
  case VariableScope::all_eq:
    return "all_eq";
  }
  return {};
}

std::string_view name_of(VariableClass value) {
  switch (value) {
  case VariableClass::state:
    return "state";
  case VariableClass::level:
    return "level";
  case VariableClass::size:
    return "size";
  case VariableClass::percentage:
    return "percentage";
  case VariableClass::highwatermark:
    return "highwatermark";
  case VariableClass::lowwatermark:
    return "lowwatermark";
  case VariableClass::counter:
    return "counter";
  case VariableClass::aggregate:
    return "aggregate";
  case VariableClass::timer:
    return "timer";
  case VariableClass::generic:
    return "generic";
  }
  return {};
}

std::string_view name_of(VariableSource value) {
  switch (value) {
  case VariableSource::recorder:
    return "recorder";
  case VariableSource::memory:
    return "memory";
  }
  return {};
}

} // namespace mqbridge
