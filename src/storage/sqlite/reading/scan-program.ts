/**
 * The program of the thread for scans. A string starts in every build, and in an application that bundles
 * this library into one file: no file has to be found. It uses nothing of this library, so it repeats the
 * fold of {@link searchText} and the rule that the count of the last page needs no statement.
 */
export const scanProgram = `'use strict'
const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads')
const { driver, driverPath, file, extensions, pragmas, functions, interrupted } = workerData
const maxStatements = 64
// An estimate, by the texts: the program of SQLite takes up to 35 bytes for each character.
const maxCharacters = 500_000
const statements = new Map()
let characters = 0
let running = 0

function openBetterSqlite3() {
  const { createRequire } = process.getBuiltinModule('node:module')
  const Database = createRequire(driverPath)(driverPath)
  const database = new Database(file, { readonly: true, fileMustExist: true })
  return { database, prepare(sql, strings) {
    const statement = database.prepare(sql)
    if (strings) statement.pluck(true)
    else statement.raw(true)
    return (parameters) => statement.all(...parameters)
  } }
}

function openNodeSqlite() {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const database = new DatabaseSync(file, { readOnly: true, allowExtension: extensions.length > 0 })
  return { database, prepare(sql, strings) {
    const statement = database.prepare(sql)
    const values = statement.setReturnArrays === undefined ? Object.values : (row) => row
    statement.setReturnArrays?.(true)
    const read = strings ? (row) => values(row)[0] : values
    return (parameters) => statement.all(...parameters).map(read)
  } }
}

const { database, prepare } = driver === 'node:sqlite' ? openNodeSqlite() : openBetterSqlite3()
database.exec(pragmas)
for (const extension of extensions) database.loadExtension(extension)
database.function(functions.fold, { deterministic: true }, (value) =>
  value === null ? null : String(value).replaceAll('\\u03a3', '\\u03c3').toLowerCase())
database.function(functions.proceed, { deterministic: false }, () => {
  if (Atomics.load(interrupted, 0) === running) throw new Error('interrupted')
  return null
})

function all({ sql, parameters }, strings) {
  const key = strings + sql
  const statement = statements.get(key) ?? prepare(sql, strings)
  if (statements.delete(key)) characters -= key.length
  statements.set(key, statement)
  characters += key.length
  while (statements.size > 1 && (statements.size > maxStatements || characters > maxCharacters)) {
    const oldest = statements.keys().next().value
    statements.delete(oldest)
    characters -= oldest.length
  }
  return statement(parameters)
}

function read({ probe, found, page, count, strings, limit, offset }) {
  const chosen = probe !== undefined && all(probe, false).length === 0 ? found : page
  const rows = chosen === undefined ? [] : all(chosen, strings)
  if (count === undefined) return { rows, count: null }
  if (rows.length < limit && (offset === 0 || rows.length > 0)) return { rows, count: offset + rows.length }
  return { rows, count: Number(all(count, false)[0][0]) }
}

function inSnapshot(work) {
  database.exec('BEGIN')
  try {
    return work()
  } finally {
    // After some errors, SQLite has ended the transaction. The error of the read counts.
    try { database.exec('COMMIT') } catch {}
  }
}

parentPort.on('message', ({ id, job }) => {
  running = id
  try {
    parentPort.postMessage({ page: inSnapshot(() => read(job)) })
  } catch ({ message, code, errcode }) {
    parentPort.postMessage({ failure: { message, code, errcode } })
  }
})
`
