"""What a dying server loses: nothing that it has acknowledged."""
