// Settings of the server: where it listens, who may do what, how much, and what is not shown.

import { Pattern } from '@reprise/core'
import { size, text, texts, webAddress, whole } from './kinds.ts'
import { setting } from './setting.ts'
import { accessRules } from './structures.ts'

/** Only what matches in linear time, as in the rules of policies. */
const safePattern = (source: string): string => new Pattern(source).source

export const SERVER_SETTINGS = {
  host: setting({
    kind: text,
    flag: '--host <host>',
    variables: ['REPRISE_HOST'],
    key: 'host',
    default: '127.0.0.1',
    about: 'The address the server listens on.',
  }),
  port: setting({
    kind: whole(0, 65_535),
    flag: '--port <port>',
    variables: ['REPRISE_PORT'],
    key: 'port',
    default: 7440,
    about: 'The port it listens on; 0 for any that is free.',
  }),
  publicUrl: setting({
    kind: webAddress,
    flag: '--public-url <url>',
    variables: ['REPRISE_PUBLIC_URL'],
    key: 'public_url',
    default: null,
    defaultText: 'where it listens',
    about: 'How the server is reached from outside: for sign-in, links and callbacks.',
  }),
  trustedProxies: setting({
    kind: texts('addresses and networks'),
    variables: ['REPRISE_TRUSTED_PROXIES'],
    key: 'trusted_proxies',
    default: [],
    about: 'The proxies in front of the server whose X-Forwarded-For is believed.',
  }),
  environment: setting({
    kind: text,
    variables: ['ENV'],
    key: 'env',
    default: 'production',
    about: 'Where this runs. Only `local` lets the header x-dev-user stand for a signed-in user.',
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
    variables: ['REPRISE_OIDC_ISSUER'],
    key: 'oidc.issuer',
    default: null,
    about: 'Who signs people in: the address of an OpenID Connect issuer.',
  }),
  oidcClientId: setting({
    kind: text,
    variables: ['REPRISE_OIDC_CLIENT_ID'],
    key: 'oidc.client_id',
    default: null,
    about: 'What the issuer knows this server by.',
  }),
  oidcClientSecret: setting({
    kind: text,
    variables: ['REPRISE_OIDC_CLIENT_SECRET'],
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
    variables: ['REPRISE_ADMINS'],
    key: 'admins',
    default: [],
    about: 'Who is an admin, before all rules of access.',
  }),
  allowedDomains: setting({
    kind: texts('domains'),
    variables: ['REPRISE_ALLOWED_DOMAINS'],
    key: 'sign_in.allowed_domains',
    default: [],
    defaultText: 'any',
    about: 'Only people with e-mail addresses in these domains may come in at all.',
  }),
  hostedDomains: setting({
    kind: texts('domains'),
    variables: ['REPRISE_HOSTED_DOMAINS'],
    key: 'sign_in.hosted_domains',
    default: [],
    defaultText: 'any',
    about: 'Only accounts of these organisations may (the claim hd of Google).',
  }),
  requestsPerSecond: setting({
    kind: whole(1, 100_000),
    variables: ['REPRISE_REQUESTS_PER_SECOND'],
    key: 'limits.requests_per_second',
    default: 1_000,
    about: 'How many requests per second one caller may keep up.',
  }),
  requestsBurst: setting({
    kind: whole(1, 1_000_000),
    variables: ['REPRISE_REQUESTS_BURST'],
    key: 'limits.requests_burst',
    default: 5_000,
    about: 'How many it may send at once after a pause.',
  }),
  bodyLimit: setting({
    kind: size(1_024, 67_108_864),
    variables: ['REPRISE_BODY_LIMIT'],
    key: 'limits.body',
    default: 2_097_152,
    about: 'How large the body of a request may be.',
  }),
  redactKeys: setting({
    kind: texts('names of fields'),
    variables: ['REPRISE_REDACT_KEYS'],
    key: 'redact.keys',
    default: [],
    about: 'Fields of payloads, results and logs that are never shown, beside those that always are.',
  }),
  redactPatterns: setting({
    kind: texts('patterns', safePattern),
    variables: ['REPRISE_REDACT_PATTERNS'],
    key: 'redact.patterns',
    default: [],
    about: 'Whatever matches one of these patterns is not shown either.',
  }),
  redactAllow: setting({
    kind: texts('names of fields'),
    variables: ['REPRISE_REDACT_ALLOW'],
    key: 'redact.allow',
    default: [],
    about: 'Fields that are shown though their names sound like secrets.',
  }),
  webhookAllow: setting({
    kind: texts('hosts and networks'),
    variables: ['REPRISE_WEBHOOK_ALLOW'],
    key: 'webhooks.allow',
    default: [],
    about: 'Hosts and networks that webhooks may be sent to though they are not public.',
  }),
} as const
