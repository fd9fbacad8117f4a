import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { generate } from 'selfsigned'
import { openServer } from './server.ts'

/** A TLS server on 127.0.0.1, and the certificate that its clients have to trust. */
export interface TlsServer {
  readonly port: number
  /** PEM; for localhost, 127.0.0.1 and ::1. */
  readonly ca: string
  close(): Promise<void>
}

// One for all servers of a test file: making it is the slow part.
let certificate: ReturnType<typeof generate> | undefined

/** Starts a `node:https` server with a certificate of its own. */
export async function startTls(handler: RequestListener): Promise<TlsServer> {
  certificate ??= makeCertificate()
  const { private: key, cert } = await certificate
  const server = createServer({ key, cert }, handler)
  const { port, close } = await openServer(server)
  return { port, ca: cert, close }
}

/** A certificate for localhost, with its key. */
export function makeCertificate(): ReturnType<typeof generate> {
  return generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  })
}
