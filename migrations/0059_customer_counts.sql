-- How many customers the directory has for each bank, so that the operator's pages need not count millions of rows.
create table customer_counts (
  bank_id uuid primary key,
  customers bigint not null
);

-- The triggers count for every process, also one of the previous version, which may still serve for a while.
create function count_added_customers() returns trigger language plpgsql as $$
begin
  insert into customer_counts (bank_id, customers) select bank_id, count(*) from added group by bank_id order by bank_id
  on conflict (bank_id) do update set customers = customer_counts.customers + excluded.customers;
  return null;
end $$;
create function count_removed_customers() returns trigger language plpgsql as $$
begin
  update customer_counts c set customers = c.customers - r.customers
  from (select bank_id, count(*) as customers from removed group by bank_id) as r where c.bank_id = r.bank_id;
  return null;
end $$;
create trigger customers_count_added after insert on customers referencing new table as added
  for each statement execute function count_added_customers();
create trigger customers_count_removed after delete on customers referencing old table as removed
  for each statement execute function count_removed_customers();

-- The triggers have locked the table against writers, so nothing changes while it is counted.
insert into customer_counts (bank_id, customers) select bank_id, count(*) from customers group by bank_id;
