#include "judge/oom/arithmetic.hpp"

#include "judge/oom/words.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

using Row = std::vector<Cell>;

Row printed(const std::string& what, const OomAmount& amount) {
  const std::string line = amount.line == 0 ? "" : fmt::format("line {}", amount.line);
  if (!amount)
    return {{what},
            {"unknown", State::unknown},
            {line + (line.empty() ? "" : ": ") + amount.why_unknown}};
  std::string where = line;
  const std::string size = size_text(static_cast<double>(*amount));
  if (!amount.written.empty() && amount.written != size) where += " (" + amount.written + ")";
  return {{what}, {size}, {where}};
}

void add_printed(Table& table, const OomMessage& message, const char* name,
                 const std::string& what) {
  if (message.amounts.count(name)) table.rows.push_back(printed(what, message.amount(name)));
}

void add_worked_out(Table& table, const std::string& what, const OomBytes& bytes,
                    const std::string& how) {
  if (bytes) table.rows.push_back({{what}, {size_text(*bytes)}, {how}});
}

void add_others(Table& table, const OomMessage& message, const OomBalance& balance) {
  constexpr size_t most = 12;
  size_t shown = 0;
  for (const OomProcess& process : message.others) {
    std::string what = fmt::format("process {}", process.pid);
    if (balance.self_pid == process.pid) what += ", this one";
    if (++shown <= most) table.rows.push_back(printed(what, process.held));
  }
  if (shown > most)
    table.rows.push_back({{fmt::format("{} more processes", shown - most)}, {""}, {""}});
}

} // namespace

Table arithmetic_table(const OomMessage& message, const OomBalance& balance) {
  Table table;
  table.columns = {{"memory"}, {"size", Align::right}, {"from", Align::left, true}};
  add_printed(table, message, "requested", "requested");
  add_printed(table, message, "needed", "needed");
  add_printed(table, message, "budget", "may be used");
  add_printed(table, message, "total", "GPU in all");
  add_printed(table, message, "used", "held by everybody");
  add_printed(table, message, "free", "free");
  add_printed(table, message, "limit", "limit of this process");
  add_printed(table, message, "self", "this process");
  add_others(table, message, balance);
  add_printed(table, message, "reserved", "its allocator's pool");
  add_printed(table, message, "allocated", "allocated by it");
  add_printed(table, message, "private", "of that in private pools");
  add_printed(table, message, "unallocated", "unused in its pool");
  add_printed(table, message, "pool", "the preallocated pool");
  add_printed(table, message, "in_use", "of that in use");
  add_printed(table, message, "peak_in_use", "at most in use");

  if (balance.in_private)
    add_worked_out(table, "= held by tensors", balance.live, "allocated - private pools");
  if (!message.amounts.count("unallocated"))
    add_worked_out(table, "= unused in its pool", balance.unallocated, "pool - allocated");
  add_worked_out(table, "= outside of its pool", balance.outside,
                 "this process - allocated - unused");
  if (balance.other_count > 1)
    add_worked_out(table, "= other processes", balance.others, "their sum");
  if (balance.hidden && *balance.hidden > 0)
    add_worked_out(table, "= held by nobody known", balance.hidden,
                   "in all - free - this process - others");
  if (!balance.self && balance.rest && *balance.rest > 0)
    add_worked_out(table, "= not of this pool", balance.rest, "in all - free - pool");
  if (balance.missing && *balance.missing > 0)
    add_worked_out(table, "= missing", balance.missing,
                   balance.unallocated ? "requested - free - unused" : "requested - free");
  return table;
}

} // namespace gpuvet
