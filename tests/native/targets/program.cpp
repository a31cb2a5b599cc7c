// Load a package and call it once: program PACKAGE ROWS COLUMNS
// PACKAGE may be `-`: then it is the value of SERVED. With HANG set it waits for ever at the end.
#include <ATen/ops/ones.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: program PACKAGE ROWS COLUMNS" << std::endl;
    return 2;
  }
  const std::string given = argv[1];
  torch::inductor::AOTIModelPackageLoader model(given == "-" ? std::getenv("SERVED") : given);
  std::cout << "loaded" << std::endl;
  auto outputs = model.run({at::ones({std::stol(argv[2]), std::stol(argv[3])})});
  std::cout << "output " << outputs.at(0).sizes() << std::endl;
  while (std::getenv("HANG") != nullptr) {
    pause();
  }
  return 0;
}
