#include "formats/recording/files.hpp"
#include "formats/recording/json_values.hpp"
#include "formats/recording/recording.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

constexpr std::string_view kSchema = "gpuvet-recording/1";

// Keys of the document that are not fields of a Recording.
template <class F> void parts(F& f, Is<Recording> auto& v) {
  f("about", v.about);
  f("made_by", v.made_by);
  f("partial", v.partial);
  f("system", v.system);
  f("environment", v.environment);
  f("files", v.files);
  f("folders", v.folders);
  f("listings", v.listings);
  f("elf", v.elf);
  f("gpu_code", v.gpu_code);
  f("module_infos", v.module_infos);
  f("texts", v.texts);
  f("spaces", v.spaces);
  f("errors", v.errors);
  f("commands", v.commands);
  f("log", v.log);
  f("processes", v.processes);
  f("nvml", v.nvml);
  f("cuda", v.cuda);
}

// Paths that the recording says something about must be absolute and in plain form, or a lookup
// could never find them.
bool is_plain_path(std::string_view path) {
  if (path == "/") return true;
  if (!path.starts_with('/') || path.ends_with('/')) return false;
  for (size_t at = 0; at < path.size();) {
    size_t end = std::min(path.find('/', at + 1), path.size());
    std::string_view part = path.substr(at + 1, end - at - 1);
    if (part.empty() || part == "." || part == "..") return false;
    at = end;
  }
  return path.find('\0') == std::string_view::npos;
}

bool check_paths(const Recording& recording, const JsonPlace& top, JsonProblem& problem) {
  const std::string sentence = "a path is written from / on, without \"..\" or a slash at its end";
  auto check = [&](std::string_view key, std::string_view path) {
    if (is_plain_path(path)) return;
    const JsonPlace part{.outer = &top, .key = key};
    problem.set(sentence, JsonPlace{.outer = &part, .key = path});
  };
  for (const auto& [path, file] : recording.files)
    check("files", path);
  for (const std::string& path : recording.folders)
    check("folders", path);
  for (const auto& [path, names] : recording.listings)
    check("listings", path);
  for (const auto& [path, facts] : recording.elf)
    check("elf", path);
  for (const auto& [path, code] : recording.gpu_code)
    check("gpu_code", path);
  for (const auto& [path, info] : recording.module_infos)
    check("module_infos", path);
  for (const auto& [path, words] : recording.texts)
    check("texts", path);
  for (const auto& [path, space] : recording.spaces)
    check("spaces", path);
  return problem.what.empty();
}

// The compact form of many absent paths.
bool add_missing(const std::vector<std::string>& paths, Recording& recording, const JsonPlace& top,
                 JsonProblem& problem) {
  for (const std::string& path : paths)
    if (!recording.files.try_emplace(path, RecordedFile{.kind = RecordedFile::Kind::missing})
             .second)
      return problem.set("this path has an entry in \"files\" too",
                         JsonPlace{.outer = &top, .key = path});
  return true;
}

// A file that has something to say is there, so an entry follows for those that have none.
void add_described_files(Recording& recording) {
  auto add = [&](const std::string& path, uint64_t size) {
    recording.files.try_emplace(path,
                                RecordedFile{.kind = RecordedFile::Kind::present, .size = size});
  };
  for (const auto& [path, facts] : recording.elf)
    add(path, facts.size);
  for (const auto& [path, code] : recording.gpu_code)
    add(path, 0);
  for (const auto& [path, info] : recording.module_infos)
    add(path, 0);
  for (const auto& [path, words] : recording.texts)
    add(path, 0);
}

} // namespace

Result<Json> parse_recording_document(std::string_view text, const std::string& where) {
  auto json = parse_json(text, where);
  if (!json) return json;
  if (json->kind != Json::Kind::object || (*json)["schema"].text != kSchema)
    return fail(fmt::format("this is not a recording: its \"schema\" is not \"{}\"", kSchema),
                where);
  return json;
}

std::string base_of(const Json& document) {
  return document["base"].text;
}

Result<Recording> read_recording(const Json& document, const std::string& where) {
  Recording recording;
  JsonProblem problem;
  const JsonPlace top;
  FieldReader reader(document, top, problem);
  std::string schema, base;
  std::vector<std::string> missing;
  reader("schema", schema);
  reader("base", base);
  parts(reader, recording);
  reader("missing", missing);
  const bool sound = reader.finish() && add_missing(missing, recording, top, problem) &&
                     check_paths(recording, top, problem);
  if (!sound) return fail(problem.where + ": " + problem.what, where);
  if (schema != kSchema) return fail("this is not a recording", where);
  if (!base.empty()) return fail("the base \"" + base + "\" was not laid under it", where);
  remove_below_missing(recording);
  add_described_files(recording);
  return recording;
}

Result<Recording> parse_recording(std::string_view text, const std::string& where) {
  auto document = parse_recording_document(text, where);
  if (!document) return tl::unexpected(document.error());
  return read_recording(*document, where);
}

std::string write_recording(const Recording& recording) {
  FieldWriter writer;
  writer("schema", std::string(kSchema));
  Recording told = recording;
  std::vector<std::string> missing;
  for (const auto& [path, file] : recording.files)
    if (file.kind == RecordedFile::Kind::missing) missing.push_back(path);
  for (const std::string& path : missing)
    told.files.erase(path);
  parts(writer, told);
  writer("missing", missing);
  return write_json(writer.object);
}

} // namespace gpuvet
