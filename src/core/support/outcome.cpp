// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/outcome.hpp"

#include <exception>
#include <new>

#include "core/text/names.hpp"

namespace nuice {

Error current_error(Rank rank) {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::limit, rank_name(rank) + " is out of memory"};
  } catch (const std::length_error&) {
    return {ErrorCode::limit, rank_name(rank) + " cannot hold arrays of this length"};
  } catch (const std::exception& error) {
    return {ErrorCode::invalid_argument, rank_name(rank) + ": " + error.what()};
  } catch (...) {
    return {ErrorCode::invalid_argument, rank_name(rank) + ": an exception that is not a std::exception"};
  }
}

}  // namespace nuice
