// SPDX-License-Identifier: BSD-3-Clause
#include "core/by_size.hpp"

#include <algorithm>

namespace nuice::core {

std::vector<MessageId> ids_by_size(const CommMatrix& matrix) {
  struct Sized {  // sizes beside the ids: sorting ids alone would read sizes all over the memory
    Bytes bytes;
    MessageId id;
  };
  std::vector<Sized> messages(matrix.num_messages());
  for (MessageId id = 0; id < matrix.num_messages(); ++id) messages[id] = {matrix.bytes(id), id};
  std::ranges::sort(messages, [](const Sized& a, const Sized& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.id < b.id;
  });
  std::vector<MessageId> ids(messages.size());
  std::ranges::transform(messages, ids.begin(), [](const Sized& m) { return m.id; });
  return ids;
}

}  // namespace nuice::core
