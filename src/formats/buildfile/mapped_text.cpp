#include "formats/buildfile/mapped_text.hpp"

#include <algorithm>

namespace gpuvet {

void MappedText::add(std::string_view piece, size_t offset) {
  for (size_t i = 0; i < piece.size(); ++i) {
    text += piece[i];
    from.push_back(static_cast<uint32_t>(offset + i));
  }
}

size_t MappedText::offset(size_t index) const {
  if (index < from.size()) return from[index];
  return from.empty() ? 0 : size_t{from.back()} + 1;
}

MappedText MappedText::part(size_t begin, size_t end) const {
  MappedText made;
  end = std::min(end, text.size());
  begin = std::min(begin, end);
  made.text = text.substr(begin, end - begin);
  auto at = [this](size_t index) { return from.begin() + static_cast<std::ptrdiff_t>(index); };
  made.from.assign(at(begin), at(end));
  return made;
}

MappedText mapped(std::string_view text) {
  MappedText made;
  made.add(text, 0);
  return made;
}

LineIndex::LineIndex(std::string_view text) : text_(text), starts_{0} {
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
    starts_.push_back(at + 1);
}

FilePlace LineIndex::place(size_t begin, size_t end) const {
  begin = std::min(begin, text_.size());
  end = std::min(end, text_.size());
  auto next = std::upper_bound(starts_.begin(), starts_.end(), begin);
  size_t line = static_cast<size_t>(next - starts_.begin()); // from 1
  uint32_t column = 1;
  for (size_t i = starts_[line - 1]; i < begin; ++i)
    if ((static_cast<unsigned char>(text_[i]) & 0xc0) != 0x80) ++column;
  return {begin, std::max(begin, end), static_cast<uint32_t>(line), column};
}

} // namespace gpuvet
