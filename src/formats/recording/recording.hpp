// A recorded machine as a JSON document, schema gpuvet-recording/1 (docs/snapshot.md), written by
// `gpuvet snapshot` or by hand. What it does not name is not known, or not there; a key that nobody
// reads is an error, so that a misspelt one cannot pass.
//
// A document may name another one as its base and tell only what differs. Documents are laid over
// each other before they are read; finding the base is the caller's business.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "formats/json_read.hpp"
#include "model/recording.hpp"

#include <string>
#include <string_view>

namespace gpuvet {

// Errors name `where` and the place in the document ("files./etc/x.mode").
Result<Json> parse_recording_document(std::string_view text, const std::string& where);
Result<Recording> read_recording(const Json& document, const std::string& where);

// Both in one go, for a document without a base.
Result<Recording> parse_recording(std::string_view text, const std::string& where);

// As written in the document; empty: none.
std::string base_of(const Json& document);

// `top` wins: per path in "files" and per key elsewhere. null removes what the base says. An answer
// as a whole ("nvml", "cuda", "log") replaces the base's, except as {"change": {...}}: then it is a
// merge patch (RFC 7386) in which lists are changed by position: {"gpus": {"3": {...}, "*": {...}}}
Json overlay_recording(Json base, const Json& top);

std::string write_recording(const Recording& recording);

// Text of a file as stored: plain, or compressed with zstd.
Result<std::string> recording_text(Bytes stored, const std::string& where);
std::string compressed_recording(std::string_view text);

} // namespace gpuvet
