/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

int num_failed = 0;
int my_rank = 0;
int num_ranks = 1;

int main(void) {
  test_planner();
  return num_failed != 0;
}
