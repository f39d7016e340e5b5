// SPDX-License-Identifier: BSD-3-Clause
// What a driver of another age may be: one that lacks nearly all that is looked for.
int hipGetDevice(int* device);
int hipGetDevice(int* device) {
  *device = 0;
  return 0;
}
