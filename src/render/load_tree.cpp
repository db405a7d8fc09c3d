#include "render/load_tree.hpp"

#include "render/terminal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace gpuvet {
namespace {

constexpr size_t kPlacesShown = 12; // of what is missing, unless verbose
constexpr size_t kDeepest = 64;

struct Marks {
  std::string_view branch, last, line, blank, place;
};
constexpr Marks kUtf8 = {"├── ", "└── ", "│   ", "    ", "┊ "};
constexpr Marks kAscii = {"|-- ", "`-- ", "|   ", "    ", ": "};

bool is_everyday(std::string_view name) {
  constexpr std::array<std::string_view, 11> starts = {
      "libc.so.",  "libm.so.",     "libdl.so.", "libpthread.so.", "librt.so.", "libutil.so.",
      "libgcc_s.", "libstdc++.so", "ld-linux",  "ld64.so",        "libatomic."};
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

struct Tree {
  const LoadTree& tree;
  LoadTreeStyle style;
  const Marks& marks;
  std::vector<bool> shown; // nodes whose needs were printed
  size_t hidden = 0;
  std::string text;

  std::string painted(const std::string& part, std::string_view colour) const {
    return style.colour ? std::string(colour) + part + "\x1b[0m" : part;
  }
};

bool shadows(const LoadEdge& edge) {
  return std::any_of(edge.tried.begin(), edge.tried.end(),
                     [](const Candidate& candidate) { return candidate.why_not == "shadowed"; });
}

bool is_shown(const Tree& tree, const LoadEdge& edge) {
  if (tree.style.verbose) return true;
  if (edge.rule == FoundBy::not_found) return !edge.at_run_time;
  return !is_everyday(edge.name) || shadows(edge);
}

std::string tag_of(const Tree& tree, const LoadEdge& edge) {
  if (tree.style.verbose && !edge.by.empty()) return edge.by;
  std::string tag = rule_name(edge.rule);
  if (edge.rule == FoundBy::cache && edge.by.find("ld.so.conf") != std::string::npos)
    tag = "ld.so.conf";
  if (edge.by.find("for this processor") != std::string::npos) tag += ", for this processor";
  if (edge.at_run_time && edge.rule != FoundBy::dlopen && edge.rule != FoundBy::preload)
    tag += ", at run time";
  return tag;
}

std::string edge_line(const Tree& tree, const LoadEdge& edge) {
  std::string name = printable(edge.name.empty() ? edge.path : edge.name);
  if (edge.rule == FoundBy::not_found)
    return tree.painted(
        name + (edge.at_run_time ? "  not found (asked for at run time)" : "  not found"),
        edge.at_run_time ? "\x1b[33m" : "\x1b[31m");
  std::string line = name;
  bool again = edge.rule == FoundBy::already_loaded && !tree.style.verbose;
  if (edge.path != edge.name && !again) line += " => " + printable(edge.path);
  line += tree.painted(fmt::format("  [{}]", printable(tag_of(tree, edge))), "\x1b[36m");
  return line;
}

// Places in the order of the search, under the name that is missing.
void add_places(Tree& tree, const LoadEdge& edge, const std::string& indent) {
  auto line = [&](const std::string& text) {
    tree.text += indent + std::string(tree.marks.place) + printable(text) + "\n";
  };
  line("looked for in this order:");
  size_t number = 0;
  for (const Candidate& candidate : edge.tried) {
    if (++number > kPlacesShown && !tree.style.verbose) {
      line(fmt::format("    and {} more (-v)", edge.tried.size() - kPlacesShown));
      break;
    }
    if (candidate.path.empty())
      line(fmt::format("{:2}. {}", number, candidate.why_not));
    else
      line(fmt::format("{:2}. {}: {}  [{}]", number, candidate.path, candidate.why_not,
                       rule_name(candidate.rule)));
  }
  for (const std::string& path : edge.elsewhere)
    line("there is " + path + ", off the search path");
}

void add_shadowed(Tree& tree, const LoadEdge& edge, const std::string& indent) {
  if (!tree.style.verbose && is_everyday(edge.name)) return;
  for (const Candidate& candidate : edge.tried)
    if (candidate.why_not == "shadowed")
      tree.text +=
          indent + std::string(tree.marks.place) +
          printable(fmt::format("hides {}  [{}]", candidate.path, rule_name(candidate.rule))) +
          "\n";
}

struct Level {
  std::vector<const LoadEdge*> edges;
  size_t next = 0;
  std::string indent;
};

Level level_of(Tree& tree, size_t node, const std::string& indent) {
  Level level;
  level.indent = indent;
  tree.shown[node] = true;
  for (const LoadEdge& edge : tree.tree.nodes[node].needs) {
    if (is_shown(tree, edge))
      level.edges.push_back(&edge);
    else
      ++tree.hidden;
  }
  return level;
}

void add_levels(Tree& tree, Level first, bool roots) {
  std::vector<Level> open;
  open.push_back(std::move(first));
  while (!open.empty()) {
    Level& level = open.back();
    if (level.next >= level.edges.size()) {
      open.pop_back();
      continue;
    }
    const LoadEdge& edge = *level.edges[level.next++];
    bool last = level.next == level.edges.size();
    bool is_root = roots && open.size() == 1;
    bool known = edge.node < tree.tree.nodes.size();
    std::string indent = level.indent;
    if (!is_root) tree.text += indent + std::string(last ? tree.marks.last : tree.marks.branch);
    tree.text += edge_line(tree, edge) + "\n";
    if (!is_root) indent += last ? tree.marks.blank : tree.marks.line;
    if (edge.rule == FoundBy::not_found && !edge.at_run_time) add_places(tree, edge, indent);
    if (edge.rule != FoundBy::not_found) add_shadowed(tree, edge, indent);
    // The needs of a library stand where it was loaded.
    if (known && edge.rule != FoundBy::already_loaded && !tree.shown[edge.node] &&
        open.size() < kDeepest)
      open.push_back(level_of(tree, edge.node, indent));
  }
}

} // namespace

std::string rule_name(FoundBy rule) {
  switch (rule) {
  case FoundBy::path:
    return "path";
  case FoundBy::already_loaded:
    return "already loaded";
  case FoundBy::preload:
    return "preload";
  case FoundBy::rpath:
    return "rpath";
  case FoundBy::ld_library_path:
    return "LD_LIBRARY_PATH";
  case FoundBy::runpath:
    return "runpath";
  case FoundBy::cache:
    return "ld.so.cache";
  case FoundBy::default_folder:
    return "default folder";
  case FoundBy::dlopen:
    return "opened at run time";
  case FoundBy::mapped:
    return "mapped";
  case FoundBy::not_found:
    break;
  }
  return "not found";
}

std::string render_load_tree(const LoadTree& load_tree, const LoadTreeStyle& style) {
  if (load_tree.nodes.empty()) return {};
  Tree tree{load_tree,
            style,
            style.ascii ? kAscii : kUtf8,
            std::vector<bool>(load_tree.nodes.size(), false),
            0,
            {}};
  const LoadNode& first = load_tree.nodes[0];
  bool roots = first.path.empty(); // a program that stands for any
  if (!roots) tree.text += printable(first.path) + "\n";
  Level level = level_of(tree, 0, "");
  add_levels(tree, std::move(level), roots);
  if (tree.hidden)
    tree.text += fmt::format("({} of the system's libraries not shown: -v)\n", tree.hidden);
  return tree.text;
}

} // namespace gpuvet
