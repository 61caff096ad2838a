/** The settings with their defaults, as `perkline help settings` lists them. `.env.example` lists the same settings. */

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type Setting = { name: string; byDefault: string; meaning: string }

/** The text of `perkline help settings`, in this order. */
export const settingsHelp: readonly Setting[] = [
  { name: 'HOST', byDefault: '127.0.0.1', meaning: 'address to listen on' },
  { name: 'PORT', byDefault: '8080', meaning: 'port to listen on' },
  { name: 'PUBLIC_URL', byDefault: 'http://HOST:PORT', meaning: 'address that partners see, used in qrCodeUrl' },
  {
    name: 'DATABASE_URL',
    byDefault: 'embedded',
    meaning: 'PostgreSQL 15 or newer: postgres://user:password@host/name',
  },
  { name: 'DATABASE_URL_FILE', byDefault: 'none', meaning: 'file to read DATABASE_URL from' },
  {
    name: 'DATABASE_POOL',
    byDefault: '10',
    meaning: 'database connections for sales, of one process; others have some beside them',
  },
  { name: 'DATA_DIR', byDefault: './data', meaning: 'folder of the embedded database, the keys and the sandbox mail' },
  { name: 'PERKLINE_MODE', byDefault: 'sandbox if embedded, else live', meaning: 'sandbox or live' },
  { name: 'SAMPLE_DATA', byDefault: '1 if embedded sandbox', meaning: '1: an empty database gets the samples; 0: not' },
  { name: 'MIGRATE_ON_START', byDefault: '1', meaning: '0: only `perkline migrate` changes the schema' },
  {
    name: 'MASTER_KEY',
    byDefault: 'made if embedded',
    meaning: 'base64 of 32 bytes; several with commas: first used, others still read',
  },
  { name: 'MASTER_KEY_FILE', byDefault: 'none', meaning: 'file to read MASTER_KEY from' },
  {
    name: 'OPERATOR_KEY',
    byDefault: 'made if embedded',
    meaning: 'key of the admin interface, at least 32 characters; several with commas: all are accepted',
  },
  { name: 'OPERATOR_KEY_FILE', byDefault: 'none', meaning: 'file to read OPERATOR_KEY from' },
  {
    name: 'SMTP_URL',
    byDefault: 'none',
    meaning:
      'where e-mails go: smtp:// or smtps://; none: in a sandbox files in DATA_DIR/mail, in live mode none are sent',
  },
  { name: 'SMTP_URL_FILE', byDefault: 'none', meaning: 'file to read SMTP_URL from' },
  { name: 'MAIL_FROM', byDefault: 'none', meaning: 'sender of e-mails, required with SMTP_URL' },
  { name: 'REDIS_URL', byDefault: 'none', meaning: 'rate limits shared by all processes: redis:// or rediss://' },
  { name: 'REDIS_URL_FILE', byDefault: 'none', meaning: 'file to read REDIS_URL from' },
  {
    name: 'ALLOW_PLAINTEXT',
    byDefault: '0',
    meaning:
      '1: live mode takes a database, Redis and SMTP on other machines without checked TLS; commands may use http',
  },
  { name: 'RATE_LIMIT', byDefault: '100/200', meaning: 'eSIM requests a second / burst, per bank; 0: off' },
  {
    name: 'API_RATE_LIMIT',
    byDefault: '50/100',
    meaning: 'requests a second / burst of each other API, per account, or per address without a token; 0: off',
  },
  { name: 'OPEN_RESERVATIONS', byDefault: '10000', meaning: 'live reservations that one bank may hold' },
  {
    name: 'RESERVATION_SHARE',
    byDefault: '100',
    meaning: 'per cent of a tariff’s unsold stock that one bank may hold reserved',
  },
  {
    name: 'PENDING_CAMPAIGNS',
    byDefault: '200',
    meaning: 'campaigns of one merchant that no bank has approved yet',
  },
  {
    name: 'PENDING_CAMPAIGN_MIB',
    byDefault: '64',
    meaning: 'size of these campaigns, with terminals and banners, in MiB',
  },
  { name: 'COMPLETE_AFTER_DAYS', byDefault: '30', meaning: 'wait between compensationReceived and completed' },
  {
    name: 'PLATFORM_MFA',
    byDefault: 'required if live, else optional',
    meaning: 'second factor of the platform’s own users: off, optional or required',
  },
  {
    name: 'IDEMPOTENCY_HOURS',
    byDefault: '24',
    meaning: 'how long answers are kept for an Idempotency-Key (1 to 168)',
  },
  {
    name: 'EVENT_RETENTION_DAYS',
    byDefault: '30',
    meaning: 'days that events and deliveries of webhooks are kept (7 to 400)',
  },
  { name: 'WEBHOOK_CONCURRENCY', byDefault: '100', meaning: 'requests to endpoints at a time, of a process' },
  { name: 'WEBHOOK_PORTS', byDefault: '443,8443', meaning: 'ports that endpoints may have' },
  {
    name: 'WEBHOOK_ALLOW_ADDRESSES',
    byDefault: 'none',
    meaning: 'networks that endpoints may be in, beside public ones (10.0.0.0/8)',
  },
  {
    name: 'WEBHOOK_CA_FILE',
    byDefault: 'none',
    meaning: 'PEM file of authorities for endpoints, beside the usual ones',
  },
  {
    name: 'AUDIT_RETENTION_YEARS',
    byDefault: '7',
    meaning: 'years that entries of the audit log are kept (1 to 30)',
  },
  {
    name: 'AUDIT_ANCHOR_FILE',
    byDefault: 'none',
    meaning: 'file that checkpoints of the audit log are appended to; may lie on write-once storage',
  },
  {
    name: 'KEEP_REPORT_LINES_DAYS',
    byDefault: 'for ever',
    meaning: 'days that lines and files of reports are kept after their campaign has ended',
  },
  {
    name: 'KEEP_SEGMENTS_DAYS',
    byDefault: 'for ever',
    meaning: 'days that segments are kept after their campaign has ended',
  },
  { name: 'KEEP_MSISDN_DAYS', byDefault: 'for ever', meaning: 'days that phone numbers are kept after the order' },
  { name: 'LOG_LEVEL', byDefault: 'info', meaning: logLevels.join(', ') },
  {
    name: 'INSTANCE',
    byDefault: 'the machine’s name',
    meaning: 'name of this process in logs and metrics',
  },
  {
    name: 'SHUTDOWN_NOTICE',
    byDefault: 'PT3S, in a sandbox PT0S',
    meaning: 'how long a process that stops goes on taking requests, so that a load balancer notices',
  },
  {
    name: 'SHUTDOWN_LIMIT',
    byDefault: 'PT30S',
    meaning: 'how long requests under way then have to finish',
  },
  { name: 'METRICS_PORT', byDefault: 'none', meaning: 'port of Prometheus /metrics' },
  { name: 'METRICS_HOST', byDefault: '127.0.0.1', meaning: 'address of Prometheus /metrics' },
  {
    name: 'ADMIN_PORT',
    byDefault: 'none',
    meaning: 'port of /admin and the staff’s portal; /admin is then nowhere else',
  },
  { name: 'ADMIN_HOST', byDefault: '127.0.0.1', meaning: 'address of ADMIN_PORT' },
  {
    name: 'ADMIN_URL',
    byDefault: 'that of ADMIN_PORT',
    meaning: 'address that the staff sees, used in their links; for all processes, without ADMIN_PORT: PUBLIC_URL',
  },
  {
    name: 'TRUSTED_PROXIES',
    byDefault: 'none',
    meaning: 'addresses or networks, with commas, whose X-Forwarded-For is believed',
  },
]
