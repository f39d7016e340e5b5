// SPDX-License-Identifier: BSD-3-Clause
// CommMatrix. Immutable in Python; arrays are copies.
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/error.hpp"

namespace nuice::python {
namespace {

Rank to_rank(std::int64_t value) {
  if (value != static_cast<Rank>(value)) {
    throw Error(ErrorCode::invalid_argument, "rank " + std::to_string(value) + " does not fit in 32 bits");
  }
  return static_cast<Rank>(value);
}

}  // namespace

std::vector<Message> to_messages(const std::vector<Triple>& triples) {
  std::vector<Message> messages;
  messages.reserve(triples.size());
  for (const auto& [src, dst, bytes] : triples) messages.push_back({src, dst, bytes});
  return messages;
}

std::vector<Message> to_messages(const InputArray& src, const InputArray& dst, const InputArray& bytes) {
  if (src.size() != dst.size() || src.size() != bytes.size()) {
    throw Error(ErrorCode::invalid_argument, "src, dst and bytes have " + std::to_string(src.size()) + ", " +
                                                 std::to_string(dst.size()) + " and " +
                                                 std::to_string(bytes.size()) + " entries");
  }
  std::vector<Message> messages;
  messages.reserve(src.size());
  for (std::size_t i = 0; i < src.size(); ++i) {
    messages.push_back({to_rank(src.data()[i]), to_rank(dst.data()[i]), bytes.data()[i]});
  }
  return messages;
}

namespace {

CommMatrix from_triples(Rank num_ranks, const std::vector<Triple>& triples) {
  return CommMatrix::from_messages(num_ranks, to_messages(triples));
}

CommMatrix from_arrays(Rank num_ranks, const InputArray& src, const InputArray& dst,
                       const InputArray& bytes) {
  const std::vector<Message> entries = to_messages(src, dst, bytes);
  const Interruptible interruptible;
  return CommMatrix::from_messages(num_ranks, entries);
}

/// One value per message, by id.
template <class Value>
IntArray per_message(const CommMatrix& matrix, Value value) {
  std::vector<std::int64_t> values(matrix.num_messages());
  for (MessageId id = 0; id < matrix.num_messages(); ++id) values[id] = value(id);
  return to_numpy(std::move(values));
}

IntArray self_bytes(const CommMatrix& matrix) {
  std::vector<std::int64_t> values;
  for (Rank rank = 0; rank < matrix.num_ranks(); ++rank) values.push_back(matrix.self_bytes(rank));
  return to_numpy(std::move(values));
}

std::tuple<IntArray, IntArray, IntArray> entries(const CommMatrix& matrix) {
  std::vector<std::int64_t> src, dst, bytes;
  for (const Message& entry : matrix.entries()) {
    src.push_back(entry.src);
    dst.push_back(entry.dst);
    bytes.push_back(entry.bytes);
  }
  return {to_numpy(std::move(src)), to_numpy(std::move(dst)), to_numpy(std::move(bytes))};
}

Triple message(const CommMatrix& matrix, MessageId id) {
  if (id >= matrix.num_messages()) throw nb::index_error("no message has that id");
  const Message m = matrix.message(id);
  return {m.src, m.dst, m.bytes};
}

std::vector<MessageId> sent_by(const CommMatrix& matrix, Rank rank) {
  require_rank(rank, matrix.num_ranks());
  const auto ids = matrix.sent_by(rank);
  return {ids.begin(), ids.end()};
}

std::vector<MessageId> received_by(const CommMatrix& matrix, Rank rank) {
  require_rank(rank, matrix.num_ranks());
  const auto ids = matrix.received_by(rank);
  return {ids.begin(), ids.end()};
}

std::optional<MessageId> find(const CommMatrix& matrix, Rank src, Rank dst) {
  require_rank(src, matrix.num_ranks());
  require_rank(dst, matrix.num_ranks());
  return matrix.find(src, dst);
}

std::string repr(const CommMatrix& matrix) {
  return "<CommMatrix: " + std::to_string(matrix.num_ranks()) + " ranks, " +
         std::to_string(matrix.num_messages()) + " messages>";
}

}  // namespace

void register_matrix(nb::module_& module) {
  nb::class_<CommMatrix>(
      module, "CommMatrix",
      "The number of bytes from each rank to each other rank: COM(src, dst) = bytes. A CommMatrix is\n"
      "immutable. The id of a message is its position in the order (src, dst). Entries of zero bytes are\n"
      "dropped. Entries from a rank to itself are not messages; self_bytes has their bytes.")
      .def_static(
          "from_messages", &from_triples, nb::arg("num_ranks"), nb::arg("messages"),
          "Builds the matrix from entries (src, dst, bytes), in any order. Raises nuice.Error for a rank\n"
          "outside 0..num_ranks-1, a negative size, a pair of ranks given twice, or sums above MAX_BYTES; "
          "the\n"
          "text names the pair.")
      .def_static("from_arrays", &from_arrays, nb::arg("num_ranks"), nb::arg("src").noconvert(),
                  nb::arg("dst").noconvert(), nb::arg("bytes").noconvert(),
                  "Builds the matrix like from_messages(), but from three int64 arrays of equal length.")
      .def_prop_ro("num_ranks", &CommMatrix::num_ranks)
      .def_prop_ro("num_messages", &CommMatrix::num_messages,
                   "The number of messages between different ranks.")
      .def_prop_ro(
          "src", [](const CommMatrix& m) { return per_message(m, [&](MessageId id) { return m.src(id); }); },
          nb::rv_policy::automatic, "Sender by message id.")
      .def_prop_ro(
          "dst", [](const CommMatrix& m) { return per_message(m, [&](MessageId id) { return m.dst(id); }); },
          nb::rv_policy::automatic, "Receiver by message id.")
      .def_prop_ro(
          "bytes",
          [](const CommMatrix& m) { return per_message(m, [&](MessageId id) { return m.bytes(id); }); },
          nb::rv_policy::automatic, "Size by message id.")
      .def_prop_ro("self_bytes", &self_bytes, nb::rv_policy::automatic,
                   "For each rank, the bytes that it sends to itself.")
      .def("entries", &entries,
           "Returns all entries as arrays (src, dst, bytes), including messages of ranks to themselves.")
      .def("message", &message, nb::arg("id"), "Returns (src, dst, bytes) of a message.")
      .def("sent_by", &sent_by, nb::arg("rank"),
           "Returns the ids of the messages that the rank sends, by ascending receiver.")
      .def("received_by", &received_by, nb::arg("rank"),
           "Returns the ids of the messages that the rank receives, by ascending sender.")
      .def("find", &find, nb::arg("src"), nb::arg("dst"),
           "Returns the id of the message from src to dst, or None.")
      .def_prop_ro("fingerprint", &CommMatrix::fingerprint, "A 64-bit hash, the same on every platform.")
      .def(nb::self == nb::self)
      .def("__hash__", [](const CommMatrix& m) { return static_cast<std::int64_t>(m.fingerprint() >> 2); })
      .def("__repr__", &repr);
}

}  // namespace nuice::python
