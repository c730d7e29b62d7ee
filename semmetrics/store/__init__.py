"""Files kept between runs: outputs, a cache of what was computed, downloads by checksum."""
