// SPDX-License-Identifier: BSD-3-Clause
#include <deque>
#include <vector>

#include "nuice/am/loopback.hpp"
#include "nuice/am/transport.hpp"
#include "nuice/core/random.hpp"

namespace nuice::am {
namespace {

constexpr std::size_t max_waiting = 1000;

class ChaosTransport : public Transport {
 public:
  ChaosTransport(std::unique_ptr<Transport> inner, const ChaosOptions& options)
      : inner_(std::move(inner)),
        options_(options),
        random_(mix64(options.seed) + static_cast<std::uint64_t>(inner_->rank())),
        waiting_(static_cast<std::size_t>(inner_->num_ranks())) {}

  std::string name() const override { return inner_->name() + " with chaos"; }
  Rank rank() const override { return inner_->rank(); }
  Rank num_ranks() const override { return inner_->num_ranks(); }
  std::size_t max_message_bytes() const override { return inner_->max_message_bytes(); }

  bool try_send(Rank dst, Header header, std::span<const std::byte> a,
                std::span<const std::byte> b) override {
    auto& queue = waiting_[static_cast<std::size_t>(dst)];
    if (random_.unit() < options_.starve || queue.size() >= max_waiting) return false;
    if (queue.empty() && random_.unit() >= options_.delay) return inner_->try_send(dst, header, a, b);
    std::vector<std::byte> payload(a.begin(), a.end());
    payload.insert(payload.end(), b.begin(), b.end());
    queue.push_back({header, std::move(payload)});
    return true;
  }

  int poll(Inbox& inbox, int limit) override {
    for (Rank dst = 0; dst < num_ranks(); ++dst)
      if (random_.unit() < options_.release) release(dst);
    return inner_->poll(inbox, limit);
  }

  bool oversubscribed() const override { return inner_->oversubscribed(); }
  void yield() override { inner_->yield(); }
  bool allows_threads() const override { return inner_->allows_threads(); }
  std::size_t bulk_min_bytes() const override { return inner_->bulk_min_bytes(); }
  std::uint64_t start_bulk_send(Rank dst, std::span<const std::byte> data) override {
    return inner_->start_bulk_send(dst, data);
  }
  bool bulk_sent(std::uint64_t key) override { return inner_->bulk_sent(key); }
  void start_bulk_receive(Rank src, std::uint64_t key, std::span<std::byte> data,
                          std::uint64_t cookie) override {
    inner_->start_bulk_receive(src, key, data, cookie);
  }
  void start_reduce(ReduceOp op, std::span<const std::int64_t> values) override {
    inner_->start_reduce(op, values);
  }
  bool test_reduce(std::span<std::int64_t> result) override { return inner_->test_reduce(result); }
  TerminationDetector* termination_detector() override { return inner_->termination_detector(); }
  bool sleep(double seconds, const std::function<bool()>& is_ready) override {
    return inner_->sleep(seconds, is_ready);
  }
  std::vector<Rank> dead_ranks() override { return inner_->dead_ranks(); }
  bool is_orphan() const override { return inner_->is_orphan(); }

 private:
  struct Waiting {
    Header header;
    std::vector<std::byte> payload;
  };
  void release(Rank dst) {
    auto& queue = waiting_[static_cast<std::size_t>(dst)];
    while (!queue.empty() && inner_->try_send(dst, queue.front().header, queue.front().payload, {}))
      queue.pop_front();
  }

  std::unique_ptr<Transport> inner_;
  ChaosOptions options_;
  Random random_;
  std::vector<std::deque<Waiting>> waiting_;
};

}  // namespace

std::unique_ptr<Transport> with_chaos(std::unique_ptr<Transport> transport, const ChaosOptions& options) {
  return std::make_unique<ChaosTransport>(std::move(transport), options);
}

}  // namespace nuice::am
