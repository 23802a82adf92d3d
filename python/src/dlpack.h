// The DLPack structures as their specification lays them out (versions 0 and 1).
#pragma once

#include <cstdint>

namespace mlx::core::dlpack {

enum DeviceType : int32_t { cpu = 1, cuda = 2, cuda_host = 3, metal = 8, cuda_managed = 13 };
enum TypeCode : uint8_t {
  signed_int = 0,
  unsigned_int = 1,
  ieee_float = 2,
  brain_float = 4,
  complex_float = 5,
  boolean = 6
};
enum Flags : uint64_t { read_only = 1, is_copied = 2 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};

struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  uint64_t flags;
  Tensor tensor;
};

}  // namespace mlx::core::dlpack
