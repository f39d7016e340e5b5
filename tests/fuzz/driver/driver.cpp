// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target without libFuzzer, under gcc's sanitizers.
//
//   TARGET [--seconds S] [--runs N] [--seed N] [--save FOLDER] CORPUS...
//
// CORPUS are files, or folders of files. They are run as they are, then as mutated, for S seconds of
// the processor (default 3) or N times. An input that ends the program is left as
// FOLDER/TARGET-failed (default: the current folder), one that takes longer than 20 s too. Where the
// target is compiled with -fsanitize-coverage=trace-pc (preset fuzz), inputs that reach new edges
// join the corpus. The last line counts the inputs.
#include <sys/time.h>
#include <unistd.h>
#include <csignal>
#include <cstring>
#include <ctime>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "driver/mutator.hpp"
#include "driver/target.hpp"

// ---- coverage: a bit for each pair of places that follow each other

namespace {

constexpr std::size_t num_edges = std::size_t{1} << 16;
std::array<std::uint8_t, num_edges> edges_now;
thread_local std::uintptr_t last_place = 0;

}  // namespace

extern "C" void __sanitizer_cov_trace_pc();
extern "C" __attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  std::uint8_t& count = edges_now[(place ^ last_place) % num_edges];
  if (count < 255) ++count;
  last_place = place >> 1;
}

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace nuice::fuzz {
namespace {

constexpr unsigned most_seconds_for_an_input = 20;
constexpr std::size_t most_bytes = 4096;

std::string current;      // the input that is running
std::string failed_path;  // where it goes if it ends the program
std::uint64_t runs = 0;   // inputs so far

/// Called from signal handlers too: nothing but system calls.
void save_current() {
  FILE* const file = std::fopen(failed_path.c_str(), "wb");
  if (file == nullptr) return;
  std::fwrite(current.data(), 1, current.size(), file);
  std::fclose(file);
  std::fprintf(stderr, "fuzz: input %llu is in %s\n", static_cast<unsigned long long>(runs + 1),
               failed_path.c_str());
}

void end_by_signal(int number) {
  std::fprintf(stderr, number == SIGALRM || number == SIGPROF ? "fuzz: an input takes too long\n"
                                                              : "fuzz: ended by a signal\n");
  save_current();
  _exit(1);
}

/// Keeps what reaches edges, or counts of them, that nothing has reached before.
class Coverage {
 public:
  /// After each run.
  bool is_new() {
    bool found = false;
    for (std::size_t i = 0; i < num_edges; ++i) {
      if (i % 8 == 0) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, edges_now.data() + i, sizeof eight);
        if (eight == 0) i += 7;
      }
      if (edges_now[i] == 0) continue;
      const auto bits = static_cast<std::uint8_t>(1U << std::min(7, count_class(edges_now[i])));
      found = found || (seen_[i] & bits) == 0;
      seen_[i] |= bits;
    }
    edges_now.fill(0);
    return found;
  }
  std::size_t num_seen() const { return num_edges - static_cast<std::size_t>(std::ranges::count(seen_, 0)); }

 private:
  static int count_class(std::uint8_t count) {
    int result = 0;
    while (count > 1) {
      count /= 2;
      ++result;
    }
    return result;
  }
  std::array<std::uint8_t, num_edges> seen_{};
};

struct Options {
  double seconds = 3;
  std::uint64_t runs = ~0ULL;
  std::uint64_t seed = 1;
  std::string save = ".";
  std::vector<std::string> corpus;
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> read_corpus(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path name : names) {
    if (std::filesystem::is_directory(name)) {
      std::ranges::copy(std::filesystem::directory_iterator(name), std::back_inserter(files));
    } else {
      files.push_back(name);
    }
  }
  std::ranges::sort(files);
  std::vector<std::string> inputs;
  for (const auto& file : files) inputs.push_back(contents(file));
  if (inputs.empty()) inputs.emplace_back();
  return inputs;
}

/// The processor's seconds that it took.
double run_one(std::string input) {
  current = std::move(input);
  const std::clock_t begin = std::clock();
  // Of the processor: the machine may have other work. Ten times that by the clock, for one that waits.
  const itimerval limit{{0, 0}, {most_seconds_for_an_input, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(10 * most_seconds_for_an_input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

int run(const Options& options) {
  const std::clock_t begin = std::clock();
  const auto seconds = [begin] { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; };
  std::vector<std::string> inputs = read_corpus(options.corpus);
  const std::size_t num_given = inputs.size();
  Coverage coverage;
  std::vector<double> took_s;
  for (const std::string& input : inputs) {
    took_s.push_back(run_one(input));
    coverage.is_new();
    ++runs;
  }
  Mutator mutator(options.seed);
  while (runs < options.runs && seconds() < options.seconds) {
    const double one_s = run_one(mutator.next(inputs, took_s, most_bytes));
    if (coverage.is_new()) {
      inputs.push_back(current);
      took_s.push_back(one_s);
    }
    ++runs;
  }
  alarm(0);
  const itimerval none{};
  setitimer(ITIMER_PROF, &none, nullptr);
  std::printf("%llu inputs in %.1f s, %zu given, %zu found, %zu edges\n",
              static_cast<unsigned long long>(runs), seconds(), num_given, inputs.size() - num_given,
              coverage.num_seen());
  return 0;
}

template <typename Number>
Number number_of(const char* word) {
  Number value{};
  const auto [end, error] = std::from_chars(word, word + std::strlen(word), value);
  if (error != std::errc() || *end != '\0') fail(std::string("not a number: ") + word);
  return value;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--seconds") options.seconds = number_of<double>(value);
    if (word == "--runs") options.runs = number_of<std::uint64_t>(value);
    if (word == "--seed") options.seed = number_of<std::uint64_t>(value);
    if (word == "--save") options.save = value;
    if (word.starts_with("--")) {
      ++i;
    } else {
      options.corpus.emplace_back(word);
    }
  }
  return options;
}

}  // namespace

void fail(std::string_view reason) {
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(reason.size()), reason.data());
  std::abort();
}

}  // namespace nuice::fuzz

int main(int argc, char** argv) {
  using namespace nuice::fuzz;
  const Options options = options_of(argc, argv);
  failed_path = options.save + "/" + std::filesystem::path(argv[0]).filename().string() + "-failed";
  if (&__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(save_current);
  for (const int number : {SIGALRM, SIGPROF, SIGABRT}) std::signal(number, end_by_signal);
  return run(options);
}
