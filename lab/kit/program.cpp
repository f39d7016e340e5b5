// SPDX-License-Identifier: BSD-3-Clause
#include "kit/program.hpp"

#include <csignal>
#include <cstdio>
#include <exception>

#include "nuice/core/text_io.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::kit {
namespace {

void write(std::FILE* file, const std::string& text) {
  if (mpi::world_rank() != 0) return;
  std::fputs(text.c_str(), file);
  std::fflush(file);
}

[[noreturn]] void abort_all(int argc, char** argv, const App& app, const Error& error) {
  const auto reply = reply_to(argc, argv, app, [&] { throw Failure{error}; });
  std::fprintf(stderr, "%s: rank %d: %s\n", app.name().c_str(), mpi::world_rank(), error.what());
  print(reply->out);
  MPI_Abort(MPI_COMM_WORLD, failure);
  std::abort();  // MPI does not say that MPI_Abort never returns
}

}  // namespace

int run(int argc, char** argv, App& app, const std::function<int()>& body, int threads) {
  // At the end Open MPI 5.0 writes to the sockets of other hosts (mca_btl_tcp_endpoint_close), which may be closed by then.
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

void or_abort(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    throw OnlyHere{error};
  }
}

void print(const std::string& text) { write(stdout, text); }
void note(const std::string& text) { write(stderr, text); }

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text);
  return all.substr(0, all.find('\n'));
}

mpi::PlanOptions plan_options(const CommonOptions& options) {
  const std::string usual = options.scheduler == "auto" ? "auto" : "async";
  return {.scheduler = options.scheduler, .executor = options.executor.empty() ? usual : options.executor};
}

void write_pattern(const OutputOptions& options, const CommMatrix& pattern, const App& app) {
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    if (!options.pattern.empty()) save_matrix_market(options.pattern, pattern, app.name());
  });
}

}  // namespace nuice::kit
