import type { Command } from '../command.ts'

/** Commands on a service that runs, or ran, elsewhere: its stored rows, its outbox, its queued builds. */
export const serviceCommands: readonly Command[] = [
  {
    name: 'check',
    argument: '[service]',
    description:
      'Find tables and rows that do not fit the definition of a service; changes nothing',
    options: [],
    isReading: true,
    examples: ['check ./service.js', 'check ./service.js --json'],
    load: async () => (await import('../check.ts')).check,
  },
  {
    name: 'openapi',
    description: 'Write the OpenAPI document of a service, or print it as JSON',
    options: [
      {
        name: 'out',
        value: 'file',
        description: 'The .json or .yaml file to write; it is replaced',
      },
      { name: 'title', value: 'title', description: 'Default: the title of openapi()' },
      { name: 'application', value: 'name', description: 'Only this application' },
      {
        name: 'role',
        value: 'name',
        description: 'Only what this role may do (default: every role)',
        repeats: true,
      },
    ],
    isReading: true,
    examples: ['openapi --out openapi.json', 'openapi --title Shop --role Sales --out sales.yaml'],
    load: async () => (await import('../openapi.ts')).writeDocument,
  },
  {
    name: 'outbox list',
    description: 'List the deliveries of the outbox',
    options: [
      {
        name: 'state',
        value: 'state',
        choices: ['behind', 'waiting', 'sending', 'delivered', 'dead'],
        description: 'Only deliveries in this state',
      },
      {
        name: 'limit',
        value: 'number',
        description: 'The maximum number of deliveries (default: 100)',
      },
    ],
    isReading: true,
    examples: ['outbox list', 'outbox list --state dead --json'],
    load: async () => (await import('../outbox.ts')).listDeliveries,
  },
  {
    name: 'outbox show',
    argument: '<id>',
    description: 'Show a delivery with its input, its attempts and its last error',
    options: [],
    isReading: true,
    examples: [
      'outbox show 019ab0c4-1f2e-7000-8000-5a1b2c3d4e5f',
      'outbox show 019ab0c4-1f2e-7000-8000-5a1b2c3d4e5f --json',
    ],
    load: async () => (await import('../outbox.ts')).showDelivery,
  },
  {
    name: 'outbox retry',
    argument: '[id]',
    description: 'Send a dead or waiting delivery, or many, as soon as possible',
    options: [
      {
        name: 'state',
        value: 'state',
        choices: ['dead', 'waiting'],
        description: 'All deliveries in this state (default: dead)',
      },
      { name: 'endpoint', value: 'name', description: 'Only deliveries to this endpoint' },
      {
        name: 'since',
        value: 'time',
        description: 'Only those that died, or if waiting were stored, since this time',
      },
    ],
    examples: [
      'outbox retry 019ab0c4-1f2e-7000-8000-5a1b2c3d4e5f',
      'outbox retry --state dead --endpoint create-shipment --since 2026-11-26',
    ],
    load: async () => (await import('../outbox.ts')).retryDelivery,
  },
  {
    name: 'outbox drop',
    argument: '<id>',
    description: 'Remove a delivery that was not sent',
    options: [],
    examples: ['outbox drop 019ab0c4-1f2e-7000-8000-5a1b2c3d4e5f'],
    load: async () => (await import('../outbox.ts')).dropDelivery,
  },
  {
    name: 'worker',
    description: 'Build queued releases and send deliveries until stopped with Ctrl+C or SIGTERM',
    options: [
      {
        name: 'concurrency',
        value: 'number',
        description: 'The maximum number of builds, and of deliveries, at a time (default: 1)',
      },
    ],
    examples: [
      'worker --service ./service.js --concurrency 2',
      'worker --service ./service.js --json',
    ],
    load: async () => (await import('../worker.ts')).work,
  },
]
