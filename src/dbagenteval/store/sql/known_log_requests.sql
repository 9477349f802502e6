SELECT digest FROM log_requests WHERE digest IN (SELECT unnest($digests));
