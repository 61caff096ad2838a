-- The sales figures of all banks together, for the operator's overview and the stock desk. Without these, a day has a row for each bank,
-- tariff, currency, price and outcome, so that a read of the last week takes longer the more banks there are.
create table tariff_sales_days (
  day date not null,
  tariff_id int not null,
  outcome text not null,
  orders int not null,
  primary key (day, tariff_id, outcome)
) with (fillfactor = 70);
create table tariff_sales_hours (
  hour timestamptz not null,
  tariff_id int not null,
  outcome text not null,
  orders int not null,
  primary key (hour, tariff_id, outcome)
) with (fillfactor = 70);

-- The worker adds orders to all of these tables in one statement. No process may do so between these two reads.
lock table sales_days, sales_hours in share mode;
insert into tariff_sales_days select day, tariff_id, outcome, sum(orders) from sales_days group by day, tariff_id, outcome;
insert into tariff_sales_hours select hour, tariff_id, outcome, sum(orders) from sales_hours group by hour, tariff_id, outcome;
