-- Mobile operators and tariffs have an id that the directory file may give, like every entry with a code. Rows go on naming them by
-- their numbers, which are a quarter of the size.
alter table mobile_operators add column uuid uuid not null default gen_random_uuid() constraint mobile_operators_uuid_key unique;
alter table tariffs add column uuid uuid not null default gen_random_uuid() constraint tariffs_uuid_key unique;
