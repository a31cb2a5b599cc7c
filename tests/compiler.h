// Templates that take half of a wrapper's compile (std::regex reads one device string): wrappers only
// declare them, and share what compiler.sh compiles with HERE set.
#include <regex>
#include <torch/csrc/inductor/aoti_runtime/model.h>
#ifndef HERE
#define HERE extern
namespace std::__detail {
using Letter = std::string::const_iterator;
extern template class _Executor<Letter, allocator<sub_match<Letter>>, regex_traits<char>, true>;
extern template class _Executor<Letter, allocator<sub_match<Letter>>, regex_traits<char>, false>;
}
#else
__attribute__((used)) static bool use(const std::string& text, std::smatch& found, const std::regex& it) {
  return std::regex_match(text, found, it);
}
#endif
namespace std {
HERE template class basic_regex<char>;
HERE template class regex_traits<char>;
HERE template class __detail::_Compiler<regex_traits<char>>;
HERE template class __detail::_Scanner<char>;
HERE template class __detail::_NFA<regex_traits<char>>;
}
namespace torch::aot_inductor {
HERE template class AOTInductorModelBase<AOTInductorModel>;
}
