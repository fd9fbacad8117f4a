// The same server by somebody who knows that SQLite plans a statement anew when LIMIT ? is bound.
process.env['PAGE_LIMIT'] = 'CAST(? AS INTEGER)'
await import('./node-http.ts')
