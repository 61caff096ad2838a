-- What the portal needs beside the tables of what it shows.

-- Tokens that were ended before their time, because their user has logged out. A row is of no use once the token has expired.
create table ended_tokens (
  token_id text primary key,
  expires_at timestamptz not null
);
