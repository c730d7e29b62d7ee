"""Files that outlive a run: output files, caches of computed values, and downloads."""
