/** Code that is mutated together, and the tests that have to notice. Both are glob patterns. */
export interface MutationArea {
  readonly code: readonly string[]
  readonly tests: readonly string[]
}

const all = (...folders: readonly string[]): readonly string[] =>
  folders.map((folder) => `test/${folder}/**/*.test.ts`)

/** What `npm run mutation` covers. Tests over sockets and processes are left out: they are too slow. */
export const mutationAreas: Readonly<Record<string, MutationArea>> = {
  protocol: { code: ['src/protocol/*.ts'], tests: all('protocol') },
  event: {
    code: ['src/request/*.ts'],
    tests: all('request', 'definition', 'events', 'rights'),
  },
  rights: {
    code: ['src/definition/rights*.ts', 'src/events/{access,conditions,filter}.ts'],
    tests: all('rights', 'definition', 'events'),
  },
  gate: {
    code: ['src/security/{gate,check,limiting,refusal,find-authorization}.ts'],
    tests: all('security/gate', 'security/review', 'rights'),
  },
  keys: { code: ['src/security/keys/*.ts'], tests: all('security/keys') },
  packages: { code: ['src/deployment/package/*.ts'], tests: all('deployment/package') },
  save: {
    code: ['src/events/{save,write,run,delete,rules,guard,change,scope}.ts'],
    tests: all('events', 'rights', 'request'),
  },
}
