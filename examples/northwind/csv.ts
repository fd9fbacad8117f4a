/** Parses CSV (RFC 4180, LF) with a header row. An empty cell without quotes is null. */
export function* readCsv(text: string): Iterable<ReadonlyMap<string, string | null>> {
  const [header = [], ...rows] = readRows(text.endsWith('\n') ? text : `${text}\n`)
  for (const [index, row] of rows.entries()) {
    if (row.length !== header.length) throw new Error(`Row ${index + 2} has ${row.length} cells.`)
    yield new Map(header.map((name, place) => [name ?? '', row[place] ?? null]))
  }
}

function* readRows(text: string): Iterable<readonly (string | null)[]> {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\n]+)|)(,|\n)/y
  let row: (string | null)[] = []
  while (cell.lastIndex < text.length) {
    const start = cell.lastIndex
    const match = cell.exec(text)
    if (match === null) throw new Error(`Invalid CSV at character ${start}.`)
    const [, quoted, plain, end] = match
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? null)
    if (end === ',') continue
    yield row
    row = []
  }
}
