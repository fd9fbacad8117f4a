import { createServer, type ServerResponse } from 'node:http'
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JSONWebKeySet,
  type JWTPayload,
} from 'jose'
import { openServer, type OpenServer } from '../../kit/server.ts'

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
  const open = (port = 0): Promise<OpenServer> => {
    const server = createServer((_, response) => {
      fetches++
      manner(response)
    })
    return openServer(server, { port })
  }
  let server = await open()
  const { port, url } = server
  return {
    jwks: `${url}/keys`,
    fetches: () => fetches,
    serve: async (...next) => {
      manner = answer(await keySetOf(...next))
    },
    behave: (next) => {
      manner = next
    },
    stop: () => server.close(),
    restart: async () => {
      server = await open(port)
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
