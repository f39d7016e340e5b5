// SPDX-License-Identifier: BSD-3-Clause
// nuice::Error becomes the Python exception nuice.Error, with the code's name in its attribute `code`.
#include "nuice/core/error.hpp"

#include <nanobind/stl/string_view.h>

#include <exception>

#include "bindings.hpp"

namespace nuice::python {

void register_error(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      // Looked up at every error: the class is written in Python, and this module must not keep it alive.
      const nb::object type = nb::module_::import_("nuice.errors").attr("Error");
      // Names of files need not be UTF-8.
      const std::string_view text = error.what();
      const nb::object message = nb::steal(
          PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
      const nb::object instance = type(message, error_code_name(error.code()));
      PyErr_SetObject(type.ptr(), instance.ptr());
    }
  });
}

}  // namespace nuice::python
