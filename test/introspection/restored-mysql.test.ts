import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPool } from 'mysql2/promise'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { runAlone } from '../cli/command-line.ts'
import { missingServer, perServer, testDatabase } from '../kit/mysql.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { expectedMysql, onlyMariaDb, onlyMysql } from './expected-mysql.ts'
import { restoreMysql } from './foreign-server.ts'
import { testRestored, type RestoredExercise } from './restored-server.ts'

const missing = await missingServer()

const exercise: RestoredExercise = {
  free: [
    `update others set id = 'y' where id = ''`,
    // The highest numbers are taken, so that the server has no next one.
    `set foreign_key_checks = 0;
     update film set film_id = 10 where film_id = 65535;
     update film_actor set film_id = 10 where film_id = 65535;
     alter table film auto_increment = 11;
     update film set original_language_id = 3 where original_language_id = 255;
     update language set language_id = 3 where language_id = 255;
     alter table language auto_increment = 4;
     update \`Order\` set OrderID = 9007199254740995 where OrderID = 9223372036854775807;
     update \`Order Details\` set OrderID = 9007199254740995 where OrderID = 9223372036854775807;
     alter table \`Order\` auto_increment = 9007199254740996`,
  ],
  done: {
    ...{
      files: ['Filter'],
      'film-list': ['Filter'],
      'film-text': ['Filter'],
      prices: ['Filter'],
    },
    ...{ log: ['Filter', 'Insert'], shades: ['Filter'], waves: ['Filter', 'Insert'] },
    times: ['Filter', 'Update', 'Delete'],
  },
}

describe.skipIf(missing !== undefined)('a restored database of MariaDB or MySQL', () => {
  testRestored({
    restore: () =>
      restoreMysql('mysql', perServer({ MariaDB: 'mariadb-only', MySQL: 'mysql-only' })),
    expected: { ...expectedMysql, ...perServer({ MariaDB: onlyMariaDb, MySQL: onlyMysql }) },
    object: 'json_object',
    rows: perServer({ MariaDB: 51, MySQL: 67 }),
    failing:
      'select film_id, (select other.film_id * 10000000000 from film other) as size from film',
    columns: `select count(*) from information_schema.columns where table_schema = database()
       and table_name not in ('ticket', 'gone')`,
    // Bytes, geometries, vectors, and strings with U+0000.
    leftOut: perServer({ MariaDB: 7, MySQL: 13 }),
    storage(uri) {
      const pool = createPool({ uri, connectionLimit: 3 })
      onTestFinished(() => pool.end())
      return mysqlStorage(pool)
    },
    // The dump of MySQL has more tables than the one of MariaDB, and is only read.
    exercise: perServer({ MariaDB: exercise, MySQL: undefined }),
  })
  test('has enumerations of the constraints that the server enforces', async () => {
    const { name, address, run, drop } = await testDatabase()
    onTestFinished(drop)
    const values = ['a', "it's", 'back\\slash', 'größer', ' "(b), \n`']
    const list = values.map((value) => `'${value.replace(/['\\]/g, '\\$&')}'`).join()
    const notEnforced = perServer({ MariaDB: '', MySQL: ", check (other in ('a')) not enforced" })
    await run(
      `create table colors (id int not null primary key, shade varchar(20) check (shade in (${list})),
         number int check (number in (-3, 0, 12)), mood varchar(9) check (mood = 'ö' or mood is null),
         face varchar(9) check (face = '😀'),
         other varchar(9)${notEnforced}) charset utf8mb4`,
    )
    const folder = temporaryFolder()
    const { user, password, host, port } = address
    const url = `mysql://${user}:${encodeURIComponent(password)}@${host}:${port}/${name}`
    const line = ['introspect', url, '--out', 'shop.json', '--application', 'shop']
    expect(await runAlone(line, { workingFolder: folder })).toMatchObject({ code: 0 })
    const { shop } = JSON.parse(readFileSync(join(folder, 'shop.json'), 'utf8')) as Shop
    const { shade, number, mood, face, other } = shop.collections.colors.fields
    expect([shade, number, mood, face, other].map((field) => field?.enumeration)).toEqual([
      values,
      [-3, 0, 12],
      ['ö'],
      perServer({ MariaDB: undefined, MySQL: ['😀'] }),
      undefined,
    ])
  })
})

interface Shop {
  readonly shop: {
    readonly collections: {
      readonly colors: { readonly fields: Readonly<Record<string, { enumeration?: unknown }>> }
    }
  }
}
