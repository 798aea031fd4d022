#include "host/report/table.h"

#include "host/report/fitted_text.h"

#include <algorithm>
#include <utility>

namespace mqbridge {

Table::Table(std::vector<Column> columns, std::size_t width)
    : columns_(std::move(columns)), width_(width), left_out_(columns_.size(), false) {
  for (const Column& column : columns_)
    widths_.push_back(display_width(column.title));
}

void Table::fit(const std::vector<Cell>& row) {
  for (std::size_t i = 0; i < row.size(); ++i)
    widths_[i] = std::max(widths_[i], display_width(row[i].text));
}

std::vector<std::size_t> Table::narrow() {
  std::size_t total = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    total += widths_[i] + (i == 0 ? 0 : columns_[i].gap);
  std::vector<std::size_t> out;
  while (total > width_) {
    const auto next =
        std::max_element(columns_.begin(), columns_.end(),
                         [](const Column& a, const Column& b) { return a.drop < b.drop; });
    if (next == columns_.end() || next->drop == 0)
      break;
    const auto index = static_cast<std::size_t>(next - columns_.begin());
    next->drop = 0;
    left_out_[index] = true;
    total -= widths_[index] + next->gap;
    out.push_back(index);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string Table::titles(const Paint& paint) const {
  std::vector<Cell> row;
  for (const Column& column : columns_)
    row.push_back({column.title, Style::heading});
  return line(row, paint);
}

std::string Table::line(const std::vector<Cell>& row, const Paint& paint) const {
  std::string out;
  std::size_t owed = 0; // blanks, written only before something visible
  bool first = true;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (left_out_[i])
      continue;
    const std::size_t width = display_width(row[i].text);
    const std::size_t padding = widths_[i] > width ? widths_[i] - width : 0;
    owed += std::exchange(first, false) ? 0 : columns_[i].gap;
    if (columns_[i].align == Align::right)
      owed += padding;
    if (width > 0) {
      out.append(std::exchange(owed, 0), ' ');
      out += paint(row[i].style, row[i].text);
    }
    if (columns_[i].align == Align::left)
      owed += padding;
  }
  return out;
}

} // namespace mqbridge
