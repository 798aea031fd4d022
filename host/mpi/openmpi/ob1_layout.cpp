#include "host/mpi/openmpi/ob1_layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace mqbridge::openmpi {
namespace {

constexpr std::string_view communicator = "mca_pml_ob1_comm_t";
constexpr std::string_view process = "mca_pml_ob1_comm_proc_t";
constexpr std::string_view message = "mca_pml_ob1_recv_frag_t";
constexpr std::string_view match = "mca_pml_ob1_match_hdr_t";
constexpr std::string_view rendezvous = "mca_pml_ob1_rendezvous_hdr_t";
constexpr std::string_view segment = "mca_btl_base_segment_t";

/// OMPI_PML_OB1_MATCH_HDR_LEN: the padding is sent where builds of several byte orders may meet.
constexpr std::uint64_t plain_header = 14;
constexpr std::uint64_t padded_header = 16;

/// Finds fields, and notes the needed ones that are not known.
class Ob1Finder {
public:
  Ob1Finder(Fields& fields, std::vector<std::string>& missing)
      : fields_(fields), missing_(missing) {}

  Field integer(std::string_view type, std::string_view field, Field outer = {0, 1}) {
    return noted(fields_.find_as_typed(type, field, outer), type, field);
  }
  /// A field that is a structure: its own size does not matter.
  Field part(std::string_view type, std::string_view field, Field outer = {0, 1}) {
    return noted(fields_.find(type, field, 1, outer), type, field);
  }

private:
  Field noted(Field found, std::string_view type, std::string_view field) {
    if (!found)
      missing_.push_back(fmt::format("{}.{}", type, field));
    return found;
  }

  Fields& fields_;
  std::vector<std::string>& missing_;
};

std::uint64_t address_of(const AddressSpace& space, std::string_view type) {
  const auto symbol = space.images.find_symbol(fmt::format("{}_class", type));
  return symbol ? symbol->address.value : 0;
}

std::size_t end_of(std::initializer_list<Field> fields) {
  std::uint64_t end = 0;
  for (const Field& field : fields)
    end = std::max(end, field.end());
  return static_cast<std::size_t>(end);
}

} // namespace

ListLinks opal_list_links(Fields& fields, const Platform& platform) {
  const int pointer = platform.pointer_size;
  return {fields.find("opal_list_t", "opal_list_sentinel", pointer),
          fields.find("opal_list_item_t", "opal_list_next", pointer),
          fields.find("opal_list_item_t", "opal_list_prev", pointer),
          fields.find_as_typed("opal_list_t", "opal_list_length")};
}

Ob1Layout::Ob1Layout(Fields& fields, const AddressSpace& space)
    : links(opal_list_links(fields, space.platform)) {
  const auto pointer = static_cast<std::size_t>(space.platform.pointer_size);
  if (!links)
    missing.emplace_back("opal_list_t");
  class_of = {0, pointer};
  communicator_class = address_of(space, communicator);
  process_class = address_of(space, process);
  message_class = address_of(space, message);

  Ob1Finder find(fields, missing);
  channels = find.integer("ompi_communicator_t", "c_pml_comm");
  assertions = fields.find_as_typed("ompi_communicator_t", "c_assertions"); // not in every version

  posted = find.integer(communicator, "recv_sequence");
  wild_receives = find.part(communicator, "wild_receives");
  processes = find.integer(communicator, "procs");
  process_count = find.integer(communicator, "num_procs");

  sent = find.integer(process, "send_sequence");
  expected = find.integer(process, "expected_sequence");
  out_of_order = find.integer(process, "frags_cant_match");
  specific_receives = find.part(process, "specific_receives");
  unexpected = find.part(process, "unexpected_frags");

  const Field header = find.part(message, "hdr");
  const Field common = find.part(match, "hdr_common", header);
  type = find.integer("mca_pml_ob1_common_hdr_t", "hdr_type", common);
  context = find.integer(match, "hdr_ctx", header);
  source = find.integer(match, "hdr_src", header);
  tag = find.integer(match, "hdr_tag", header);
  sequence = find.integer(match, "hdr_seq", header);
  message_length = find.integer(rendezvous, "hdr_msg_length", header);
  header_bytes = fields.find(match, "hdr_padding", 1) ? padded_header : plain_header;
  segment_count = find.integer(message, "num_segments");
  range = find.integer(message, "range");
  const Field segments = find.part(message, "segments");
  first_segment_length = find.integer(segment, "seg_len", segments);
  const auto one = space.images.find_type(segment);
  const auto whole = space.images.find_type(message);
  if (one && *one != nullptr && whole && *whole != nullptr && (*one)->size > 0) {
    const TypeField* all = (*whole)->find_field("segments");
    segment_size = (*one)->size;
    if (all != nullptr && all->size <= Fields::max_structure)
      most_segments = all->size / segment_size;
  }
  if (most_segments == 0)
    missing.push_back(fmt::format("{}.segments", message));
}

std::size_t Ob1Layout::communicator_bytes() const {
  return end_of({posted, links.first(wild_receives), links.last(wild_receives),
                 links.length_of(wild_receives), processes, process_count});
}

std::size_t Ob1Layout::process_bytes() const {
  return end_of({sent, expected, out_of_order, links.first(specific_receives),
                 links.last(specific_receives), links.length_of(specific_receives),
                 links.first(unexpected), links.last(unexpected), links.length_of(unexpected)});
}

std::size_t Ob1Layout::message_bytes() const {
  Field last_segment = first_segment_length;
  last_segment.offset += (most_segments - 1) * segment_size;
  return end_of(
      {type, context, source, tag, sequence, message_length, segment_count, range, last_segment});
}

} // namespace mqbridge::openmpi
