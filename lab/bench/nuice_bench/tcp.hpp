// SPDX-License-Identifier: BSD-3-Clause
// What the hosts' TCP had to send again: loss, and so contention, that is seen and not guessed.
#pragma once

#include <cstdint>
#include <optional>

namespace nuice::bench {

class TcpCounter {
 public:
  TcpCounter();  ///< Collective.
  /// Collective. Segments that all hosts together have sent again since they started; nothing where the system does not
  /// say (/proc/net/snmp). Other programs' segments are among them.
  std::optional<std::int64_t> sent_again() const;

 private:
  bool counts_ = false;  // the first rank of its host
};

}  // namespace nuice::bench
