import { createPrivateKey, createPublicKey, KeyObject, sign, verify } from 'node:crypto'

/** An Ed25519 private key that signs packages, as a PEM string (PKCS #8) or a KeyObject. */
export type SigningKey = string | KeyObject

/** An Ed25519 public key whose packages are trusted, as a PEM string (SPKI) or a KeyObject. */
export type TrustedKey = string | KeyObject

/** Signs a manifest. Returns the content of `manifest.sig`. */
export type SignManifest = (manifest: Uint8Array) => Uint8Array

/** Returns whether the signature of a manifest is by one of the trusted keys. */
export type VerifyManifest = (manifest: Uint8Array, signature: Uint8Array) => boolean

/** Prepares a signing key. Throws a TypeError for an invalid key, without quoting it. */
export function manifestSigner(key: SigningKey): SignManifest {
  const secret = ed25519('sign', 'private', key)
  return (manifest) => Buffer.from(`${sign(null, manifest, secret).toString('base64')}\n`)
}

/** Prepares trusted keys. Throws a TypeError for an invalid key. */
export function manifestVerifier(keys: readonly TrustedKey[]): VerifyManifest {
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new TypeError(
      'trust: must be a list of at least one public key; omit it to trust every package',
    )
  }
  const known = keys.map((key: TrustedKey, index) => ed25519(`trust.${index}`, 'public', key))
  return (manifest, signature) => {
    const bytes = signatureOf(signature)
    return bytes !== undefined && known.some((key) => verify(null, manifest, key, bytes))
  }
}

function ed25519(place: string, type: 'private' | 'public', key: unknown): KeyObject {
  const found =
    key instanceof KeyObject ? key : typeof key === 'string' ? parse(type, key) : undefined
  if (found?.type === type && found.asymmetricKeyType === 'ed25519') return found
  throw new TypeError(`${place}: ${adviceFor(type, found)}`)
}

function parse(type: 'private' | 'public', pem: string): KeyObject | undefined {
  // createPublicKey also accepts private keys, which must not be where packages are read.
  const label = type === 'private' ? 'PRIVATE KEY' : 'PUBLIC KEY'
  if (!pem.trimStart().startsWith(`-----BEGIN ${label}-----`)) return undefined
  try {
    return type === 'private' ? createPrivateKey(pem) : createPublicKey(pem)
  } catch {
    return undefined
  }
}

function adviceFor(type: 'private' | 'public', found: KeyObject | undefined): string {
  const kind = found?.asymmetricKeyType ?? found?.type
  const given = kind === undefined || kind === 'ed25519' ? '' : `; this one is ${kind}`
  return type === 'private'
    ? `must be an Ed25519 private key without passphrase, as PEM text (BEGIN PRIVATE KEY) or as a KeyObject${given}. ` +
        'Make one with generateKeyPairSync("ed25519") or: openssl genpkey -algorithm ed25519'
    : `must be an Ed25519 public key, as PEM text (BEGIN PUBLIC KEY) or as a KeyObject${given}. ` +
        'Take it from the private key with createPublicKey(key) or: openssl pkey -pubout'
}

/** Returns the bytes of a signature; undefined if the file is not in the form written above. */
function signatureOf(file: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(Buffer.from(file).toString('latin1'), 'base64')
  const written = Buffer.from(`${bytes.toString('base64')}\n`)
  return written.equals(file) ? bytes : undefined
}
