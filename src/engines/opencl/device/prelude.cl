// The beginning of every program; programs.ts puts it in front of the sources. Contraction to FMA is off in every source.
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

// The vector type of n elements: VECTOR_OF(REAL, 2) is double2 if REAL is double.
#define JOINED(type, n) type##n
#define VECTOR_OF(type, n) JOINED(type, n)

// Other work-groups that see a write after the fence see the writes before it too.
#ifdef NVIDIA
#define FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
