import type { Service } from 'rowgate'
import type { Line } from './curl-lines.ts'
import { people, type NewKeys } from './people.ts'

const folder = process.env['DATA']
const place = folder === undefined ? '' : `DATA='${folder.replaceAll("'", String.raw`'\''`)}' `

/** Returns a command of rowgate for the database of this service. */
function rowgate(words: string): string {
  return `${place}npm run -s rowgate -- ${words} --service examples/northwind/open.ts`
}

/** Returns export lines of new keys; for an older key, the command that creates another one. */
export function keyLines(made: NewKeys): readonly Line[] {
  return Object.entries(people).map(([variable, { user, roles }]) => {
    const key = made[variable as keyof NewKeys]
    return key === undefined
      ? {
          shows: `a new key for ${user} (${roles.join()}): those on record can't be shown again`,
          line: `export ${variable}=$(${rowgate(`keys create --user ${user}`)})`,
        }
      : {
          shows: `the key of ${user} (${roles.join()}): shown this once, and kept as a hash`,
          line: `export ${variable}=${key}`,
        }
  })
}

/** Returns commands that list, rotate and revoke the latest key of samuel. They take effect with the next request. */
export async function keyringLines({ keys }: Pick<Service<unknown>, 'keys'>): Promise<Line[]> {
  const { user } = people.SAMUELS_KEY
  const records = await keys.list({ user })
  const keyId = records.at(-1)?.keyId ?? ''
  return [
    { shows: 'all keys on record', line: rowgate('keys list') },
    {
      shows: `a new key for ${user}, while the old one works for ten minutes more`,
      line: rowgate(`keys rotate ${keyId} --overlap 10`),
    },
    { shows: 'the end of the old one', line: rowgate(`keys revoke ${keyId}`) },
    { shows: 'what happened to the keys', line: rowgate('keys audit') },
  ]
}
