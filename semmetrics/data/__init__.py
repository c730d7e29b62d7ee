"""What is evaluated: readers, label lists, the join, the task."""
