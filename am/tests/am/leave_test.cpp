// SPDX-License-Identifier: BSD-3-Clause
// Transport shm asks the system for permission to copy between processes only if that is necessary, only for
// the ranks of the job, and withdraws it. The system calls are counted here, and refused as Yama does.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <vector>

#include "am/transport/direct_copy.hpp"
#include "nuice/am/endpoint.hpp"
#include "nuice/mpi/am.hpp"

namespace {
std::vector<long> leaves;  // the destinations, in order
bool refuses = false;
}  // namespace

// The linker finds these functions before those of the C library.
extern "C" {
int prctl(int operation, ...) {
  va_list arguments;
  va_start(arguments, operation);
  unsigned long words[4];
  for (unsigned long& word : words) word = va_arg(arguments, unsigned long);
  va_end(arguments);
  if (operation == PR_SET_PTRACER) leaves.push_back(static_cast<long>(words[0]));
  return static_cast<int>(syscall(SYS_prctl, operation, words[0], words[1], words[2], words[3]));
}

ssize_t process_vm_readv(pid_t process, const iovec* mine, unsigned long num_mine, const iovec* theirs,
                         unsigned long num_theirs, unsigned long flags) {
  if (refuses && (leaves.empty() || leaves.back() == 0)) {
    errno = EPERM;
    return -1;
  }
  return syscall(SYS_process_vm_readv, process, mine, num_mine, theirs, num_theirs, flags);
}
}

namespace nuice::test {
namespace {

class Leave : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Barrier(MPI_COMM_WORLD);
    leaves.clear();
    refuses = false;
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks_);
  }
  void TearDown() override { refuses = false; }
  int num_ranks_ = 0;
};

TEST_F(Leave, IsNotAskedForWhereItIsNotNeeded) {
  {
    const auto transport = am::mpi::connect(MPI_COMM_WORLD, {.transport = "shm"});
  }
  EXPECT_TRUE(leaves.empty());
}

TEST_F(Leave, IsNotAskedForWithoutCopies) {
  refuses = true;
  {
    const auto transport = am::mpi::connect(MPI_COMM_WORLD, {.transport = "shm", .copy_blocks = false});
  }
  EXPECT_TRUE(leaves.empty());
}

TEST_F(Leave, IsForWhatStartedTheRanksAndEndsWithTheLastEndpoint) {
  refuses = true;
  {
    const auto first = am::mpi::connect(MPI_COMM_WORLD, {.transport = "shm"});
    if (num_ranks_ == 1) {
      EXPECT_TRUE(leaves.empty());
      return;
    }
    ASSERT_EQ(leaves.size(), 1U);
    EXPECT_EQ(leaves[0], getppid());
    {
      const auto second = am::mpi::connect(MPI_COMM_WORLD, {.transport = "shm"});
    }
    EXPECT_EQ(leaves.size(), 1U);  // it could copy already
  }
  ASSERT_EQ(leaves.size(), 2U);
  EXPECT_EQ(leaves[1], 0);
}

TEST(Ancestors, BeginWithTheParent) {
  const std::vector<int> all = am::ancestors();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0], getppid());
}

}  // namespace
}  // namespace nuice::test
