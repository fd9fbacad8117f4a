import type { Option } from '../arguments.ts'
import type { Command } from '../command.ts'

const schema: Option = {
  name: 'schema',
  value: 'name',
  description: 'The schema of a PostgreSQL database (default: set by the connection)',
}
const storage: Option = {
  name: 'storage',
  value: 'database',
  description: 'A SQLite file, or a postgres:// or mysql:// URL',
}

const fill: Option = {
  name: 'fill',
  value: 'field=value',
  description: 'The value of rows without one, such as products.sku=unknown',
  repeats: true,
}

/** Commands on a database, which need no module of a service. */
export const databaseCommands: readonly Command[] = [
  {
    name: 'introspect',
    argument: '<database>',
    description: 'Write the definition of a SQLite file, or of a postgres:// or mysql:// URL',
    options: [
      {
        name: 'out',
        value: 'file',
        description: 'The file to write, .ts, .js or .json; if it exists, show what has changed',
      },
      { name: 'application', value: 'name', description: 'Default: the name of the database' },
      schema,
      {
        name: 'table',
        value: 'name',
        description: 'Only this table or view',
        repeats: true,
      },
      { name: 'force', description: 'Replace an existing file' },
      { name: 'json', description: 'Print or write JSON instead of TypeScript' },
    ],
    withoutService: true,
    isReading: true,
    examples: [
      'introspect shop.db --out shop.ts',
      'introspect postgres://reader@localhost/shop --table customers --table orders',
      'introspect shop.db --json',
    ],
    load: async () => (await import('../introspect.ts')).introspect,
  },
  {
    name: 'serve',
    argument: '<definition>',
    description: 'Serve a definition on a database, with API keys',
    options: [
      {
        name: 'storage',
        value: 'database',
        description: 'A SQLite file, or a postgres:// or mysql:// URL, whose tables must exist',
      },
      schema,
      { name: 'port', value: 'number', description: 'Default: 8080; 0: any free port' },
      {
        name: 'host',
        value: 'address',
        description: 'Default: 127.0.0.1, which only this machine can reach',
      },
      {
        name: 'keys',
        value: 'file',
        description: 'The SQLite file of the API keys (default: as in shop.keys.db)',
      },
      {
        name: 'role',
        value: 'name',
        description: 'A role of the user of the keys (default: Administrator)',
        repeats: true,
      },
      { name: 'new-key', description: 'Create another key and show it once' },
      { name: 'watch', description: 'Reload the definition when its file changes' },
    ],
    withoutService: true,
    examples: [
      'serve shop.ts --storage shop.db',
      'serve shop.ts --storage shop.db --port 3000 --role Sales --watch',
    ],
    load: async () => (await import('../serve.ts')).serveDefinition,
  },
  {
    name: 'schema diff',
    argument: '<definition>',
    description: 'Show what a database lacks for a definition, with the SQL',
    options: [
      storage,
      schema,
      fill,
      {
        name: 'allow',
        value: 'kind',
        choices: ['nulls'],
        description: 'Accepts missing values of required fields',
        repeats: true,
      },
    ],
    withoutService: true,
    isReading: true,
    examples: [
      'schema diff shop.ts --storage shop.db',
      'schema diff shop.ts --storage postgres://localhost/shop --schema sales',
    ],
    load: async () => (await import('../schema.ts')).showDiff,
  },
  {
    name: 'schema apply',
    argument: '<definition>',
    description: 'Create what a database lacks for a definition, and a SQLite file itself',
    options: [
      storage,
      schema,
      {
        name: 'allow',
        value: 'kind',
        choices: ['rename', 'rebuild', 'drop', 'nulls', 'require', 'order'],
        description: 'Change',
        repeats: true,
      },
      fill,
      {
        name: 'copy',
        value: 'file',
        description: 'Where a SQLite file is copied before them (default: beside it)',
      },
    ],
    withoutService: true,
    examples: [
      'schema apply shop.ts --storage shop.db',
      'schema apply shop.ts --storage shop.db --allow rename --copy before.db',
      'schema apply shop.ts --storage shop.db --fill products.sku=unknown',
    ],
    load: async () => (await import('../schema.ts')).applyDiff,
  },
]
