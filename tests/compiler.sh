# g++ of the tests; REAL and KEPT stand above. A package's wrapper takes 4 s of a processor, however
# small its model: it is compiled without garbage collection, and the same one once in a session.
source='' target='' previous='' words=()
for word in "$@"; do
  if [ "$previous" = -o ]; then target=$word
  elif [[ $word = *.wrapper.cpp ]]; then source=$word
  else words+=("$word"); fi
  previous=$word
done
[[ $source && " $* " = *" -c "* ]] || exec "$REAL" "$@"
kept=$KEPT/$( (echo "${words[@]}" && cat "$source") | sha256sum | cut -c-32)
cp "$kept" "$target" 2>/dev/null && exit
"$REAL" --param ggc-min-heapsize=4000000 "$@" || exit
cp "$target" "$kept.$$" && mv "$kept.$$" "$kept"
