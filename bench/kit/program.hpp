// SPDX-License-Identifier: BSD-3-Clause
// Runs a program on all ranks of MPI_COMM_WORLD:
//
//   int main(int argc, char** argv) {
//     kit::App app{"What it does.", "nuice-program"};
//     kit::add(app, "--reps", reps, "repetitions");
//     return kit::run(argc, argv, app, [&] { return work(reps); });
//   }
#pragma once

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "kit/command_line.hpp"
#include "nuice/core/text_io.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::kit {

/// An Error that occurred on this rank only.
struct OnlyHere {
  Error error;
};

inline void write(std::FILE* file, const std::string& text) {
  if (mpi::world_rank() != 0) return;
  std::fputs(text.c_str(), file);
  std::fflush(file);
}

/// Write a text to stdout or stderr at once, on rank 0 only.
inline void print(const std::string& text) { write(stdout, text); }
inline void note(const std::string& text) { write(stderr, text); }

[[noreturn]] inline void abort_all(int argc, char** argv, const App& app, const Error& error) {
  const auto reply = reply_to(argc, argv, app, [&] { throw Failure{error}; });
  std::fprintf(stderr, "%s: rank %d: %s\n", app.name().c_str(), mpi::world_rank(), error.what());
  print(reply->out);
  MPI_Abort(MPI_COMM_WORLD, failure);
  std::abort();  // the compiler does not know that MPI_Abort never returns
}

/// Starts MPI, parses the command line, runs body() and ends MPI. Returns the exit code for main(), the same
/// on all ranks: the result of body(), 0 for --help, or reply_to()'s code. An Error or Failure must be the
/// same on all ranks. Any other exception, such as OnlyHere for an error of one rank, ends all ranks with
/// code 1, because the others may wait for this rank. The code on rank 0 is also 1 if stdout could not be
/// written. SIGPIPE is ignored.
inline int run(int argc, char** argv, App& app, const std::function<int()>& body,
               int threads = MPI_THREAD_SINGLE) {
  // At its end, Open MPI 5.0 writes to the sockets of other hosts (mca_btl_tcp_endpoint_close), which may
  // already be closed.
  std::signal(SIGPIPE, SIG_IGN);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, threads, &provided);
  int exit_code = success;
  try {
    const auto reply = reply_to(argc, argv, app, [&] {
      app.parse(argc, argv);
      exit_code = body();
    });
    if (reply) {
      print(reply->out);
      note(reply->err);
      exit_code = reply->exit_code;
    }
  } catch (const OnlyHere& here) {
    abort_all(argc, argv, app, here.error);
  } catch (...) {
    abort_all(argc, argv, app, current_error(mpi::world_rank()));
  }
  if (mpi::world_rank() == 0 && std::ferror(stdout) != 0) {
    std::fprintf(stderr, "%s: what it printed could not be written\n", app.name().c_str());
    exit_code = failure;
  }
  MPI_Finalize();
  return exit_code;
}

/// Runs the step. If the step throws, ends all ranks, because its errors may differ between ranks.
inline void or_abort(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    throw OnlyHere{error};
  }
}

/// Returns the first line of MPI_Get_library_version().
inline std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text);
  return all.substr(0, all.find('\n'));
}

struct HostRanks {
  int count = 0;
  int own = 0;  ///< This rank's number among them.
};

/// Collective. Returns the ranks of MPI_COMM_WORLD on this host.
inline HostRanks ranks_of_host() {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  HostRanks ranks;
  MPI_Comm_size(host, &ranks.count);
  MPI_Comm_rank(host, &ranks.own);
  MPI_Comm_free(&host);
  return ranks;
}

inline mpi::PlanOptions plan_options(const CommonOptions& options) {
  const std::string usual = options.scheduler == "auto" ? "auto" : "async";
  return {.scheduler = options.scheduler, .executor = options.executor.empty() ? usual : options.executor};
}

/// Collective. Writes the pattern on rank 0 if the options name a file. Throws Error io on all ranks.
inline void write_pattern(const OutputOptions& options, const CommMatrix& pattern, const App& app) {
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    if (!options.pattern.empty()) save_matrix_market(options.pattern, pattern, app.name());
  });
}

}  // namespace nuice::kit
