import { join } from 'node:path'

/** The folder of the database file. */
export const folder = process.env['DATA'] ?? '.data'
export const databaseFile = join(folder, 'northwind.db')

export const port = Number(process.env['PORT'] ?? 8080)
export const host = process.env['HOST'] ?? '127.0.0.1'

/** The addresses of trusted proxies, separated by commas. */
export const trustedProxies = process.env['TRUSTED_PROXIES']?.split(',') ?? []

/** Keys are accepted over plain HTTP only from this machine. */
export const plainHttp = trustedProxies.length === 0 && /^(localhost|127(\.\d+){3}|::1)$/.test(host)
