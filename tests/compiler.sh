# g++ of the tests; REAL, KEPT and HEADER stand above. Of what torch writes to be compiled, linked or
# preprocessed, the same is made once in a session; comments hold paths. A package's wrapper takes 4 s
# of a processor, however small its model, most of it for the interface that all have: that is
# compiled once, with the templates that compiler.h names, and without garbage collection.
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
  sed '/^} \/\/ extern "C"/q' "${inputs[0]}" >"$kept.common.cpp"
  common=$KEPT/$( (echo "${words[@]}" && cat "$kept.common.cpp") | sha256sum | cut -c-32).o
  [ -e "$common" ] || {
    "$REAL" "${much[@]}" "${words[@]}" -g0 -DHERE= -include "$HEADER" "$kept.common.cpp" -o "$common.$$" &&
      mv "$common.$$" "$common"
  } && {
    echo "# 1 \"${inputs[0]}\""
    awk '/^\/\/ Definition of AOTI runtime interface/ { all = 1 }
      { print all && !/^#include/ ? "" : $0 }
      /^} \/\/ extern "C"/ { all = 0 }' "${inputs[0]}"
  } >"$kept.wrapper.cpp" &&
    "$REAL" "${much[@]}" "${words[@]}" -include "$HEADER" "$kept.wrapper.cpp" -o "$target" &&
    ld -r -o "$kept.$$" "$target" "$common"
}
wrapper=false
[[ $inputs = *.wrapper.cpp && " $* " = *" -c "* ]] && wrapper=true
$wrapper && quickly 2>/dev/null || { "$REAL" "${much[@]}" "$@" && cp "$target" "$kept.$$"; } || exit
mv "$kept.$$" "$kept" && { ! $wrapper || cp "$kept" "$target"; }
