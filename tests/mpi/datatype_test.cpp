// SPDX-License-Identifier: BSD-3-Clause
// Fields of every kind of datatype, with every executor: they arrive as the serial executor carries their
// packed bytes, and nothing between them is touched.
#include <chrono>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using Counts = std::vector<std::int64_t>;

constexpr Bytes small_size = 24;    // of an element: three doubles
constexpr Bytes large_size = 1600;  // more than a chunk of each case below

/// A type that is freed with this. elements: how many lie in memory, for those that mix them.
class Type {
 public:
  enum Form { plain, strided, before, padded, columns, shuffled, backwards, large_plain, large, num_forms };

  Type(Form form, int elements) {
    const MPI_Aint behind[3] = {-16, 0, 8};
    const MPI_Aint crossed[3] = {16, 0, 8};
    const int lengths[3] = {2, 1, 8};
    const MPI_Aint places[3] = {8, 16, 24};
    const MPI_Datatype members[3] = {MPI_FLOAT, MPI_DOUBLE, MPI_CHAR};
    switch (form) {
      case strided:
        MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &type_);
        break;
      case before:
        MPI_Type_create_hindexed_block(3, 1, behind, MPI_DOUBLE, &type_);
        break;
      case padded:
        MPI_Type_create_struct(3, lengths, places, members, &type_);
        resize(-4, 44);
        break;
      case columns:  // of a matrix of three rows: an element begins inside the one before
        MPI_Type_vector(3, 1, elements, MPI_DOUBLE, &type_);
        resize(0, sizeof(double));
        break;
      case shuffled:
        MPI_Type_create_hindexed_block(3, 1, crossed, MPI_DOUBLE, &type_);
        break;
      case backwards:
        MPI_Type_contiguous(3, MPI_DOUBLE, &type_);
        resize(0, -small_size);
        break;
      case large_plain:
        MPI_Type_contiguous(large_size, MPI_BYTE, &type_);
        break;
      case large:
        MPI_Type_vector(large_size / 8, 1, 3, MPI_DOUBLE, &type_);
        resize(-8, 3 * large_size + 16);
        break;
      default:
        MPI_Type_contiguous(3, MPI_DOUBLE, &type_);
    }
    MPI_Type_commit(&type_);
  }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  ~Type() { MPI_Type_free(&type_); }
  MPI_Datatype get() const { return type_; }

 private:
  void resize(MPI_Aint lower, MPI_Aint extent) {
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(type_, lower, extent, &whole);
    MPI_Type_free(&type_);
    type_ = whole;
  }
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

std::int64_t small_count(Rank src, Rank dst) { return (3 * src + 5 * dst) % 7; }
std::int64_t large_count(Rank src, Rank dst) { return (src + dst) % 3; }
Bytes bytes_of(Rank src, Rank dst) {
  return small_count(src, dst) * small_size + large_count(src, dst) * large_size;
}

/// One field of one side in memory, the last partner's elements first, around it what must stay as it is.
struct Field {
  Counts counts;
  Counts offsets;
  Type type;
  std::vector<std::byte> memory;
  std::byte* base = nullptr;

  Field(Type::Form form, Counts of) : counts(std::move(of)), offsets(counts.size()), type(form, total()) {
    std::int64_t at = 0;
    for (std::size_t i = counts.size(); i-- > 0; at += counts[i]) offsets[i] = at;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Aint true_lower = 0;
    MPI_Aint true_extent = 0;
    MPI_Type_get_extent(type.get(), &lower, &extent);
    MPI_Type_get_true_extent(type.get(), &true_lower, &true_extent);
    const MPI_Aint last = extent * std::max(0, total() - 1);
    const MPI_Aint begin = std::min<MPI_Aint>(0, last) + true_lower - 8;
    const MPI_Aint end = std::max<MPI_Aint>(0, last) + true_lower + true_extent + 8;
    memory.assign(static_cast<std::size_t>(end - begin), test::poison);
    base = memory.data() - begin;
  }
  int total() const {
    std::int64_t sum = 0;
    for (const std::int64_t count : counts) sum += count;
    return static_cast<int>(sum);
  }
  /// The elements of all partners from what each one's blocks hold from there on;
  /// says where it has come to in each.
  void fill(const test::Blocks& blocks, std::vector<int>& at) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type.get(), &lower, &extent);
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0)
        MPI_Unpack(blocks[i].data(), static_cast<int>(blocks[i].size()), &at[i], base + offsets[i] * extent,
                   static_cast<int>(counts[i]), type.get(), MPI_COMM_SELF);
  }
};

/// Both fields of one side.
struct Side {
  Field few;
  Field many;
  Side(std::span<const Partner> partners, bool is_send, bool backwards, Type::Form first, Type::Form second)
      : few(first, counts(partners, is_send != backwards, small_count)),
        many(second, counts(partners, is_send != backwards, large_count)) {}
  void fill(const test::Blocks& blocks) {
    std::vector<int> at(blocks.size(), 0);
    few.fill(blocks, at);
    many.fill(blocks, at);
  }

 private:
  static Counts counts(std::span<const Partner> partners, bool as_planned,
                       std::int64_t (*count)(Rank, Rank)) {
    const Rank rank = test::world_rank();
    Counts all;
    for (const Partner& p : partners) all.push_back(as_planned ? count(rank, p.rank) : count(p.rank, rank));
    return all;
  }
};

/// As two fields of these forms on each side, the types freed before the exchange begins.
void expect_as_serially(mpi::Plan& plan, const test::World& world, bool backwards,
                        std::array<Type::Form, 4> forms) {
  const auto to = backwards ? plan.sources() : plan.destinations();
  const auto from = backwards ? plan.destinations() : plan.sources();
  const auto rank = static_cast<std::size_t>(test::world_rank());
  auto out = std::make_unique<Side>(to, true, backwards, forms[0], forms[1]);
  out->fill(world.send[rank]);
  Side expected(from, false, backwards, forms[2], forms[3]);
  expected.fill(world.receive[rank]);
  std::optional<mpi::Exchange> exchange;
  auto in = std::make_unique<Side>(from, false, backwards, forms[2], forms[3]);
  const std::vector<mpi::SendField> send = {
      {out->few.base, out->few.type.get(), out->few.counts, out->few.offsets},
      {out->many.base, out->many.type.get(), out->many.counts, out->many.offsets}};
  const std::vector<mpi::ReceiveField> receive = {
      {in->few.base, in->few.type.get(), in->few.counts, in->few.offsets},
      {in->many.base, in->many.type.get(), in->many.counts, in->many.offsets}};
  exchange = backwards ? plan.bind(send, receive, mpi::Direction::backwards) : plan.bind(send, receive);
  const auto few = std::move(in->few.memory);
  const auto many = std::move(in->many.memory);
  const auto kept_few = std::move(out->few.memory);
  const auto kept_many = std::move(out->many.memory);
  in.reset();
  out.reset();  // and the types with them
  exchange->start();
  std::size_t landed = 0;
  while (exchange->next()) ++landed;
  EXPECT_EQ(landed, from.size());
  EXPECT_EQ(few, expected.few.memory);
  EXPECT_EQ(many, expected.many.memory);
}

CommMatrix whole_matrix() {
  std::vector<Message> messages;
  for (Rank src = 0; src < test::world_size(); ++src)
    for (Rank dst = 0; dst < test::world_size(); ++dst)
      if (bytes_of(src, dst) > 0) messages.push_back({src, dst, bytes_of(src, dst)});
  return CommMatrix::from_messages(test::world_size(), messages);
}

TEST(Datatypes, ArriveAsTheSerialExecutorCarriesTheirBytes) {
  const CommMatrix matrix = whole_matrix();
  auto tables = slice_all(matrix, make_schedule(matrix, "coloring"));
  test::World forwards(tables);
  forwards.exchange(tables);
  for (PhaseTable& table : tables) table = reversed(table);
  test::World reverse(tables);
  reverse.exchange(tables);

  const std::vector<mpi::PlanOptions> all = {
      {.scheduler = "coloring", .executor = "async"},
      {.scheduler = "coloring", .executor = "async", .async = {.max_sends = 1}},
      {.scheduler = "rs_nh", .executor = "phased"},
      {.scheduler = "birkhoff", .executor = "phased"},
      {.scheduler = "rex", .executor = "phased"},
      {.scheduler = "bruck", .executor = "pairwise"},
      {.scheduler = "ac", .executor = "phased", .hosts = "2", .combine = true},
      {.scheduler = "coloring",
       .executor = "depend",
       .hosts = "2",
       .combine = true,
       .combining = {.largest_bytes = 100'000}},
      {.scheduler = "ac", .executor = "async", .shared_memory = true},
      {.scheduler = "coloring",
       .executor = "depend",
       .hosts = "2",
       .shared_memory = true,
       .sharing = {.largest_bytes = 100'000}},
      {.scheduler = "coloring", .executor = "depend", .hosts = "1"},
      {.scheduler = "birkhoff", .executor = "async", .watchdog_s = 60, .async = {.max_sends = 2}}};
  int num_runs = 0;
  for (const mpi::PlanOptions& options : all) {
    mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()), options);
    for (int form = 0; form < Type::large_plain; ++form) {
      SCOPED_TRACE(options.scheduler + ":" + std::string(options.executor) + ", form " +
                   std::to_string(form));
      const auto other = static_cast<Type::Form>((form * 3 + 2) % Type::large_plain);
      const auto first = form % 2 == 0 ? Type::large : Type::large_plain;
      const auto second = form % 3 == 0 ? Type::large_plain : Type::large;
      const std::array forms = {static_cast<Type::Form>(form), first, other, second};
      const bool backwards = ++num_runs % 2 == 0;  // an odd number of forms: each goes both ways
      expect_as_serially(plan, backwards ? reverse : forwards, backwards, forms);
    }
  }
}

/// One field, so that its own type is what MPI copies with.
TEST(Datatypes, MayBeFreedBeforeAMessageToItself) {
  const std::vector<Partner> itself = {{test::world_rank(), 4}};
  for (const std::string executor : {"phased", "async"}) {
    mpi::Plan plan(MPI_COMM_WORLD, itself, {.scheduler = "coloring", .executor = executor});
    const std::vector<double> out = {1, 0, 2, 0, 3, 4, 0, 5, 0, 6};
    std::vector<double> in(10, 0);
    const Counts two = {2};
    std::optional<mpi::Exchange> exchange;
    {
      const Type strided(Type::strided, 2);
      const mpi::SendField send{out.data(), strided.get(), two};
      const mpi::ReceiveField receive{in.data(), strided.get(), two};
      exchange = plan.bind(std::span(&send, 1), std::span(&receive, 1));
    }
    exchange->start();
    exchange->wait();
    EXPECT_EQ(in, out);
  }
}

}  // namespace
}  // namespace nuice
