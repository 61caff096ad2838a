-- Every merchant has its list of terminals, also one that the directory knew before there were lists (`partners/terminal-lists-store.ts`).

insert into merchant_terminal_lists (merchant_id, terminals, terminals_count)
select m.merchant_id, '[' || coalesce(string_agg(row_to_json(t)::text, ',' order by t.terminal_id collate "C"), '') || ']',
  count(t.terminal_id)
from merchants m
left join lateral (
  select terminal_id, name as terminal_name, location as terminal_location, payment_system_merchant_id as merchant_id,
    payment_system_merchant_name as merchant_name
  from terminals where terminals.merchant_id = m.merchant_id
) t on true
group by m.merchant_id
on conflict do nothing;
