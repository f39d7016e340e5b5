// SPDX-License-Identifier: BSD-3-Clause
// The complete exchange with MPI only: MPI_Alltoallv, or Irecv and Isend in which each rank begins with its
// successor.
#include <mpi.h>

#include "fft2d/exchange.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::fft2d {
namespace {

class AlltoallvExchange : public CompleteExchange {
 public:
  explicit AlltoallvExchange(Sides& sides)
      : rows_(sides.row_side), columns_(sides.column_side), row_side_(rows_), column_side_(columns_) {}
  void forward() override { run(rows_, row_side_, columns_, column_side_); }
  void backward() override { run(columns_, column_side_, rows_, row_side_); }

 private:
  /// Counts and displacements of the blocks for MPI; the rank's own block is empty.
  struct Layout {
    explicit Layout(const Blocks& blocks) {
      for (Rank rank = 0; rank < mpi::world_size(); ++rank) {
        counts.push_back(rank == mpi::world_rank() ? 0 : static_cast<int>(blocks.count(rank)));
        begins.push_back(static_cast<int>(blocks.begin[static_cast<std::size_t>(rank)]));
      }
    }
    std::vector<int> counts;
    std::vector<int> begins;
  };

  static void run(const Blocks& from, const Layout& sent, Blocks& to, const Layout& received) {
    MPI_Alltoallv(from.memory.data(), sent.counts.data(), sent.begins.data(), MPI_CXX_DOUBLE_COMPLEX,
                  to.memory.data(), received.counts.data(), received.begins.data(), MPI_CXX_DOUBLE_COMPLEX,
                  MPI_COMM_WORLD);
  }

  Blocks& rows_;
  Blocks& columns_;
  Layout row_side_;
  Layout column_side_;
};

class IsendExchange : public CompleteExchange {
 public:
  explicit IsendExchange(Sides& sides)
      : rows_(sides.row_side),
        columns_(sides.column_side),
        requests_(2 * static_cast<std::size_t>(mpi::world_size()), MPI_REQUEST_NULL) {}
  void forward() override { run(rows_, columns_); }
  void backward() override { run(columns_, rows_); }

 private:
  void run(Blocks& from, Blocks& to) {
    std::size_t next = 0;
    const Rank size = mpi::world_size();
    for (Rank shift = 1; shift < size; ++shift) {
      const Rank src = (mpi::world_rank() + size - shift) % size;
      const auto block = to.block(src);
      MPI_Irecv(block.data(), static_cast<int>(block.size()), MPI_CXX_DOUBLE_COMPLEX, src, 0, MPI_COMM_WORLD,
                &requests_[next++]);
    }
    for (Rank shift = 1; shift < size; ++shift) {
      const Rank dst = (mpi::world_rank() + shift) % size;
      const auto block = from.block(dst);
      MPI_Isend(block.data(), static_cast<int>(block.size()), MPI_CXX_DOUBLE_COMPLEX, dst, 0, MPI_COMM_WORLD,
                &requests_[next++]);
    }
    MPI_Waitall(static_cast<int>(next), requests_.data(), MPI_STATUSES_IGNORE);
  }

  Blocks& rows_;
  Blocks& columns_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<CompleteExchange> make_with_alltoallv(Sides& sides) {
  return std::make_unique<AlltoallvExchange>(sides);
}
std::unique_ptr<CompleteExchange> make_with_isend(Sides& sides) {
  return std::make_unique<IsendExchange>(sides);
}

}  // namespace nuice::fft2d
