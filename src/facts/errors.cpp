#include "facts/readers.hpp"

namespace gpuvet {

void read_errors(FactFile& file, std::vector<ErrorCode>& errors) {
  for (const PackedRow& packed : file.rows("error")) {
    FactRow row(file, packed);
    ErrorCode error;
    error.code = static_cast<int>(row.count("code"));
    error.names = row.list("names");
    error.text = row.text("text");
    error.cause = row.text_if("cause");
    error.fix = row.text_if("fix");
    error.source = row.source();
    row.end();
    errors.push_back(std::move(error));
  }
}

} // namespace gpuvet
