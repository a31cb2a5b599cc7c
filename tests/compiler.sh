# g++ of the tests; REAL, KEPT and HEADER stand above. Of what torch writes to be compiled, linked or
# preprocessed, the same is made once in a session. A package's wrapper takes 4 s of a processor,
# however small its model: it is compiled without garbage collection and most of std::regex
# (compiler.h). Comments hold paths.
target='' previous='' words=() inputs=()
for word in "$@"; do
  if [ "$previous" = -o ]; then target=$word
  elif [[ $word = *.@(cpp|hpp|o|S|so) ]]; then inputs+=("$word")
  elif [ "$word" != -o ]; then words+=("$word"); fi
  previous=$word
done
[[ ${inputs[0]##*/} =~ ^(c[a-z2-7]{51}(\.wrapper|\.kernel)?\.(cpp|o)|header\.hpp)$ ]] || exec "$REAL" "$@"
kept=$KEPT/$( (echo "${words[@]}" && grep -ahv "^// " "${inputs[@]}") | sha256sum | cut -c-32)
cp "$kept" "$target" 2>/dev/null && exit
much=(--param ggc-min-heapsize=4000000)
quickly() {
  [ -e "$KEPT/regex.o" ] || {
    "$REAL" "${much[@]}" "${words[@]}" -DHERE= -x c++ "$HEADER" -o "$KEPT/regex.$$" &&
      mv "$KEPT/regex.$$" "$KEPT/regex.o"
  } && "$REAL" "${much[@]}" "$@" -include "$HEADER" && ld -r -o "$kept.$$" "$target" "$KEPT/regex.o"
}
wrapper=false
[[ $inputs = *.wrapper.cpp && " $* " = *" -c "* ]] && wrapper=true
$wrapper && quickly "$@" 2>/dev/null || { "$REAL" "${much[@]}" "$@" && cp "$target" "$kept.$$"; } || exit
mv "$kept.$$" "$kept" && { ! $wrapper || cp "$kept" "$target"; }
