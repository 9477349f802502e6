-- The parts of the folders: a day (what no day can be made of counts as the last one, in 2262), and a
-- service, of which a name too long for a file system is cut.
CREATE OR REPLACE TEMP MACRO day_of(ns) AS
    strftime(make_timestamp_ns(least(ns, 9223372036854775806)::BIGINT), '%Y-%m-%d');
CREATE OR REPLACE TEMP MACRO folder_of(service) AS
    if(length(url_encode(service)) <= 240, service, left(service, 18) || '…');
