#!/usr/bin/env bash
# The one free run: the failing command once more, unchanged, with all that costs nothing and loses no line.
# Usage: run0.sh [-o DIR] [--] COMMAND [ARGUMENT ...]
# Writes DIR (default run0-DATE): out.log, err.log, cuda.log, status; a GPU core dump on a GPU fault.
# No recompile of an existing package. Exit status: 0 the command ended well, 1 it failed, 2 wrong use.
set -u
usage() { sed -n '2,5s/^# //p' "$0"; }
dir=run0-$(date +%Y%m%d-%H%M%S)
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -o) [ $# -ge 2 ] || { usage >&2; exit 2; }; dir=$2; shift 2 ;;
    --) shift; break ;;
    -*) usage >&2; exit 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || { usage >&2; exit 2; }
mkdir -p "$dir" || exit 2
dir=$(cd "$dir" && pwd)

unset CUDA_LAUNCH_BLOCKING  # it hides races
export PYTHONUNBUFFERED=1 PYTHONFAULTHANDLER=1 AOTI_RUNTIME_CHECK_INPUTS=1
export CUDA_LOG_FILE=$dir/cuda.log
export CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_COREDUMP_SHOW_PROGRESS=1
export CUDA_COREDUMP_FILE=$dir/core.%p.nvcudmp
skip=skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory
export CUDA_COREDUMP_GENERATION_FLAGS=$skip,skip_constbank_memory

stdbuf=$(command -v stdbuf) && set -- "$stdbuf" -oL "$@"  # C programs, too
"$@" >"$dir/out.log" 2>"$dir/err.log"
status=$?
echo "$status" >"$dir/status"

name=
[ "$status" -gt 128 ] && name=" (signal $(kill -l $((status - 128)) 2>/dev/null))"
echo "exit status $status$name; logs in $dir"
first=$(grep -nE -m1 \
  'input_handles\[|Assertion `|CUDA error|CUDA Exception|^Error: |Fatal Python error|terminate called|[A-Za-z]Error: |Guard failed' \
  "$dir/err.log")
if [ -n "$first" ]; then
  echo "first message: err.log:$first" | cut -c1-600
  grep -E -m3 '^  File ' "$dir/err.log" | cut -c1-300
elif [ "$status" -ne 0 ]; then
  echo "last lines of err.log:"
  tail -n 5 "$dir/err.log"
fi
for core in "$dir"/core.*.nvcudmp; do
  [ -e "$core" ] && echo "GPU core dump: $core"
done
[ "$status" -eq 0 ]
