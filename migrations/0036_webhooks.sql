-- Webhook endpoints: addresses to which the events of an account are sent.

create table webhook_endpoints (
  endpoint_id uuid primary key,
  account_type text not null,
  account_id uuid not null,
  url text not null,
  description text,
  -- null: events of all types
  event_types text[],
  delivery_order text not null,
  status text not null constraint webhook_endpoints_status_check check (status in ('enabled', 'disabled')),
  disabled_reason text,
  -- the sequence of the last event in the feed for which deliveries were considered
  position bigint not null,
  -- since when every attempt has failed, by the platform's clock
  failing_since timestamptz,
  failing_told boolean not null default false,
  -- the number of attempts that have failed since `failing_since`
  failed_attempts int not null default 0,
  -- the time of the next probe of an endpoint that has failed too often in a row
  probe_at timestamptz,
  probes int not null default 0,
  failed_in_row int not null default 0,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  version bigint not null default 1,
  created_at timestamptz not null,
  deleted_at timestamptz,
  constraint webhook_endpoints_order_check check (delivery_order in ('concurrent', 'serial'))
);
create index webhook_endpoints_account_index on webhook_endpoints (account_type, account_id, created_at) where deleted_at is null;

create table webhook_secrets (
  endpoint_id uuid not null references webhook_endpoints,
  secret_id uuid not null,
  sealed bytea not null,
  created_at timestamptz not null,
  -- null: the present secret
  valid_until timestamptz,
  primary key (endpoint_id, secret_id)
);

-- Deliveries are partitioned by the UTC day on which they were made. A delivery's id contains that time as well.
create table webhook_deliveries (
  delivery_id uuid not null,
  day date not null,
  account_type text not null,
  account_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  sequence bigint not null,
  type text not null,
  replay_id uuid,
  state text not null,
  created_at timestamptz not null,
  next_attempt_at timestamptz,
  -- no other attempt starts before this time; null: no attempt is running
  leased_until timestamptz,
  attempts int not null default 0,
  -- the failures that decide how long the schedule waits before the next try
  failures int not null default 0,
  -- whether to try the delivery at once, even while its endpoint waits
  forced boolean not null default false,
  -- the body of a test delivery, whose event is in no feed
  test_body text,
  primary key (delivery_id, day)
) partition by range (day);
create index webhook_deliveries_account_index on webhook_deliveries (account_type, account_id, delivery_id);
create index webhook_deliveries_endpoint_index on webhook_deliveries (endpoint_id, delivery_id);
create index webhook_deliveries_state_index on webhook_deliveries (endpoint_id, state, delivery_id);
create index webhook_deliveries_event_index on webhook_deliveries (event_id);
create index webhook_deliveries_pending_index on webhook_deliveries (endpoint_id, sequence) where state = 'pending';

create table webhook_attempts (
  delivery_id uuid not null,
  day date not null,
  attempt int not null,
  at timestamptz not null,
  duration_ms int,
  outcome text not null,
  status_code int,
  response_excerpt text,
  primary key (delivery_id, attempt, day)
) partition by range (day);

create table webhook_replays (
  replay_id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints,
  position bigint not null,
  through bigint not null,
  types text[],
  only_failed boolean not null,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index webhook_replays_unfinished_index on webhook_replays (endpoint_id) where finished_at is null;
