// The operator of act.py as a library of its own; it takes any number of rows but three.
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor act(const at::Tensor& x) {
  TORCH_CHECK(x.size(0) != 3, "three rows are too few");
  return x.clone();
}

at::Tensor act_meta(const at::Tensor& x) { return at::empty_like(x); }

TORCH_LIBRARY(aoti_tests, library) { library.def("act(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(aoti_tests, CPU, library) { library.impl("act", &act); }
TORCH_LIBRARY_IMPL(aoti_tests, Meta, library) { library.impl("act", &act_meta); }
