import type { Command } from '../command.ts'

/** The command `rowgate init`. */
export const projectCommands: readonly Command[] = [
  {
    name: 'init',
    argument: '[folder]',
    description: 'Write a project that runs into an empty folder, with a key that is shown once',
    options: [
      {
        name: 'server',
        value: 'name',
        choices: ['node', 'express', 'fastify', 'hono'],
        description: 'Default: node',
      },
      {
        name: 'storage',
        value: 'name',
        choices: ['sqlite', 'memory', 'postgres', 'mysql'],
        description: 'Default: sqlite; on Node 20, memory',
      },
      {
        name: 'database',
        value: 'url',
        description: 'The database of postgres or mysql (default: one on this machine)',
      },
      { name: 'yes', description: 'Use the defaults instead of asking' },
    ],
    withoutService: true,
    examples: ['init library --yes', 'init library --server express --storage memory'],
    load: async () => (await import('../init.ts')).init,
  },
]

/** Commands for the files of a project and for the command line itself. */
export const toolCommands: readonly Command[] = [
  {
    name: 'import openapi',
    argument: '<file>',
    description: 'Write the endpoints of an OpenAPI document as TypeScript',
    options: [
      { name: 'out', value: 'file', description: 'The TypeScript file to write; it is replaced' },
      {
        name: 'strict',
        description: 'Reject a document for everything that the specification does not allow',
      },
      {
        name: 'check',
        description: 'Check responses at run time against the schemas of the document',
      },
      {
        name: 'large-numbers',
        value: 'how',
        choices: ['reject', 'string', 'exact'],
        description: 'Numbers that no double holds',
      },
    ],
    withoutService: true,
    isReading: true,
    examples: [
      'import openapi shop.yaml --out shop-endpoints.ts',
      'import openapi shop.yaml --out shop-endpoints.ts --strict',
    ],
    load: async () => (await import('../import.ts')).importDocument,
  },
  {
    name: 'consume tables',
    argument: '<file>',
    description: 'Print the tables, columns and types of a response of another service',
    options: [
      {
        name: 'endpoint',
        value: 'name',
        description: 'The file is an OpenAPI document: the responses of this endpoint',
      },
      {
        name: 'entries',
        value: 'paths',
        description: 'Objects that are dictionaries, with commas',
      },
      { name: 'arrays', value: 'paths', description: 'Arrays that may be sent as one element' },
      { name: 'zip', value: 'paths', description: 'Objects of parallel arrays' },
    ],
    withoutService: true,
    isReading: true,
    examples: [
      'consume tables shipment.json',
      'consume tables forecast.json --zip hourly',
      'consume tables shop.yaml --endpoint getOrder',
    ],
    load: async () => (await import('../consume-tables.ts')).printTables,
  },
  {
    name: 'completion',
    argument: '<shell>',
    choices: ['bash', 'zsh', 'fish'],
    description: 'Print a script that completes command lines in a shell',
    options: [],
    withoutService: true,
    isReading: true,
    examples: ['completion bash', 'completion zsh', 'completion fish'],
    load: async () => (await import('../completion.ts')).printCompletion,
  },
]
