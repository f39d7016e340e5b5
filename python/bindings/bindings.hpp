// SPDX-License-Identifier: BSD-3-Clause
// What the files of the extension module nuice._core share: the list of their entry points and small
// conversions. The module adds nothing to the C++ library; conveniences for Python users are written in
// Python (python/nuice).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/interrupt.hpp"

namespace nuice::python {

namespace nb = nanobind;

void register_error(nb::module_& module);
void register_matrix(nb::module_& module);
void register_schedule(nb::module_& module);
void register_phase_table(nb::module_& module);
void register_check(nb::module_& module);
void register_networks(nb::module_& module);
void register_schedulers(nb::module_& module);
void register_patterns(nb::module_& module);
void register_files(nb::module_& module);
void register_exchange(nb::module_& module);
void register_machine(nb::module_& module);
void register_packets(nb::module_& module);
void register_broadcast(nb::module_& module);
void register_advise(nb::module_& module);

/// Releases the interpreter lock, and lets a signal (Ctrl-C) end what runs meanwhile: the exception of its
/// handler comes out of the call. Not for calls that change an object in place.
class Interruptible {
 public:
  Interruptible() : check_([this] { look_for_signals(); }) {}

 private:
  void look_for_signals() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const std::int64_t tick = now.tv_sec * 20 + now.tv_nsec / 50'000'000;
    if (std::exchange(last_look_, tick) == tick) return;
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

  nb::gil_scoped_release release_;
  std::int64_t last_look_ = 0;  // in twentieths of a second
  InterruptCheck check_;
};

/// For the whole call: for functions that touch no Python object and change none.
using without_gil = nb::call_guard<Interruptible>;

using IntArray = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
using IntTable = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>;

/// A NumPy array that owns the values.
template <class Array>
Array to_numpy(std::vector<std::int64_t> values, std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<std::int64_t>>(std::move(values));
  std::int64_t* data = owned->data();
  const nb::capsule owner(owned.release(),
                          [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
  return Array(data, shape, owner);
}

inline IntArray to_numpy(std::vector<std::int64_t> values) {
  const std::size_t count = values.size();
  return to_numpy<IntArray>(std::move(values), {count});
}

/// Messages as people write them, and as NumPy keeps them.
using Triple = std::tuple<Rank, Rank, Bytes>;
using InputArray = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
std::vector<Message> to_messages(const std::vector<Triple>& triples);
/// Throws Error invalid_argument for arrays of different lengths or a rank that does not fit in 32 bits.
std::vector<Message> to_messages(const InputArray& src, const InputArray& dst, const InputArray& bytes);

/// Flags from names such as "one_port", and back. Throws Error invalid_argument for an unknown name.
unsigned guarantee_flags(const std::vector<std::string>& names);
std::vector<std::string> guarantee_list(unsigned flags);

/// Throws IndexError unless 0 <= rank < num_ranks (the C++ library trusts its callers here).
inline void require_rank(Rank rank, Rank num_ranks) {
  if (rank < 0 || rank >= num_ranks) {
    throw nb::index_error(
        ("rank " + std::to_string(rank) + " is outside 0.." + std::to_string(num_ranks - 1)).c_str());
  }
}

}  // namespace nuice::python
