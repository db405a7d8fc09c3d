#include "probe/source/remembered.hpp"

#include <mutex>
#include <unordered_map>

namespace gpuvet {
namespace {

template <class T> using Question = std::function<Result<T>(const std::string& path)>;

template <class T> struct Answers {
  std::mutex mutex;
  std::unordered_map<std::string, Result<T>> by_path;
};

// Two threads that ask for the same path at the same time may both go and look; the first to come
// back is remembered.
template <class T> Question<T> once(Question<T> ask) {
  return [ask = std::move(ask),
          answers = std::make_shared<Answers<T>>()](const std::string& path) -> Result<T> {
    {
      std::lock_guard lock(answers->mutex);
      auto at = answers->by_path.find(path);
      if (at != answers->by_path.end()) return at->second;
    }
    Result<T> answer = ask(path);
    std::lock_guard lock(answers->mutex);
    return answers->by_path.try_emplace(path, std::move(answer)).first->second;
  };
}

} // namespace

Source remembered(Source source) {
  source.entry = once(std::move(source.entry));
  source.real_path = once(std::move(source.real_path));
  source.elf = once(std::move(source.elf));
  return source;
}

} // namespace gpuvet
