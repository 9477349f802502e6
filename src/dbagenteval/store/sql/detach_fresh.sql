DETACH fresh;
