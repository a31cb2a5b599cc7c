"""Many targets on many workers: plan, run, record, group the failures, compare with before."""
