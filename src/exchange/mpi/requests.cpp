// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/mpi/requests.hpp"

#include <algorithm>
#include <climits>
#include <string>

#include "exchange/mpi/call.hpp"
#include "nuice/error.hpp"

namespace nuice::mpi {

Datatype Datatype::contiguous(int count, MPI_Datatype of) {
  Datatype type(MPI_DATATYPE_NULL, true);
  must(MPI_Type_contiguous(count, of, &type.type_), "MPI_Type_contiguous");
  must(MPI_Type_commit(&type.type_), "MPI_Type_commit");
  return type;
}

Datatype Datatype::of_blocks(std::span<const Block> blocks, int max_count) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> addresses;
  for (const Block& block : blocks) {
    for (Bytes begin = 0; begin < block.bytes; begin += max_count) {
      lengths.push_back(static_cast<int>(std::min<Bytes>(max_count, block.bytes - begin)));
      must(MPI_Get_address(block.at + begin, &addresses.emplace_back()), "MPI_Get_address");
    }
  }
  if (lengths.size() > INT_MAX)
    throw Error(ErrorCode::limit,
                std::to_string(lengths.size()) + " pieces in one transfer are more than MPI can send");
  Datatype type(MPI_DATATYPE_NULL, true);
  must(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), addresses.data(), MPI_BYTE,
                                &type.type_),
       "MPI_Type_create_hindexed");
  must(MPI_Type_commit(&type.type_), "MPI_Type_commit");
  return type;
}

Datatype::~Datatype() {
  if (owned_ && type_ != MPI_DATATYPE_NULL && !is_finalized()) MPI_Type_free(&type_);
}

Extent Extent::of(Bytes bytes, int max_count) {
  if (bytes <= max_count) return {static_cast<int>(bytes), Datatype::predefined(MPI_BYTE)};
  const Bytes blocks = bytes / max_count;
  if (blocks > max_count)
    throw Error(ErrorCode::limit, std::to_string(bytes) + " bytes in one piece are more than MPI can send");
  const Datatype block = Datatype::contiguous(max_count, MPI_BYTE);
  const int lengths[2] = {static_cast<int>(blocks), static_cast<int>(bytes % max_count)};
  const MPI_Aint offsets[2] = {0, static_cast<MPI_Aint>(blocks * max_count)};
  const MPI_Datatype types[2] = {block.get(), MPI_BYTE};
  Datatype all(MPI_DATATYPE_NULL, true);
  must(MPI_Type_create_struct(2, lengths, offsets, types, &all.type_), "MPI_Type_create_struct");
  must(MPI_Type_commit(&all.type_), "MPI_Type_commit");
  return {1, std::move(all)};
}

Requests::~Requests() {
  if (is_finalized()) return;
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

void Requests::start(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const ShortSend& message = shorts_[i];
    if (message.to == no_rank) {
      must(MPI_Start(&requests_[i]), "MPI_Start");
    } else {
      must(MPI_Isend(message.at, message.bytes, MPI_BYTE, message.to, message.tag, message.comm,
                     &requests_[i]),
           "MPI_Isend");
    }
  }
}

void Requests::start_unordered(std::size_t begin, std::size_t end) {
  if (has_shorts_) {
    start(begin, end);
  } else if (begin < end) {
    must(MPI_Startall(static_cast<int>(end - begin), requests_.data() + begin), "MPI_Startall");
  }
}

bool Requests::test(std::size_t begin, std::size_t end) {
  int done = 1;
  if (begin < end)
    must(MPI_Testall(static_cast<int>(end - begin), requests_.data() + begin, &done, MPI_STATUSES_IGNORE),
         "MPI_Testall");
  return done != 0;
}

void Requests::wait(std::size_t begin, std::size_t end) {
  if (begin < end)
    must(MPI_Waitall(static_cast<int>(end - begin), requests_.data() + begin, MPI_STATUSES_IGNORE),
         "MPI_Waitall");
}

}  // namespace nuice::mpi
