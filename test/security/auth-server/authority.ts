import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JSONWebKeySet,
  type JWTPayload,
} from 'jose'

/** A key pair with its name. */
export interface Pair {
  readonly kid: string
  readonly algorithm: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
}

/** Makes a key pair. */
export async function pairOf(kid: string, algorithm = 'ES256'): Promise<Pair> {
  return { kid, algorithm, ...(await generateKeyPair(algorithm, { extractable: true })) }
}

/** The public keys of pairs. */
export async function keySetOf(...pairs: readonly Pair[]): Promise<JSONWebKeySet> {
  const keys = pairs.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid }))
  return { keys: await Promise.all(keys) }
}

/** The behavior of the server of an authority. */
export type Manner = (response: ServerResponse) => void

/** A server that serves key sets, as an authorization server does. */
export interface Authority {
  readonly jwks: string
  /** The number of requests for the keys. */
  fetches(): number
  serve(...pairs: readonly Pair[]): Promise<void>
  /** Changes the behavior from now on. */
  behave(manner: Manner): void
  stop(): Promise<void>
  /** Comes back where it was. */
  restart(): Promise<void>
}

/** Starts an authority that serves these keys. */
export async function startAuthority(...pairs: readonly Pair[]): Promise<Authority> {
  let fetches = 0
  let manner: Manner = answer(await keySetOf(...pairs))
  const open = (): Server =>
    createServer((_, response) => {
      fetches++
      manner(response)
    })
  let server = open()
  const port = await listen(server, 0)
  return {
    jwks: `http://127.0.0.1:${port}/keys`,
    fetches: () => fetches,
    serve: async (...next) => {
      manner = answer(await keySetOf(...next))
    },
    behave: (next) => {
      manner = next
    },
    stop: () => close(server),
    restart: async () => {
      server = open()
      await listen(server, port)
    },
  }
}

/** Answers with this as JSON. */
export function answer(body: unknown): Manner {
  return (response) => {
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(body))
  }
}

/** The issuer and the audience of all good tokens. */
export const issuer = 'https://login.example'
export const audience = 'https://orders.example'

/** The time of the cases, and in seconds. */
export const now = new Date('2024-02-29T12:00:00Z')
export const seconds = now.getTime() / 1000

/** The claims of a good token, but for changes; undefined takes a claim away. */
export function claimsWith(changes: Readonly<Record<string, unknown>> = {}): JWTPayload {
  const good = {
    iss: issuer,
    aud: audience,
    sub: 'maria',
    iat: seconds - 60,
    exp: seconds + 600,
    roles: ['Sales'],
  }
  return JSON.parse(JSON.stringify({ ...good, ...changes })) as JWTPayload
}

/** Signs claims; by default the header names the key of the pair. */
export async function sign(
  pair: Pair,
  changes: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return new SignJWT(claimsWith(changes))
    .setProtectedHeader({ alg: pair.algorithm, kid: pair.kid, ...header })
    .sign(pair.privateKey)
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
