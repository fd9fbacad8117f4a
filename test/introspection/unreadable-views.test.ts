import type { ApplicationDefinitions } from 'rowgate'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runAlone } from '../cli/command-line.ts'
import {
  address as mysqlAddress,
  missingServer as missingMariaDb,
  testDatabase,
} from '../kit/mysql.ts'
import { address, missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'

/** Describes a database, and returns the names of its tables and the notes. */
async function introspect(...line: readonly string[]) {
  const { output, messages, code } = await runAlone([
    ...['introspect', ...line],
    ...['--json', '--application', 'shop'],
  ])
  expect({ code, messages }).toMatchObject({ code: 0 })
  const { shop } = JSON.parse(output) as ApplicationDefinitions
  return { names: Object.keys(shop?.collections ?? {}), messages }
}

describe.skipIf((await missingPostgres()) !== undefined)('views of PostgreSQL', () => {
  test('that the role cannot read are left out, with the reason', async () => {
    const { name, run, drop } = await testSchema()
    const role = `${name}_reader`
    onTestFinished(async () => {
      await run(`drop owned by ${role}; drop role ${role}`)
      await drop()
    })
    await run(`create role ${role} login; grant usage on schema ${name} to ${role};
      create table secrets (word text); create table words (word text);
      create function secret() returns text language plpgsql as $$ begin return 'x'; end $$;
      revoke execute on function secret() from public;
      create function failing() returns text language plpgsql as $$ begin raise 'no word'; end $$;
      create materialized view empty as select word from words with no data;
      create materialized view filled as select word from words;
      create view plain as select word from secrets;
      create view invoking with (security_invoker = true) as select word from secrets;
      create view calling as select secret() as word;
      create view broken as select failing() as word;
      create view hidden as select word from words;
      create view part as select word, word as other from words;
      grant select on words, empty, filled, plain, invoking, calling, broken to ${role};
      grant select (word) on part to ${role};
      insert into words values ('a')`)
    const { host, port, database } = address
    const url = `postgres://${role}@${host}:${port}/${database}`
    const { names, messages } = await introspect(url, '--schema', name)
    expect(names).toEqual(['filled', 'part', 'plain', 'words'])
    for (const [view, reason] of [
      ['empty', /can't be read: .*has not been populated/],
      ['invoking', /can't be read: permission denied for table secrets/],
      ['calling', /can't be read: permission denied for function secret/],
      ['broken', /can't be read: no word/],
      ['hidden', /the role can't read it/],
    ] as const)
      expect(messages).toMatch(new RegExp(`${view}: left out: ${reason.source}`))
  })
})

describe.skipIf((await missingMariaDb()) !== undefined)('views of MariaDB', () => {
  test('that the user cannot read are left out, with the reason', async () => {
    const { name, run, drop } = await testDatabase()
    const user = `${name}_u`.slice(-32)
    onTestFinished(async () => {
      await run(`drop user '${user}'@'%'`)
      await drop()
    })
    await run(
      `create user '${user}'@'%'`,
      'create table secrets (word varchar(10))',
      'create table words (word varchar(10))',
      `insert into words values ('a')`,
      `create function secret() returns varchar(10) deterministic return 'x'`,
      `create function failing() returns varchar(10) deterministic begin signal sqlstate '45000' set message_text = 'no word'; return 'x'; end`,
      'create sql security invoker view invoking as select word from secrets',
      'create sql security invoker view calling as select secret() as word',
      'create view plain as select word from secrets',
      'create view broken as select failing() as word from words',
      ...['words', 'invoking', 'calling', 'plain', 'broken'].map(
        (table) => `grant select on ${table} to '${user}'@'%'`,
      ),
      `grant show view on ${name}.* to '${user}'@'%'`,
    )
    const { host, port } = mysqlAddress
    const { names, messages } = await introspect(`mysql://${user}@${host}:${port}/${name}`)
    expect(names).toEqual(['plain', 'words'])
    for (const view of ['invoking', 'calling', 'broken'])
      expect(messages).toMatch(new RegExp(`${view}: left out: `))
  })
})
