// std::regex reads one device string in a package's wrapper, and is 40% of its compile: the wrappers
// of a session only declare it, and share what compiler.sh compiles of this file with HERE set.
#include <regex>
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
