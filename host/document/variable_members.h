#pragma once

#include "host/document/forms.h"
#include "host/mpi/variables.h"

namespace mqbridge {

void describe(auto& form, VariableReading& reading) {
  form.member("value", reading.value);
  form.member("object", reading.object, or_null);
  form.member("context", reading.context, as_address);
  form.member("earlier", reading.earlier);
  form.member("age_s", reading.age_s);
  form.member("reason", reading.reason, or_null);
}

void describe(auto& form, Variable& variable) {
  form.member("kind", variable.kind);
  form.member("name", variable.name);
  form.member("description", variable.description, or_null);
  form.member("verbosity", variable.verbosity);
  form.member("datatype", variable.datatype, or_null);
  form.member("enumeration", variable.enumeration);
  form.member("binding", variable.binding);
  form.member("scope", variable.scope);
  form.member("class", variable.pvar_class);
  form.member("readonly", variable.readonly);
  form.member("continuous", variable.continuous);
  form.member("atomic", variable.atomic);
  form.member("categories", variable.categories);
  form.member("set_by", variable.set_by, or_null);
  form.list("readings", variable.readings, one_line);
}

void describe(auto& form, VariableCategory& category) {
  form.member("name", category.name);
  form.member("description", category.description, or_null);
  form.member("parents", category.parents);
}

void describe(auto& form, VariableEnumItem& item) {
  form.member("value", item.value);
  form.member("name", item.name);
}

void describe(auto& form, VariableEnumeration& enumeration) {
  form.member("name", enumeration.name);
  form.list("items", enumeration.items, one_line);
}

void describe(auto& form, ProcessVariables& variables) {
  form.member("sources", variables.sources);
  form.member("whole", variables.whole);
  form.member("total", variables.total);
  form.member("listed_s", variables.listed_s);
  form.list("variables", variables.variables);
  form.list("categories", variables.categories, one_line);
  form.list("enumerations", variables.enumerations);
}

} // namespace mqbridge
