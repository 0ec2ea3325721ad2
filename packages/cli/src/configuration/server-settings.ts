// Settings of the server: where it listens, who may do what, how much, and what is not shown.

import { Pattern } from '@reprise/core'
import { duration, oneOf, size, text, texts, webAddress, whole } from './kinds.ts'
import { setting } from './setting.ts'
import { accessRules, monitoringThresholds, tenantLimits } from './structures.ts'

/** Only what matches in linear time, as in the rules of policies. */
const safePattern = (source: string): string => new Pattern(source).source

export const SERVER_SETTINGS = {
  host: setting({
    kind: text,
    flag: '--host <host>',
    key: 'host',
    default: '127.0.0.1',
    about: 'The address the server listens on.',
  }),
  port: setting({
    kind: whole(0, 65_535),
    flag: '--port <port>',
    key: 'port',
    default: 7440,
    about: 'The port it listens on; 0 for any that is free.',
  }),
  publicUrl: setting({
    kind: webAddress,
    flag: '--public-url <url>',
    key: 'public_url',
    default: null,
    defaultText: 'where it listens',
    about: 'How the server is reached from outside: for sign-in, links and callbacks.',
  }),
  discardUndo: setting({
    kind: duration,
    variables: ['REPRISE_DISCARD_UNDO'],
    key: 'discard_undo',
    default: 604_800_000,
    about: 'How long a discard can be taken back, while retention has not removed its task.',
  }),
  adminLink: setting({
    kind: oneOf(['loopback', 'anywhere']),
    flag: '--admin-link <where>',
    variables: ['REPRISE_ADMIN_LINK'],
    key: 'admin_link',
    default: 'loopback',
    about:
      'Where the one-time link for the first admin is offered: only while the server listens on `loopback`, or `anywhere`.',
  }),
  trustedProxies: setting({
    kind: texts('addresses and networks'),
    key: 'trusted_proxies',
    default: [],
    about: 'The proxies in front of the server whose X-Forwarded-For is believed.',
  }),
  environment: setting({
    kind: text,
    variables: ['REPRISE_ENV', 'ENV'],
    key: 'env',
    default: 'production',
    about: 'Where this runs. Only `local` lets the header x-dev-user, from the same host, stand for a signed-in user.',
  }),
  googleClientIds: setting({
    kind: texts('client ids'),
    variables: ['TASK_DASHBOARD_GOOGLE_CLIENT_IDS'],
    key: 'google.client_ids',
    default: [],
    about: 'The audiences of Google ID tokens that are accepted.',
  }),
  oidcIssuer: setting({
    kind: webAddress,
    key: 'oidc.issuer',
    default: null,
    about: 'Who signs people in: the address of an OpenID Connect issuer.',
  }),
  oidcClientId: setting({
    kind: text,
    key: 'oidc.client_id',
    default: null,
    about: 'What the issuer knows this server by.',
  }),
  oidcClientSecret: setting({
    kind: text,
    default: null,
    secret: true,
    about: 'What it proves itself with to the issuer.',
  }),
  access: setting({
    kind: accessRules,
    variables: ['REPRISE_ROLES'],
    key: 'access',
    default: [],
    about: 'Who gets which role. The first rule that matches counts; without one a caller may do nothing.',
  }),
  admins: setting({
    kind: texts('e-mail addresses'),
    key: 'admins',
    default: [],
    about: 'Who is an admin, before all rules of access; with `google:` or `oidc:` if both are configured.',
  }),
  allowedDomains: setting({
    kind: texts('domains'),
    key: 'sign_in.allowed_domains',
    default: [],
    defaultText: 'any',
    about: 'Only people with e-mail addresses in these domains may come in at all.',
  }),
  hostedDomains: setting({
    kind: texts('domains'),
    key: 'sign_in.hosted_domains',
    default: [],
    defaultText: 'any',
    about: 'Only accounts of these organisations may (the claim hd of Google).',
  }),
  requestsPerSecond: setting({
    kind: whole(1, 100_000),
    key: 'limits.requests_per_second',
    default: 1_000,
    about: 'How many requests per second one caller may keep up.',
  }),
  requestsBurst: setting({
    kind: whole(1, 1_000_000),
    key: 'limits.requests_burst',
    default: 5_000,
    about: 'How many it may send at once after a pause.',
  }),
  bodyLimit: setting({
    kind: size(1_024, 67_108_864),
    key: 'limits.body',
    default: 2_097_152,
    about: 'How large the body of a request may be.',
  }),
  tenants: setting({
    kind: tenantLimits,
    key: 'tenants',
    default: {},
    about: 'How much each tenant may have, where the policies say nothing.',
  }),
  monitoringThresholds: setting({
    kind: monitoringThresholds,
    key: 'monitoring.thresholds',
    default: {},
    defaultText: 'those of docs/observability.md',
    about: 'Above which a figure of the monitoring is a warning, or critical.',
  }),
  redactKeys: setting({
    kind: texts('names of fields'),
    key: 'redact.keys',
    default: [],
    about: 'Fields of payloads, results and logs that are never shown, beside those that always are.',
  }),
  redactPatterns: setting({
    kind: texts('patterns', safePattern),
    key: 'redact.patterns',
    default: [],
    about: 'Whatever matches one of these patterns is not shown either.',
  }),
  redactAllow: setting({
    kind: texts('names of fields'),
    key: 'redact.allow',
    default: [],
    about: 'Fields that are shown though their names sound like secrets.',
  }),
  webhookAllow: setting({
    kind: texts('hosts and networks'),
    key: 'webhooks.allow',
    default: [],
    about: 'Hosts and networks that webhooks may be sent to though they are not public.',
  }),
} as const
