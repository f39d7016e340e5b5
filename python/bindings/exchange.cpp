// SPDX-License-Identifier: BSD-3-Clause
// The serial executor on buffers of bytes.
#include "nuice/plan/serial_exchange.hpp"

#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nuice::python {
namespace {

using InBytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutBytes = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Buffer, class Array>
std::vector<std::vector<Buffer>> to_buffers(const std::vector<std::vector<Array>>& arrays) {
  std::vector<std::vector<Buffer>> buffers(arrays.size());
  for (std::size_t rank = 0; rank < arrays.size(); ++rank) {
    for (const Array& array : arrays[rank]) {
      buffers[rank].push_back({array.data(), static_cast<Bytes>(array.size())});
    }
  }
  return buffers;
}

void exchange(const std::vector<PhaseTable>& tables, const std::vector<std::vector<InBytes>>& send,
              const std::vector<std::vector<OutBytes>>& receive) {
  const auto send_buffers = to_buffers<SendBuffer>(send);
  const auto receive_buffers = to_buffers<ReceiveBuffer>(receive);
  const nb::gil_scoped_release release;
  exchange_serially(tables, send_buffers, receive_buffers);
}

}  // namespace

void register_exchange(nb::module_& module) {
  module.def("exchange_serially", &exchange, nb::arg("tables"), nb::arg("send"), nb::arg("receive"),
             "Carries out the phases one after the other. send[r][i] (uint8) is the message of rank r to\n"
             "tables[r].destinations[i]. The message from tables[r].sources[i] is written to receive[r][i].");
}

}  // namespace nuice::python
