// SPDX-License-Identifier: BSD-3-Clause
// Grows a cluster: the sequential program, and the client of the schemes (002 figs 6, 12, 20, 25). Both use
// Lattice::expand, and end with the same spins.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "irregular/scheme.hpp"
#include "irregular/simulated.hpp"
#include "wolff/lattice.hpp"

namespace nuice::wolff {

struct Bonds {
  std::uint64_t seed = 0;
  std::uint64_t threshold = 0;
};

/// A stack of words to expand. Every site is pushed at most once per cluster. Four more words may be written
/// and ignored.
class Stack {
 public:
  explicit Stack(std::int64_t sites)
      : memory_(std::make_unique_for_overwrite<Word[]>(
            static_cast<std::size_t>(sites + std::int64_t{4} * batch))),
        top(memory_.get()) {}
  const Word* begin() const { return memory_.get(); }
  std::size_t size() const { return static_cast<std::size_t>(top - memory_.get()); }
  bool empty() const { return top == memory_.get(); }
  void clear() { top = memory_.get(); }

 private:
  std::unique_ptr<Word[]> memory_;

 public:
  Word* top;
};

/// The best sequential program. It has no scheme and no ranks, and expands the newest sites first. The whole
/// lattice must belong to one rank. Cost: about 7 ns per site, of which the random numbers take 2 ns
/// (papers/docs/irregular.md).
class Sequential {
 public:
  Sequential(Lattice& lattice, Bonds bonds) : lattice_(lattice), bonds_(bonds), stack_(lattice.num_sites()) {}

  /// Flips cluster number `cluster`. Returns how many sites it has.
  std::int64_t flip(std::uint64_t cluster) {
    const Word first =
        lattice_.word_of(first_site(cluster, bonds_.seed, static_cast<std::uint64_t>(lattice_.num_sites())));
    const Spin s = lattice_.spin(first);
    stack_.top = lattice_.try_site(first, s, stack_.top);
    std::int64_t flipped = 0;
    const auto nobody = [](std::size_t, Word) {};
    while (!stack_.empty()) {
      const int n = static_cast<int>(std::min<std::size_t>(batch, stack_.size()));
      stack_.top -= n;
      std::copy_n(stack_.top, n, words_);
      make_numbers(words_, n, cluster, bonds_.seed, numbers_);
      stack_.top = lattice_.expand(words_, n, s, numbers_, bonds_.threshold, stack_.top, nobody);
      irregular::simulated_work(static_cast<std::size_t>(n));
      flipped += n;
    }
    return flipped;
  }

 private:
  Lattice& lattice_;
  Bonds bonds_;
  Stack stack_;
  Word words_[batch] = {};
  Numbers numbers_;
};

/// Grows a cluster on one of many ranks. grain 0: a cycle is one step of the wavefront, as in 002. Otherwise
/// the newest sites come first, and a cycle ends after `grain` sites (the order does not matter, see
/// random.hpp). late: whether items come one level late.
class Grower {
 public:
  using Item = Word;  // bit 31 holds the spin of the cluster
  static constexpr bool ordered = false;

  Grower(Lattice& lattice, Bonds bonds, std::int64_t grain, bool late = false)
      : lattice_(lattice),
        bonds_(bonds),
        grain_(static_cast<std::size_t>(grain)),
        late_(late),
        now_(lattice.num_sites()),
        next_(lattice.num_sites()) {}

  void begin(std::uint64_t cluster) {
    cluster_ = cluster;
    flipped_ = 0;
    const auto sites = static_cast<std::uint64_t>(lattice_.size() * lattice_.size());
    const Word first = lattice_.word_of(first_site(cluster, bonds_.seed, sites));
    if (first == 0) return;
    spin_ = lattice_.spin(first);
    now_.top = lattice_.try_site(first, spin_, now_.top);
  }

  std::int64_t flipped() const { return flipped_; }  ///< The number of sites that this rank flipped.

  template <class Scheme>
  void expand(Scheme& scheme) {
    if (late_) remember(scheme);
    if (grain_ == 0) {
      expand_wavefront(scheme);
    } else {
      expand_newest(scheme);
    }
  }

  void absorb(std::span<const Item> items, irregular::Level) {
    if (!items.empty()) spin_ = (items[0] & spin_bit) != 0 ? 2 : 1;
    Stack& found = grain_ == 0 ? next_ : now_;
    const Word* const before = found.top;
    found.top = lattice_.try_sites(items, spin_bit, spin_, found.top);
    irregular::simulated_items(items.size());
    if (late_ && grain_ == 0) expand_late(before);
  }

  void next_level() {
    if (grain_ == 0) std::swap(now_, next_);
  }

  irregular::Vote vote() const { return {now_.empty() && next_.empty(), false}; }

 private:
  static constexpr Word spin_bit = Word{1} << 31;
  static constexpr std::size_t batches_to_poll = 8;

  template <class Scheme>
  Word* expand_batch(Scheme& scheme, const Word* from, int n, Word* top) {
    std::copy_n(from, n, words_);
    make_numbers(words_, n, cluster_, bonds_.seed, numbers_);
    flipped_ += n;
    const Word spin = spin_ == 2 ? spin_bit : 0;
    auto emit =
        irregular::work_first<Word>([&](std::size_t slot, Word word) { scheme.emit(slot, word | spin); });
    top = lattice_.expand(words_, n, spin_, numbers_, bonds_.threshold, top, emit);
    emit.release(static_cast<std::size_t>(n));
    return top;
  }

  // Expands late sites of the wavefront that was just expanded (002 fig. 24). If they waited for the next
  // cycle, crossing a border would cost two cycles.
  void expand_late(const Word* first) {
    late_sites_.assign(first, static_cast<const Word*>(next_.top));
    next_.top -= late_sites_.size();
    for (std::size_t at = 0; at < late_sites_.size(); at += batch)
      expand_late_batch_(*this, late_sites_.data() + at,
                         static_cast<int>(std::min<std::size_t>(batch, late_sites_.size() - at)));
  }
  template <class Scheme>
  void remember(Scheme& scheme) {
    scheme_ = &scheme;
    expand_late_batch_ = [](Grower& self, const Word* from, int n) {
      self.next_.top = self.expand_batch(*static_cast<Scheme*>(self.scheme_), from, n, self.next_.top);
    };
  }

  template <class Scheme>
  void expand_wavefront(Scheme& scheme) {
    std::size_t batches = 0;
    for (std::size_t at = 0; at < now_.size(); at += batch) {
      const int n = static_cast<int>(std::min<std::size_t>(batch, now_.size() - at));
      next_.top = expand_batch(scheme, now_.begin() + at, n, next_.top);
      if (++batches % batches_to_poll == 0) scheme.poll();
    }
    now_.clear();
  }

  template <class Scheme>
  void expand_newest(Scheme& scheme) {
    std::size_t batches = 0;
    for (std::size_t done = 0; !now_.empty() && done < grain_;) {
      const int n = static_cast<int>(std::min<std::size_t>(batch, now_.size()));
      now_.top -= n;
      now_.top = expand_batch(scheme, now_.top, n, now_.top);
      done += static_cast<std::size_t>(n);
      if (++batches % batches_to_poll == 0) scheme.poll();
    }
  }

  Lattice& lattice_;
  Bonds bonds_;
  std::size_t grain_;
  bool late_;
  Stack now_;
  Stack next_;
  std::uint64_t cluster_ = 0;
  Spin spin_ = 1;
  std::int64_t flipped_ = 0;
  std::vector<Word> late_sites_;
  void* scheme_ = nullptr;
  void (*expand_late_batch_)(Grower&, const Word*, int) = nullptr;
  Word words_[batch] = {};
  Numbers numbers_;
};

}  // namespace nuice::wolff
