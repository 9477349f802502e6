"""What the project folder says: files read and checked by themselves, as values with lines."""
