// What programs print when GPU memory runs out, and what can be behind it, in rows: messages with
// their fields, lines that only look like it, tables and series of memory, units, causes with their
// fixes. The grammar that reads logs with these rows stands in src/judge/oom/.
#pragma once

#include "facts/checks.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuvet {

// How the numbers of a message are to be weighed.
enum class OomKind : uint8_t {
  device,    // what the GPU and this process hold
  pool,      // of a preallocated pool
  budget,    // what was wanted against what an engine or compiler was given
  startup,   // an engine that wants a share of the GPU before it starts
  bare,      // the size of the request at most
  disguised, // another error that often is memory
};

struct OomTemplate {
  std::string id, framework;
  std::string versions; // that print it
  OomKind kind = OomKind::device;
  std::string literal;  // that every line with the opening holds; 4 bytes at least
  std::string opening;  // RE2; named groups are fields; {size} and {number} stand for numbers
  std::string mark;     // of this version, anywhere in the message; empty: always
  std::string unit;     // of numbers that are printed without; empty: bytes
  std::string meaning;  // in plain words
  std::string question; // that tells the causes apart; empty: what the first is measured with
  std::vector<std::string> causes; // that are possible when the numbers do not decide; first likely
  std::vector<std::string> example; // lines
  std::vector<std::string> reads;   // "requested=2748779069": what the grammar must get from it
  std::string source;
};

// A piece of a message of a framework.
struct OomField {
  std::string framework, literal, pattern, unit;
  bool far = false; // may stand hundreds of lines below the opening
  std::string source;
};

// A line that is not about GPU memory that ran out.
struct OomNot {
  std::string id, literal, pattern;
  std::string meaning;              // what it is
  bool wins = false;                // makes an opening in the same line void
  std::vector<std::string> example; // lines
  std::string source;
};

struct OomTableRow { // of memory_summary()
  std::string title, meaning, source;
};

struct OomSeriesRow {
  std::string id, literal,
      pattern;      // groups: value, total, step, key, peak (a running maximum: no trend)
  std::string what; // "allocated", "reserved", "used"
  std::string key;  // of an earlier line that names the device; empty: none
  std::string unit; // of numbers that are printed without
  std::vector<std::string> example; // lines
  std::vector<std::string> reads;
  std::string source;
};

struct OomAxisRow { // where in the run a line was printed; group: step
  std::string literal, pattern, source;
};

struct OomUnit {
  std::string name;
  uint64_t bytes = 0;
  std::string source;
};

struct OomType { // of a tensor's elements
  std::string name;
  uint32_t bytes = 0;
  std::string source;
};

struct OomFix : CheckFix {
  std::vector<std::string> frameworks; // or ids of templates; empty: all
  std::vector<std::string> unless;     // not for these templates; "expandable": where it is set
};

// A cause that is a check of the doctor has only its title in numbers and what to measure here; the
// rest is the check's.
struct OomCause {
  std::string id, title;     // {fields} are filled in
  std::string plain;         // the title where they are not known; empty: the title has none
  std::string cause;         // why such a thing happens
  std::string measure;       // what to measure next, a command or a step
  std::string note;          // advice that misleads
  std::string blame;         // "node", "user", "provider", "application"
  std::vector<OomFix> fixes; // best first
  std::string source;
  bool of_check = false; // a check has this id
};

// How a framework's name is written for a person: "bfc" is TensorFlow.
struct OomFramework {
  std::string id, title;
};

// A variable that a fix names, under the name of today.
struct OomVariable {
  std::string name, formerly, since, framework, source;
};

// A GPU whose memory is the machine's too, known by the size that it reports.
struct OomShared {
  std::string name;
  uint32_t least_gib = 0, most_gib = 0;
  std::string source;
};

struct OomTables {
  std::vector<OomTemplate> templates; // in the order in which they are tried
  std::vector<OomField> fields;
  std::vector<OomNot> nots;
  std::vector<OomTableRow> table_rows;
  std::vector<OomSeriesRow> series;
  std::vector<OomAxisRow> axes; // first match counts
  std::vector<OomUnit> units;
  std::vector<OomType> types;
  std::vector<OomCause> causes;
  std::vector<OomVariable> variables;
  std::vector<OomShared> shared;
  std::vector<OomFramework> frameworks;
};

// Every literal of the rows, each once: only lines that hold one need to be read.
std::vector<std::string> oom_literals(const OomTables& tables);

const OomCause* find_oom_cause(const OomTables& tables, const std::string& id); // null: none

// The cause as other messages have it: with the title that needs no numbers.
CheckRow cause_row(const OomCause& cause);

class FactFile;
void read_oom(FactFile& file, const CheckTables& checks, OomTables& tables);

} // namespace gpuvet
