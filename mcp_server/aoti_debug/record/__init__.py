"""What the first run showed, read once: nothing asks its run again."""
