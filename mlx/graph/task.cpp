// Task: the scalars it carries, and what its failures say.
#include <new>

#include "mlx/backend.h"
#include "mlx/error.h"

namespace mlx::core {

void Task::bind_scalars() {
  for (Operand& o : inputs) {
    if (o.is_scalar) {
      o.data = o.scalar;
    }
  }
}

std::exception_ptr describe_failure(const Task& task) {
  std::string where = format(" (while evaluating {} of", task.primitive->name());
  for (const Operand& o : task.inputs) {
    where += format(" {}{}", o.dtype, o.shape);
  }
  where += ")";
  try {
    throw;
  } catch (const MemoryError& e) {
    return std::make_exception_ptr(MemoryError(e.what() + where));
  } catch (const ValueError& e) {
    return std::make_exception_ptr(ValueError(e.what() + where));
  } catch (const IndexError& e) {
    return std::make_exception_ptr(IndexError(e.what() + where));
  } catch (const OverflowError& e) {
    return std::make_exception_ptr(OverflowError(e.what() + where));
  } catch (const std::bad_alloc&) {
    return std::make_exception_ptr(MemoryError("[eval] the system has no memory left" + where));
  } catch (const std::exception& e) {
    return std::make_exception_ptr(RuntimeError(e.what() + where));
  } catch (...) {
    return std::make_exception_ptr(RuntimeError("[eval] unknown failure" + where));
  }
}

}  // namespace mlx::core
