SET preserve_insertion_order = true;
