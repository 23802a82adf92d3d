// The exception classes of mlx.core and the mapping from C++ exceptions; Ctrl-C during evaluation.
#include "python/src/errors.h"

#ifdef __linux__
#include <sys/syscall.h>
#endif
#ifdef __APPLE__
#include <pthread.h>
#endif
#include <unistd.h>

#include <cstring>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>

#include "mlx/error.h"
#include "mlx/graph/scheduler.h"
#include "python/src/define.h"

namespace mlx::core {

namespace {

PyObject* axis_error = nullptr;

// The error that a signal handler raised while this thread was evaluating.
thread_local PyObject* interruption = nullptr;

// Only the main thread runs handlers. The others must not want the GIL here: os.fork() holds it
// while it waits for their evaluations to end.
bool on_main_thread() {
#ifdef __linux__
  return syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
  return pthread_main_np() != 0;
#else
  return true;
#endif
}

// Asked by the evaluator, on a thread that gave the GIL away.
bool check_signals() {
  if (!on_main_thread()) {
    return false;
  }
  nb::gil_scoped_acquire gil;
  if (!gil.is_valid() || PyErr_CheckSignals() == 0) {
    return false;
  }
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) {
    PyException_SetTraceback(value, traceback);
  }
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  Py_XDECREF(std::exchange(interruption, value));
  return true;
}

void set_interruption() {
  if (PyObject* value = std::exchange(interruption, nullptr)) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(value)), value);
    Py_DECREF(value);
  } else {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

// Messages may quote bytes of broken files: what is no text is replaced.
void set_error(PyObject* type, const char* what) {
  PyObject* text = PyUnicode_DecodeUTF8(what, Py_ssize_t(std::strlen(what)), "replace");
  if (text) {
    PyErr_SetObject(type, text);
    Py_DECREF(text);
  }
}

// True if the exception is one of the library's own.
bool translate(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const Interrupted&) {
    set_interruption();
  } catch (const AxisError& x) {
    set_error(axis_error, x.what());
  } catch (const ValueError& x) {
    set_error(PyExc_ValueError, x.what());
  } catch (const TypeError& x) {
    set_error(PyExc_TypeError, x.what());
  } catch (const IndexError& x) {
    set_error(PyExc_IndexError, x.what());
  } catch (const OverflowError& x) {
    set_error(PyExc_OverflowError, x.what());
  } catch (const MemoryError& x) {
    set_error(PyExc_MemoryError, x.what());
  } catch (const Error& x) {
    set_error(PyExc_RuntimeError, x.what());
  } catch (const nb::builtin_exception&) {
    return false;
  } catch (const std::bad_cast&) {
    set_error(PyExc_TypeError, "a value of another type was expected");
  } catch (const std::bad_alloc&) {
    set_error(PyExc_MemoryError, "out of memory");
  } catch (const std::length_error&) {
    set_error(PyExc_MemoryError, "something larger than memory was asked for");
  } catch (...) {
    return false;
  }
  return true;
}

// "[inner] text" told as of the function that was called. What converts arguments has no name that
// a caller would know.
std::string renamed(std::string_view text, std::string_view name) {
  if (text.find(name) != text.npos) {
    return std::string(text);
  }
  std::string_view inner;
  size_t end = text.find("] ");
  if (text.starts_with('[') && end != text.npos) {
    inner = text.substr(1, end - 1);
    text.remove_prefix(end + 2);
  }
  bool says_nothing = inner.empty() || inner == "array" || inner == "shape" || inner == "device";
  return says_nothing ? format("[{}] {}", name, text) : format("[{}] {}: {}", name, inner, text);
}

}  // namespace

void rethrow_naming(const char* name) {
  try {
    throw;
  } catch (const AxisError& e) {
    throw AxisError(renamed(e.what(), name));
  } catch (const ValueError& e) {
    throw ValueError(renamed(e.what(), name));
  } catch (const TypeError& e) {
    throw TypeError(renamed(e.what(), name));
  } catch (const IndexError& e) {
    throw IndexError(renamed(e.what(), name));
  } catch (const OverflowError& e) {
    throw OverflowError(renamed(e.what(), name));
  } catch (const MemoryError& e) {
    throw MemoryError(renamed(e.what(), name));
  } catch (const RuntimeError& e) {
    throw RuntimeError(renamed(e.what(), name));
  } catch (const std::bad_alloc&) {
    throw MemoryError(format("[{}] out of memory", name));
  } catch (const std::length_error&) {
    throw MemoryError(format("[{}] something larger than memory was asked for", name));
  }
}

const char* interned(const char* name) {
  static std::set<std::string> names;  // filled while the module is imported
  return names.insert(name).first->c_str();
}

void set_python_error() noexcept {
  std::exception_ptr e = std::current_exception();
  if (translate(e)) {
    return;
  }
  try {
    std::rethrow_exception(e);
  } catch (nb::python_error& x) {
    x.restore();
  } catch (const nb::builtin_exception& x) {
    PyErr_SetString(x.type() == nb::exception_type::value_error    ? PyExc_ValueError
                    : x.type() == nb::exception_type::type_error   ? PyExc_TypeError
                    : x.type() == nb::exception_type::index_error  ? PyExc_IndexError
                    : x.type() == nb::exception_type::buffer_error ? PyExc_BufferError
                                                                   : PyExc_RuntimeError,
                    x.what());
  } catch (const std::exception& x) {
    PyErr_SetString(PyExc_RuntimeError, x.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
  }
}

void bind_errors(nb::module_& m) {
  nb::object bases = nb::make_tuple(nb::handle(PyExc_ValueError), nb::handle(PyExc_IndexError));
  axis_error = PyErr_NewExceptionWithDoc(
      "mlx.core.AxisError",
      "An axis lies outside of the array's dimensions; both a ValueError and an IndexError.",
      bases.ptr(), nullptr);
  if (!axis_error) {
    throw nb::python_error();
  }
  m.attr("AxisError") = nb::handle(axis_error);  // the module never goes: neither does the class
  nb::register_exception_translator([](const std::exception_ptr& e, void*) {
    if (!translate(e)) {
      std::rethrow_exception(e);
    }
  });
  set_interrupt_check(check_signals);
}

}  // namespace mlx::core
