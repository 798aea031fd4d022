#include "host/report/table.h"

#include "host/report/printable.h"

#include <algorithm>
#include <utility>

namespace mqbridge {

Table::Table(std::vector<Column> columns, std::size_t width)
    : columns_(std::move(columns)), width_(width) {
  for (const Column& column : columns_)
    widths_.push_back(display_width(column.title));
}

void Table::fit(const std::vector<Cell>& row) {
  for (std::size_t i = 0; i < row.size(); ++i)
    widths_[i] = std::max(widths_[i], display_width(row[i].text));
}

std::string Table::titles(const Paint& paint) const {
  std::vector<Cell> row;
  for (const Column& column : columns_)
    row.push_back({column.title, Style::heading});
  return line(row, paint);
}

std::string Table::line(const std::vector<Cell>& row, const Paint& paint) const {
  // Words are cut to no less than this: a shorter rest says nothing.
  constexpr std::size_t least = 6;
  std::string out;
  std::size_t column = 0;
  std::size_t owed = 0; // blanks, written only before something visible
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::size_t width = display_width(row[i].text);
    const std::size_t padding = widths_[i] > width ? widths_[i] - width : 0;
    owed += i == 0 ? 0 : columns_[i].gap;
    if (columns_[i].align == Align::right)
      owed += padding;
    if (width > 0) {
      column += owed + width;
      out.append(std::exchange(owed, 0), ' ');
      const bool gives_way = i + 1 == row.size() && column > width_;
      const std::size_t left =
          gives_way ? std::max(least, width - std::min(width, column - width_)) : width;
      out += paint(row[i].style, clipped(row[i].text, left));
    }
    if (columns_[i].align == Align::left)
      owed += padding;
  }
  return out;
}

} // namespace mqbridge
