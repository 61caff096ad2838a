-- Key pairs that sign access tokens, and client secrets that have ended before the tokens that were issued for them.

create table token_keys (
  -- named by the public key: 8 hexadecimal digits
  key_id text primary key,
  public_key bytea not null,
  -- null once tokens of a later key have taken over and none of this one is live any more
  sealed_private_key bytea,
  created_at timestamptz not null,
  signs_from timestamptz not null constraint token_keys_signs_from_key unique
);

create table ended_secrets (
  secret_id text primary key,
  client_id text not null references credentials on delete restrict,
  ends_at timestamptz not null
);
create index ended_secrets_ends_at_index on ended_secrets (ends_at);
