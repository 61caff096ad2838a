-- No two profiles have the same activation code. The column is new, so building the index finds no conflict.
create unique index concurrently if not exists profiles_activation_hash_key on profiles (activation_hash) where activation_hash is not null;
