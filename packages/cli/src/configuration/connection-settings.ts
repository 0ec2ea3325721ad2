// Settings that say where things are: the store, the data folder, the server to talk to. The names of A14 stand beside ours.

import { engineAddress, text, webAddress, whole } from './kinds.ts'
import { setting } from './setting.ts'

export const CONNECTION_SETTINGS = {
  engine: setting({
    kind: engineAddress,
    flag: '--engine <address>',
    variables: ['REPRISE_ENGINE', 'TASK_TRACKING_REDIS_URL', 'REDIS_URL'],
    key: 'engine',
    default: null,
    defaultText: 'reprise.db in the data folder',
    address: true,
    about: 'Where tasks are kept: sqlite:./reprise.db, or redis://host:6379.',
  }),
  redisPrefix: setting({
    kind: text,
    variables: ['EXECUTIONS_REDIS_KEY_PREFIX'],
    key: 'redis.prefix',
    default: null,
    defaultText: 'reprise',
    about: 'The prefix of all keys on Redis, unless the address has one.',
  }),
  maxBacklog: setting({
    kind: whole(1, 1_000_000_000),
    key: 'limits.backlog',
    default: null,
    defaultText: '10000000',
    about: 'How many queued and waiting tasks the store takes, unless the address has `max_backlog`; more are refused.',
  }),
  data: setting({
    kind: text,
    path: true,
    flag: '--data <folder>',
    key: 'data',
    default: '.reprise',
    about: 'The folder of the embedded store, and of the address that a local server leaves for this command line.',
  }),
  url: setting({
    kind: webAddress,
    flag: '--url <url>',
    key: 'url',
    default: null,
    about: 'The server to talk to.',
  }),
  token: setting({
    kind: text,
    flag: '--token <token>',
    default: null,
    secret: true,
    about: 'The API token to talk to it with.',
  }),
  tenant: setting({
    kind: text,
    key: 'tenant',
    default: null,
    defaultText: 'default',
    about: 'The tenant of tasks that are submitted without one.',
  }),
  maxRetries: setting({
    kind: whole(0, 1_000),
    variables: ['REPRISE_MAX_RETRIES', 'MAX_RETRIES'],
    key: 'max_retries',
    default: 1,
    about: "How many retries an operator may ask for; an action's own number counts if it is more.",
  }),
} as const
