// SPDX-License-Identifier: BSD-3-Clause
// The product with MPI alone: the program itself finds its ghosts, asks their owners, packs, and posts the
// messages in the order of ranks. Two ways to carry them: Irecv and Isend, and MPI_Neighbor_alltoallv.
#include <mpi.h>

#include <algorithm>
#include <numeric>

#include "cg/product.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::cg {
namespace {

/// What with_nuice.cpp leaves to nuice::mpi::Halo.
struct PlainHalo {
  std::vector<int> owners, ghost_counts, ghost_begins;  // whom this rank receives from
  std::vector<int> needers, sent_counts, sent_begins;   // whom it sends to
  std::vector<std::int64_t> ghosts;                     // new numbers, ascending, so by owner
  std::vector<int> sent;                                // owned rows, by needer

  explicit PlainHalo(const LocalRows& rows) {
    const auto rank = static_cast<std::size_t>(mpi::world_rank());
    const auto size = static_cast<std::size_t>(mpi::world_size());
    const std::int64_t first = rows.row_begins[rank];
    for (const std::int64_t column : rows.columns)
      if (column < first || column >= rows.row_begins[rank + 1]) ghosts.push_back(column);
    std::ranges::sort(ghosts);
    const auto repeats = std::ranges::unique(ghosts);
    ghosts.erase(repeats.begin(), repeats.end());

    // Count by owner; tell the owners how many, then which.
    std::vector<int> to_ask(size, 0), asked(size, 0);
    for (const std::int64_t g : ghosts)
      ++to_ask[static_cast<std::size_t>(std::ranges::upper_bound(rows.row_begins, g) -
                                        rows.row_begins.begin()) -
               1];
    MPI_Alltoall(to_ask.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> ask_begins(size, 0), asked_begins(size, 0);
    std::exclusive_scan(to_ask.begin(), to_ask.end(), ask_begins.begin(), 0);
    std::exclusive_scan(asked.begin(), asked.end(), asked_begins.begin(), 0);
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(asked_begins.back() + asked.back()));
    MPI_Alltoallv(ghosts.data(), to_ask.data(), ask_begins.data(), MPI_INT64_T, wanted.data(), asked.data(),
                  asked_begins.data(), MPI_INT64_T, MPI_COMM_WORLD);
    for (const std::int64_t g : wanted) sent.push_back(static_cast<int>(g - first));
    keep_partners(to_ask, ask_begins, owners, ghost_counts, ghost_begins);
    keep_partners(asked, asked_begins, needers, sent_counts, sent_begins);
  }

  LocalMatrix localize(const LocalRows& rows, std::size_t num_rhs) const {
    const auto rank = static_cast<std::size_t>(mpi::world_rank());
    const std::int64_t first = rows.row_begins[rank];
    LocalMatrix matrix{rows.begin, {}, rows.values, rows.num_interior, num_rhs};
    for (const std::int64_t column : rows.columns) {
      const bool owned = column >= first && column < rows.row_begins[rank + 1];
      const std::int64_t ghost = std::ranges::lower_bound(ghosts, column) - ghosts.begin();
      const auto num_owned = static_cast<std::int64_t>(rows.num_rows());
      matrix.columns.push_back(static_cast<std::int32_t>(owned ? column - first : num_owned + ghost));
    }
    return matrix;
  }

 private:
  static void keep_partners(const std::vector<int>& counts, const std::vector<int>& begins,
                            std::vector<int>& ranks, std::vector<int>& kept_counts,
                            std::vector<int>& kept_begins) {
    for (std::size_t r = 0; r < counts.size(); ++r)
      if (counts[r] > 0) {
        ranks.push_back(static_cast<int>(r));
        kept_counts.push_back(counts[r]);
        kept_begins.push_back(begins[r]);
      }
  }
};

/// What both ways share: data, packing, and rows.
class PlainProduct : public Product {
 public:
  PlainProduct(const LocalRows& rows, int num_rhs)
      : halo_(rows),
        num_rhs_(static_cast<std::size_t>(num_rhs)),
        matrix_(halo_.localize(rows, num_rhs_)),
        num_owned_(rows.num_rows() * num_rhs_),
        x_(num_owned_ + halo_.ghosts.size() * num_rhs_),
        packed_(halo_.sent.size() * num_rhs_) {
    for (auto* numbers : {&halo_.ghost_counts, &halo_.ghost_begins, &halo_.sent_counts, &halo_.sent_begins})
      for (int& number : *numbers) number *= num_rhs;
  }
  std::span<double> x() override { return std::span(x_).first(num_owned_); }

 protected:
  void pack() {
    double* to = packed_.data();
    if (num_rhs_ == 1) {
      for (const int row : halo_.sent) *to++ = x_[static_cast<std::size_t>(row)];
      return;
    }
    for (const int row : halo_.sent)
      to = std::copy_n(x_.data() + static_cast<std::size_t>(row) * num_rhs_, num_rhs_, to);
  }
  double* ghost_values() { return x_.data() + num_owned_; }

  PlainHalo halo_;  // counts and begins in values
  std::size_t num_rhs_;
  LocalMatrix matrix_;
  std::size_t num_owned_;
  std::vector<double> x_;  // owned, then ghosts
  std::vector<double> packed_;
};

class IsendProduct : public PlainProduct {
 public:
  IsendProduct(const LocalRows& rows, int num_rhs)
      : PlainProduct(rows, num_rhs),
        requests_(halo_.owners.size() + halo_.needers.size(), MPI_REQUEST_NULL) {}

  void multiply(std::span<double> y) override {
    start();
    matrix_.multiply_interior(x_, y);
    wait();
    matrix_.multiply_boundary(x_, y);
  }
  void exchange() override {
    start();
    wait();
  }

 private:
  void start() {
    std::size_t next = 0;
    for (std::size_t p = 0; p < halo_.owners.size(); ++p)
      MPI_Irecv(ghost_values() + halo_.ghost_begins[p], halo_.ghost_counts[p], MPI_DOUBLE, halo_.owners[p], 0,
                MPI_COMM_WORLD, &requests_[next++]);
    pack();
    for (std::size_t p = 0; p < halo_.needers.size(); ++p)
      MPI_Isend(packed_.data() + halo_.sent_begins[p], halo_.sent_counts[p], MPI_DOUBLE, halo_.needers[p], 0,
                MPI_COMM_WORLD, &requests_[next++]);
  }
  void wait() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

  std::vector<MPI_Request> requests_;
};

class NeighborProduct : public PlainProduct {
 public:
  NeighborProduct(const LocalRows& rows, int num_rhs) : PlainProduct(rows, num_rhs) {
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(halo_.owners.size()), halo_.owners.data(),
                                   MPI_UNWEIGHTED, static_cast<int>(halo_.needers.size()),
                                   halo_.needers.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_);
  }
  NeighborProduct(const NeighborProduct&) = delete;
  NeighborProduct& operator=(const NeighborProduct&) = delete;
  ~NeighborProduct() override { MPI_Comm_free(&graph_); }

  void multiply(std::span<double> y) override {
    exchange();
    matrix_.multiply_interior(x_, y);
    matrix_.multiply_boundary(x_, y);
  }
  void exchange() override {
    pack();
    MPI_Neighbor_alltoallv(packed_.data(), halo_.sent_counts.data(), halo_.sent_begins.data(), MPI_DOUBLE,
                           ghost_values(), halo_.ghost_counts.data(), halo_.ghost_begins.data(), MPI_DOUBLE,
                           graph_);
  }

 private:
  MPI_Comm graph_ = MPI_COMM_NULL;
};

}  // namespace

std::unique_ptr<Product> make_with_isend(const LocalRows& rows, int num_rhs) {
  return std::make_unique<IsendProduct>(rows, num_rhs);
}
std::unique_ptr<Product> make_with_neighbor(const LocalRows& rows, int num_rhs) {
  return std::make_unique<NeighborProduct>(rows, num_rhs);
}

}  // namespace nuice::cg
