import { describe, expect, test } from 'vitest'
import {
  createService,
  memoryStorage,
  openAccess,
  readApplications,
  type ApplicationDefinitions,
} from '../../src/entries/index.ts'
import { createDeployment, definitionBuilder } from '../../src/entries/deployment.ts'
import { readPackage } from '../../src/deployment/package/read-package.ts'
import { writePackage } from '../../src/deployment/package/write-package.ts'
import { environment } from '../deployment/solutions.ts'
import { jobOf } from '../deployment/package/release.ts'
import { sound } from './mistakes.ts'

/** Applications as JSON has them, so that `__proto__` is a name like any other. */
function things(definition: string): string {
  return `{"app":{"collections":{"things":${definition}}}}`
}

/** JSON of applications, and the place of the one reserved name in it. */
const reserved: readonly (readonly [name: string, json: string, place: string])[] = [
  ...['rowgate_users', 'ROWGATE_KEYS', 'Rowgate_anything', 'sqlite_schema', '__proto__'].map(
    (table) =>
      [
        `the table ${table}`,
        things(JSON.stringify({ ...sound, table })),
        'applications.app.collections.things.table',
      ] as const,
  ),
  ...['rowgate-security', 'rowgate-deployment', 'Rowgate-x', 'svc-deploy', 'SVC-deploy'].map(
    (name) =>
      [
        `the application ${name}`,
        JSON.stringify({ [name]: { collections: { things: sound } } }),
        `applications.${name}`,
      ] as const,
  ),
  [
    'the table that a collection has by its own name',
    JSON.stringify({ app: { collections: { rowgate_users: sound } } }),
    'applications.app.collections.rowgate_users.table',
  ],
  [
    'the application __proto__',
    `{"__proto__":{"collections":{"things":${JSON.stringify(sound)}}}}`,
    'applications.__proto__',
  ],
  [
    'the collection __proto__',
    `{"app":{"collections":{"__proto__":${JSON.stringify(sound)}}}}`,
    'applications.app.collections.__proto__',
  ],
  [
    'the field __proto__',
    things('{"fields":{"id":{"type":"integer"},"__proto__":{"type":"text"}}}'),
    'applications.app.collections.things.fields.__proto__',
  ],
  [
    'the column __proto__',
    things('{"fields":{"id":{"type":"integer","column":"__proto__"}}}'),
    'applications.app.collections.things.fields.id.column',
  ],
  [
    'the field __proto__ of a row rule',
    things('{"fields":{"id":{"type":"integer"}},"rows":{"equal":{"id":1,"__proto__":2}}}'),
    'applications.app.collections.things.rows.equal.__proto__',
  ],
]

describe.each(reserved)('%s is rejected', (_name, json, place) => {
  const applications = JSON.parse(json) as ApplicationDefinitions
  const line = `  - ${place}: `

  test('by createService', () => {
    expect(() => open(applications)).toThrow(line)
  })

  test('by readApplications', () => {
    expect(() => readApplications(JSON.parse(json))).toThrow(line)
  })

  test('in a package that is read', async () => {
    const solution = { ...jobOf().solution, applications }
    const archive = await writePackage(jobOf({ solution })).catch(() => undefined)
    // If the manifest can't contain the name, there is no such package.
    if (archive === undefined) return
    expect(() => readPackage(archive)).toThrow(`definitions.json is invalid: ${line.slice(4)}`)
  })

  test('in a solution of deployment', () => {
    const solution = { solutionId: 'one', name: 'One', version: '1', applications }
    expect(() =>
      createDeployment({
        solutions: [solution],
        environment,
        builder: definitionBuilder(),
      }),
    ).toThrow(line.replace('  - ', '  - deployment.solutions.0.'))
  })
})

test('members below a reserved name are checked despite a mistake elsewhere', () => {
  const json = `{"__proto__":{"collections":{"a":{"fields":7}}},"app":{"collections":{"b":{"feilds":{}}}}}`
  expect(() => readApplications(JSON.parse(json))).toThrow(
    /applications\.__proto__: [\s\S]*applications\.app\.collections\.b\.feilds: /,
  )
})

test('an application named after the brand prefix belongs to deployment', () => {
  const applications = { 'acme-deploy': { collections: { things: sound } } }
  expect(() => open(applications as unknown as ApplicationDefinitions, 'acme')).toThrow(
    '  - applications.acme-deploy: the name belongs to deployment',
  )
  expect(() => open(applications as unknown as ApplicationDefinitions)).not.toThrow()
})

test('names that only resemble reserved ones are accepted', () => {
  const applications = {
    rowgate: { collections: { users: { ...sound, table: 'my_rowgate_users' } } },
    'team-deploy': { collections: { rowgateusers: { fields: { proto__: { type: 'text' } } } } },
  }
  expect(() => open(applications as unknown as ApplicationDefinitions)).not.toThrow()
})

function open(applications: ApplicationDefinitions, brand?: string): void {
  createService({
    applications,
    storage: memoryStorage(),
    security: openAccess(),
    ...(brand !== undefined && { brand }),
  })
}
