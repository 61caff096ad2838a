-- Support finds an order by its customer's number. An ICCID is found by its keyed hash, which has an index since 0003.
create index profiles_msisdn_index on profiles (msisdn);
